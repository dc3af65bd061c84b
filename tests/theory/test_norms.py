from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import (
    chosen_distribution,
    group_norm,
    infinity_norm,
    norm_of,
    ordered_l1_norm,
    ordered_mixed_norm,
    sample_chosen,
    selection_probability,
)
from rgboost.theory.procedure import coordinate_layout

from .cases import RULES, SIX, careful, ruled_vectors

A = np.array([3.0, -1.0, 0.5, 4.0, -2.5, 0.0])


def test_the_four_definitions():
    gamma = [0.5, 0.3, 0.2]
    assert infinity_norm(6).norm(A) == 4.0
    assert ordered_l1_norm([0.4, 0.3, 0.2, 0.1, 0.0, 0.0]).norm(A) == pytest.approx(
        0.4 * 4 + 0.3 * 3 + 0.2 * 2.5 + 0.1 * 1, abs=1e-15
    )
    assert group_norm(SIX).norm(A) == pytest.approx((4 + 1 + 2.5) / 3, abs=1e-15)
    mixed = ordered_mixed_norm(SIX, gamma)
    assert mixed.norm(A) == pytest.approx(0.5 * 4 + 0.3 * 2.5 + 0.2 * 1, abs=1e-15)


def test_the_dual_norms_of_the_proposition():
    size = np.sort(np.abs(A))[::-1]
    gamma = np.array([0.4, 0.3, 0.2, 0.1, 0.0, 0.0])
    assert infinity_norm(6).dual_norm(A) == pytest.approx(np.abs(A).sum())
    by_hand = max(size[: i + 1].sum() / gamma[: i + 1].sum() for i in range(6))
    assert ordered_l1_norm(gamma).dual_norm(A) == pytest.approx(by_hand)
    assert group_norm(SIX).dual_norm(A) == pytest.approx(3 * 7.0)
    totals = [7.0, 3.0, 1.0]
    weights = [0.7, 0.2, 0.1]
    by_hand = max(sum(totals[:g]) / sum(weights[:g]) for g in (1, 2, 3))
    assert ordered_mixed_norm(SIX, weights).dual_norm(A) == pytest.approx(by_hand)


def signed_subsets(norm):
    """The unit ball's vertices by the definition: signs on a set of groups, scaled."""
    listed = [norm.members[norm.start[g] : norm.start[g + 1]] for g in range(norm.n_groups)]
    for count in range(1, norm.n_groups + 1):
        for chosen in combinations(listed, count):
            inside = np.concatenate(chosen)
            for bits in range(2**inside.size):
                a = np.zeros(norm.n_coordinates)
                a[inside] = [1.0 if bits >> i & 1 else -1.0 for i in range(inside.size)]
                yield a / norm.norm(a)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_dual_norm_is_the_largest_inner_product_over_the_unit_ball(rule):
    norm = norm_of(rule, 6, SIX)
    vertices = np.array(list(signed_subsets(norm)))
    for b in np.random.default_rng(1).standard_normal((20, 6)):
        assert norm.dual_norm(b) == pytest.approx((vertices @ b).max(), rel=1e-12)


@careful
@given(ruled_vectors(2))
def test_duality_is_attained_and_hoelder_holds(case):
    (a, b), groups, rule = case
    norm = norm_of(rule, a.size, groups)
    size, dual = norm.norm(a), norm.dual_norm(b)
    assert abs(a @ b) <= size * dual * (1 + 1e-12) + 1e-12
    best_b = norm.maximiser(a)
    assert norm.dual_norm(best_b) <= 1 + 1e-12
    assert a @ best_b == pytest.approx(size, rel=1e-12, abs=1e-12)
    best_a = norm.dual_maximiser(b)
    assert norm.norm(best_a) <= 1 + 1e-12
    assert best_a @ b == pytest.approx(dual, rel=1e-12, abs=1e-12)


@careful
@given(ruled_vectors(2))
def test_norm_axioms(case):
    (a, b), groups, rule = case
    norm = norm_of(rule, a.size, groups)
    for function in (norm.norm, norm.dual_norm):
        assert function(a + b) <= (function(a) + function(b)) * (1 + 1e-12) + 1e-12
        assert function(-2.5 * a) == pytest.approx(2.5 * function(a), rel=1e-12)
        assert (function(a) > 0) == bool(a.any())


@careful
@given(ruled_vectors(1))
def test_expected_size_and_square_of_the_chosen_coordinate(case):
    """Propositions norm-a and expectation, with the exact distribution."""
    (a,), groups, rule = case
    norm = norm_of(rule, a.size, groups)
    law = chosen_distribution(a, rule, groups)
    assert law @ np.abs(a) == pytest.approx(norm.norm(a), rel=1e-12, abs=1e-12)
    assert law @ a**2 == pytest.approx(norm.norm(a**2), rel=1e-12, abs=1e-12)
    assert norm.norm(a**2) >= norm.norm(a) ** 2 * (1 - 1e-12)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_expected_size_over_all_subsets(rule):
    """Proposition norm-a with nothing but the definition of the procedure."""
    layout = coordinate_layout(6, SIX)
    t, n = rule.size(layout)
    sizes = [np.abs(A[rule.learners(layout, np.array(J))]).max() for J in combinations(range(n), t)]
    assert norm_of(rule, 6, SIX).norm(A) == pytest.approx(np.mean(sizes), rel=1e-13)


@pytest.mark.parametrize(
    "rule", [RandomLearners(70), RandomGroup(), RandomGroups(7), AllLearners()], ids=str
)
def test_expected_size_of_a_large_vector_by_sampling(rule):
    rng = np.random.default_rng(5)
    a = rng.standard_cauchy(5_000)
    groups = np.array_split(rng.permutation(5_000), 60)
    norm = norm_of(rule, 5_000, groups)
    values = np.abs(a[sample_chosen(np.log1p(np.abs(a)), rule, groups, 20_000, 11)])
    for power in (0.25, 0.5):
        mean, error = (values**power).mean(), (values**power).std() / np.sqrt(20_000)
        assert abs(mean - norm.norm(np.abs(a) ** power)) <= 4 * error + 1e-12


def test_special_cases_of_the_ordered_mixed_norm():
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((10, 6))
    pairs = [
        (norm_of(RandomGroups("all"), 6, SIX), infinity_norm(6)),
        (norm_of(RandomGroups(1), 6, SIX), group_norm(SIX)),
        (norm_of(RandomGroup(), 6, SIX), group_norm(SIX)),
        (norm_of(RandomGroups(2), 6), norm_of(RandomLearners(2), 6)),
        (norm_of(RandomGroups(2), 6), ordered_l1_norm(selection_probability(6, 2))),
        (norm_of(RandomLearners(6), 6), infinity_norm(6)),
        (ordered_mixed_norm([range(6)], [1.0]), infinity_norm(6)),
        (
            norm_of(RandomGroups(2), 6, SIX),
            ordered_mixed_norm(SIX, selection_probability(3, 2)),
        ),
    ]
    for left, right in pairs:
        for a in vectors:
            assert left.norm(a) == pytest.approx(right.norm(a), rel=1e-14)
            assert left.dual_norm(a) == pytest.approx(right.dual_norm(a), rel=1e-14)


def test_norms_are_named_after_the_paper():
    assert norm_of(AllLearners(), 6).name == "infinity"
    assert norm_of(RandomLearners(2), 6).name == "ordered l1"
    assert norm_of(RandomGroup(), 6, SIX).name == "group"
    assert norm_of(RandomGroups(2), 6, SIX).name == "ordered mixed"


def test_norms_of_rows():
    rows = np.random.default_rng(3).standard_normal((5, 6))
    norm = norm_of(RandomGroups(2), 6, SIX)
    np.testing.assert_allclose(norm.norms(rows), [norm.norm(a) for a in rows], rtol=1e-15)


@pytest.mark.parametrize(
    "weights", [[0.2, 0.8], [0.5, -0.1], [0.0, 0.0]], ids=["rising", "negative", "zero"]
)
def test_weights_must_make_a_norm(weights):
    with pytest.raises(ValueError, match=r"weights=.* pass non-increasing, non-negative"):
        ordered_l1_norm(weights)


def test_sizes_must_agree():
    with pytest.raises(ValueError, match="a has 3 coordinates; pass one with 6"):
        infinity_norm(6).norm([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="weights has 2 coordinates; pass one with 3"):
        ordered_mixed_norm(SIX, [0.5, 0.5])
