"""Input that is almost right: read as it is meant, or refused by name."""

import numpy as np
import pytest
import scipy.sparse

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
