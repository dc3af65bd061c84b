"""Vectors, groups and rules that several test files of this folder go through."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners

SIX = [[0, 3], [1], [2, 4, 5]]
"""Three groups of six coordinates, of different sizes and not in order."""

RULES = [
    AllLearners(),
    RandomLearners(1),
    RandomLearners(2),
    RandomLearners(4),
    RandomGroup(),
    RandomGroups(1),
    RandomGroups(2),
    RandomGroups("all"),
]

careful = settings(deadline=None, derandomize=True, database=None, max_examples=60)
"""Property tests: the same examples in every run, nothing stored."""

entries = st.floats(-100.0, 100.0, allow_nan=False, width=32)


@st.composite
def ruled_vectors(draw, n_vectors: int):
    """``n_vectors`` vectors of equal length, a partition of their coordinates and a rule."""
    K = draw(st.integers(1, 7))
    vectors = [np.array(draw(st.lists(entries, min_size=K, max_size=K))) for _ in range(n_vectors)]
    labels = draw(st.lists(st.integers(0, 3), min_size=K, max_size=K))
    groups = [[k for k in range(K) if labels[k] == g] for g in sorted(set(labels))]
    rule = draw(
        st.one_of(
            st.just(AllLearners()),
            st.just(RandomGroup()),
            st.builds(RandomLearners, st.integers(1, K)),
            st.builds(RandomGroups, st.integers(1, len(groups))),
        )
    )
    return vectors, groups, rule


def unit_columns(rng: np.random.Generator, n: int, K: int) -> np.ndarray:
    B = rng.standard_normal((n, K))
    return B / np.linalg.norm(B, axis=0)
