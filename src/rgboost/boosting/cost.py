"""Which engine is faster: an explicit model of their cost.

Nanoseconds, measured on one core of a 2023 server and meant to be right within a factor of two:

- direct, an iteration: `CELL` for each entry of the data that the search reads, `ROW` a row;
- gram, an iteration: `SPLIT` for each of the K splits (update) and each split in J (search);
- gram, a feature that is chosen for the first time: `PAIR` for each entry of the data, and
  `CUMULATE` for each entry of its Gram rows. No more features than iterations are ever chosen.

Threads divide everything alike and are left out. The Gram engine is taken if it is expected to be
faster and its rows fit into ``gram_memory`` whole.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from .gram import gram_obstacle, gram_type
from .problem import Problem

CELL = 0.45
ROW = 1.0
SPLIT = 0.5
PAIR = 0.8
CUMULATE = 1.0


def direct_nanoseconds(problem: Problem) -> float:
    """The expected time of all iterations on the rows."""
    per_iteration = CELL * problem.cells_per_iteration() + ROW * len(problem.y)
    return problem.recorder.n_iter * per_iteration


def gram_nanoseconds(problem: Problem) -> float:
    """The expected time of all iterations on statistics, the making of Gram rows included."""
    layout = problem.prepared.layout
    n_iter, n_splits = problem.recorder.n_iter, layout.n_learners
    n_features = len(layout.members)
    size, of = problem.selection.size(layout)
    chosen = min(n_features, n_iter)
    per_iteration = SPLIT * n_splits * (1 + size / max(1, of))
    per_feature = PAIR * problem.prepared.cells + CUMULATE * n_splits * n_splits / max(
        1, n_features
    )
    return n_iter * per_iteration + chosen * per_feature


def gram_bytes(problem: Problem) -> float:
    """The memory of the Gram rows of all features that can be chosen."""
    layout = problem.prepared.layout
    sizes = np.sort(np.diff(layout.offsets))[::-1]
    rows = float(sizes[: problem.recorder.n_iter].sum())
    per_entry = np.dtype(gram_type(problem)).itemsize
    if problem.held is not None:
        per_entry += 4 if problem.held.weight is None else 8
    return rows * layout.n_learners * per_entry


def choose_engine(problem: Problem, gram_memory: int) -> Literal["direct", "gram"]:
    """The engine that ``engine="auto"`` takes. Both give the iterates of Algorithm 2."""
    if gram_obstacle(problem) is not None or problem.prepared.layout.n_learners == 0:
        return "direct"
    if gram_bytes(problem) > gram_memory:
        return "direct"
    return "gram" if gram_nanoseconds(problem) < direct_nanoseconds(problem) else "direct"
