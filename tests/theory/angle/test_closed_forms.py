from math import sqrt

import numpy as np
import pytest
from scipy.optimize import minimize

from rgboost.selection import RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import (
    binary_angle,
    binary_basis,
    group_norm,
    infinity_norm,
    norm_of,
    ordered_l1_norm,
    ordered_mixed_norm,
    orthogonal_angle,
    random_learners_angle,
    selection_probability,
)
from rgboost.theory.angle.closed_forms import (
    binary_minimiser,
    is_binary_basis,
    orthogonal_minimiser,
)
from rgboost.theory.angle.enumeration import by_signs
from rgboost.theory.distance import factorise

from ..cases import RULES, SIX


@pytest.mark.parametrize("p", [1, 2, 9, 100])
def test_orthogonal_basis_under_the_infinity_norm(p):
    """Example 1."""
    assert orthogonal_angle(infinity_norm(p)) == pytest.approx(1 / sqrt(p), rel=1e-14)


def test_orthogonal_basis_under_the_ordered_l1_norm():
    """Example 2, where an inner term is the smallest."""
    gamma = [0.3, 0.3, 0.3, 0.05, 0.05]
    terms = [sum(gamma[:i]) / sqrt(i) for i in range(1, 6)]
    assert orthogonal_angle(ordered_l1_norm(gamma)) == pytest.approx(min(terms), rel=1e-14)
    gamma = [0.25, 0.02, 0.02, 0.01]
    terms = [sum(gamma[:i]) / sqrt(i) for i in range(1, 5)]
    assert np.argmin(terms) == 3
    assert orthogonal_angle(ordered_l1_norm(gamma)) == pytest.approx(terms[3], rel=1e-14)


def test_orthogonal_basis_under_the_group_norm():
    groups = np.arange(12).reshape(4, 3).tolist()
    assert orthogonal_angle(group_norm(groups)) == pytest.approx(1 / (4 * sqrt(3)), rel=1e-14)
    # Unequal groups: the largest alone is the worst place.
    assert orthogonal_angle(group_norm(SIX)) == pytest.approx(1 / (3 * sqrt(3)), rel=1e-14)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_orthogonal_angle_against_enumeration_and_its_minimiser(rule):
    norm = norm_of(rule, 6, SIX)
    enumerated = by_signs(factorise(np.eye(6)), norm).value
    assert orthogonal_angle(norm) == pytest.approx(enumerated, rel=1e-13)
    a = orthogonal_minimiser(norm)
    assert np.linalg.norm(a) == pytest.approx(1.0, rel=1e-14)
    assert norm.norm(a) == pytest.approx(orthogonal_angle(norm), rel=1e-13)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_no_vector_undercuts_the_orthogonal_angle(rule):
    """||a||_F >= kappa ||a||_2, the inequality of the spectral bound."""
    norm = norm_of(rule, 6, SIX)
    kappa = orthogonal_angle(norm)
    rng = np.random.default_rng(0)
    for start in rng.standard_normal((10, 6)):
        found = minimize(
            lambda a, f: f(a / np.linalg.norm(a)),
            start,
            args=(norm.norm,),
            method="Nelder-Mead",
            options={"maxiter": 400},
        )
        assert found.fun >= kappa * (1 - 1e-12)


def test_mixed_norm_where_two_groups_are_the_worst_place():
    norm = ordered_mixed_norm([[0], [1], [2, 3, 4, 5]], [0.8, 0.1, 0.1])
    # 0.8/2, 0.9/sqrt(5), 1/sqrt(6)
    assert orthogonal_angle(norm) == pytest.approx(0.4, rel=1e-14)
    norm = ordered_mixed_norm([[0, 1, 2], [3, 4, 5]], [0.9, 0.1])
    assert orthogonal_angle(norm) == pytest.approx(1 / sqrt(6), rel=1e-14)
    np.testing.assert_allclose(orthogonal_minimiser(norm), np.full(6, 1 / sqrt(6)))


def test_random_learners_angle_is_the_formula_for_every_small_p_and_t():
    """Remark slope holds with equality."""
    for p in range(1, 80):
        for t in range(1, p + 1):
            formula = orthogonal_angle(ordered_l1_norm(selection_probability(p, t)))
            assert random_learners_angle(p, t) == pytest.approx(formula, rel=1e-13)


@pytest.mark.parametrize("t", [1, 2, 9, 10, 11, 99, 1000, 99_999, 100_000])
def test_random_learners_angle_for_large_p(t):
    for p in (100_000, 123_456):
        formula = orthogonal_angle(ordered_l1_norm(selection_probability(p, t)))
        assert random_learners_angle(p, t) == pytest.approx(formula, rel=1e-12)
        assert formula == pytest.approx(1 / sqrt(p) if p <= t * t else t / p, rel=1e-12)


def test_groups_of_equal_size_scale_the_angle():
    groups = np.arange(24).reshape(8, 3).tolist()
    for t in range(1, 9):
        angle = orthogonal_angle(norm_of(RandomGroups(t), 24, groups))
        assert angle == pytest.approx(random_learners_angle(8, t) / sqrt(3), rel=1e-13)
    single = orthogonal_angle(norm_of(RandomGroup(), 24, groups))
    assert single == pytest.approx(orthogonal_angle(norm_of(RandomGroups(1), 24, groups)))
    assert orthogonal_angle(norm_of(RandomLearners(5), 24)) == random_learners_angle(24, 5)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 6])
def test_binary_basis(p):
    """Example 3: the closed form is attained by its direction and undercut by none."""
    B = binary_basis(p)
    assert B.shape == (p, (3**p - 1) // 2)
    np.testing.assert_allclose(np.linalg.norm(B, axis=0), 1.0, rtol=1e-14)
    theta = binary_angle(p)
    by_hand = sum((sqrt(i) - sqrt(i - 1)) ** 2 for i in range(1, p + 1)) ** -0.5
    assert theta == pytest.approx(by_hand, rel=1e-14)
    c = binary_minimiser(p)
    assert np.linalg.norm(c) == pytest.approx(1.0, rel=1e-14)
    assert np.abs(B.T @ c).max() == pytest.approx(theta, rel=1e-13)
    for direction in np.random.default_rng(p).standard_normal((200, p)):
        largest = np.abs(B.T @ direction).max() / np.linalg.norm(direction)
        assert largest >= theta * (1 - 1e-12)


def test_binary_angle_falls_like_the_root_of_a_logarithm():
    p = np.array([10**3, 10**4, 10**5, 10**6])
    inverse_square = np.array([binary_angle(int(size)) ** -2 for size in p])
    # The increments of sum (sqrt(i) - sqrt(i-1))^2 tend to 1/(4 i).
    np.testing.assert_allclose(np.diff(inverse_square), np.log(10) / 4, rtol=1e-3)


def test_binary_basis_is_recognised_up_to_scale_sign_order_and_repetition():
    rng = np.random.default_rng(4)
    B = binary_basis(3)
    shuffled = B[:, rng.permutation(13)] * rng.choice([-3.0, 0.5], 13)
    assert is_binary_basis(B)
    assert is_binary_basis(np.hstack([shuffled, -B[:, :4]]))
    assert not is_binary_basis(B[:, 1:])
    assert not is_binary_basis(np.hstack([B[:, 1:], B[:, 1:]]))
    assert not is_binary_basis(np.hstack([B, [[1.0], [0.5], [0.0]]]))
    assert not is_binary_basis(np.hstack([B, np.zeros((3, 1))]))
    assert not is_binary_basis(rng.standard_normal((3, 13)))


def test_impossible_arguments_are_named():
    with pytest.raises(ValueError, match=r"t=6 is impossible; pass a subset size from 1 to p=5"):
        random_learners_angle(5, 6)
    with pytest.raises(ValueError, match=r"p=0 is impossible; pass the number of samples"):
        binary_angle(0)
    with pytest.raises(ValueError, match=r"p=13 is impossible; pass .* up to 12"):
        binary_basis(13)
