"""Labels and weights of any size, and labels that are far from zero."""

import numpy as np
import pytest

from rgboost import RGBMClassifier, RGBMRegressor, Stumps, boost
from rgboost.losses import Huber, Squared
from rgboost.selection import AllLearners
from rgboost.steps import ConstantStep


def rows(n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=n)


WAYS = [
    dict(),
    dict(max_iter="cv", ensemble=False),
    dict(max_iter=60, engine="direct"),
    dict(max_iter=60, engine="gram"),
    dict(max_iter=60, early_stopping=True),
    dict(max_iter=60, loss="huber"),
    dict(max_iter=60, loss="log-cosh"),
    dict(max_iter=60, loss="absolute"),
]


@pytest.mark.parametrize("parameters", WAYS, ids=repr)
def test_labels_far_from_zero_are_centred_before_they_are_summed(parameters):
    X, y = rows()
    offset = 2.0**47  # more than 1e14 times the spread of y
    far = y + offset
    near = far - offset  # exactly: what is left of y
    weight = np.where(np.arange(len(y)) % 3, 1.0, 2.0)
    a = RGBMRegressor(random_state=0, **parameters).fit(X, near, weight)
    b = RGBMRegressor(random_state=0, **parameters).fit(X, far, weight)
    np.testing.assert_array_equal(b.trace_.learner, a.trace_.learner)
    np.testing.assert_array_equal(b.trace_.train_loss, a.trace_.train_loss)
    # Each of the five summands of a score is rounded to a 32nd.
    np.testing.assert_allclose(b.predict(X) - offset, a.predict(X), rtol=0, atol=5 / 64)


def test_callbacks_see_the_labels_and_the_model_of_the_moment():
    X, y = rows()
    seen = []
    boost(
        X, y + 1e6, loss=Squared(), learner=Stumps(), selection=AllLearners(),
        step=ConstantStep(), n_iter=20, start_score=None,
        callbacks=[lambda progress: seen.append(progress.snapshot())],
    )  # fmt: skip
    last = seen[-1]
    np.testing.assert_allclose(last.y + last.centre, y + 1e6, rtol=1e-15)
    score = last.prepared.model(last.path, last.centre + last.start).score(X)
    assert np.square(y + 1e6 - score).mean() < 0.5 * y.var()


@pytest.mark.parametrize("loss", ["huber", "log-cosh"])
def test_times_in_milliseconds(loss):
    """Labels around 1e12 have a best constant, and a fit."""
    X, y = rows()
    model = RGBMRegressor(loss=loss, max_iter=200, random_state=0).fit(X, 1.7e12 + y)
    assert model.score(X, 1.7e12 + y) > 0.8


TINY = [
    (lambda X, y: RGBMRegressor().fit(X, 1e-200 * y), "too small for Squared"),
    (lambda X, y: RGBMRegressor(max_iter=5).fit(X, 1e-310 * y), "too small for Squared"),
    (lambda X, y: RGBMRegressor(loss=Huber(1.0), max_iter=5).fit(X, 1e-200 * y), "too small for"),
    (lambda X, y: RGBMRegressor(max_iter=5).fit(X, y, np.full(len(y), 1e-200)), "too small for"),
    (lambda X, y: RGBMClassifier().fit(X, y > 0, np.full(len(y), 1e-200)), "too small for Logist"),
]


@pytest.mark.parametrize(("fit", "message"), TINY)
def test_labels_and_weights_whose_squares_vanish_raise(fit, message):
    with pytest.raises(ValueError, match=f"{message}.* sums of squares vanish. Scale them up."):
        fit(*rows(60))


def test_labels_that_are_all_the_same_are_fitted_whatever_their_size():
    X, _ = rows(60)
    for label in (0.0, 0.1, 1e-200, 1e300, -5e-324):
        model = RGBMRegressor(max_iter=5).fit(X, np.full(60, label))
        np.testing.assert_array_equal(model.predict(X), label)
