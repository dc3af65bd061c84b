"""Selection rules: uniform, without replacement, one stream for all types."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from rgboost.selection import (
    AllLearners,
    Layout,
    RandomGroup,
    RandomGroups,
    RandomLearners,
)
from rgboost.selection.layout import check_partition, draw_without_replacement
from rgboost.selection.rules import resolve_subset_size
from rgboost.training.plan.resolve import check_selection


def layout(counts, groups=None):
    return Layout.make(np.concatenate([[0], np.cumsum(counts)]), groups)


@pytest.mark.kernel
@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_draws_are_sorted_subsets(n, t, seed):
    t = min(t, n)
    draws = draw_without_replacement(np.random.default_rng(seed), n, t, 5)
    assert draws.shape == (1 if t == n else 5, t)
    assert (np.diff(draws, axis=1) > 0).all()
    assert draws.min() >= 0
    assert draws.max() < n


@pytest.mark.parametrize(("n", "t"), [(5, 2), (6, 3), (5, 4), (7, 1)])
def test_every_subset_is_equally_likely(n, t):
    draws = draw_without_replacement(np.random.default_rng(3), n, t, 40_000)
    index = {s: i for i, s in enumerate(combinations(range(n), t))}
    counts = np.bincount([index[tuple(row)] for row in draws], minlength=comb(n, t))
    assert chisquare(counts).pvalue > 0.001


def test_draws_reach_far_and_are_cheap_in_memory():
    draws = draw_without_replacement(np.random.default_rng(0), 10**12, 1000, 3)
    assert (np.diff(draws, axis=1) > 0).all()
    assert draws.max() > 0.99 * 10**12


@pytest.mark.parametrize("t", [1, 3, 11])
def test_the_stream_does_not_depend_on_block_lengths(t):
    whole = draw_without_replacement(np.random.default_rng(5), 12, t, 30)
    rng = np.random.default_rng(5)
    parts = np.concatenate([draw_without_replacement(rng, 12, t, k) for k in (1, 7, 22)])
    np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize(
    ("t", "n", "expected"),
    [
        (1, 10, 1), (10, 10, 10), ("sqrt", 123, 11), ("sqrt", 90, 9), ("sqrt", 1, 1),
        ("sqrt", 2000, 44), ("all", 7, 7), (1.0, 7, 7), (0.07, 100, 7), (0.5, 3, 2), (0.5, 5, 2),
        (1e-9, 5, 1), (np.int64(4), 5, 4), (np.float64(0.5), 8, 4),
    ],
)  # fmt: skip
def test_subset_size(t, n, expected):
    assert resolve_subset_size(t, n) == expected


@pytest.mark.parametrize(
    ("t", "message"),
    [
        (0, "subset_size=0 is impossible: there are 5 groups; use a count from 1 to 5"),
        (6, "subset_size=6 is impossible: there are 5 groups"),
        (-1, "subset_size=-1 is impossible"),
        (0.0, r"subset_size=0.0 is impossible: a fraction must be in \(0, 1\]"),
        (1.5, "subset_size=1.5 is impossible"),
        (float("nan"), "subset_size=nan is impossible"),
        ("log", "subset_size='log' is not known"),
        (None, "subset_size must be a number"),
        (True, "subset_size must be a number"),
    ],
)
def test_impossible_subset_sizes(t, message):
    with pytest.raises((ValueError, TypeError), match=message):
        resolve_subset_size(t, 5)


def test_groups_without_learners_are_not_drawn():
    lay = layout([3, 0, 2, 0, 1])
    assert (lay.n_groups, lay.n_groups_given, lay.n_learners) == (3, 5, 6)
    assert RandomGroups(5).size(lay) == (3, 3)  # as many as there are
    with pytest.raises(ValueError, match="there are 5 groups"):
        RandomGroups(6).size(lay)
    subsets = RandomGroups(2).subsets(lay, np.random.default_rng(0), 200)
    assert set(subsets.columns) == {0, 2, 4}


def test_types_share_one_stream():
    lay = layout([2, 3, 1, 4])
    for one, other in [
        (RandomGroup(), RandomGroups(1)),
        (AllLearners(), RandomGroups(4)),
        (AllLearners(), RandomGroups("all")),
    ]:
        a, b = (rule.subsets(lay, np.random.default_rng(1), 50) for rule in (one, other))
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.kernel
@pytest.mark.parametrize(
    "rule", [AllLearners(), RandomLearners(4), RandomGroup(), RandomGroups(2)], ids=repr
)
@pytest.mark.parametrize("groups", [None, [[3, 0], [1], [4, 2]]])
def test_compiled_subsets_are_the_learners(rule, groups):
    """Columns and candidates of a block, against the plain list of learners of each draw."""
    lay = layout([2, 3, 0, 4, 1], groups)
    subsets = rule.subsets(lay, np.random.default_rng(2), 20)
    draws = rule.draw(lay, np.random.default_rng(2), 20)
    assert len(subsets.start) == len(draws) + 1
    for m, draw in enumerate(draws):
        learners = []
        for k in range(subsets.start[m], subsets.start[m + 1]):
            c = subsets.columns[k]
            if subsets.restricted:
                mine = subsets.learners[subsets.first[k] : subsets.first[k + 1]]
                assert ((mine >= lay.offsets[c]) & (mine < lay.offsets[c + 1])).all()
                learners.extend(mine)
            else:
                learners.extend(range(lay.offsets[c], lay.offsets[c + 1]))
        np.testing.assert_array_equal(learners, rule.learners(lay, draw))


def test_partition_by_name_and_index():
    groups = check_partition([["b", 0], ["c"]], 3, ["a", "b", "c"])
    assert [list(g) for g in groups] == [[1, 0], [2]]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 1], [1, 2]], r"feature 1 is in groups\[0\] and in groups\[1\]"),
        ([[0], [2]], r"1 of 3 features are in no group, the first of them \['b'\]"),
        ([[0, 1, 2], []], r"groups\[1\] is empty"),
        ([[0, 1, 3], [2]], "feature 3; expected a name or an index from 0 to 2"),
        ([["x", 1, 2]], "names the feature 'x', but no feature has that name"),
        ([[0.5, 1, 2]], "feature 0.5; expected a name or an index"),
    ],
)
def test_groups_that_are_no_partition(groups, message):
    with pytest.raises(ValueError, match=message):
        check_partition(groups, 3, ["a", "b", "c"])


def test_names_need_names():
    with pytest.raises(ValueError, match="the input has no feature names"):
        check_partition([["a"]], 1)


def test_rules_by_name():
    assert check_selection("all", 3) == AllLearners()
    assert check_selection("learners", 3) == RandomLearners(3)
    assert check_selection("group", 3) == RandomGroup()
    assert check_selection("groups", "sqrt") == RandomGroups("sqrt")
    assert check_selection(RandomGroups(2), 3) == RandomGroups(2)
    with pytest.raises(ValueError, match="selection='some' is not known"):
        check_selection("some", 3)
