"""A cluster gives the model of the same rows in memory, whoever computes what."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas
import pytest
import scipy.sparse
from dask.distributed import Client
from dask.utils import key_split
from distributed.diagnostics.plugin import SchedulerPlugin
from sklearn.base import clone

from rgboost import Chunks, RGBMClassifier, RGBMRegressor, load
from rgboost.dask import DaskRGBMClassifier, DaskRGBMRegressor
from rgboost.data.chunks.sample import random_numbers
from rgboost.engines.gram import gram_rows, runs
from rgboost.statistics import chunks as provider
from rgboost.training.plan import cluster as plan
from rgboost.training.plan import costs, engines, rules

from .conftest import cluster_of
from .rows import (
    assert_same,
    chunks_of,
    computed,
    frame_of,
    in_memory,
    labelled_frame,
    wait_until,
)

FRAME, Y = labelled_frame()
SHORT = dict(random_state=0, max_iter=60)
MEAN = dict(random_state=0, n_iter_no_change=20)


@pytest.mark.parametrize("sizes", [(3000,), (1000, 0, 2000), (300,) * 10, (2700, 100, 200)])
def test_whole_numbers(client, sizes):
    """To the last bit, however rows are partitioned: none in one, nine tenths in another."""
    here = RGBMRegressor(**MEAN).fit(chunks_of(FRAME, Y))
    X, y = frame_of(FRAME, sizes), frame_of(Y, sizes)
    there = DaskRGBMRegressor(**MEAN).fit(X, y)
    assert there.trace_.engine == here.trace_.engine == "gram: the mean of 5 runs"
    assert_same(here, there)
    assert there.input_.labels[2].tolist() == here.input_.labels[2].tolist()
    assert there.feature_names_in_.tolist() == ["age", "income", "town"]
    predicted = there.predict(X).compute()
    np.testing.assert_array_equal(predicted, here.predict(FRAME))
    assert predicted.index.equals(FRAME.index)
    assert there.score(X, y) == pytest.approx(here.score(FRAME, Y), rel=1e-12)


@pytest.mark.parametrize("classes", [False, True])
def test_the_blocks_of_files(client, classes, monkeypatch):
    """Partitions are added up as the blocks of a file are, by many hands."""
    monkeypatch.setattr(provider, "block_rows", lambda n_features: 400)
    monkeypatch.setattr(plan, "BLOCK_BYTES", 1 << 14)
    sizes = (400,) * 19
    kind, far = (
        (RGBMClassifier, DaskRGBMClassifier) if classes else (RGBMRegressor, DaskRGBMRegressor)
    )
    X, y = in_memory(sizes, classes)
    here = kind(**SHORT, engine="quadratic").fit(chunks_of(X, y))
    there = far(**SHORT, engine="quadratic").fit(*computed(sizes, classes))
    assert_same(here, there)


@pytest.mark.parametrize("n_workers", [1, 4])
def test_any_number_of_workers(client, n_workers):
    """Of residuals whose sums depend on their order."""
    rows, settings = computed((300,) * 19, classes=True), dict(random_state=0, max_iter=150)
    here = DaskRGBMClassifier(**settings, client=client).fit(*rows)
    with cluster_of(n_workers) as cluster, Client(cluster) as other:
        assert_same(here, DaskRGBMClassifier(**settings, client=other).fit(*rows))


def test_two_fits_at_once(client):
    settings = [dict(engine="gram"), dict(engine="quadratic")]
    rows = computed((400,) * 5)

    def fit(given):
        return DaskRGBMRegressor(**SHORT, **given, client=client).fit(*rows)

    alone = [fit(given) for given in settings]
    with ThreadPoolExecutor(2) as pool:
        for one, other in zip(alone, pool.map(fit, settings), strict=True):
            assert_same(one, other)


def test_weights_and_offsets(client):
    """Rows without weight are not there, wherever they are."""
    sizes = (1000, 500, 1500)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 3, len(Y)).astype(float)
    weight[1000:1500] = 0.0  # a whole partition
    offset = rng.integers(-3, 3, len(Y)).astype(float)
    X, y, w, o = (
        frame_of(p, sizes) for p in (FRAME, Y, pandas.Series(weight), pandas.Series(offset))
    )
    there = DaskRGBMRegressor(**MEAN).fit(X, y, w, offset=o)

    def pieces():
        for k in range(0, 3000, 500):
            part = slice(k, k + 500)
            yield {"X": FRAME[part], "y": Y[part], "weight": weight[part], "offset": offset[part]}

    here = RGBMRegressor(**MEAN).fit(Chunks(pieces))
    assert_same(here, there)
    found = there.predict(X, o).compute()
    np.testing.assert_array_equal(found, here.predict(FRAME, offset))
    expected = here.score(FRAME, Y, weight, offset)
    assert there.score(X, y, w, o) == pytest.approx(expected, rel=1e-12)


def test_validation_rows(client):
    train, held = slice(0, 2000), slice(2000, 3000)
    here = RGBMRegressor(**MEAN).fit(
        chunks_of(FRAME[train], Y[train]), X_val=chunks_of(FRAME[held], Y[held])
    )
    X, y = (frame_of(part[train], (700, 1300)) for part in (FRAME, Y))
    X_val, y_val = (frame_of(part[held], (0, 400, 600)) for part in (FRAME, Y))
    there = DaskRGBMRegressor(**MEAN).fit(X, y, X_val=X_val, y_val=y_val)
    assert_same(here, there)
    assert here.trace_.validation_loss.tobytes() == there.trace_.validation_loss.tobytes()


def test_a_share_that_is_held_out(client):
    early = dict(**MEAN, early_stopping=True)
    here = RGBMRegressor(**early).fit(chunks_of(FRAME, Y))
    there = DaskRGBMRegressor(**early).fit(frame_of(FRAME, (1000,) * 3), frame_of(Y, (1000,) * 3))
    assert_same(here, there)


def test_classes_that_partitions_lack(client):
    """Classes, and labels of categories, are those of all partitions."""
    order = np.argsort(Y.to_numpy(), kind="stable")
    X, y = FRAME.iloc[order].reset_index(drop=True), np.digitize(Y.iloc[order], [1.0, 4.0])
    labels = pandas.Series(np.array(["few", "more", "many"])[y])
    sizes = (500, 100, 1400, 1000)
    assert len(set(labels[:500])) == 1
    here = RGBMClassifier(**SHORT).fit(chunks_of(X, labels.to_numpy(), sizes=sizes))
    there = DaskRGBMClassifier(**SHORT).fit(frame_of(X, sizes), frame_of(labels, sizes))
    assert there.classes_.tolist() == here.classes_.tolist() == ["few", "many", "more"]
    np.testing.assert_allclose(there.trace_.train_loss, here.trace_.train_loss, rtol=1e-10)
    far = frame_of(X, sizes)
    share = there.predict_proba(far).compute()
    assert share.columns.tolist() == there.classes_.tolist()
    np.testing.assert_array_equal(share, there.to_local().predict_proba(X))
    scores = there.decision_function(far).compute()
    np.testing.assert_array_equal(scores, there.to_local().decision_function(X))
    assert there.predict(far).compute().tolist() == there.to_local().predict(X).tolist()
    assert there.score(far, frame_of(labels, sizes)) == there.to_local().score(X, labels)


def test_categories_of_each_partition(client):
    """A column of categories whose levels are not known to Dask, and differ."""
    X = FRAME.assign(town=FRAME["town"].astype("category"))
    parts = frame_of(FRAME, (1000, 2000)).astype({"town": "category"})
    assert not parts["town"].cat.known
    here = RGBMRegressor(**SHORT).fit(chunks_of(X, Y))
    assert_same(here, DaskRGBMRegressor(**SHORT).fit(parts, frame_of(Y, (1000, 2000))))


@pytest.mark.parametrize("far", [False, True])
def test_more_rows_than_32_bits_count(client, monkeypatch, far):
    """Billions of rows are counted exactly, too."""
    many = 2**32
    assert gram_rows.gram_types([many // 2, many // 2], False, True)[1:] == [np.uint32, np.float64]
    assert costs.gram_bytes_of(many, False) == 8
    assert "quadratic models are of fewer" in engines.too_many_rows(SimpleNamespace(rows=many))

    def fit():
        if far:
            return DaskRGBMRegressor(**MEAN).fit(
                *(frame_of(part, (2000, 1000)) for part in (FRAME, Y))
            )
        return RGBMRegressor(**MEAN).fit(chunks_of(FRAME, Y))

    few = fit()
    monkeypatch.setattr(runs, "gram_types", lambda *given: [np.uint32] * 5 + [np.float64])
    assert_same(few, fit())


def test_columns_of_files(client, tmp_path):
    """Of files, Dask reads fewer columns for labels than for X, and puts partitions together."""
    frame = FRAME.assign(y=Y)
    for k in range(4):
        frame[k::4].to_parquet(tmp_path / f"rows-{k}.parquet")
    rows = dd.read_parquet(tmp_path)
    assert rows.npartitions == 4
    assert len(rows["y"].to_delayed()) < 4
    X, y = rows[["age", "income", "town"]], rows["y"]
    there = DaskRGBMRegressor(**SHORT).fit(X, y)
    ordered = pandas.concat([frame[k::4] for k in range(4)])
    assert_same(RGBMRegressor(**SHORT).fit(chunks_of(ordered[FRAME.columns], ordered["y"])), there)
    expected = there.to_local().predict(ordered[FRAME.columns])
    np.testing.assert_array_equal(there.predict(X).compute(), expected)


def test_arrays_in_blocks_of_columns(client):
    """Blocks of columns are put together; labels are rechunked as the rows are."""
    X, y = in_memory((500, 500))
    here = DaskRGBMRegressor(**SHORT).fit(
        da.from_array(X, chunks=(250, 4)), da.from_array(y, chunks=250)
    )
    there = DaskRGBMRegressor(**SHORT).fit(
        da.from_array(X, chunks=(250, 2)), da.from_array(y, chunks=100)
    )
    assert_same(here, there)


def test_sparse_partitions(client):
    X, y = in_memory((500, 500))
    X[np.abs(X) < 0.5] = 0.0
    rows, labels = da.from_array(X, chunks=(300, 4)), da.from_array(y, chunks=300)
    sparse = rows.map_blocks(scipy.sparse.csr_matrix)
    here, there = (DaskRGBMRegressor(**SHORT).fit(one, labels) for one in (rows, sparse))
    assert_same(here, there)
    np.testing.assert_allclose(there.predict(sparse).compute(), here.predict(X), rtol=1e-12)


def test_a_sample_of_the_rows(client, monkeypatch):
    """Thresholds follow from the rows that are the sample of a file of the same rows."""
    monkeypatch.setattr(rules, "SAMPLE_ROWS", 1000)
    monkeypatch.setattr(rules, "FEWEST_SAMPLED", 1000)
    here = RGBMRegressor(**SHORT).fit(chunks_of(*in_memory((400,) * 8)))
    there = DaskRGBMRegressor(**SHORT).fit(*computed((400,) * 8))
    np.testing.assert_allclose(there.trace_.train_loss, here.trace_.train_loss, rtol=1e-12)
    assert there.trace_.learner.tolist() == here.trace_.learner.tolist()


def test_partitions_send_their_share_of_the_sample():
    """Not as many rows as the sample has in all."""
    n, size = 2_000_000, 200_000
    numbers = random_numbers(np.arange(n, dtype=np.uint64), 7)
    bar = plan.sample_bar(n, size)
    assert size <= (numbers <= bar).sum() < 1.05 * size
    assert plan.sample_bar(size, size) == 2**64 - 1


def test_an_estimator_of_scikit_learn(client, tmp_path):
    model = DaskRGBMRegressor(**SHORT, client=client).fit(*computed((400, 400)))
    X = in_memory((400, 400))[0]
    assert model.get_params()["client"] is client
    assert set(model.get_params()) == {*RGBMRegressor().get_params(), "client"}
    local = model.to_local()
    assert type(local) is RGBMRegressor
    np.testing.assert_array_equal(local.predict(X), model.predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    np.testing.assert_array_equal(again.predict(X), local.predict(X))
    other = clone(model)
    assert other.client is client
    assert not hasattr(other, "model_")
    assert other.get_params() == model.get_params()
    model.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").predict(X), local.predict(X))
    with pytest.raises(TypeError, match="compute some of it first"):
        model.explain_local(computed((400, 400))[0])


class Watcher(SchedulerPlugin):
    """Writes down what the scheduler has had to do."""

    name = "watcher"

    def __init__(self):
        self.names = set()

    def transition(self, key, start, finish, *args, **kwargs):
        self.names.add(key_split(key))


def test_what_runs_can_be_seen(client):
    """Progress by callbacks; names of tasks say what they do; nothing is left on the workers."""
    told, watcher, scheduler = [], Watcher(), client.cluster.scheduler
    scheduler.add_plugin(watcher)
    callbacks = [lambda progress: told.append(progress)]
    model = DaskRGBMRegressor(**SHORT, client=client, loss="huber", callbacks=callbacks)
    model.fit(*computed((400,) * 3))
    assert told
    kinds = "survey tally merge input cuts bins learners sizes weights sums curvature gram add"
    assert {f"rgboost-{kind}" for kind in kinds.split()} <= watcher.names
    assert "partitions, computed 2 times" in model.plan_.events[-1]
    wait_until(lambda: not any(str(key).startswith("rgboost") for key in list(scheduler.tasks)))
    scheduler.remove_plugin(name=watcher.name)


def test_pairs(client):
    """Features that act together are found and fitted from sums in cells, as of files."""
    X, y = in_memory((400,) * 5)
    y = np.round(4 * (y + 2.0 * (X[:, 2] > 0) * (X[:, 3] > 0)))
    here = RGBMRegressor(**MEAN, interactions=1).fit(chunks_of(X, y))
    far = da.from_array(X, chunks=(400, 4)), da.from_array(y, chunks=400)
    there = DaskRGBMRegressor(**MEAN, interactions=1).fit(*far)
    assert next(iter(there.pair_scores_)) == next(iter(here.pair_scores_)) == ("x2", "x3")
    assert there.term_features_ == here.term_features_
    np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=1e-8, atol=1e-8)
