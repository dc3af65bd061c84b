"""Sums of rare categories are smoothed: against the formulas, and in every engine."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost.learners import Stumps
from rgboost.learners.credibility import residual_noise, smooth_sums
from rgboost.losses import Huber, Logistic, Quantile, Softmax, Squared
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep
from rgboost.training import boost
from tests.conftest import JIT
from tests.engines.test_loop import SlowSquared

N_ITER = 12 if JIT else 4


def naive_smooth(sums, weights, noise, few=8.0):
    """The formulas of `rgboost.learners.credibility`, for the categories that have a weight."""
    total, whole = sums.sum(axis=0), weights.sum()
    off = sums - weights[:, None] * total / whole
    between = (off**2 / weights[:, None]).sum()
    if len(sums) <= few:
        return sums
    spread = (between - (len(sums) - few) * noise) / (whole - weights @ weights / whole)
    spread = max(spread, 0.0)
    trust = weights * spread / (weights * spread + noise)
    mean = (total - trust @ sums) / (whole - trust @ weights)
    return mean * weights[:, None] + trust[:, None] * (sums - mean * weights[:, None])


@pytest.mark.kernel
@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_smoothing_is_the_formula(n, n_outputs, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 20, size=n) * 1.0
    sums = rng.normal(size=(n, n_outputs)) * np.sqrt(weights)[:, None] * rng.choice([0.5, 1, 3])
    smoothed = sums.copy()
    smooth_sums(smoothed, weights, sums.sum(axis=0), weights.sum(), 1.0, 8.0)
    np.testing.assert_allclose(smoothed, naive_smooth(sums, weights, 1.0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(smoothed.sum(axis=0), sums.sum(axis=0), rtol=1e-9, atol=1e-9)


@pytest.mark.kernel
def test_categories_without_weight_are_left_out():
    rng = np.random.default_rng(0)
    weights, sums = rng.integers(1, 9, size=20) * 1.0, rng.normal(size=(20, 1)) * 4
    weights[[3, 7]], sums[[3, 7]] = 0.0, 0.0
    smoothed = sums.copy()
    smooth_sums(smoothed, weights, sums.sum(axis=0), weights.sum(), 1.0, 8.0)
    there = weights > 0
    expected = naive_smooth(sums[there], weights[there], 1.0)
    np.testing.assert_allclose(smoothed[there], expected, rtol=1e-9)
    assert (smoothed[~there] == 0).all()


@pytest.mark.kernel
def test_noise_of_residuals():
    rng = np.random.default_rng(0)
    r, w = rng.normal(size=(2, 30)), rng.integers(1, 5, size=30) * 1.0
    usual = w @ w / w.sum()
    expected = usual * (w * r**2).sum() / w.sum()
    assert residual_noise(r * w, w, True, usual, w.sum()) == pytest.approx(expected)
    assert residual_noise(r, np.empty(0), False, 1.0, 30.0) == pytest.approx((r**2).sum() / 30)


def problem(n=240, levels=30, seed=0):
    """A category of many levels, some of which matter, and a number with missing values."""
    rng = np.random.default_rng(seed)
    level, x = rng.integers(levels, size=n), rng.normal(size=n)
    effect = np.where(np.arange(levels) < levels // 3, rng.normal(size=levels), 0.0)
    y = effect[level] + np.sin(x) + rng.normal(size=n)
    x[rng.random(n) < 0.1] = np.nan
    return np.column_stack([level, x]).astype(float), y, rng.integers(1, 4, size=n) * 0.5


def naive_run(X, y, weight, n_iter):
    """Algorithm 2 for the squared loss on the categories alone, by the formulas."""
    level, f, losses = X[:, 0].astype(int), np.zeros(len(y)), []
    w = np.ones(len(y)) if weight is None else weight
    by_level = np.bincount(level, w)
    for _ in range(n_iter + 1):
        r = y - f
        losses.append(0.5 * w @ r**2 / w.sum())
        noise = (w @ w / w.sum()) * (w @ r**2) / w.sum()
        few = 8 + w.sum() ** 2 / (w @ w) / 2000
        sums = naive_smooth(np.bincount(level, w * r)[:, None], by_level, noise, few)[:, 0]
        order = np.argsort(sums / by_level, kind="stable")
        left, below = np.cumsum(sums[order])[:-1], np.cumsum(by_level[order])[:-1]
        right, above = sums.sum() - left, w.sum() - below
        best = int(np.argmax(left**2 / below + right**2 / above))
        on_left = np.isin(level, order[: best + 1])
        f = f + np.where(on_left, left[best] / below[best], right[best] / above[best])
    return np.array(losses)


def run(X, y, *, loss=Squared(), step=ConstantStep(), **options):  # noqa: B008
    settings = dict(selection=AllLearners(), n_iter=N_ITER, random_state=0)
    learner = Stumps(max_bins=16, categorical=(0,), smooth=True)
    return boost(X, y, loss=loss, learner=learner, step=step, **{**settings, **options})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("engine", [pytest.param("direct", marks=pytest.mark.kernel), "gram"])
def test_the_loop_is_the_formula(engine, weighted):
    X, y, weight = problem()
    weight = weight if weighted else None
    boosted = run(X[:, :1], y, weight=weight, engine=engine)
    expected = naive_run(X, y, weight, N_ITER)
    np.testing.assert_allclose(boosted.trace.train_loss, expected, rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("engine", ["gram", "sparse", "python", "threads"])
def test_the_same_iterates_in_every_engine(engine, weighted):
    X, y, weight = problem(3000 if engine == "threads" else 240)
    given = dict(weight=weight if weighted else None, selection=RandomGroups(1))
    one = run(X, y, engine="direct", **given)
    other = {
        "gram": lambda: run(X, y, engine="gram", **given),
        "sparse": lambda: run(scipy.sparse.csr_array(X), y, engine="direct", **given),
        "python": lambda: run(X, y, loss=SlowSquared(), engine="direct", **given),
        "threads": lambda: run(X, y, engine="direct", n_jobs=2, **given),
    }[engine]()
    np.testing.assert_array_equal(one.trace.learner, other.trace.learner)
    np.testing.assert_allclose(one.trace.train_loss, other.trace.train_loss, rtol=1e-10)


@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), Logistic()])
def test_the_loss_falls_by_what_the_gradient_says(loss):
    """Theorem strong needs L(f^{m+1}) <= L(f^m) - <b, r>^2 / (2 sigma)."""
    X, y, _ = problem()
    y = np.sign(y) if isinstance(loss, Logistic) else y
    trace = run(X, y, loss=loss, n_iter=60).trace
    promised = trace.gradient_norm**2 / (2 * loss.smoothness) / len(y)
    assert (np.diff(trace.train_loss) <= -promised * (1 - 1e-9)).all()
    assert (trace.feature == 0).any()


@pytest.mark.parametrize(
    ("loss", "step"),
    [
        (Logistic(), NewtonStep()), (Logistic(), LineSearch()), (Logistic(), LeafSearch()),
        (Quantile(0.5), LeafSearch()), (Softmax(3), NewtonStep()), (Softmax(3), ConstantStep()),
    ],
)  # fmt: skip
def test_noise_is_not_fitted_by_any_step(loss, step):
    """A level for three rows each, and labels that do not depend on it: of the split that would
    explain most of them, less than a third is left."""
    rng = np.random.default_rng(0)
    X = np.repeat(np.arange(100.0), 3)[:, None]
    y = rng.integers(3, size=300).astype(float)
    y = np.where(y > 1, 1.0, -1.0) if isinstance(loss, Logistic) else y

    def fall(smooth):
        learner = Stumps(categorical=(0,), smooth=smooth)
        losses = boost(
            X, y, loss=loss, learner=learner, selection=AllLearners(), step=step, n_iter=30,
            learning_rate=0.3, start_score=None, random_state=0,
        ).trace.train_loss  # fmt: skip
        return losses[0] - losses[-1]

    assert fall(True) < fall(False) / 3
