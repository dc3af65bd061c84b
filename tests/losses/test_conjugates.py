"""Conjugates of losses: the inequality of Fenchel and Young, and where it is an equality."""

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy

from rgboost.losses import Exponential, Huber, Logistic, Loss, Ridged, Squared
from rgboost.losses.conjugates import ridged
from rgboost.losses.conjugates.logistic import fill_divergence, fill_ridged_derivatives
from rgboost.losses.conjugates.ridged import fill_maximisers

REAL = [Squared(), Huber(0.7), Ridged(Squared(), 0.3), Ridged(Huber(0.5), 0.01)]
LOGISTIC = [Logistic(0.0), Logistic(1e-4), Logistic(0.1), Logistic(2.0)]
BINARY = [*LOGISTIC, Ridged(Logistic(0.0), 0.01), Exponential(), Ridged(Exponential(), 0.1)]
ALL = [*REAL, *BINARY]


def labels(loss, y):
    return np.where(y > 0, 1.0, -1.0) if loss in BINARY else y


def domain_points(c, y, share):
    """Points of the domain: a share of the way between its ends, cut at +-20."""
    low, high = (np.clip(end, -20.0, 20.0) for end in c.domain(y))
    return low + share * (high - low)


scores = st.floats(-15.0, 15.0)


@given(st.sampled_from(ALL), scores, scores, st.floats(0.0, 1.0))
def test_the_inequality_of_fenchel_and_young(loss, label, score, share):
    y, f = labels(loss, np.array([label])), np.array([score])
    c = loss.conjugate()
    u = domain_points(c, y, share)
    value, at_u = loss.value(y, f), c.value(y, u)
    scale = np.abs(value) + np.abs(at_u) + np.abs(u * f) + 1.0
    assert np.isfinite(at_u).all()
    assert value + at_u - u * f >= -1e-13 * scale
    excess = c.excess(y, f, u)
    assert excess >= 0.0
    assert excess >= value + at_u - u * f - 1e-12 * scale  # an upper bound of the difference
    assert excess <= 1.5 * (value + at_u - u * f) + 1e-9 * scale  # and not a loose one


@given(st.sampled_from(ALL), scores, scores)
def test_equality_at_the_derivative(loss, label, score):
    y, f = labels(loss, np.array([label])), np.array([score])
    u = -loss.residual(y, f)
    c = loss.conjugate()
    scale = np.abs(loss.value(y, f)) + np.abs(u * f) + 1.0
    assert loss.value(y, f) + c.value(y, u) == pytest.approx(u * f, abs=1e-12 * scale[0])
    assert c.excess(y, f, u) <= 1e-15 * scale


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_the_conjugate_is_a_supremum(loss):
    c = loss.conjugate()
    y = labels(loss, np.linspace(-2.0, 2.0, 7))
    u = domain_points(c, y, np.linspace(0.03, 0.97, 7))
    for i in range(len(y)):
        one = y[i : i + 1]

        def below(f, one=one, at=u[i]):
            return float(loss.value(one, np.array([f]))[0] - at * f)

        found = scipy.optimize.minimize_scalar(
            below, bounds=(-3e3, 3e3), method="bounded", options={"xatol": 1e-10, "maxiter": 2000}
        )
        f = scipy.optimize.minimize_scalar(below, bracket=(found.x, found.x + 1e-3)).x
        assert c.value(one, u[i : i + 1])[0] == pytest.approx(-below(f), rel=1e-8, abs=1e-8)


def test_outside_of_the_domain_the_conjugate_is_infinite():
    one = np.ones(1)
    for loss, u in [
        (Huber(0.5), 0.6),
        (Huber(0.5), -0.6),
        (Logistic(0.0), 0.1),
        (Logistic(0.0), -1.1),
    ]:
        c = loss.conjugate()
        assert c.value(one, u * one)[0] == np.inf
        assert c.excess(one, 0.3 * one, u * one)[0] == np.inf
    assert Exponential().conjugate().value(one, 0.1 * one)[0] == np.inf
    for loss in (Squared(), Logistic(1e-4), Ridged(Huber(0.5), 0.1)):
        assert np.isfinite(loss.conjugate().value(one, -5.0 * one)[0])


def test_an_inaccurate_maximiser_makes_the_excess_larger_not_smaller(monkeypatch):
    rng = np.random.default_rng(0)
    y, f = np.where(rng.random(200) < 0.5, 1.0, -1.0), rng.normal(size=200) * 3
    loss = Ridged(Logistic(0.0), 0.01)
    u = -loss.residual(y, f) + 0.3 * rng.normal(size=200)
    exact = loss.value(y, f) + loss.conjugate().value(y, u) - u * f
    previous = exact
    for steps, slack in [(200, 1e-3), (2, 1e-1), (0, 1e9)]:
        monkeypatch.setattr(ridged, "_PLAIN_STEPS", min(steps, 3))
        monkeypatch.setattr(ridged, "_SLACK", slack)
        looser = loss.conjugate().excess(y, f, u)
        assert (looser >= exact - 1e-12).all()
        assert looser.sum() >= previous.sum() - 1e-9
        previous = looser
    assert previous.sum() > 2.0 * exact.sum()


def test_losses_without_a_known_conjugate_say_so():
    class Own(Loss):
        def value(self, y, f):
            return (y - f) ** 4

        def residual(self, y, f):
            return 4 * (y - f) ** 3

    with pytest.raises(ValueError, match="conjugate of Own"):
        Own().conjugate()


@pytest.mark.kernel
def test_kernels_of_the_conjugates_against_plain_formulas():
    margins = np.array([0.0, 0.3, -2.0, 8.0, -40.0, 800.0, -800.0])
    share = np.array([0.5, 0.2, 0.999, 1.0, 0.0, 1e-9, 0.7])
    out = np.empty(7)
    fill_divergence(np.ones(7), margins, -share, out)
    p = 1.0 / (1.0 + np.exp(np.clip(margins, -700, 700)))
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = np.where(share > 0, share * np.log(share / p), 0.0)
        plain += np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - p)), 0.0)
    ordinary = np.abs(margins) < 30
    np.testing.assert_allclose(out[ordinary], plain[ordinary], rtol=1e-10, atol=1e-15)
    assert np.isfinite(out).all()
    assert (out >= 0).all()
    np.testing.assert_allclose(out[-2:], [800e-9 + xlogy(1e-9, 1e-9) - 1e-9, 0.3 * 800], rtol=0.01)
    loss = Ridged(Exponential(), 0.1)
    f = np.array([-25.0, -3.0, 0.0, 2.0])
    y = np.ones(4)
    fill_maximisers(loss.terms, 0.1, 0.0, y, -loss.residual(y, f), np.zeros(4), out[:4])
    np.testing.assert_allclose(out[:4], f, atol=1e-9)


@pytest.mark.kernel
@pytest.mark.parametrize("ridge", [1e-4, 0.1, 2.0])
def test_derivatives_of_the_ridged_logistic_loss_are_those_at_a_root(ridge):
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    f = np.array([0.0, 1.0, -2.0, 5.0, 9.0])
    near = f + np.array([0.2, -0.1, 0.5, 3.0, -4.0])
    loss, plain = Logistic(ridge), Logistic(0.0)
    u = np.append(-loss.residual(y, near), 0.3)  # and one outside of the domain without a ridge
    y, f = np.append(y, 1.0), np.append(f, 0.1)
    v, enough = np.empty(6), np.empty(6, np.bool_)
    fill_ridged_derivatives(ridge, 1e-3, y, f, u, v, enough)
    assert enough[:3].all()
    np.testing.assert_allclose(v[:3], -plain.residual(y[:3], near[:3]), rtol=0.02)
    assert (np.abs(v) <= 1.0).all()
    fill_ridged_derivatives(ridge, 0.0, y, f, u, v, enough)
    assert not enough.all()  # nothing is close enough for no slack, but by chance
