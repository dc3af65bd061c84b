"""Losses: known values, finite differences, sigma and mu, the best constant, labels."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from rgboost.losses import Exponential, Huber, Logistic, Loss, Ridged, Squared

LOSSES = [
    Squared(),
    Huber(0.7),
    Logistic(0.0),
    Logistic(0.3),
    Exponential(),
    Ridged(Huber(0.7), 0.2),
]
BINARY = (Logistic, Exponential)


def labels_for(loss, rng, n):
    y = rng.normal(size=n)
    return np.sign(y) if isinstance(loss, BINARY) else y


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
    h = 1e-5
    slope = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    np.testing.assert_allclose(-loss.residual(y, f), slope, rtol=1e-8, atol=1e-9)
    bend = -(loss.residual(y, f + h) - loss.residual(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(y, f), bend, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_smoothness_and_strong_convexity_are_the_extremes_of_the_curvature(loss):
    f = np.linspace(-40, 40, 200_001)
    y = np.full_like(f, 1.0)
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
    y = labels_for(loss, rng, 51) if isinstance(loss, BINARY) else rng.normal(2, 1, size=51)
    weight = rng.integers(1, 5, size=51).astype(float) if weighted else None
    w = np.ones(51) if weight is None else weight
    found = loss.best_constant(y, weight)
    searched = minimize_scalar(
        lambda c: w @ loss.value(y, np.full(51, c)), bracket=(-1, 1), tol=1e-12
    ).x
    assert found == pytest.approx(searched, abs=1e-6)
    assert abs(w @ loss.residual(y, np.full(51, found))) < 1e-9 * w.sum()


@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), Logistic(), Exponential()], ids=repr)
def test_link_and_its_inverse(loss):
    mean = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(loss.inverse_link(loss.link(mean)), mean, rtol=1e-12)


@pytest.mark.parametrize("loss", [Logistic(0.0), Exponential()], ids=repr)
def test_the_link_belongs_to_the_loss(loss):
    """With 70% positive labels the best constant score has the mean 0.7."""
    y = np.array([1.0] * 7 + [-1.0] * 3)
    assert loss.inverse_link(loss.best_constant(y)) == pytest.approx(0.7, rel=1e-12)


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
