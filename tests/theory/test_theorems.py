"""Both theorems on runs of Algorithm 3, with Minimal Cosine Angles from `rgboost.theory`."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import (
    check_guarantee,
    distance,
    level_set_radius,
    minimal_cosine_angle,
    nonstrong_bound,
    norm_of,
    strong_bound,
)

from .cases import RULES, SIX, unit_columns
from .descent import Huber, RidgeLogistic, Squared, coordinate_descent, optimum

GROUPS = [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9]]
FOUR = [AllLearners(), RandomLearners(4), RandomGroup(), RandomGroups(2)]
N_SEEDS, M = 12, 40


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    B = unit_columns(rng, 30, 10) + 0.15 * rng.standard_normal((30, 1))
    B /= np.linalg.norm(B, axis=0)
    signal = B @ rng.standard_normal(10) * 3
    return B, signal + rng.standard_t(3, 30), np.where(signal + rng.normal(size=30) > 0, 1.0, -1.0)


def traces(B, y, loss, rule, groups, step, n_seeds=N_SEEDS, M=M):
    seeds = range(1 if isinstance(rule, AllLearners) else n_seeds)
    return np.array(
        [coordinate_descent(B, y, loss, rule, groups, step=step, M=M, seed=s) for s in seeds]
    )


def check_traces(losses, best, bound, rule):
    assert (np.diff(losses, axis=1) <= 1e-10).all()
    return check_guarantee(losses, best, bound, deterministic=isinstance(rule, AllLearners))


@pytest.mark.parametrize("step", ["constant", "line search"])
@pytest.mark.parametrize("loss", [Squared(), RidgeLogistic(0.1)], ids=["squared", "logistic"])
@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_theorem_strong(data, rule, loss, step):
    B, response, label = data
    y = response if isinstance(loss, Squared) else label
    theta = minimal_cosine_angle(B, rule, GROUPS)
    assert theta.exact
    best, _ = optimum(B, y, loss)
    losses = traces(B, y, loss, rule, GROUPS, step)
    gap = losses[0, 0] - best
    assert gap > 1.0
    bound = strong_bound(np.arange(M + 1), gap, loss.mu, loss.sigma, theta.lower)
    report = check_traces(losses, best, bound, rule)
    assert report.ok, report.message


@pytest.mark.parametrize("step", ["constant", "line search"])
@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_theorem_non_strong(data, rule, step):
    B, y, _ = data
    loss = Huber(1.0)
    theta = minimal_cosine_angle(B, rule, GROUPS)
    best, _ = optimum(B, y, loss)
    losses = traces(B, y, loss, rule, GROUPS, step)
    start = losses[0, 0]
    # Huber's loss as a function of the squared residual is concave and 0 at 0, so residuals with
    # a summed loss of at most `start` have a length of at most start/d + d/2.
    C = 2.0 * (start / loss.d + loss.d / 2.0)
    D = level_set_radius(C, theta.lower)
    report = check_traces(
        losses, best, nonstrong_bound(np.arange(M + 1), start - best, loss.sigma, D), rule
    )
    assert report.ok, report.message


@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_theorem_non_strong_for_squared_loss(data, rule):
    """Here C = sqrt(2 gap) is the level set's exact radius."""
    B, y, _ = data
    theta = minimal_cosine_angle(B, rule, GROUPS)
    best, _ = optimum(B, y, Squared())
    losses = traces(B, y, Squared(), rule, GROUPS, "constant")
    gap = losses[0, 0] - best
    D = level_set_radius(np.sqrt(2 * gap), theta.lower)
    report = check_traces(losses, best, nonstrong_bound(np.arange(M + 1), gap, 1.0, D), rule)
    assert report.ok, report.message


@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_level_set_is_within_its_radius(data, rule):
    """Proposition bound: Dist(beta, beta*) <= C / Theta for beta in the initial level set."""
    B, y, _ = data
    theta = minimal_cosine_angle(B, rule, GROUPS)
    best, f = optimum(B, y, Squared())
    beta = np.linalg.lstsq(B, f, rcond=None)[0]
    C = np.sqrt(2 * (0.5 * y @ y - best))
    D = level_set_radius(C, theta.lower)
    directions = list(np.random.default_rng(1).standard_normal((10, 10)))
    directions.append(np.linalg.lstsq(B, theta.witness, rcond=None)[0])
    reached = []
    for a in directions:
        edge = beta + C * a / np.linalg.norm(B @ a)  # on the level set's boundary
        reached.append(distance(B, edge, beta, rule, GROUPS))
        assert reached[-1] <= D * (1 + 1e-8)
    assert reached[-1] == pytest.approx(D, rel=1e-7)  # attained in the witness's direction


@pytest.mark.parametrize("K", [6, 12])
def test_first_step_from_the_witness_is_as_slow_as_promised(K):
    """Type 0, squared loss, y the worst direction: equality in Theorem strong for M = 1."""
    B = unit_columns(np.random.default_rng(2), 5, K)
    theta = minimal_cosine_angle(B, AllLearners())
    assert theta.exact
    y = 3.0 * theta.witness
    losses = coordinate_descent(B, y, Squared(), AllLearners(), None, step="constant", M=1, seed=0)
    bound = strong_bound(1, losses[0], 1.0, 1.0, theta.lower)
    assert losses[1] == pytest.approx(float(bound), rel=1e-10)


@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_a_larger_angle_than_the_true_one_is_caught(rule):
    """Orthogonal columns and the worst start: a bound with three times the angle must fail."""
    B = np.eye(10)
    theta = minimal_cosine_angle(B, rule, GROUPS)
    y = 3.0 * theta.witness
    losses = traces(B, y, Squared(), rule, GROUPS, "constant", n_seeds=60, M=3)
    gap = losses[0, 0]
    steps = np.arange(4)
    right = check_traces(losses, 0.0, strong_bound(steps, gap, 1.0, 1.0, theta.lower), rule)
    assert right.ok, right.message
    wrong_theta = min(1.0, 3.0 * theta.lower)
    # The expected square of the chosen gradient decides how fast the first step really is.
    real = norm_of(rule, 10, GROUPS).norm(theta.witness**2)
    wrong = check_traces(losses, 0.0, strong_bound(steps, gap, 1.0, 1.0, wrong_theta), rule)
    assert wrong.ok == (wrong_theta**2 <= real)
    if isinstance(rule, AllLearners):
        assert not wrong.ok


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_expected_decrease(rule):
    """Equation decay: E L(beta^1) <= L(beta^0) - ||grad||_F^2 / (2 sigma)."""
    rng = np.random.default_rng(3)
    B, y = unit_columns(rng, 4, 6), rng.standard_normal(4)
    losses = traces(B, y, Squared(), rule, SIX, "constant", n_seeds=400, M=1)[:, 1]
    norm, gradient = norm_of(rule, 6, SIX), B.T @ y
    expected = 0.5 * y @ y - 0.5 * norm.norm(gradient**2)
    error = losses.std() / np.sqrt(len(losses))
    assert abs(losses.mean() - expected) <= 4 * error + 1e-12
    assert expected <= 0.5 * y @ y - 0.5 * norm.norm(gradient) ** 2 + 1e-12


@pytest.mark.parametrize("rule", FOUR, ids=str)
def test_strong_convexity_in_the_distance(rule):
    """Proposition strong_con, with the square that its statement leaves out."""
    rng = np.random.default_rng(4)
    B, y = unit_columns(rng, 4, 10), rng.standard_normal(4)
    theta = minimal_cosine_angle(B, rule, GROUPS).lower
    loss = Squared()

    def excess(beta, other):
        gradient = B.T @ loss.derivative(y, B @ beta)
        linear = loss.value(y, B @ beta) + gradient @ (other - beta)
        return loss.value(y, B @ other) - linear

    for beta, other in rng.standard_normal((10, 2, 10)):
        dist = distance(B, other, beta, rule, GROUPS)
        assert excess(beta, other) >= 0.5 * theta**2 * dist**2 * (1 - 1e-8)


def test_strong_convexity_fails_without_the_square():
    """A counterexample to Proposition strong_con as printed: B = I, a short step."""
    theta = minimal_cosine_angle(np.eye(2), AllLearners()).lower
    step = np.array([0.05, 0.05])
    dist = distance(np.eye(2), step, np.zeros(2), AllLearners())
    excess = 0.5 * step @ step
    assert excess == pytest.approx(0.5 * theta**2 * dist**2, rel=1e-9)
    assert excess < 0.5 * theta**2 * dist


def standardised(X):
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


@pytest.mark.parametrize("rule", [AllLearners(), RandomLearners(3), RandomGroup()], ids=str)
def test_diabetes_data(rule):
    X, y = load_diabetes(return_X_y=True)
    B, y = standardised(X), (y - y.mean()) / y.std()
    theta = minimal_cosine_angle(B, rule)
    assert theta.exact
    for loss in (Squared(), Huber(1.0)):
        best, _ = optimum(B, y, loss)
        losses = traces(B, y, loss, rule, None, "constant", M=100)
        gap, steps = losses[0, 0] - best, np.arange(101)
        if isinstance(loss, Squared):
            bound = strong_bound(steps, gap, loss.mu, loss.sigma, theta.lower)
        else:
            D = level_set_radius(2 * (losses[0, 0] + 0.5), theta.lower)
            bound = nonstrong_bound(steps, gap, loss.sigma, D)
        report = check_traces(losses, best, bound, rule)
        assert report.ok, report.message


@pytest.mark.parametrize("rule", [AllLearners(), RandomLearners(6)], ids=str)
def test_breast_cancer_data(rule):
    X, label = load_breast_cancer(return_X_y=True)
    B, y, loss = standardised(X), np.where(label == 1, 1.0, -1.0), RidgeLogistic(0.05)
    theta = minimal_cosine_angle(B, rule, random_state=0, n_starts=2)
    best, _ = optimum(B, y, loss)
    losses = traces(B, y, loss, rule, None, "constant", M=100, n_seeds=8)
    bound = strong_bound(np.arange(101), losses[0, 0] - best, loss.mu, loss.sigma, theta.lower)
    report = check_traces(losses, best, bound, rule)
    assert report.ok, report.message
