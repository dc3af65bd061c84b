"""What an interpreter prints of an object is one line, whatever the object holds."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from rgboost import Dictionary, RGBMClassifier, RGBMRegressor, Trace, random_then_greedy
from rgboost._core.one_line import brief, one_line
from rgboost.callbacks import Progress
from rgboost.data.readers.table import Table
from rgboost.losses import Squared
from rgboost.theory import MinimalCosineAngle, optimal_loss

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 4))
y = X[:, 0] + np.abs(X[:, 1])
frame = pd.DataFrame(X, columns=["a", "b", "c", "many\nlines " * 50])
frame["kind"] = rng.choice([f"level {k}" for k in range(40)], len(X))
MOST = 400


def parts_of(thing, seen=None):
    """An object of this package and all those that it holds."""
    seen = {} if seen is None else seen
    if id(thing) in seen or not type(thing).__module__.startswith("rgboost"):
        return seen
    seen[id(thing)] = thing
    fields = vars(thing) if hasattr(thing, "__dict__") else thing._asdict()
    for value in fields.values():
        for one in value if isinstance(value, tuple) else [value]:
            parts_of(one, seen)
    return seen


def check_line(thing):
    text = repr(thing)
    assert "\n" not in text, text[:500]
    assert len(text) <= MOST, text[:500]


def test_all_that_a_fit_gives():
    said = []
    keep = dict(callbacks=[said.append], random_state=0, warm_start=True)
    regressor = RGBMRegressor(max_iter=300, **keep).fit(frame, y)
    classes = np.array(["low", "middle", "high"])[np.digitize(y, [0.0, 1.0])]
    classifier = RGBMClassifier(max_iter=50, **keep).fit(frame, classes)
    found = []
    for model in (regressor, classifier):
        explained = [model.explain_global(), model.explain_local(frame)]
        # A plan is a table: what people type `model.plan_` for.
        left_out = ("callbacks", "plan_")
        fitted = [value for name, value in vars(model).items() if name not in left_out]
        for thing in [*fitted, *explained, *said]:
            found += parts_of(thing).values()
    for thing in found:
        check_line(thing)
    kinds = {type(thing).__name__ for thing in found}
    assert {"Trace", "Progress", "ShapeFunction", "GlobalExplanation", "LocalExplanation"} <= kinds
    assert {"StumpModel", "ClassStumpModel", "Coverage", "InputSchema", "RunState"} <= kinds


def test_other_results():
    check_line(random_then_greedy(X, y, n_iter=200))
    check_line(Dictionary(X))
    check_line(optimal_loss(X, y, Squared()))
    check_line(MinimalCosineAngle(0.5, 0.5, "a", "b", X[:, 0]))
    table = Table(frame, y, None, "path", "csv")
    assert "DataFrame[1500, 5]" in repr(table)


def test_words():
    """The numbers that a person looks for."""
    trace = Trace(
        np.array([4.0, 2.0, 1.0]), np.array([4.0, 3.0, 2.5]), np.array([0.0, 0.1, 0.2]),
        np.zeros(2, [("learner", np.int64)]), *np.zeros((2, 2), np.int64), "direct",
    )  # fmt: skip
    assert repr(trace) == (
        "Trace(2 iterations, train_loss 4 to 1, validation_loss 4 to 2.5, 0.2 s, engine='direct')"
    )
    progress = Progress(3, 10, 1.5, None, 0.25, *[None] * 4)
    assert repr(progress) == (
        "Progress(iteration=3, n_iter=10, train_loss=1.5, validation_loss=None, seconds=0.25)"
    )
    model = RGBMRegressor(max_iter=20, learning_rate=1.0, selection="all", init="zero").fit(
        frame[["kind"]], (frame["kind"] == "level 7").astype(float)
    )
    explained = model.explain_global()
    assert repr(explained).startswith("GlobalExplanation(1 shape functions of 1 features")
    assert repr(explained["kind"]).startswith("ShapeFunction('kind', 40 categories, from ")
    local = model.explain_local(frame[["kind"]])
    assert repr(local).startswith("LocalExplanation(1500 rows, 1 used features, intercept=")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros((3, 2)), "float64[3, 2]"),
        (np.float64(1 / 3), "0.333333"),
        ([1, 2], "(1, 2)"),
        (tuple(range(9)), "<9 items>"),
        ({1: 2}, "<1 entries>"),
        (len, "<len>"),
        ("x" * 100, "'" + "x" * 58 + "…"),
        (None, "None"),
    ],
)
def test_brief(value, text):
    assert brief(value) == text


def test_fields_that_are_not_shown_stay_hidden():
    @one_line
    @dataclasses.dataclass
    class Thing:
        a: int
        b: int = dataclasses.field(default=2, repr=False)

    assert repr(Thing(1)) == "Thing(a=1)"


def test_a_model_with_pairs():
    pairs = X[:, 0] * X[:, 1]
    model = RGBMRegressor(interactions=1, random_state=0).fit(X[:400], pairs[:400])
    assert "pairs=PairTables(" in repr(model.model_)
    check_line(model.model_)
