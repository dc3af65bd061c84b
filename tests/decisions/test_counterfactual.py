"""Smallest changes against trying every value that could matter."""

import numpy as np
import pytest

from rgboost import RGBMRegressor

from ..editing.models import binary, classes, pairs


def predictions(model, X, label=None):
    if not hasattr(model, "classes_"):
        return model.predict(X)
    place = list(model.classes_).index(label if label is not None else model.classes_[-1])
    return model.predict_proba(X)[:, place]


def every_threshold(model, name):
    explanation = model.explain_global()
    cuts = [explanation[name].cuts]
    for pair in explanation.pairs:
        cuts += [axis.cuts for axis in pair.axes if axis.name == name]
    return np.unique(np.concatenate(cuts))


def by_trying(model, X, name, threshold, values, label=None):
    """The closest of the values for which the prediction is on the other side; NaN: none."""
    before = predictions(model, X, label) >= threshold
    best = np.full(len(X), np.nan)
    for value in values:
        tried = X.copy()
        tried[name] = value
        crossed = (predictions(model, tried, label) >= threshold) != before
        closer = np.isnan(best) | (abs(value - X[name]) < abs(best - X[name]))
        best = np.where(crossed & closer & X[name].notna(), value, best)
    return best


CASES = {
    "two classes": (binary, "b", 0.5, None),
    "two classes, far": (binary, "a", 0.8, None),
    "the first class": (binary, "b", 0.3, "no"),
    "curve and pairs": (pairs, "b", 0.5, None),
    "with missing values": (pairs, "a", 0.2, None),
    "three classes": (classes, "a", 0.4, "middle"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_closest_value_that_crosses(case):
    make, name, threshold, label = CASES[case]
    model, X, _ = make()
    X = X.iloc[:120]
    cuts = every_threshold(model, name)
    values = np.concatenate([cuts, np.nextafter(cuts, np.inf)])
    found = model.counterfactual(X, name, threshold, label=label)
    expected = by_trying(model, X, name, threshold, values, label)
    assert 0 < np.isnan(expected).sum() < len(X) or case == "curve and pairs"
    np.testing.assert_array_equal(np.isnan(found.values), np.isnan(expected))
    np.testing.assert_allclose(
        np.abs(found.values - X[name]), np.abs(expected - X[name]), rtol=0, atol=1e-15
    )
    np.testing.assert_array_equal(found.changes, found.values - X[name])
    assert (found.found == ~np.isnan(found.values)).all()
    moved = X.copy()
    moved[name] = np.where(found.found, found.values, X[name])
    after = predictions(model, moved, label)
    np.testing.assert_allclose(found.after, after, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.before, predictions(model, X, label), rtol=0, atol=1e-12)
    crossed = (after >= threshold) != (found.before >= threshold)
    assert (crossed == found.found).all()


@pytest.mark.parametrize("make", [binary, pairs])
def test_categories_go_to_the_heaviest_that_crosses(make):
    model, X, _ = make()
    found = model.counterfactual(X, "c", 0.5)
    shape = model.explain_global()["c"]
    heavy = [shape.categories[k] for k in np.argsort(-shape.weights, kind="stable")]
    before = predictions(model, X) >= 0.5
    expected = np.full(len(X), None, object)
    for label in reversed(heavy):
        tried = X.copy()
        tried["c"] = label
        expected[(predictions(model, tried) >= 0.5) != before] = label
    assert found.values.tolist() == expected.tolist()
    assert found.changes is None
    assert 0 < found.found.sum() < len(X)


def test_only_values_of_a_grid():
    model, X, _ = pairs()
    grid = [-2.0, -1.0, 0.0, 1.0, 2.0]
    found = model.counterfactual(X, "a", 0.5, grid=grid)
    np.testing.assert_array_equal(found.values, by_trying(model, X, "a", 0.5, grid))
    some = model.counterfactual(X, "c", 0.5, grid=["blue"])
    assert set(some.values) == {None, "blue"}


def test_rows_of_32_bits():
    """Values are compared as the rows have them, so the answer is a number of 32 bits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)).astype(np.float32)
    model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, X[:, 0])
    found = model.counterfactual(X, 0, 0.0)
    assert found.found.all()
    values = found.values.astype(np.float32)
    assert (values == found.values).all()
    moved = X.copy()
    moved[:, 0] = values
    assert ((model.predict(moved) >= 0) != (model.predict(X) >= 0)).all()


def test_an_offset_is_part_of_the_score():
    X, y = pairs()[1:]
    model = RGBMRegressor(max_iter=20, interactions=0, random_state=0).fit(X, y, offset=y * 0.0)
    offset = np.linspace(-1.0, 1.0, len(X))
    found = model.counterfactual(X, "a", 0.0, offset=offset)
    np.testing.assert_allclose(found.before, model.predict(X, offset=offset), rtol=0, atol=1e-12)


def test_a_feature_without_a_term_changes_nothing():
    model, X, _ = binary()
    assert "d" not in model.term_names_
    assert not model.counterfactual(X, "d").found.any()
    assert "none" in str(model.counterfactual(X.iloc[:1], "d"))


def test_what_is_asked_wrongly():
    model, X, _ = binary()
    with pytest.raises(ValueError, match=r"threshold=1.5 is no probability"):
        model.counterfactual(X, "a", 1.5)
    with pytest.raises(TypeError, match="threshold must be a number, got 'x'"):
        model.counterfactual(X, "a", "x")
    with pytest.raises(KeyError, match="no feature has the name 'z'"):
        model.counterfactual(X, "z")
    with pytest.raises(ValueError, match="label='maybe'"):
        model.counterfactual(X, "a", label="maybe")
    with pytest.raises(ValueError, match="'pink', which is no category"):
        model.counterfactual(X, "c", grid=["pink"])
    with pytest.raises(ValueError, match="grid must be"):
        model.counterfactual(X, "a", grid=[])
    regression, rows, _ = pairs()
    with pytest.raises(ValueError, match="threshold is missing"):
        regression.counterfactual(rows, "a")
    with pytest.raises(ValueError, match="label is missing"):
        classes()[0].counterfactual(rows, "a")
