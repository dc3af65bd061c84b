"""The common form of all exports: it says what `predict` says."""

import enum

import numpy as np
import pandas as pd
import pytest

from rgboost import Dictionary, RGBMClassifier, RGBMRegressor, losses
from rgboost.export import ExportError, extract
from rgboost.losses import Link, Loss, Squared

from . import naive
from .made import NAMES, made_models, python_rows, rows_of


@pytest.mark.parametrize("name", NAMES)
def test_says_what_the_model_says(name):
    made = made_models()[name]
    model, terms = made.model, extract(made.model)
    rows, X = python_rows(made.frame), rows_of(made)
    classifier = terms.classes is not None
    scores = [naive.score(terms, row) for row in rows]
    expected = model.decision_function(X) if classifier else model._score(X)
    assert np.array_equal(np.reshape(scores, expected.shape), expected)  # the same order of sums
    answers = np.array([naive.answer(terms, row) for row in rows])
    expected = model.predict_proba(X) if classifier else model.predict(X)
    np.testing.assert_allclose(answers.reshape(expected.shape), expected, rtol=1e-12, atol=1e-15)


def test_rows_probe_what_matters():
    """Rare, unknown and missing categories are three things, and thresholds are hit exactly."""
    made = made_models()["regression"]
    terms = extract(made.model)
    text = next(c for c in terms.curves if terms.features[c.axis.feature].kind == "text")
    bins = {naive.bin_of(text.axis, v) for v in ("rare 1", "never seen", None)}
    assert text.axis.other
    assert bins == {text.axis.unknown, text.axis.missing}
    number = next(c for c in terms.curves if c.axis.feature == 0)
    values = made.frame.iloc[:, 0].to_numpy()
    assert np.isin(number.axis.edges, values).mean() > 0.5
    assert len(terms.pairs) >= 2
    used = {axis.feature for pair in terms.pairs for axis in pair.axes}
    assert {f.kind for g, f in enumerate(terms.features) if g in used} >= {"number", "text"}


def test_contributions_are_those_of_explain_local():
    made = made_models()["three classes"]
    terms, explained = extract(made.model), made.model.explain_local(rows_of(made))
    found = [naive.contributions(terms, row) for row in python_rows(made.frame)]
    assert np.array_equal(found, explained.contributions)
    assert terms.term_names == list(explained.names)


LOSSES = [losses.Squared(), losses.Poisson(), losses.Gamma(), losses.Tweedie(1.5),
          losses.Logistic(), losses.Exponential(), losses.Softmax(3), losses.AbsoluteError(),
          losses.Quantile(0.3), losses.LogCosh(1.0), losses.Ridged(losses.Huber(1.0), 0.1),
          losses.Ridged(losses.Exponential(), 0.1)]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_links_are_the_inverse_links(loss):
    """Of every loss of the package."""
    f = np.array([-1000.0, -3.0, 0.0, 0.7, 1000.0])
    if loss.outputs > 1:
        assert loss.exported_link == Link("softmax")
        return
    name, scale = loss.exported_link
    with np.errstate(over="ignore"):
        expected = {
            "identity": f,
            "log": np.exp(np.clip(f, -700, 700)),
            "logistic": 1 / (1 + np.exp(-scale * f)),
        }[name]
    np.testing.assert_allclose(loss.inverse_link(f), expected, rtol=1e-14)


def test_all_losses_are_tried():
    inner = {type(one.inner) for one in LOSSES if hasattr(one, "inner")}
    tried = {type(one) for one in LOSSES} | inner
    every = {v for v in vars(losses).values() if isinstance(v, type) and issubclass(v, Loss)}
    assert tried == every - {Loss}


class Doubled(Squared):
    """A loss of somebody else, with code."""

    def inverse_link(self, f):
        return 2 * f


class Logged(Doubled):
    exported_link = Link("log")


ROWS = np.arange(40.0).reshape(20, 2)


def fitted(**parameters):
    return RGBMRegressor(max_iter=3, interactions=0, random_state=0, **parameters).fit(
        ROWS, ROWS[:, 0]
    )


def test_what_cannot_be_exported_says_what_can_be_done():
    with pytest.raises(ExportError, match=r"exported_link = Link\('log'\).*pickle"):
        extract(fitted(loss=Doubled()))
    assert extract(fitted(loss=Logged())).link == Link("log")
    with pytest.raises(ExportError, match="learner='stumps'"):
        extract(fitted(learner="trees"))
    with pytest.raises(ExportError, match="learner='stumps'"):
        extract(fitted(learner=Dictionary(np.eye(20))))
    unfitted = RGBMClassifier()
    with pytest.raises(ValueError, match="not fitted"):
        extract(unfitted)


class Kind(enum.StrEnum):
    A = "a"
    B = "b"


@pytest.mark.parametrize("make", [np.str_, Kind], ids=["numpy", "enum"])
def test_labels_are_plain(make):
    """Whatever strings they were, a file of Python source can say them."""
    labels = np.array([make("a"), make("b")] * 20, object)
    X = pd.DataFrame({"x": labels})
    terms = extract(RGBMClassifier(max_iter=3, interactions=0, random_state=0).fit(X, labels))
    found = [*terms.classes, *terms.curves[0].axis.categories]
    assert found == ["a", "b"] * 2
    assert {type(label) for label in found} == {str}


def test_values_must_be_finite():
    model = fitted()
    model.model_.tables[0] = np.inf
    with pytest.raises(ExportError, match=r"x[01] has a value that is not finite"):
        extract(model)
