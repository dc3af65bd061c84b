"""The compiled line search against a root found by bisection."""

import numpy as np
import pytest

from rgboost._core.jit import kernel
from rgboost._core.team import lone_seat
from rgboost.engines.direct.line_search import newton_step, search_step, slope_at
from rgboost.learners import Stumps
from rgboost.learners.kernels import Pick, Scratch
from rgboost.losses import (
    AbsoluteError,
    Exponential,
    Gamma,
    Huber,
    LogCosh,
    Logistic,
    Poisson,
    Quantile,
    Ridged,
    Squared,
    Tweedie,
)
from rgboost.losses.log_link import LogLinkLoss
from rgboost.statistics.rows import TILE, make_rows, start_rows
from rgboost.steps import LineSearch, check_step


@kernel()
def step_along(terms, learners, pick, rows, sums, scratch, seat):
    return search_step(terms, learners, Pick(*pick), rows, sums, scratch, seat, 0)[0]


def setting(loss, y, x, weight, left, right):
    """Rows, the stump x <= 0 and its normalised direction with <b, r> >= 0."""
    prepared = Stumps(max_bins=None).prepare(x[:, None], weight)
    rows = make_rows(y, weight, 0.1)
    start_rows(loss.terms, rows)
    w = np.ones_like(y) if weight is None else weight
    b = np.where(x <= 0, left, right)
    b = b / np.sqrt(w @ (b * b))
    gradient = float(b @ rows.residual)
    if gradient < 0:
        b, gradient = -b, -gradient
    learner = int(np.flatnonzero(prepared.cuts.thresholds < x[x > 0].min())[-1])
    pick = Pick(learner, 0, gradient, float(b[x <= 0][0]), float(b[x > 0][0]))
    sums = np.empty((2, 2, len(rows.chunks) - 1))
    scratch = Scratch(np.empty(1024), np.empty(TILE), np.empty(TILE))
    return prepared.arrays, rows, b, w, pick, sums, scratch


LOSSES = [
    Squared(), Huber(0.1), Huber(3.0), Logistic(0.0), Logistic(0.1), Exponential(),
    Ridged(Exponential(), 0.1), Poisson(), Gamma(), Tweedie(1.3), LogCosh(),
]  # fmt: skip


@pytest.mark.kernel
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("heights", [(1.0, -1.0), (2.0, -0.3), (1.0, 0.1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_step_is_the_minimiser(loss, heights, weighted):
    rng = np.random.default_rng(2)
    x = rng.normal(size=60)
    y = np.where(rng.random(60) < np.where(x <= 0, 0.8, 0.3), 1.0, -1.0)
    if isinstance(loss, Squared | Huber | LogCosh):
        y = y + rng.normal(size=60)
    if isinstance(loss, LogLinkLoss):
        y = np.exp(y + rng.normal(size=60))
    weight = rng.uniform(0.5, 2, size=60) if weighted else None
    arrays, rows, b, w, pick, sums, scratch = setting(loss, y, x, weight, *heights)
    step = step_along(loss.terms, arrays, pick, rows, sums, scratch, lone_seat())
    f = np.full(60, 0.1)
    assert step == pytest.approx(LineSearch().find(loss, y, f, b, w), rel=1e-10)


@pytest.mark.kernel
@pytest.mark.parametrize("loss", [AbsoluteError(), Quantile(0.8)], ids=repr)
@pytest.mark.parametrize("heights", [(1.0, -1.0), (2.0, -0.3), (1.0, 0.1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_loss_with_kinks_is_smallest_at_the_step(loss, heights, weighted):
    """phi is piecewise linear: its minimum is at a kink."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=60), rng.normal(1.0, 2.0, size=60)
    weight = rng.uniform(0.5, 2, size=60) if weighted else None
    arrays, rows, b, w, pick, sums, scratch = setting(loss, y, x, weight, *heights)
    step = step_along(loss.terms, arrays, pick, rows, sums, scratch, lone_seat())
    lowest = min(w @ loss.value(y, 0.1 + rho * b) for rho in (y - 0.1) / b)
    assert w @ loss.value(y, 0.1 + step * b) == pytest.approx(lowest, rel=1e-10)


@pytest.mark.parametrize("loss", [Poisson(), Exponential()], ids=repr)
def test_an_overshoot_of_hundreds_is_taken_back(loss):
    """Newton's first step ends where the exponential is cut; bisection leads back."""
    x = np.array([-1.0, -0.5, 0.5, 1.0])
    y = np.array([1.0, 1.0, 1.0, -1.0])
    if isinstance(loss, Poisson):
        y = np.array([1e5, 3e5, 2e5, 1e5])
    arrays, rows, b, _, pick, sums, scratch = setting(loss, y, x, None, 1.0, 0.5)
    step, _ = newton_step(loss.terms, arrays, pick, rows, sums, scratch, lone_seat(), 0)
    assert step == pytest.approx(LineSearch().find(loss, y, np.full(4, 0.1), b), rel=1e-9)


@pytest.mark.parametrize("loss", [Logistic(0.0), Exponential()], ids=repr)
@pytest.mark.parametrize("heights", [(1.0, -1.0), (1.0, -0.5)])
def test_a_perfect_stump_does_not_overflow(loss, heights):
    """The loss falls for ever along b; the step is finite and the slope there negligible."""
    x = np.array([-2.0, -1.0, 1.0, 2.0])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    arrays, rows, b, _, pick, sums, scratch = setting(loss, y, x, None, *heights)
    step = step_along(loss.terms, arrays, pick, rows, sums, scratch, lone_seat())
    assert np.isfinite(step)
    assert step > 0
    slope = -(b @ loss.residual(y, 0.1 + step * b))
    assert abs(slope) < 1e-6 * pick.gradient


def test_far_away_minimum():
    """Huber's loss far from its minimum has no curvature at all."""
    y = np.full(50, 1e6)
    x = np.linspace(-1, 1, 50)
    loss = Huber(1.0)
    arrays, rows, b, w, pick, sums, scratch = setting(loss, y, x, None, 1.0, 0.5)
    step, _ = newton_step(loss.terms, arrays, pick, rows, sums, scratch, lone_seat(), 0)
    assert step == pytest.approx(LineSearch().find(loss, y, np.full(50, 0.1), b, w), rel=1e-9)
    slope, _, _ = slope_at(loss.terms, arrays, pick, rows, step, sums[0], scratch, lone_seat(), 0)
    assert abs(slope) < 1e-9 * pick.gradient


def test_python_line_search_goes_both_ways():
    y = np.array([1.0, 2.0])
    b = np.array([-1.0, -1.0])
    assert LineSearch().find(Squared(), y, np.zeros(2), b) == pytest.approx(-1.5, rel=1e-12)
    assert LineSearch().find(Squared(), y, y, b) == 0.0


def test_unknown_step():
    with pytest.raises(ValueError, match="step='big' is not known; use 'constant'"):
        check_step("big")
