"""Input that is almost right: read as it is meant, or refused by name."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor


def twice_stored(X, kind):
    """X with every entry stored as two halves, the rows (or columns) in falling order."""
    whole = kind(X)
    data, indices = whole.data, whole.indices
    pieces = [
        (np.repeat(data[a:b][::-1] / 2, 2), np.repeat(indices[a:b][::-1], 2))
        for a, b in zip(whole.indptr, whole.indptr[1:], strict=False)
    ]
    values, places = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return kind((values, places, 2 * whole.indptr), shape=X.shape)


@pytest.fixture(scope="module")
def sparse_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (160, 6)) * (rng.random((160, 6)) < 0.4) * 1.0
    return X, X[:, 0] - 2 * (X[:, 1] > 2) + 0.1 * rng.normal(size=160)


KINDS = [
    scipy.sparse.csr_array,
    scipy.sparse.csc_array,
    scipy.sparse.csr_matrix,
    scipy.sparse.csc_matrix,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_sparse_entries_that_are_stored_twice_are_summed(sparse_rows, kind):
    X, y = sparse_rows
    X_twice, X_once = twice_stored(X, kind), kind(X)
    before = X_twice.copy()
    classes = np.digitize(y, [0.0, 1.0])
    for Model, labels in ((RGBMRegressor, y), (RGBMClassifier, y > 0), (RGBMClassifier, classes)):

        def fit(Model=Model, labels=labels, X=X_once):
            model = Model(max_iter=40, random_state=0)
            return model.fit(X, labels, X_val=X, y_val=labels)

        expected, model = fit(), fit(X=X_twice)
        np.testing.assert_array_equal(model.trace_.validation_loss, expected.trace_.validation_loss)
        methods = ["predict", "staged_predict", "explain_local"]
        if Model is RGBMClassifier:
            methods += ["predict_proba", "decision_function", "staged_predict_proba"]
        for method in methods:
            found = getattr(expected, method)(X_twice)
            wanted = getattr(expected, method)(X_once)
            if method == "explain_local":
                found, wanted = found.contributions, wanted.contributions
            np.testing.assert_array_equal(list(found), list(wanted), err_msg=method)
    for name in ("data", "indices", "indptr"):  # the user's matrix is as it was
        np.testing.assert_array_equal(getattr(X_twice, name), getattr(before, name))
    assert not X_twice.has_canonical_format


@pytest.mark.parametrize("index", [7, -1])
@pytest.mark.parametrize("kind", KINDS[:2], ids=["csr", "csc"])
def test_sparse_indices_out_of_range_raise(sparse_rows, kind, index):
    X, y = sparse_rows
    good = kind(X)
    model = RGBMRegressor(max_iter=5).fit(good, y)
    classifier = RGBMClassifier(max_iter=5).fit(good, y > 0)
    bad = good.copy()
    bad.indices[3] = index if index < 0 else max(X.shape) + index
    acts = [
        lambda: RGBMRegressor(max_iter=5).fit(bad, y),
        lambda: model.predict(bad),
        lambda: list(model.staged_predict(bad)),
        lambda: model.explain_local(bad),
        lambda: classifier.decision_function(bad),
        lambda: classifier.predict_proba(bad),
        lambda: list(classifier.staged_decision_function(bad)),
    ]
    for act in acts:
        with pytest.raises(ValueError, match=r"^X is a broken sparse matrix .* indices must be"):
            act()
    with pytest.raises(ValueError, match=r"^X_val is a broken sparse matrix"):
        RGBMRegressor(max_iter=5).fit(good, y, X_val=bad, y_val=y)


def bad_validation(loss, y_val, y=None):
    X = np.linspace(0, 1, 60)[:, None]
    y = np.ones(60) + X[:, 0] if y is None else y
    return RGBMRegressor(loss=loss, max_iter=5).fit(X, y, X_val=X[:3], y_val=y_val)


BAD_LABELS = [
    ("squared", [1.0, np.nan, 2.0], "Input y_val contains NaN"),
    ("squared", [1.0, None, 2.0], "Input y_val contains NaN: 1 labels are missing"),
    ("squared", [1.0, np.inf, 2.0], "Input y_val contains infinity"),
    ("squared", [1.0, 1e200, 2.0], "y_val, .* is too large for Squared"),
    ("squared", [1.0, 2.0], "X_val has 3 rows and y_val 2 labels"),
    ("poisson", [1.0, -1.0, 2.0], r"y_val: Poisson\(\) expects labels from 0 .* got -1"),
    ("gamma", [1.0, 0.0, 2.0], r"y_val: Gamma\(\) expects labels from 1e-130 .* got 0"),
    ("tweedie", [1.0, -1.0, 2.0], r"y_val: Tweedie\(power=1.5\) expects labels from 0"),
]


@pytest.mark.parametrize(("loss", "y_val", "message"), BAD_LABELS)
def test_validation_labels_are_checked_as_y_is(loss, y_val, message):
    with pytest.raises(ValueError, match=message):
        bad_validation(loss, y_val)


def test_missing_classes_of_validation_rows_raise():
    X = np.linspace(0, 1, 60)[:, None]
    for y_val in ([0.0, np.nan], ["0", None]):
        y = np.arange(60) % 2
        y = y.astype(type(y_val[0]))
        with pytest.raises(ValueError, match="Input y_val contains NaN"):
            RGBMClassifier(max_iter=5).fit(X, y, X_val=X[:2], y_val=y_val)


def test_validation_labels_may_all_be_zero_and_those_without_weight_anything():
    bad_validation("poisson", [0.0, 0.0, 0.0])
    X = np.linspace(0, 1, 60)[:, None]
    model = RGBMRegressor(loss="poisson", max_iter=5)
    model.fit(X, 1 + X[:, 0], X_val=X[:2], y_val=[1.0, -5.0], sample_weight_val=[1.0, 0.0])
    assert np.isfinite(model.trace_.validation_loss).all()


def test_labels_that_are_held_out_are_checked_too():
    """Early stopping holds some rows out: the one that is wrong is not always trained on."""
    X = np.linspace(0, 1, 40)[:, None]
    for bad in range(40):
        y = np.ones(40) + X[:, 0]
        y[bad] = -1.0
        model = RGBMRegressor(loss="poisson", max_iter=3, early_stopping=True, random_state=0)
        with pytest.raises(ValueError, match=r"^Poisson\(\) expects labels"):
            model.fit(X, y)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_infinity_is_found_by_column_and_row(make):
    X = np.zeros((30, 3))
    X[:, 0], X[4, 2], X[7, 1] = np.nan, np.inf, np.nan
    y = np.arange(30.0)
    message = "contains infinity in column 2, first in row 4; replace it, by NaN where it means"
    with pytest.raises(ValueError, match=f"Input X {message}"):
        RGBMRegressor(max_iter=5).fit(make(X), y)
    model = RGBMRegressor(max_iter=5).fit(make(np.nan_to_num(X)), y)
    with pytest.raises(ValueError, match=f"Input X {message}"):
        model.predict(make(X))
    with pytest.raises(ValueError, match=f"Input X_val {message}"):
        model.fit(make(np.nan_to_num(X)), y, X_val=make(X), y_val=y)


def mixed_rows():
    """What a ColumnTransformer makes of numbers and strings, without frames."""
    X = np.empty((40, 2), dtype=object)
    X[:, 0], X[:, 1] = np.arange(40.0), np.where(np.arange(40) % 2, "red", "blue")
    return X, np.arange(40) % 2 + 0.01 * np.arange(40)


@pytest.mark.parametrize("make", [np.asarray, lambda X: X.astype(str), lambda X: X.tolist()])
def test_strings_in_arrays_are_found_by_column(make):
    X, y = mixed_rows()
    X[0, 1] = None
    where = "0 of X holds strings .in row 0 '0.0'" if make(X)[0][0] == "0.0" else (
        "1 of X holds strings .in row 1 'red'"
    )  # fmt: skip
    with pytest.raises(
        ValueError, match=rf"column {where}.*name it in categorical_features.*set_output"
    ):
        RGBMRegressor(max_iter=5).fit(make(X), y)


def test_arrays_of_objects_are_read_column_by_column():
    X, y = mixed_rows()
    model = RGBMRegressor(max_iter=20, categorical_features=[1]).fit(X, y)
    assert list(model.input_.labels[1]) == ["blue", "red"]
    numbers = X[:, :1]
    numbers[3, 0], numbers[4, 0] = None, np.datetime64("NaT")
    model = RGBMRegressor(max_iter=20).fit(numbers, y)
    with pytest.raises(
        ValueError, match=r"column 0 of X holds strings .*, and held numbers at fit"
    ):
        model.predict(X[:, 1:])
    plain = np.array([[np.nan if k in (3, 4) else k] for k in range(40)])
    np.testing.assert_array_equal(model.predict(numbers), model.predict(plain))


def dates(missing):
    days = np.arange(40).astype("datetime64[D]")
    if missing:
        days[3] = np.datetime64("NaT")
    return days


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("duration", [False, True])
def test_dates_are_refused_wherever_they_are(missing, duration):
    days = dates(missing)
    if duration:
        days = days - np.datetime64("1970-01-01")
    X, y = np.arange(40.0)[:, None], np.arange(40.0)
    objects = np.empty((40, 1), dtype=object)
    objects[:, 0] = list(days)
    kind = "timedelta64" if duration else "datetime64"
    for rows, name in ((days[:, None], "X"), ([[day] for day in days], "X"), (objects, "of X")):
        with pytest.raises(TypeError, match=f"{name} .* types? {kind}"):
            RGBMRegressor(max_iter=5).fit(rows, y)
        with pytest.raises(TypeError, match=f"{name} .* types? {kind}"):
            RGBMRegressor(max_iter=5).fit(X, y).predict(rows)
    for labels in (days, list(days), objects[:, 0]):
        with pytest.raises((TypeError, ValueError), match=f"y .* types? {kind}|y contains NaN"):
            RGBMRegressor(max_iter=5).fit(X, labels)
        with pytest.raises((TypeError, ValueError), match=f"y .* types? {kind}|y contains NaN"):
            RGBMClassifier(max_iter=5).fit(X, labels)


def test_a_label_that_ends_with_a_zero_byte_is_a_category_of_its_own(tmp_path):
    labels = np.array(["a", "a\0", "a\0\0", None], dtype=object)[np.arange(80) % 4]
    y = np.array([0.0, 1.0, 2.0, 5.0])[np.arange(80) % 4]
    frame = pd.DataFrame({"kind": labels})
    model = RGBMRegressor(max_iter=200, learning_rate=0.5, random_state=0).fit(frame, y)
    assert list(model.input_.labels[0]) == ["a", "a\0", "a\0\0"]
    model.save(tmp_path / "model")
    for one in (model, rgboost.load(tmp_path / "model")):
        np.testing.assert_allclose(one.predict(frame), y, atol=1e-6)
    X, names = np.arange(80)[:, None] % 2, ["a", "a\0"] * 40
    assert list(RGBMClassifier(max_iter=50).fit(X, names).predict(X)) == names


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([([0, 1], [2, 3]), ([2, 3], [0, 400])], "cv has the row 400, but X has 60 rows; use num"),
        ([([0, 1], [2, 3]), ([2, -1], [0, 1])], "cv has the row -1, but X has 60 rows"),
        ([([0, 1], [2.0, 3.0]), ([2, 3], [0, 1])], "cv has rows of the type float64"),
    ],
)
def test_rows_of_cv_that_are_not_there(cv, message):
    X = np.linspace(0, 1, 60)[:, None]
    with pytest.raises(ValueError, match=message):
        RGBMRegressor(cv=cv).fit(X, X[:, 0])
