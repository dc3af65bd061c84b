"""Bands against the models of single runs, looked up value by value."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.estimators.fitted import bags as module
from rgboost.model.bands import spread_of

from ..editing.models import frame


@pytest.fixture
def fitted(monkeypatch):
    """Fit, and tell what the bands were made of."""

    def fit(model, X, y, **more):
        seen = []

        def spy(of, *arguments):
            others = [list(parts) for parts in arguments[-1]]
            seen.append((of, *arguments[:-1], others))
            return spread_of(of, *arguments[:-1], others)

        monkeypatch.setattr(module, "spread_of", spy)
        model.fit(X, y, **more)
        return model, seen

    return fit


def look_up(wide, feature, x):
    """What the curve of a model adds to a value of a feature."""
    groups = wide.categories
    if groups is not None and feature in groups.features:
        values, table = groups.table(feature)
        k = list(groups.features).index(feature)
        at = np.flatnonzero(values == x)
        return table[at[0]] if len(at) else groups.missing[k]
    if feature not in wide.features:
        return np.zeros(wide.tables.shape[1:])
    cuts, table = wide.table(feature)
    return wide.missing[list(wide.features).index(feature)] if x != x else table[sum(cuts < x)]


def values_of(parts, shape):
    """A curve of the sum of some models in the bins of a function, that of missing values last,
    less its mean over the training rows."""
    ends = shape.codes if shape.codes is not None else [*shape.cuts, np.inf]
    points = [*ends, np.nan]
    found = np.array([sum(look_up(p.wide, shape.feature, x) for p in parts) for x in points])
    weights = np.append(shape.weights, shape.missing_weight)
    return found - np.average(found, axis=0, weights=weights)


def cells_of(parts, pair):
    """A pair of the sum of some models in the cells of a function."""
    found = np.zeros(pair.values.shape)
    points = []
    for axis in pair.axes:
        ends = axis.codes if axis.codes is not None else [*axis.cuts, np.inf]
        points.append([*ends, np.nan])
    for part in parts:
        tables = part.wide.pairs
        for j in range(0 if tables is None else len(tables)):
            if tuple(tables.features[j]) == pair.features:
                i, k = (tables.bins(j, axis, np.array(points[axis])) for axis in (0, 1))
                found += tables.table(j)[np.ix_(i, k)]
    return found


CASES = {
    "numbers": (RGBMRegressor(max_bins=16, interactions=0, random_state=0), 0),
    "curves": (RGBMRegressor(max_bins=8, interactions=0, random_state=0), 0),
    "pairs": (
        RGBMRegressor(
            max_bins=8, interactions=[("a", "b"), ("b", "c")], random_state=0, n_iter_no_change=20
        ),
        2,
    ),
    "two classes": (RGBMClassifier(max_bins=8, interactions=0, random_state=0), 0),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_standard_deviation_over_runs(case, fitted):
    settings, n_pairs = CASES[case]
    X, y = frame()
    X = X[["a", "b"]].fillna(0.0) if case == "numbers" else X
    y = y > 0 if case == "two classes" else y
    model, seen = fitted(settings, X, y)
    ((of, _, _, runs),) = seen
    assert of == "runs"
    assert len(runs) == model.bands_.n == 5
    explanation = model.explain_global()
    for shape in explanation.functions:
        each = np.array([values_of(parts, shape) for parts in runs])
        own = np.append(shape.values, shape.missing) - shape.mean
        np.testing.assert_allclose(each.mean(axis=0), own, rtol=0, atol=1e-9)
        expected = each.std(axis=0, ddof=1)
        np.testing.assert_allclose(shape.deviation.values, expected, rtol=1e-5, atol=1e-7)
        band = shape.band
        np.testing.assert_allclose(band.high - band.low, 2 * expected, rtol=1e-5, atol=1e-6)
        assert band.text == "one standard deviation over 5 runs (no interval)"
    assert len(explanation.pairs) == n_pairs
    for pair in explanation.pairs:
        each = np.array([cells_of(parts, pair) for parts in runs])
        near = pair.weights > 0
        np.testing.assert_allclose(each.mean(axis=0)[near], pair.values[near], rtol=0, atol=1e-9)
        expected = each.std(axis=0, ddof=1)
        assert expected.max() > 0
        np.testing.assert_allclose(pair.deviation.values, expected, rtol=1e-5, atol=1e-7)


def test_three_classes(fitted):
    X, y = frame(seed=4)
    labels = np.digitize(y, [0.0, 1.0])
    settings = dict(max_bins=8, interactions=0, random_state=0, engine="quadratic")
    model, seen = fitted(RGBMClassifier(**settings), X, labels)
    assert model.trace_.n_runs == 5
    runs = seen[0][-1]
    for shape in model.explain_global():
        each = np.array([values_of(parts, shape) for parts in runs])
        np.testing.assert_allclose(
            shape.deviation.values, each.std(axis=0, ddof=1), rtol=1e-5, atol=1e-7
        )
        one = shape.of_class(1)
        np.testing.assert_array_equal(one.deviation.values, shape.deviation.values[:, 1])


@pytest.mark.parametrize("size", [1e-130, 1e130])
def test_values_of_any_size(size):
    """In 64 bits or 32, with squares or without."""
    X, y = frame()
    settings = dict(max_bins=8, interactions=0, random_state=0)
    usual = RGBMRegressor(**settings).fit(X, y).explain_global()["a"].deviation.values
    found = RGBMRegressor(**settings).fit(X, size * y).explain_global()["a"].deviation.values
    np.testing.assert_allclose(found / size, usual, rtol=1e-5)


def test_no_band_where_there_was_one_run():
    X, y = frame(120)
    model = RGBMRegressor(max_iter=10, interactions=0).fit(X, y)
    assert not hasattr(model, "bands_")
    assert all(term.band is None for term in model.explain_global().terms)
    with pytest.raises(ValueError, match="there are no bags of a"):
        model.explain_global()["a"].interval()
    trees = RGBMRegressor(learner="trees", random_state=0).fit(X, y)
    assert not hasattr(trees, "bands_")


def test_a_fit_to_other_rows_has_other_bands():
    X, y = frame()
    model = RGBMRegressor(max_bins=8, interactions=0, random_state=0).fit(X, y)
    assert hasattr(model, "bands_")
    model.set_params(max_iter=5).fit(X, y)
    assert not hasattr(model, "bands_")


def test_the_other_class_has_the_same_band_turned():
    X, y = frame()
    model = RGBMClassifier(max_bins=8, interactions=0, random_state=0).fit(X, y > 0)
    shape = model.explain_global()["a"]
    other = shape.of_class(False)
    np.testing.assert_allclose(other.band.low, -shape.band.high)
    centered = shape.centered()
    np.testing.assert_allclose(centered.band.low, shape.band.low - shape.mean)


def test_sparse_rows_with_empty_columns():
    rng = np.random.default_rng(0)
    X = scipy.sparse.lil_array((400, 50))
    for g in (3, 17, 40):
        X[:, [g]] = rng.integers(0, 4, size=(400, 1)).astype(float)
    y = X.toarray()[:, 3] + rng.normal(size=400)
    model = RGBMRegressor(interactions=0, random_state=0).fit(X.tocsr(), y)
    if model.trace_.n_runs > 1:
        assert model.explain_global()["x3"].band is not None


def test_bands_are_stored_small(tmp_path):
    X, y = frame()
    model = RGBMRegressor(max_bins=8, interactions=[("a", "b")], random_state=0).fit(X, y)
    model.save(tmp_path / "model.rgb")
    loaded = rgboost.load(tmp_path / "model.rgb")
    for mine, theirs in zip(
        model.explain_global().terms, loaded.explain_global().terms, strict=True
    ):
        assert (mine.band.low == theirs.band.low).all()
    size = (tmp_path / "model.rgb").stat().st_size
    del model.bands_
    model.save(tmp_path / "model.rgb")
    assert size < 1.35 * (tmp_path / "model.rgb").stat().st_size


def test_an_edited_term_has_no_band_and_the_others_keep_theirs(tmp_path):
    X, y = frame()
    model = RGBMRegressor(max_bins=8, interactions=[("a", "b")], random_state=0).fit(X, y)
    editor = model.edit().set("a", 1.0, (0, 1), reason="x").recentre("b", reason="y")
    edited = editor.model
    edited.save(tmp_path / "edited.rgb")
    for one in (edited, rgboost.load(tmp_path / "edited.rgb")):
        old, new = model.explain_global(), one.explain_global()
        assert new["a"].band is None
        for term in ("b", "c", ("a", "b")):
            assert (new[term].deviation.values == old[term].deviation.values).all()
    gone = editor.drop(("a", "b"), reason="z").model
    assert gone.bands_.pairs.size == 0


@pytest.fixture(scope="module")
def bagged():
    X, y = frame(250)
    settings = dict(max_bins=8, interactions=[("a", "b")], random_state=0, n_iter_no_change=20)
    return RGBMRegressor(**settings, bags=4).fit(X, y), X, y, settings


class TestBags:
    def test_the_model_is_the_same_with_and_without(self, bagged):
        model, X, y, settings = bagged
        without = RGBMRegressor(**settings).fit(X, y)
        assert (without.predict(X) == model.predict(X)).all()
        assert model.plan_["bags"].value == 4

    def test_the_spread_of_predictions(self, bagged):
        model, X, _, _ = bagged
        predicted, std = model.predict(X, return_std=True)
        assert (predicted == model.predict(X)).all()
        rows = model._check_rows(X)
        each = np.array([bag.score(rows) for bag in model.bags_])
        assert len(each) == 4
        np.testing.assert_array_equal(std, each.std(axis=0, ddof=1))
        assert (std > 0).all()

    def test_every_bag_has_the_pairs_of_the_model(self, bagged):
        model = bagged[0]
        for bag in model.bags_:
            assert bag.pairs.features.tolist() == model.model_.pairs.features.tolist()
            assert bag.feature is None  # no path: tables only

    def test_intervals(self, bagged):
        shape = bagged[0].explain_global()["a"]
        assert shape.band.text == "90 % interval (nominal) from 4 bags"
        wide, narrow = shape.interval(0.99), shape.interval(0.5)
        assert (wide.high - wide.low > narrow.high - narrow.low).all()
        # Student's t with 3 degrees of freedom
        half = shape.band.high[:-1] - shape.values
        np.testing.assert_allclose(half, 2.353363 * shape.deviation.values[:-1], rtol=1e-5)
        with pytest.raises(ValueError, match=r"level=1\.5"):
            shape.interval(1.5)

    def test_they_are_stored(self, bagged, tmp_path):
        model, X, _, _ = bagged
        model.save(tmp_path / "bags.rgb")
        loaded = rgboost.load(tmp_path / "bags.rgb")
        assert (loaded.predict(X, return_std=True)[1] == model.predict(X, return_std=True)[1]).all()

    def test_classes(self):
        X, y = frame(250)
        settings = dict(max_bins=8, max_iter=20, interactions=0, random_state=0, bags=3)
        labels = np.digitize(y, [0.0, 1.0])
        for target in (labels > 0, labels):
            model = RGBMClassifier(**settings).fit(X, target)
            p, std = model.predict_proba(X, return_std=True)
            assert p.shape == std.shape
            rows = model._check_rows(X)
            each = [model._probabilities(bag.score(rows)) for bag in model.bags_]
            np.testing.assert_array_equal(std, np.std(each, axis=0, ddof=1))
            assert model.bands_.of == "bags"  # there was one run

    def test_trees_have_bags_too(self, tmp_path):
        X, y = frame(150)
        model = RGBMRegressor(learner="trees", max_iter=5, random_state=0, bags=2).fit(X, y)
        assert (model.predict(X, return_std=True)[1] >= 0).all()
        assert not hasattr(model, "bands_")
        model.save(tmp_path / "trees.rgb")
        assert len(rgboost.load(tmp_path / "trees.rgb").bags_) == 2

    def test_groups_stay_together(self):
        """With one group only, all weights of a bag are multiples of the same: no spread but that
        of the random subsets."""
        X, y = frame(150)
        settings = dict(max_iter=5, selection="all", interactions=0, bags=2, max_bins=8)
        one = RGBMRegressor(**settings).fit(X, y, groups=np.zeros(len(X)))
        np.testing.assert_allclose(one.predict(X, return_std=True)[1], 0.0, atol=1e-12)
        many = RGBMRegressor(**settings).fit(X, y)
        assert many.predict(X, return_std=True)[1].max() > 1e-3

    def test_without_bags_there_is_no_std(self):
        X, y = frame(100)
        model = RGBMRegressor(max_iter=5, interactions=0).fit(X, y)
        with pytest.raises(ValueError, match=r"return_std=True needs the tables of bags.*bags=20"):
            model.predict(X, return_std=True)
        bagged = RGBMRegressor(max_iter=5, interactions=0, bags=2).fit(X, y)
        edited = bagged.edit().set("a", 0.0, reason="x").model
        with pytest.raises(ValueError, match="was edited, and its bags were not"):
            edited.predict(X, return_std=True)

    def test_ctrl_c_leaves_the_model_without_bags(self, monkeypatch):
        X, y = frame(100)
        model = RGBMRegressor(max_iter=5, interactions=0, bags=5, random_state=0)
        fit, calls = RGBMRegressor._fit_score, []

        def stopped(self, *arguments):
            calls.append(self)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return fit(self, *arguments)

        monkeypatch.setattr(RGBMRegressor, "_fit_score", stopped)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert not hasattr(model, "bags_")
        assert "bags were interrupted" in model.plan_.events[-1]
        assert len(model.predict(X)) == 100

    def test_bad_numbers(self):
        X, y = frame(50)
        with pytest.raises(ValueError, match="bags=1 has no spread"):
            RGBMRegressor(bags=1).fit(X, y)
        with pytest.raises(ValueError, match="bags=-1"):
            RGBMRegressor(bags=-1).fit(X, y)
        with pytest.raises(TypeError, match="bags must be an integer"):
            RGBMRegressor(bags=2.5).fit(X, y)

    def test_chunks_have_none(self):
        X, y = frame(100)
        numbers = X[["b", "d"]]
        chunks = rgboost.Chunks(lambda: [(numbers, y)])
        with pytest.raises(ValueError, match=r"bags=5 is not for Chunks.*a sample of them"):
            RGBMRegressor(bags=5).fit(chunks)
        model = RGBMRegressor(interactions=0, bags=2, max_iter=5).fit(numbers, y)
        found = model.predict(rgboost.Chunks(lambda: [(numbers, y)]), return_std=True)
        np.testing.assert_array_equal(found, model.predict(numbers, return_std=True))

    def test_pieces_and_runs_have_bands(self):
        X, y = frame(800)
        numbers = pd.DataFrame({"b": X.b, "d": X.d})
        chunks = rgboost.Chunks(lambda: [(numbers[:500], y[:500]), (numbers[500:], y[500:])])
        model = RGBMRegressor(random_state=0).fit(chunks)
        assert model.trace_.n_runs == 5
        assert model.explain_global()["b"].band is not None
