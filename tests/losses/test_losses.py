"""Losses: known values, finite differences, sigma and mu, the best constant, labels."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from rgboost._core.jit import kernel
from rgboost.losses import (
    AbsoluteError,
    Exponential,
    Gamma,
    Huber,
    LogCosh,
    Logistic,
    Loss,
    Poisson,
    Quantile,
    Ridged,
    Softmax,
    Squared,
    Tweedie,
)
from rgboost.losses.kernels import evaluate_single, sum_of_losses
from rgboost.losses.log_link import LogLinkLoss

DIFFERENTIABLE = [
    Squared(),
    Huber(0.7),
    Logistic(0.0),
    Logistic(0.3),
    Exponential(),
    Ridged(Huber(0.7), 0.2),
    Poisson(),
    Gamma(),
    Tweedie(1.5),
    Tweedie(1.2),
    LogCosh(),
    LogCosh(3.0),
    Ridged(Poisson(), 0.2),
]
KINKED = [Quantile(0.5), Quantile(0.9), AbsoluteError()]
LOSSES = [*DIFFERENTIABLE, *KINKED]
BINARY = (Logistic, Exponential)


def labels_for(loss, rng, n):
    y = rng.normal(size=n)
    inner = getattr(loss, "inner", loss)
    if isinstance(inner, Gamma):
        return np.exp(y)
    if isinstance(inner, LogLinkLoss):
        return rng.poisson(1.5, size=n).astype(float)
    return np.sign(y) if isinstance(inner, BINARY) else y


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("loss", "y", "f", "value", "residual"),
    [
        (Squared(), 3.0, 1.0, 2.0, 2.0),
        (Huber(1.0), 3.0, 1.0, 1.5, 1.0),
        (Huber(1.0), 0.0, 0.5, 0.125, -0.5),
        (Logistic(0.0), 1.0, 0.0, np.log(2), 0.5),
        (Logistic(0.5), -1.0, 2.0, np.log1p(np.exp(2)) + 1.0, -1 / (1 + np.exp(-2)) - 1.0),
        (Exponential(), -1.0, 1.5, np.exp(1.5), -np.exp(1.5)),
        (Ridged(Squared(), 2.0), 3.0, 1.0, 3.0, 0.0),
        (Poisson(), 2.0, 1.0, np.e - 2.0, 2.0 - np.e),
        (Gamma(), 3.0, 1.0, 1.0 + 3.0 / np.e, 3.0 / np.e - 1.0),
        (Tweedie(1.5), 3.0, 2.0, 2 * np.e + 6 / np.e, 3 / np.e - np.e),
        (Tweedie(1.25), 0.0, 4.0, np.exp(3) / 0.75, -np.exp(3)),
        (Quantile(0.75), 3.0, 1.0, 1.5, 0.75),
        (Quantile(0.75), 1.0, 3.0, 0.5, -0.25),
        (AbsoluteError(), 1.0, 3.0, 2.0, -1.0),
        (AbsoluteError(), 1.0, 1.0, 0.0, 0.0),
        (LogCosh(), 1.0, 3.0, np.log(np.cosh(2)), -np.tanh(2)),
        (LogCosh(4.0), 1.0, 3.0, 16 * np.log(np.cosh(0.5)), -4 * np.tanh(0.5)),
    ],
)
def test_known_values(loss, y, f, value, residual):
    np.testing.assert_allclose(loss.value(y, np.array([f])), [value], rtol=1e-14)
    np.testing.assert_allclose(loss.residual(y, np.array([f])), [residual], rtol=1e-14, atol=1e-15)


@pytest.mark.kernel
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_derivatives_are_those_of_the_value(loss):
    rng = np.random.default_rng(0)
    y = labels_for(loss, rng, 200)
    f = rng.uniform(-3, 3, size=200)
    if not isinstance(loss, BINARY):  # the second derivative of Huber's loss jumps at |r| = delta
        f = f[np.abs(np.abs(y - f) - 0.7) > 1e-3]
        y = y[: len(f)]
        keep = np.abs(np.abs(y - f) - 0.7) > 1e-3
        y, f = y[keep], f[keep]
    if isinstance(loss, Quantile | AbsoluteError):
        keep = np.abs(y - f) > 1e-3
        y, f = y[keep], f[keep]
    h = 1e-5
    slope = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    np.testing.assert_allclose(-loss.residual(y, f), slope, rtol=1e-8, atol=1e-9)
    bend = -(loss.residual(y, f + h) - loss.residual(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(y, f), bend, rtol=1e-7, atol=1e-8)


@kernel()
def single_rows(terms, y, f, scale):
    residual, curvature = np.empty(len(y), np.float32), np.empty(len(y), np.float32)
    for i in range(len(y)):
        residual[i], curvature[i] = evaluate_single(terms, y[i], f[i], scale)
    return residual, curvature


@pytest.mark.kernel
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_single_precision_is_double_precision_rounded(loss):
    rng = np.random.default_rng(0)
    far = [-90.0, 90.0] if isinstance(loss, Logistic) else []
    f = np.append(rng.uniform(-20, 20, size=60), [0.0, *far])
    y, scale = labels_for(loss, rng, len(f)), 1e-3
    residual, curvature = single_rows(loss.terms, y, f, scale)
    # An exponent of 90 is rounded to 4e-6, and so is what it is the exponent of.
    np.testing.assert_allclose(residual, scale * loss.residual(y, f), rtol=2e-5, atol=1e-10)
    np.testing.assert_allclose(curvature, scale * loss.curvature(y, f), rtol=2e-5, atol=1e-40)


@kernel()
def add_losses(terms, y, f):
    return sum_of_losses(terms, y, f, np.empty(len(y)))


@pytest.mark.kernel
@pytest.mark.parametrize("n", [0, 1, 9, 2500])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_sum_of_losses(loss, n):
    rng = np.random.default_rng(n)
    f = rng.uniform(-2, 2, size=n)
    f[n // 2 :] *= 0 if n == 2500 else 1  # the largest factors: log 2 in every row
    y = labels_for(loss, rng, n)
    assert add_losses(loss.terms, y, f) == pytest.approx(loss.value(y, f).sum(), rel=1e-13)


@pytest.mark.kernel
def test_sum_of_logistic_losses_far_out():
    """Neither overflow of a wrong label, nor anything of a label that is certain."""
    y, f = np.array([1.0, 1.0, -1.0]), np.array([-800.0, 800.0, -750.0])
    assert add_losses(Logistic(0.0).terms, y, f) == 800.0


@pytest.mark.parametrize("loss", DIFFERENTIABLE, ids=repr)
def test_smoothness_and_strong_convexity_are_the_extremes_of_the_curvature(loss):
    f = np.linspace(-80, 80, 200_001)
    y = np.full_like(f, 0.0 if isinstance(loss, Tweedie) else 1.0)
    curvature = loss.curvature(y, f)
    if loss.smoothness is None:
        assert curvature.max() > 1e15
    else:
        assert curvature.max() == pytest.approx(loss.smoothness, rel=1e-12)
    assert curvature.min() == pytest.approx(loss.strong_convexity, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_nothing_overflows(loss):
    f = np.array([-1e4, 1e4, -1e4, 1e4])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    for values in (loss.value(y, f), loss.residual(y, f), loss.curvature(y, f)):
        assert np.isfinite(values).all()
        assert np.isfinite(1e9 * values).all()


@pytest.mark.parametrize("loss", DIFFERENTIABLE, ids=repr)
def test_constants_on_a_range_bound_the_curvature_there(loss):
    """Tight where the curvature is monotone in score and label; Tweedie's has two terms."""
    low, high = -1.5, 2.0
    f, y = np.meshgrid(np.linspace(low, high, 701), [0.5, 1.0, 2.5])
    if isinstance(loss, BINARY):
        y = np.sign(y - 0.7)
    curvature = loss.curvature(y.ravel(), f.ravel())
    mu, sigma = loss.convexity_on(low, high, y.min(), y.max())
    assert mu <= curvature.min() * (1 + 1e-14)
    assert curvature.max() <= sigma * (1 + 1e-14)
    if isinstance(loss, Poisson | Gamma | Exponential):
        assert curvature.max() == pytest.approx(sigma, rel=1e-12)
    if isinstance(loss, Poisson | Gamma):
        assert curvature.min() == pytest.approx(mu, rel=1e-12)


@pytest.mark.parametrize("loss", KINKED, ids=repr)
def test_losses_with_a_kink_have_no_smoothness(loss):
    near = loss.residual(1.0, np.array([1.0 - 1e-12, 1.0 + 1e-12]))
    assert near[0] - near[1] == pytest.approx(loss.terms.above + loss.terms.below)
    assert loss.smoothness is None
    assert loss.newton_limit is None
    assert loss.convexity_on(-1.0, 1.0, 0.0, 1.0) == (0.0, np.inf)


def test_logistic_is_accurate_far_out():
    f = np.linspace(-600, 600, 4001)
    loss = Logistic(0.0)
    np.testing.assert_allclose(loss.value(1.0, f), np.logaddexp(0, -f), rtol=1e-14)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(loss.residual(1.0, f), 1 / (1 + np.exp(f)), rtol=1e-14)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_best_constant_minimises(loss, weighted):
    rng = np.random.default_rng(1)
    y = labels_for(loss, rng, 51)
    weight = rng.integers(1, 5, size=51).astype(float) if weighted else None
    w = np.ones(51) if weight is None else weight
    found = loss.best_constant(y, weight)
    searched = minimize_scalar(
        lambda c: w @ loss.value(y, np.full(51, c)), bracket=(-1, 1), tol=1e-12
    ).x
    if loss in KINKED:
        lowest = min(w @ loss.value(y, np.full(51, c)) for c in y)
        assert w @ loss.value(y, np.full(51, found)) == pytest.approx(lowest, rel=1e-14)
        return
    assert found == pytest.approx(searched, abs=1e-6)
    assert abs(w @ loss.residual(y, np.full(51, found))) < 1e-9 * w.sum()


@pytest.mark.parametrize(
    "loss",
    [Squared(), Huber(1.0), Logistic(), Exponential(), Poisson(), Gamma(), Tweedie()],
    ids=repr,
)
def test_link_and_its_inverse(loss):
    mean = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(loss.inverse_link(loss.link(mean)), mean, rtol=1e-12)


@pytest.mark.parametrize("loss", [Logistic(0.0), Exponential()], ids=repr)
def test_the_link_belongs_to_the_loss(loss):
    """With 70% positive labels the best constant score has the mean 0.7."""
    y = np.array([1.0] * 7 + [-1.0] * 3)
    assert loss.inverse_link(loss.best_constant(y)) == pytest.approx(0.7, rel=1e-12)


@pytest.mark.parametrize("size", [1e-100, 1e-9, 1e3, 1e12, 1e18, 1e300])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("loss", [Huber(1.0), Huber(1e9), LogCosh()], ids=repr)
def test_the_best_constant_of_labels_of_any_size(loss, sign, size):
    rng = np.random.default_rng(0)
    for y in (size * (1.0 + rng.random(51)), size * rng.normal(size=51), np.full(5, size)):
        weight = rng.integers(1, 4, len(y)) * 1.0
        best = loss.best_constant(sign * y, weight)

        def slope(c, y=sign * y, weight=weight):
            return (weight * loss.residual(y, c)).sum()

        error = 1e-13 * np.abs(y).max()
        assert slope(best - error) >= 0.0 >= slope(best + error)


def test_a_loss_without_a_best_constant_says_so():
    class Falling(Loss):
        smoothness = 1.0

        def value(self, y, f):
            return -f

        def residual(self, y, f):
            return np.ones_like(f)

    with pytest.raises(ValueError, match=r"Falling\(\) has no best constant .* init='zero'"):
        Falling().best_constant(np.arange(3.0))


@pytest.mark.parametrize("loss", [Poisson(), Gamma(), Tweedie(1.7)], ids=repr)
def test_the_log_link_belongs_to_the_loss(loss):
    y = np.array([0.5, 2.0, 3.5])
    assert loss.inverse_link(loss.best_constant(y)) == pytest.approx(2.0, rel=1e-12)
    with pytest.raises(ValueError, match="needs a label greater than 0"):
        loss.best_constant(np.array([0.0, 1.0]), np.array([1.0, 0.0]))


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (
            Poisson(),
            [1.0, -2.0],
            r"Poisson\(\) expects labels from 0 to 1e130, got -2; use another",
        ),
        (Tweedie(1.5), [1.0, -2.0], r"Tweedie\(power=1.5\) expects labels from 0 to 1e130, got -2"),
        (Gamma(), [1.0, 0.0], r"Gamma\(\) expects labels from 1e-130 to 1e130, got 0"),
        (Gamma(), [1.0, 1e200], "expects labels from 1e-130 to 1e130, got 1e"),
        (Ridged(Poisson(), 0.1), [1.0, -2.0], "expects labels from 0"),
    ],
)
def test_labels_of_positive_means(loss, y, message):
    with pytest.raises(ValueError, match=message):
        loss.check_labels(np.array(y))
    loss.check_labels(np.array([0.5, 2.0]))


@pytest.mark.parametrize("loss", [Logistic(), Exponential(), Ridged(Exponential(), 0.1)], ids=repr)
def test_wrong_labels_raise(loss):
    with pytest.raises(ValueError, match=r"expects labels -1 and \+1, got 0"):
        loss.check_labels(np.array([1.0, 0.0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Huber(0), "delta=0 must be greater than 0"),
        (lambda: Logistic(-1), "ridge=-1 must be 0 or greater"),
        (lambda: Logistic("1"), "ridge must be a number"),
        (lambda: Ridged(Squared(), np.inf), "ridge=inf must be finite"),
        (lambda: Tweedie(2.0), "power=2.0 must be greater than 1 and less than 2; use Squared"),
        (lambda: Quantile(1), "level=1 must be greater than 0 and less than 1"),
    ],
)
def test_wrong_parameters_raise(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_equality_and_repr():
    assert Huber(1.0) == Huber(1.0) != Huber(2.0)
    assert hash(Logistic(0.1)) == hash(Logistic(0.1))
    assert repr(Logistic()) == "Logistic(ridge=0.0001)"


def test_a_loss_of_ones_own_needs_value_and_residual():
    class Half(Loss):
        def value(self, y, f):
            return f

    with pytest.raises(TypeError, match="residual"):
        Half()


@pytest.mark.kernel
def test_single_precision_does_not_overflow():
    y, f = np.array([1.0, -1.0]), np.array([-299.0, 299.0])
    residual, curvature = single_rows(Exponential().terms, y, f, 1.0)
    np.testing.assert_array_equal(residual, np.float32([1e30, -1e30]))
    np.testing.assert_array_equal(curvature, np.float32([1e30, 1e30]))


def test_what_losses_say_of_themselves():
    assert [loss for loss in LOSSES if loss.quadratic] == [Squared()]
    assert all(loss.outputs == 1 for loss in LOSSES)
    assert [loss for loss in LOSSES if loss.quantile_leaves] == KINKED
    assert Softmax(4).outputs == 4
    assert Logistic(0.5).for_classes(3) == Softmax(3, 0.5)
    assert Softmax(3).for_classes(3) == Softmax(3)
    assert Huber().for_classes(3) is None


def test_a_subclass_with_formulas_of_its_own_says_nothing_of_its_parents():
    class Renamed(Squared):
        score_name = "height"

    class Steeper(Squared):
        def value(self, y, f):
            return (y - f) ** 4

    assert Renamed().quadratic
    assert not Steeper().quadratic
    with pytest.raises(ValueError, match="conjugate of Steeper"):
        Steeper().conjugate()
