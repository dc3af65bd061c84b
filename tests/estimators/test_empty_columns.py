"""Empty columns of sparse rows change nothing and cost nothing."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from rgboost import RGBMClassifier, RGBMRegressor, load
from rgboost.data.sparse_columns import filled_columns, take_columns
from rgboost.theory import RecordCertificates

N_ROWS, USED = 300, 40


def spread_out(few, n_features, format="csr", seed=0):
    """The same columns among many empty ones, and where they are."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.choice(n_features, few.shape[1], replace=False))
    rows = scipy.sparse.csr_array(few)
    shape = (few.shape[0], n_features)
    wide = scipy.sparse.csr_array((rows.data, columns[rows.indices], rows.indptr), shape=shape)
    return wide.asformat(format), columns


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    few = scipy.sparse.random_array((N_ROWS, USED), density=0.3, format="csr", rng=rng)
    few = few[:, filled_columns(few)]
    y = np.asarray(few[:, :10].sum(axis=1)).ravel() + 0.1 * rng.standard_normal(N_ROWS)
    return few, y


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("max_iter", ["auto", 40])
def test_the_model_is_that_of_the_other_columns(rows, kind, format, max_iter):
    few, y = rows
    estimator = RGBMRegressor if kind == "regression" else RGBMClassifier
    if kind != "regression":
        y = np.digitize(y, [1.5] if kind == "two classes" else np.quantile(y, [0.3, 0.7]))
    wide, columns = spread_out(few, 5000, format)
    settings = {"random_state": 0, "max_iter": max_iter, "interactions": 0}  # which have no stages
    plain = estimator(**settings).fit(few.asformat(format), y)
    model = estimator(**settings).fit(wide, y)
    assert model.n_features_in_ == 5000
    assert model.trace_.engine == plain.trace_.engine
    assert np.array_equal(model.trace_.feature, columns[plain.trace_.feature])
    assert np.array_equal(model.predict(wide), plain.predict(few))
    stages = zip(model.staged_predict(wide), plain.staged_predict(few), strict=True)
    assert all(np.array_equal(a, b) for a, b in stages)
    local, other = model.explain_local(wide), plain.explain_local(few)
    assert np.array_equal(local.features, columns[other.features])
    assert local.names == [f"x{g}" for g in local.features]
    assert np.array_equal(local.contributions, other.contributions)
    importances = np.zeros(5000)
    importances[columns] = plain.feature_importances_
    assert np.allclose(model.feature_importances_, importances, rtol=1e-14, atol=0)


def test_validation_rows_may_fill_them(rows):
    few, y = rows
    wide, columns = spread_out(few, 5000)
    held = wide.tolil()
    empty = np.setdiff1d(np.arange(5000), columns)
    held[:, empty[:20]] = 7.0
    settings = dict(random_state=0, max_iter=60)
    plain = RGBMRegressor(**settings).fit(few, y, X_val=few, y_val=y)
    for X_val in (held.tocsr(), held.tocsc(), held.toarray()):
        model = RGBMRegressor(**settings).fit(wide, y, X_val=X_val, y_val=y)
        assert np.array_equal(model.trace_.validation_loss, plain.trace_.validation_loss)
    assert np.allclose(model.predict(held.tocsr()), plain.predict(few), rtol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        dict(groups=[range(2500), range(2500, 5000)], selection="groups"),
        dict(monotone_constraints=[1] + 4999 * [0]),
        dict(selection="groups", subset_size=4000),
        dict(callbacks=[RecordCertificates([20])]),
    ],
)
def test_parameters_that_know_columns_by_number(rows, settings):
    few, y = rows
    wide, _ = spread_out(few, 5000)
    model = RGBMRegressor(random_state=0, max_iter=20, **settings).fit(wide, y)
    assert model.score(wide, y) > 0.1


@pytest.mark.parametrize("estimator", [RGBMRegressor, RGBMClassifier])
def test_memory_does_not_follow_them(rows, estimator, tmp_path):
    few, y = rows
    y = y if estimator is RGBMRegressor else y > 1.5
    n_features = 20_000_000
    wide, _ = spread_out(few, n_features)
    estimator(random_state=0).fit(few, y).explain_local(few)  # compiled
    tracemalloc.start()
    try:
        model = estimator(random_state=0).fit(wide, y)
        model.predict(wide)
        model.explain_local(wide)
        model.save(tmp_path / "model.rgb")
        load(tmp_path / "model.rgb").predict(wide)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A bit for each says whether it is categorical, in memory as a byte; nothing else may grow.
    assert peak < 3 * n_features
    assert (tmp_path / "model.rgb").stat().st_size < n_features / 8 + 400_000
    assert len(pickle.dumps(model)) < 1.2 * n_features


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_taking_columns(format):
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((20, 50), density=0.05, format=format, rng=rng)
    dense = X.toarray()
    filled = filled_columns(X)
    assert np.array_equal(filled, np.flatnonzero(dense.any(axis=0)))
    for columns in (filled, filled[::2], np.arange(0, 50, 3), np.arange(50), filled[:0]):
        found = take_columns(X, columns)
        assert found.shape == (20, len(columns))
        assert np.array_equal(found.toarray(), dense[:, columns])
    assert np.shares_memory(take_columns(X, filled).data, X.data)
