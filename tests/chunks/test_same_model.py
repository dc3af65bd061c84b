"""Rows in pieces give the model of the same rows in memory."""

import numpy as np
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.statistics import chunks as provider

from .rows import chunks_of, folds_of_chunks, mixed_frame

X, SCORE = mixed_frame()
WEIGHT = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
Y = {
    "number": np.round(4 * SCORE),
    "two": np.where(SCORE > 0.5, "yes", "no"),
    "three": np.digitize(SCORE, [0.0, 1.0]),
}


def in_memory(kind, labels, weight=None, **parameters):
    there = slice(None) if weight is None else weight > 0
    given = {} if weight is None else {"sample_weight": weight[there]}
    n = len(labels[there])
    cv = folds_of_chunks(n, 0) if "max_iter" not in parameters else 5
    model = kind(random_state=0, interactions=0, cv=cv, **parameters)
    return model.fit(X[there].reset_index(drop=True), labels[there], **given)


def assert_same(one, other):
    assert one.trace_.train_loss.tobytes() == other.trace_.train_loss.tobytes()
    assert one.trace_.learner.tobytes() == other.trace_.learner.tobytes()
    score = "predict" if isinstance(one, RGBMRegressor) else "decision_function"
    assert getattr(one, score)(X).tobytes() == getattr(other, score)(X).tobytes()


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
def test_regression(weight):
    """For any size of pieces, to the last bit: labels and weights are whole numbers."""
    here = in_memory(RGBMRegressor, Y["number"], weight)
    parts = (X, Y["number"]) if weight is None else (X, Y["number"], weight)
    for size in (len(X), 997):
        there = RGBMRegressor(random_state=0, interactions=0).fit(chunks_of(*parts, size=size))
        assert there.trace_.engine == here.trace_.engine == "gram: the mean of 5 runs"
        assert_same(here, there)
        np.testing.assert_array_equal(here.feature_importances_, there.feature_importances_)
        if weight is None:
            assert there.input_.labels[2].tolist() == here.input_.labels[2].tolist()


@pytest.mark.parametrize("labels", ["two", "three"])
def test_classification(labels):
    y = Y[labels]
    here = in_memory(RGBMClassifier, y, engine="quadratic")
    there = RGBMClassifier(random_state=0, interactions=0).fit(chunks_of(X, y, size=1234))
    assert there.classes_.tolist() == here.classes_.tolist()
    assert there.trace_.engine == here.trace_.engine
    assert_same(here, there)


@pytest.mark.parametrize("size", [len(X), 500])
def test_many_blocks(size, monkeypatch):
    """Sums of whole numbers do not depend on how they are added up."""
    monkeypatch.setattr(provider, "block_rows", lambda n_features: 2048)
    here = in_memory(RGBMRegressor, Y["number"])
    assert_same(here, RGBMRegressor(random_state=0).fit(chunks_of(X, Y["number"], size=size)))


def test_many_blocks_of_classes(monkeypatch):
    """Other sums agree as far as losses are told; pieces of any size give the same bits."""
    here = in_memory(RGBMClassifier, Y["two"], engine="quadratic", max_iter=300)
    monkeypatch.setattr(provider, "block_rows", lambda n_features: 2048)
    one, other = (
        RGBMClassifier(random_state=0, max_iter=300).fit(chunks_of(X, Y["two"], size=size))
        for size in (5000, 311)
    )
    assert one.trace_.train_loss.tobytes() == other.trace_.train_loss.tobytes()
    np.testing.assert_allclose(one.trace_.train_loss, here.trace_.train_loss, rtol=1e-10)


LOSSES = ["huber", "log-cosh", "poisson", "gamma", "tweedie"]


@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss):
    y, offset = np.exp(0.3 * SCORE), 0.1 * np.cos(np.arange(len(X)))
    settings = dict(loss=loss, max_iter=200, random_state=0, engine="quadratic", interactions=0)
    here = RGBMRegressor(**settings).fit(X, y, offset=offset)

    def pieces():
        for lo in range(0, len(X), 5000):
            now = slice(lo, lo + 5000)
            yield {"X": X[now], "y": y[now], "offset": offset[now]}

    from rgboost import Chunks

    there = RGBMRegressor(**settings).fit(Chunks(pieces))
    np.testing.assert_allclose(there.trace_.train_loss, here.trace_.train_loss, rtol=1e-10)
    found = there.predict(Chunks(pieces))
    np.testing.assert_allclose(found, here.predict(X, offset=offset), rtol=1e-8)


def test_a_number_of_iterations():
    settings = dict(max_iter=150, random_state=3, engine="gram", interactions=0)
    here = RGBMRegressor(**settings).fit(X, Y["number"])
    there = RGBMRegressor(**settings).fit(chunks_of(X, Y["number"]))
    assert_same(here, there)


@pytest.mark.parametrize("labels", ["number", "three"])
def test_validation_rows(labels):
    kind = RGBMRegressor if labels == "number" else RGBMClassifier
    engine = "gram" if labels == "number" else "quadratic"
    y, now = Y[labels], slice(0, 3000)
    rest = slice(3000, None)
    settings = dict(random_state=0, engine=engine, interactions=0, n_iter_no_change=50)
    here = kind(**settings).fit(X[rest], y[rest], X_val=X[now], y_val=y[now])
    there = kind(**settings).fit(
        chunks_of(X[rest], y[rest]), X_val=chunks_of(X[now], y[now], size=700)
    )
    assert there.plan_.judge == here.plan_.judge == "validation rows"
    assert there.best_iteration_ == here.best_iteration_ < there.n_iter_
    losses = there.trace_.validation_loss, here.trace_.validation_loss
    np.testing.assert_allclose(*losses, rtol=1e-10)


def test_a_share_is_held_out():
    model = RGBMRegressor(random_state=0, early_stopping=True).fit(chunks_of(X, Y["number"]))
    assert model.plan_.judge == "held-out rows"
    assert model.best_iteration_ < model.n_iter_
    assert model.score(X, Y["number"]) > 0.5


def test_cross_validation_before_one_run():
    settings = dict(random_state=0, max_iter="cv", ensemble=False, interactions=0)
    here = in_memory_cv(settings)
    there = RGBMRegressor(**settings).fit(chunks_of(X, Y["number"]))
    assert there.n_iter_ == here.n_iter_
    assert there.cv_loss_.tobytes() == here.cv_loss_.tobytes()
    assert_same(here, there)


def in_memory_cv(settings):
    cv = folds_of_chunks(len(X), 0)
    return RGBMRegressor(**settings, cv=cv, engine="gram").fit(X, Y["number"])


def test_predictions_and_scores():
    y = Y["two"]
    model = RGBMClassifier(random_state=0, max_iter=50).fit(chunks_of(X, y))
    rows = chunks_of(X, y, size=77)
    np.testing.assert_array_equal(model.predict(rows), model.predict(X))
    np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(X))
    assert model.score(rows) == model.score(X, y)
    weighted = chunks_of(X, y, WEIGHT, size=77)
    assert model.score(weighted) == pytest.approx(model.score(X, y, WEIGHT), rel=1e-12)


def test_levels_that_fit_did_not_see():
    model = RGBMRegressor(random_state=0, max_iter=50).fit(chunks_of(X, Y["number"]))
    other = X[:10].assign(town="elsewhere")
    np.testing.assert_array_equal(
        model.predict(chunks_of(other, Y["number"][:10], size=3)), model.predict(other)
    )


def test_sparse_pieces():
    import scipy.sparse

    rng = np.random.default_rng(0)
    matrix = scipy.sparse.random_array((3000, 8), density=0.2, rng=rng, format="csr")
    y = np.round(10 * (matrix @ rng.normal(size=8)))
    settings = dict(random_state=0, max_iter=100, interactions=0)
    here = RGBMRegressor(**settings, engine="gram").fit(matrix.toarray(), y)
    there = RGBMRegressor(**settings).fit(chunks_of(matrix, y, size=700))
    assert here.trace_.train_loss.tobytes() == there.trace_.train_loss.tobytes()
