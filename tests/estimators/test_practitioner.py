"""A data frame with names, categories, missing values, weights and three classes goes in; a
validated, stored, explained model comes out."""

import numpy as np
import pandas as pd
import pytest

import rgboost
from rgboost import RGBMClassifier
from rgboost.explain.page import write_page


def make_rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "city": pd.Categorical(rng.choice(["Ulm", "Bonn", "Kiel"], n)),
            "income": rng.lognormal(size=n),
            "plan": rng.choice(["basic", "plus"], n),
        }
    )
    drift = frame["age"] / 20 + 2 * (frame["city"] == "Ulm") + rng.normal(size=n) / 3
    frame.loc[rng.random(n) < 0.2, "income"] = np.nan
    frame.loc[rng.random(n) < 0.2, "city"] = None
    labels = np.array(["green", "red", "yellow"])[np.digitize(drift, [2.5, 4.0])]
    return frame, labels, rng.integers(1, 4, n).astype(float)


@pytest.fixture(scope="module")
def fitted():
    rows, labels, weight = make_rows()
    model = RGBMClassifier(
        max_iter=300, early_stopping=True, validation_fraction=0.2, learning_rate=0.3,
        random_state=0,
    )  # fmt: skip
    return model.fit(rows, labels, weight)


def test_validated(fitted):
    trace = fitted.trace_
    assert fitted.best_iteration_ == trace.validation_loss.argmin()
    assert trace.validation_loss[fitted.best_iteration_] < 0.7 * trace.validation_loss[0]
    rows, labels, weight = make_rows(seed=1)
    assert fitted.score(rows, labels, weight) > 0.7
    probabilities = fitted.predict_proba(rows)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert fitted.classes_.tolist() == ["green", "red", "yellow"]
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(rows[rows.columns[::-1]])


def test_rows_that_fit_never_saw(fitted):
    rows, _, _ = make_rows(n=10, seed=2)
    gone = rows.assign(city=None, age=np.nan)
    unseen = rows.assign(city="Atlantis", age=np.nan)
    np.testing.assert_array_equal(fitted.predict_proba(unseen), fitted.predict_proba(gone))
    assert np.isfinite(fitted.predict_proba(gone)).all()


def test_stored(fitted, tmp_path):
    rows, _, _ = make_rows(seed=1)
    fitted.save(tmp_path / "model.safetensors")
    loaded = rgboost.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(rows), fitted.predict_proba(rows))
    np.testing.assert_array_equal(loaded.predict(rows), fitted.predict(rows))
    np.testing.assert_array_equal(loaded.feature_importances_, fitted.feature_importances_)
    write_page(loaded, tmp_path / "page.html")


def test_explained(fitted):
    rows, _, _ = make_rows()
    assert list(np.argsort(-fitted.feature_importances_)[:2]) == [0, 1]
    city = fitted.explain_global()["city"]
    assert city.categories.tolist() == ["Bonn", "Kiel", "Ulm"]
    assert city.values.shape == (3, 3)
    assert city.missing.shape == (3,)
    assert city.missing_weight > 0
    local = fitted.explain_local(rows)
    np.testing.assert_array_equal(local.score(), fitted.decision_function(rows))
    assert local.contributions.shape[::2] == (400, 3)


def test_iterations_by_cross_validation():
    rows, labels, weight = make_rows(n=150)
    model = RGBMClassifier(max_iter="cv", cv=2, n_iter_no_change=10, random_state=0)
    model.fit(rows, labels, weight)
    assert len(model.cv_loss_) > model.n_iter_ == max(1, model.cv_loss_.argmin())
