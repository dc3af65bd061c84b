import sys

import numpy as np
import pytest
from scipy.optimize import OptimizeResult, linprog, minimize_scalar

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import distance, norm_of
from rgboost.theory.distance import QuotientProgram, factorise

from .cases import RULES, SIX, unit_columns

FOUR = [AllLearners(), RandomLearners(3), RandomGroup(), RandomGroups(2)]


@pytest.fixture
def rng():
    return np.random.default_rng(42)


def kernel_vector(B):
    return np.linalg.svd(B)[2][-1]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_full_column_rank_gives_the_dual_norm(rule, rng):
    B = rng.standard_normal((8, 6))
    beta1, beta2 = rng.standard_normal((2, 6))
    expected = norm_of(rule, 6, SIX).dual_norm(beta1 - beta2)
    assert distance(B, beta1, beta2, rule, SIX) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_one_dimensional_kernel_against_a_line_search(rule, rng):
    for _ in range(5):
        B = rng.standard_normal((5, 6))
        beta1, beta2 = rng.standard_normal((2, 6))
        norm, omega = norm_of(rule, 6, SIX), kernel_vector(B)
        found = minimize_scalar(
            lambda s, d, w, f: f(d - s * w),
            bounds=(-20.0, 20.0),
            args=(beta1 - beta2, omega, norm.dual_norm),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert distance(B, beta1, beta2, rule, SIX) == pytest.approx(found.fun, rel=1e-8)


@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_symmetric_translation_invariant_and_homogeneous(rule, rng):
    """Proposition basic-prop."""
    B = rng.standard_normal((3, 6))
    beta1, beta2, shift = rng.standard_normal((3, 6))
    value = distance(B, beta1, beta2, rule, SIX)
    assert value > 0.1
    assert distance(B, beta2, beta1, rule, SIX) == pytest.approx(value, rel=1e-8)
    moved = distance(B, beta1 - shift, beta2 - shift, rule, SIX)
    assert moved == pytest.approx(value, rel=1e-8)
    assert distance(B, 7 * beta1, 7 * beta2, rule, SIX) == pytest.approx(7 * value, rel=1e-8)


@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_depends_only_on_the_predictions(rule, rng):
    B = rng.standard_normal((3, 6))
    beta1, beta2 = rng.standard_normal((2, 6))
    kernel = np.linalg.svd(B)[2][3:]
    other1, other2 = beta1 + 5.0 * kernel[0] - kernel[2], beta2 - 3.0 * kernel[1]
    value = distance(B, beta1, beta2, rule, SIX)
    assert distance(B, other1, other2, rule, SIX) == pytest.approx(value, rel=1e-8)
    assert distance(B, beta1, other1, rule, SIX) == pytest.approx(0.0, abs=1e-12)
    assert distance(B, beta1, beta1, rule, SIX) == 0.0


@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_triangle_inequality(rule, rng):
    B = rng.standard_normal((3, 6))
    for _ in range(5):
        u, v, w = rng.standard_normal((3, 6))
        direct = distance(B, u, w, rule, SIX)
        around = distance(B, u, v, rule, SIX) + distance(B, v, w, rule, SIX)
        assert direct <= around * (1 + 1e-8)


def test_nothing_separates_coefficients_of_zero_columns():
    assert distance(np.zeros((3, 2)), [1.0, 2.0], [0.0, 5.0], AllLearners()) == 0.0


@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_generalised_cauchy_schwarz(rule, rng):
    """Proposition CS: <a, beta1 - beta2> <= ||a||_F Dist(beta1, beta2) for a in Range(B')."""
    B = rng.standard_normal((3, 6))
    norm = norm_of(rule, 6, SIX)
    for _ in range(10):
        a = B.T @ rng.standard_normal(3)
        beta1, beta2 = rng.standard_normal((2, 6))
        bound = norm.norm(a) * distance(B, beta1, beta2, rule, SIX)
        assert a @ (beta1 - beta2) <= bound * (1 + 1e-9)
        # Equality for the beta that attains the norm of a.
        attained = norm.norm(a) * distance(B, norm.maximiser(a), np.zeros(6), rule, SIX)
        assert a @ norm.maximiser(a) == pytest.approx(attained, rel=1e-8)


@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_generalised_mean_value_inequality(rule, rng):
    """Proposition average: min <a, b> + t/2 Dist(b, 0)^2 = -||a||_F^2 / (2 t)."""
    B = rng.standard_normal((3, 6))
    norm, t = norm_of(rule, 6, SIX), 1.7
    a = B.T @ rng.standard_normal(3)

    def objective(b):
        return a @ b + t / 2 * distance(B, b, np.zeros(6), rule, SIX) ** 2

    smallest = -(norm.norm(a) ** 2) / (2 * t)
    minimiser = -norm.norm(a) / t * norm.maximiser(a)
    assert objective(minimiser) == pytest.approx(smallest, rel=1e-8)
    for scale in (0.01, 0.3, 1.0):
        for direction in rng.standard_normal((4, 6)):
            assert objective(minimiser + scale * direction) >= smallest - 1e-9


@pytest.mark.parametrize(
    ("rule", "n", "K"),
    [
        (AllLearners(), 15, 80),
        (RandomLearners(9), 10, 60),
        (RandomLearners(40), 10, 60),
        (RandomGroup(), 15, 80),
        (RandomGroups(5), 15, 80),
    ],
    ids=str,
)
def test_both_sides_of_larger_programs_meet(rule, n, K, rng):
    B = unit_columns(rng, n, K)
    groups = np.array_split(rng.permutation(K), 20)
    factors = factorise(B)
    program = QuotientProgram(factors.V, norm_of(rule, K, groups))
    for beta in rng.standard_normal((2, K)):
        found = program.solve(factors.V.T @ beta)
        assert found.lower <= found.upper * (1 + 1e-12)
        assert found.lower == pytest.approx(found.upper, rel=1e-8)
        np.testing.assert_allclose(B @ found.b, B @ beta, atol=1e-13)


def test_the_simplex_method_steps_in_for_a_solver_that_fails(monkeypatch, rng):
    B, beta = rng.standard_normal((3, 6)), rng.standard_normal(6)
    expected = distance(B, beta, np.zeros(6), AllLearners())
    methods = []

    def failing(*args, method, **rest):
        methods.append(method)
        if method != "highs-ds" or len(methods) > 2:
            return OptimizeResult(status=4, message="numerical difficulties")
        return linprog(*args, method=method, **rest)

    # The function `distance` hides the module of that name as an attribute of the package.
    monkeypatch.setattr(sys.modules["rgboost.theory.distance"], "linprog", failing)
    assert distance(B, beta, np.zeros(6), AllLearners()) == pytest.approx(expected, rel=1e-12)
    assert methods == ["highs", "highs-ds"]
    with pytest.raises(RuntimeError, match="numerical difficulties"):
        distance(B, beta, np.zeros(6), AllLearners())


def test_impossible_arguments_are_named():
    with pytest.raises(ValueError, match="beta2 has 2 coordinates; pass one with 3"):
        distance(np.eye(3), np.zeros(3), np.zeros(2), AllLearners())
    with pytest.raises(ValueError, match="B has shape"):
        distance([1.0, 2.0], [0.0], [0.0], AllLearners())
    with pytest.raises(ValueError, match="B holds NaN"):
        distance([[np.nan]], [0.0], [0.0], AllLearners())
