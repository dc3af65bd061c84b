"""The spectral lower bounds and the ascent's upper bound, against exact values."""

import numpy as np
import pytest

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import infinity_norm, norm_of, orthogonal_angle
from rgboost.theory.angle.ascent import ascend, climb
from rgboost.theory.angle.enumeration import enumerate_angle
from rgboost.theory.angle.spectral import lower_bound, within_group_weights
from rgboost.theory.distance import QuotientProgram, factorise

from ..cases import RULES, SIX, unit_columns


@pytest.mark.parametrize("rank", [2, 3, 6])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_bounds_hold_what_they_promise(rule, rank):
    for seed in range(4):
        B = unit_columns(np.random.default_rng(seed), rank, 6)
        factors, norm = factorise(B), norm_of(rule, 6, SIX)
        exact = enumerate_angle(factors, norm).value
        lower = lower_bound(factors, norm)
        assert 0.0 < lower.value <= exact * (1 + 1e-12)
        x = ascend(factors, norm, np.random.default_rng(0), 8)
        upper = norm.norm(factors.V @ (factors.s * x))
        assert np.linalg.norm(x) == pytest.approx(1.0, rel=1e-12)
        assert exact * (1 - 1e-12) <= upper
        assert upper == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize(
    ("n", "K", "rule", "method"),
    [
        (6, 6, RandomLearners(2), "spectral"),
        (3, 12, AllLearners(), "spectral, largest cosine"),
        (3, 60, RandomGroup(), "squared cosines"),
        (12, 30, RandomGroups(6), "weighted spectral"),
    ],
    ids=str,
)
def test_each_lower_bound_is_the_best_somewhere(n, K, rule, method):
    B = unit_columns(np.random.default_rng(3), n, K)
    groups = None if n <= 6 else np.arange(K).reshape(-1, 3).tolist()
    factors, norm = factorise(B), norm_of(rule, K, groups)
    bound = lower_bound(factors, norm)
    assert bound.method == method
    directions = np.random.default_rng(4).standard_normal((20_000, n))
    values = norm.norms(directions @ B) / np.linalg.norm(directions, axis=1)
    assert bound.value <= values.min()


def test_spectral_bound_is_exact_for_orthonormal_columns():
    Q = np.linalg.qr(np.random.default_rng(5).standard_normal((9, 6)))[0]
    for rule in RULES:
        norm = norm_of(rule, 6, SIX)
        assert lower_bound(factorise(Q), norm).value == pytest.approx(
            orthogonal_angle(norm), rel=1e-12
        )


def test_weights_of_a_crowd_and_a_loner():
    """Many copies of one direction and one orthogonal: weights are what makes the bound good."""
    B = np.array([[1.0] * 20 + [0.0], [0.0] * 20 + [1.0]])
    factors, norm = factorise(B), infinity_norm(21)
    w = within_group_weights(factors.V * factors.s, norm)
    assert w.sum() == pytest.approx(1.0, rel=1e-12)
    assert w[-1] == pytest.approx(0.5, abs=0.01)
    assert lower_bound(factors, norm).value == pytest.approx(np.sqrt(0.5), rel=0.01)


def test_every_step_of_the_climb_is_no_worse():
    B = unit_columns(np.random.default_rng(6), 8, 30)
    factors, norm = factorise(B), norm_of(RandomGroups(3), 30, np.arange(30).reshape(6, 5).tolist())
    rows = factors.V * factors.s
    program = QuotientProgram(factors.V, norm)
    for start in np.random.default_rng(7).standard_normal((6, 8)):
        x = start / np.linalg.norm(start)
        values = [norm.norm(rows @ x)]
        for _ in range(8):
            vertex = program.solve(x / factors.s).z / factors.s
            x = vertex / np.linalg.norm(vertex)
            values.append(norm.norm(rows @ x))
        assert (np.diff(values) <= 1e-9).all()
        end = climb(program, factors, start / np.linalg.norm(start), 50)
        assert norm.norm(rows @ end) == pytest.approx(values[-1], rel=1e-8)
        assert values[-1] < 0.95 * values[0]


def test_programs_that_are_too_large_leave_the_starts():
    B = unit_columns(np.random.default_rng(8), 4, 150)
    factors, norm = factorise(B), norm_of(RandomLearners(30), 150)
    x = ascend(factors, norm, np.random.default_rng(0), 4)
    worst = enumerate_angle(factors, infinity_norm(150))
    assert norm.norm(B.T @ factors.U @ x) <= worst.value
