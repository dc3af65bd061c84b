"""Data frames, categories and missing values as a user meets them."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rgboost import Dictionary, RGBMClassifier, RGBMRegressor
from rgboost.theory import certificate

N = 120


@pytest.fixture(scope="module")
def data():
    """Columns as lists, and responses: numbers, missing values, strings, booleans."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=N)
    city = rng.choice(["Ulm", "Bonn", "Kiel"], N)
    new = rng.random(N) < 0.5
    rooms = rng.integers(1, 9, N)
    y = size + (city == "Bonn") + new + 0.1 * rooms
    columns = {
        "size": [None if rng.random() < 0.1 else float(v) for v in size],
        "city": [None if rng.random() < 0.1 else str(v) for v in city],
        "new": [bool(v) for v in new],
        "rooms": [int(v) for v in rooms],
    }
    return columns, y


def fit(X, y, **parameters):
    return RGBMRegressor(max_iter=30, random_state=0, **parameters).fit(X, y)


KINDS = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda c: pd.DataFrame(c).convert_dtypes(),
    "pandas objects": lambda c: pd.DataFrame(c).astype(object),
    "pandas categories": lambda c: pd.DataFrame(c).astype({"city": "category"}),
    "polars": pl.DataFrame,
    "polars lazy": lambda c: pl.DataFrame(c).lazy(),
    "polars categories": lambda c: pl.DataFrame(c).cast({"city": pl.Categorical}),
    "polars enum": lambda c: pl.DataFrame(c).cast({"city": pl.Enum(["Kiel", "Ulm", "Bonn"])}),
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda c: pa.table(
        {**c, "city": pa.array(c["city"]).dictionary_encode()}
    ),
    "narwhals": lambda c: nw.from_native(pl.DataFrame(c)),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_frames_of_every_kind_are_the_same(data, make):
    columns, y = data
    expected = fit(pd.DataFrame(columns), y)
    model = fit(make(columns), y)
    np.testing.assert_array_equal(model.predict(make(columns)), expected.predict(make(columns)))
    assert list(model.feature_names_in_) == list(columns)
    assert list(model.input_.labels[1]) == ["Bonn", "Kiel", "Ulm"]
    assert list(model.input_.categorical) == [False, True, False, False]
    assert set(model.trace_.feature) == {0, 1, 2, 3}
    assert model.score(make(columns), y) > 0.8


def test_a_frame_of_numbers_is_its_array():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    for kind in (np.float32, np.float64):
        array = X.astype(kind)
        expected = fit(array, y).predict(array)
        for frame in (pd.DataFrame(array, columns=list("abc")), pl.DataFrame(array)):
            np.testing.assert_array_equal(fit(frame, y).predict(frame), expected)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_reordered_columns_are_an_error_that_shows_both_orders(data, make):
    columns, y = data
    model = fit(make(columns), y)
    other = {name: columns[name] for name in ("city", "size", "new", "rooms")}
    with pytest.raises(ValueError, match="must be in the same order") as raised:
        model.predict(make(other))
    assert "At fit: size, city, new, rooms\nNow:    city, size, new, rooms" in str(raised.value)
    with pytest.raises(ValueError, match="yet now missing:\n- rooms\nAt fit: size, city"):
        model.predict(make({k: v for k, v in columns.items() if k != "rooms"}))
    with pytest.raises(ValueError, match="unseen at fit time:\n- more\n"):
        model.predict(make({**columns, "more": columns["rooms"]}))


def test_categories_by_name_index_mask_or_type(data):
    columns, y = data
    frame = pd.DataFrame(columns)
    expected = fit(frame, y, categorical_features=["city", "rooms"]).predict(frame)
    for listed in ([1, 3], np.array([1, 3]), [False, True, False, True], ("city", 3)):
        model = fit(frame, y, categorical_features=listed)
        np.testing.assert_array_equal(model.predict(frame), expected)
    typed = frame.astype({"rooms": "category"})
    np.testing.assert_array_equal(fit(typed, y).predict(typed), expected)
    objects = frame.astype(object).to_numpy()
    model = fit(objects, y, categorical_features=[1, 3])
    np.testing.assert_array_equal(model.predict(objects), expected)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_categories_and_missing_values_in_matrices(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(300, 3)).astype(float)
    y = np.array([0.0, 3, -1, 2, 5])[X[:, 0].astype(int)] + X[:, 1]
    X[rng.random(X.shape) < 0.1] = np.nan
    model = fit(kind(X), y, categorical_features=[0])
    np.testing.assert_allclose(model.predict(X), model.predict(kind(X)), rtol=1e-12)
    np.testing.assert_allclose(
        model.predict(X), fit(X, y, categorical_features=[0]).predict(X), rtol=1e-9
    )
    assert model.score(X, y) > 0.85
    categories, values = model.model_.categories.table(0)
    np.testing.assert_array_equal(categories, np.arange(5.0))
    np.testing.assert_array_equal(np.argsort(values), [2, 0, 3, 1, 4])


def test_order_of_categories_does_not_matter(data):
    """No ordinal nonsense: other names for the categories, the same predictions."""
    columns, y = data
    frame = pd.DataFrame(columns)
    renamed = frame.assign(city=frame["city"].map({"Ulm": "a", "Bonn": "c", "Kiel": "b"}))
    np.testing.assert_allclose(
        fit(frame, y).predict(frame), fit(renamed, y).predict(renamed), rtol=1e-10
    )


def test_unseen_categories_are_missing_values(data):
    columns, y = data
    frame = pd.DataFrame(columns)
    for start in (frame, frame.fillna({"city": "Ulm"})):
        model = fit(start, y)
        gone, unseen = frame.assign(city=None), frame.assign(city="Rome")
        np.testing.assert_array_equal(model.predict(gone), model.predict(unseen))
        assert np.isfinite(model.predict(gone)).all()


def test_a_missing_value_where_there_was_none_adds_the_average():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] ** 2 + X[:, 1]
    model = fit(X, y)
    mean = model.predict(X).mean()
    assert model.predict(np.full((1, 2), np.nan))[0] == pytest.approx(mean, rel=1e-10)


def test_categories_that_only_a_fold_has():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"id": [f"c{i}" for i in range(60)], "x": rng.normal(size=60)})
    y = frame["x"] > 0
    scores = cross_validate(RGBMClassifier(max_iter=20), frame, y.to_numpy(), cv=4)["test_score"]
    assert np.isfinite(scores).all()


def test_labels_and_weights_from_frames(data):
    columns, y = data
    frame = pl.DataFrame(columns)
    names = np.where(y > np.median(y), "high", "low")
    expected = RGBMClassifier(max_iter=5, random_state=0).fit(frame, names, np.arange(N))
    for labels in (
        pl.Series(names.tolist()), pd.Series(names), pd.Series(names, dtype="category"),
        pa.chunked_array([names.tolist()]), names.tolist(), names.astype(object),
    ):  # fmt: skip
        for weight in (pl.Series(range(N)), pd.Series(range(N)), list(range(N))):
            model = RGBMClassifier(max_iter=5, random_state=0).fit(frame, labels, weight)
            np.testing.assert_array_equal(model.predict(frame), expected.predict(frame))
            assert list(model.classes_) == ["high", "low"]
    for objects, kind in (([True, False] * 60, bool), ([3, 7] * 60, np.int64)):
        labels = np.array(objects, dtype=object)
        assert RGBMClassifier(max_iter=2).fit(frame, labels).classes_.dtype == kind
    flags = pd.Series(y > np.median(y), dtype="boolean")
    assert RGBMClassifier(max_iter=5).fit(frame, flags).classes_.dtype == bool
    whole = pd.Series(np.round(y).astype(int), dtype="Int64")
    np.testing.assert_array_equal(
        fit(frame, whole).predict(frame), fit(frame, np.round(y)).predict(frame)
    )


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_set_output(output):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    pipeline = make_pipeline(
        make_column_transformer((StandardScaler(), ["b"]), remainder="passthrough"),
        RGBMRegressor(max_iter=5, random_state=0),
    ).set_output(transform=output)
    pipeline.fit(frame, frame["a"])
    assert np.isfinite(pipeline.predict(frame)).all()
    named = getattr(pipeline[-1], "feature_names_in_", None)
    assert (named is None) == (output == "default")


def test_metadata_routing(data):
    columns, y = data
    frame, weight = pd.DataFrame(columns), np.arange(N) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        model = RGBMRegressor(max_iter=5, random_state=0)
        routed = clone(model).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(routed).fit(frame, y, sample_weight=weight)
        expected = clone(model).fit(frame, y, weight).predict(frame)
        np.testing.assert_array_equal(pipeline.predict(frame), expected)
        search = GridSearchCV(
            clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
            {"learning_rate": [0.1, 1.0]},
        )
        search.fit(frame, y, sample_weight=weight)
        assert search.best_params_["learning_rate"] == 1.0


def test_certificates_say_that_they_know_only_numbers(data):
    columns, y = data
    frame = pd.DataFrame(columns)
    with pytest.raises(ValueError, match="features without missing values and without categories"):
        certificate(fit(frame, y), frame, y)


GOOD = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [4.0, 3, 2, 1]})
LABELS = np.array([0, 1, 0, 1])
BAD = [
    (lambda: fit(GOOD.assign(b=[1, "x", 2, "y"]), LABELS), "column 'b' of X holds values of the"),
    (
        lambda: fit(GOOD.assign(b=[1, {}, 2, 3]), LABELS),
        "column 'b' of X holds values of the types",
    ),
    (lambda: fit(GOOD.assign(b=pd.Timestamp(0)), LABELS), "column 'b' of X has the type Datetime"),
    (
        lambda: fit(pl.DataFrame({"a": [[1], [2], [3], [4]]}), LABELS),
        "column 'a' of X has the type List",
    ),
    (
        lambda: fit(GOOD.set_axis(["a", "a"], axis=1), LABELS),
        "repeated column name.* 'a' in the columns 0, 1",
    ),
    (lambda: fit(pa.table([[1, 2]] * 2, names=["z", "z"]), [0, 1]), "repeated column name"),
    (lambda: fit(GOOD.set_axis(["a", 1], axis=1), LABELS), "all input features have string names"),
    (lambda: fit(GOOD[[]], LABELS), r"0 feature\(s\)"),
    (lambda: fit(pl.DataFrame(), LABELS), r"0 feature\(s\)|0 sample\(s\)"),
    (lambda: fit(GOOD, pd.Series([1.0, None, 2, 3])), "Input y contains NaN: 1 labels .* row 1;"),
    (lambda: fit(GOOD, pl.Series([1.0, None, 2, 3])), "Input y contains NaN: 1 labels .* row 1;"),
    (lambda: fit(GOOD, [1.0, np.nan, 2, 3]), "Input y contains NaN"),
    (lambda: RGBMClassifier().fit(GOOD, ["a", None, "b", "a"]), "Input y contains NaN"),
    (
        lambda: RGBMClassifier().fit(GOOD, np.array(["a", 1, "b", 2], object)),
        "y holds values of the",
    ),
    (lambda: fit(GOOD, LABELS * 1e300), "too large for Squared"),
    (lambda: fit(GOOD, LABELS, learning_rate=1e200), "use a smaller learning_rate"),
    (lambda: RGBMRegressor().fit(GOOD, LABELS, [1e300] * 4), "the weights .* are too large"),
    (
        lambda: fit(GOOD.assign(b=np.inf), LABELS),
        "Input X contains infinity in column 'b', first in row 0; replace it, by NaN where",
    ),
    (
        lambda: fit(GOOD, LABELS, categorical_features="auto"),
        "categorical_features='auto' is not known",
    ),
    (lambda: fit(GOOD, LABELS, categorical_features=["c"]), "has the name 'c', but no feature has"),
    (
        lambda: fit(GOOD.to_numpy(), LABELS, categorical_features=["c"]),
        "but X has no feature names",
    ),
    (
        lambda: fit(GOOD, LABELS, categorical_features=[2]),
        "has the index 2; use indices from 0 to 1",
    ),
    (lambda: fit(GOOD, LABELS, categorical_features=[True]), "a mask of 1 entries, but X has 2"),
    (
        lambda: fit(GOOD, LABELS, categorical_features=[0.5]),
        "has the entry 0.5; use names, indices",
    ),
    (
        lambda: fit(GOOD.assign(a="x"), LABELS, categorical_features=None),
        "column 'a' of X holds strings",
    ),
    (
        lambda: fit(GOOD.assign(a="x"), LABELS).predict(GOOD),
        "categories that are strings at fit, and",
    ),
    (
        lambda: fit(GOOD, LABELS).predict(GOOD.assign(a="x")),
        "column 'a' of X holds strings .in row 0 'x'., and held numbers at fit; turn",
    ),
    (
        lambda: fit(GOOD.assign(a="x"), LABELS, learner=Dictionary(np.eye(4))),
        "need stumps, and the learner",
    ),
    (
        lambda: fit(GOOD.assign(a=np.nan), LABELS, learner=Dictionary(np.eye(4))),
        "Input X contains NaN in column 'a', first in row 0; fill it in, or use stumps",
    ),
]


@pytest.mark.parametrize(("act", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_frames(act, message):
    with pytest.raises((ValueError, TypeError), match=message):
        act()


def test_a_matrix_for_a_model_of_labels():
    model = fit(GOOD.assign(a=list("xyxy")), LABELS)
    with (
        pytest.warns(UserWarning, match="X does not have valid feature names"),
        pytest.raises(
            ValueError, match="column 'a' had labels of categories at fit; give a data frame"
        ),
    ):
        model.predict(GOOD.to_numpy())


def test_huge_and_tiny_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([
        rng.choice([-1e300, 1e300, 5e-324, 0.0, -5e-324], 200),
        rng.normal(size=200) * 1e300,
        rng.normal(size=200) * 1e-310,
    ])  # fmt: skip
    y = (X > 0).sum(axis=1)
    for binning in ("quantile", "hybrid"):
        model = fit(X, y, binning=binning, max_bins=16, selection="all")
        assert model.score(X, y) > 0.9
