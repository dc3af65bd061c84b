"""Offsets as the estimators take them: in `fit`, in predictions, in searches of scikit-learn."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor


def counts(n=600, seed=0):
    """Counts with an exposure, and rows that weigh as much as that."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 10, size=(n, 3)).astype(float)
    exposure = rng.uniform(0.1, 8.0, n)
    return X, rng.poisson(exposure * np.exp(np.sin(X[:, 0]) + 0.1 * X[:, 1])), exposure


def classes(n=400, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 10, size=(n, 3)).astype(float)
    known = rng.normal(size=(n, n_classes))
    score = np.sin(X[:, :1]) * np.arange(n_classes) + known
    y = np.array(["ant", "bee", "cat"])[np.argmax(score + rng.gumbel(size=score.shape), axis=1)]
    return X, y, known[:, 1] - known[:, 0] if n_classes == 2 else known


def test_exposure():
    X, y, exposure = counts()
    model = RGBMRegressor(loss="poisson", random_state=0).fit(X, y, offset=np.log(exposure))
    rates = RGBMRegressor(loss="poisson", random_state=0).fit(X, y / exposure, exposure)
    np.testing.assert_allclose(model.predict(X), rates.predict(X), rtol=0.02)
    without = RGBMRegressor(loss="poisson", random_state=0).fit(X, y)
    new, y_new, exposure = counts(seed=1)
    offset = np.log(exposure)
    np.testing.assert_allclose(model.predict(new, offset), exposure * model.predict(new))
    assert model.score(new, y_new, offset=offset) > 0.8 > without.score(new, y_new)


def test_predictions_add_it_to_the_score():
    X, y, offset = classes()
    model = RGBMClassifier(max_iter=50, random_state=0).fit(X, y, offset=offset)
    score = model.decision_function(X) + offset
    np.testing.assert_array_equal(model.decision_function(X, offset), score)
    chance = 1 / (1 + np.exp(-score))
    np.testing.assert_allclose(model.predict_proba(X, offset)[:, 1], chance)
    labels = model.classes_[(score > 0).astype(int)]
    np.testing.assert_array_equal(model.predict(X, offset), labels)
    assert model.score(X, y, offset=offset) == np.mean(labels == y) > model.score(X, y)
    weight = np.arange(len(y)) + 1.0
    assert model.score(X, y, weight, offset) == np.average(labels == y, weights=weight)
    assert model.trace_.train_loss[-1] == pytest.approx(np.mean(model.loss_.value(
        np.where(y == model.classes_[1], 1.0, -1.0), score)))  # fmt: skip
    *_, last = model.staged_predict_proba(X, offset)
    np.testing.assert_allclose(last, model.predict_proba(X, offset))
    *_, last = model.staged_decision_function(X, offset)
    np.testing.assert_allclose(last, score)
    *_, last = model.staged_predict(X, offset)
    np.testing.assert_array_equal(last, labels)
    local = model.explain_local(X)
    np.testing.assert_allclose(local.contributions.sum(axis=1) + local.intercept, score - offset)


@pytest.mark.parametrize("max_iter", [40, "auto"])
def test_several_classes(max_iter):
    X, y, offset = classes(n_classes=3)
    model = RGBMClassifier(max_iter=max_iter, random_state=0)
    fitted = clone(model).fit(X, y, offset=offset)
    centred = offset - offset.mean(axis=1, keepdims=True)
    score = fitted.decision_function(X, offset)
    np.testing.assert_allclose(score, fitted.decision_function(X) + centred)
    np.testing.assert_allclose(fitted.predict_proba(X, offset).sum(axis=1), 1.0)
    assert fitted.score(X, y, offset=offset) > clone(model).fit(X, y).score(X, y) + 0.03
    # What is the same for all classes of a row says nothing.
    shifted = clone(model).fit(X, y, offset=offset + np.arange(len(y))[:, None])
    np.testing.assert_allclose(shifted.decision_function(X), fitted.decision_function(X), atol=1e-6)
    with pytest.raises(
        ValueError, match=r"shape \(400,\), expected \(400, 3\): one number per row"
    ):
        model.fit(X, y, offset=offset[:, 0])


@pytest.mark.parametrize(
    "parameters",
    [
        dict(max_iter=60),
        dict(max_iter="auto"),
        dict(max_iter="cv", ensemble=False),
        dict(max_iter=300, early_stopping=True),
        dict(max_iter="auto", loss="huber"),
        dict(max_iter="cv", loss="quantile"),
        dict(max_iter="auto", engine="gram"),
    ],
    ids=str,
)
def test_of_distances_it_is_a_shift_of_the_labels(parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).round(1)
    offset = 3 * rng.normal(size=300)
    y = X[:, 0] + offset + rng.normal(size=300)
    weight = rng.integers(0, 3, 300)
    model = RGBMRegressor(random_state=0, **parameters)
    found = clone(model).fit(X, y, weight, offset=offset)
    shifted = clone(model).fit(X, y - offset, weight)
    np.testing.assert_allclose(found.predict(X), shifted.predict(X), atol=1e-6)
    assert found.best_iteration_ == shifted.best_iteration_


def test_validation_rows_have_their_own():
    X, y, exposure = counts()
    offset = np.log(exposure)
    model = RGBMRegressor(loss="poisson", max_iter=30, random_state=0)
    held = dict(X_val=X[:100], y_val=y[:100], offset_val=offset[:100])
    model.fit(X[100:], y[100:], offset=offset[100:], **held)
    score = np.log(model.predict(X[:100])) + offset[:100]
    loss = np.mean(np.exp(score) - y[:100] * score)
    assert model.trace_.validation_loss[model.best_iteration_] == pytest.approx(loss)


def test_warm_start_goes_on_with_the_same_offset_only():
    X, y, exposure = counts()
    offset = np.log(exposure)
    model = RGBMRegressor(loss="poisson", max_iter=10, random_state=0, warm_start=True)
    model.fit(X, y, offset=offset).set_params(max_iter=30).fit(X, y, offset=offset)
    whole = RGBMRegressor(loss="poisson", max_iter=30, random_state=0).fit(X, y, offset=offset)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="other data"):
        model.set_params(max_iter=40).fit(X, y, offset=offset + 1)


def test_stored_model_takes_it(tmp_path):
    X, y, exposure = counts()
    model = RGBMRegressor(loss="poisson", max_iter=10).fit(X, y, offset=np.log(exposure))
    model.save(tmp_path / "model.rgb")
    again = rgboost.load(tmp_path / "model.rgb")
    np.testing.assert_array_equal(again.predict(X, exposure), model.predict(X, exposure))


def test_a_search_of_scikit_learn_routes_it():
    X, y, exposure = counts()
    with sklearn.config_context(enable_metadata_routing=True):
        model = RGBMRegressor(loss="poisson", random_state=0)
        model.set_fit_request(offset=True).set_score_request(offset=True)
        search = GridSearchCV(model, {"max_iter": [2, 60]}, cv=3)
        search.fit(X, y, offset=np.log(exposure))
    assert search.best_params_ == {"max_iter": 60}
    assert search.best_score_ > 0.8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            dict(offset=np.zeros(9)),
            r"offset has shape \(9,\), expected \(50,\): one number per row",
        ),
        (dict(offset=np.zeros((50, 2))), r"offset has shape \(50, 2\), expected \(50,\)"),
        (dict(offset=np.full(50, -np.inf)), r"offset has NaN or infinite entries.*log\(0\)"),
        (dict(offset_val=np.zeros(50)), "offset_val is given without X_val and y_val"),
        (
            dict(offset=np.zeros(50), X_val=np.zeros((3, 2)), y_val=np.ones(3)),
            "offset is given without offset_val",
        ),
        (
            dict(offset_val=np.zeros(3), X_val=np.zeros((3, 2)), y_val=np.ones(3)),
            "offset_val is given without offset",
        ),
    ],
)
def test_faults(given, message):
    X, y = np.arange(100.0).reshape(50, 2), np.arange(50.0)
    with pytest.raises(ValueError, match=message):
        RGBMRegressor(max_iter=5).fit(X, y, **given)
    model = RGBMRegressor(max_iter=5).fit(X, y)
    if set(given) == {"offset"}:
        with pytest.raises(ValueError, match=message):
            model.predict(X, given["offset"])
