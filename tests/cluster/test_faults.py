"""What goes wrong on a cluster: said clearly, and nothing is left behind."""

import os
import signal
import threading

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas
import pytest
from dask import delayed

from rgboost.callbacks import Checkpoint
from rgboost.dask import DaskRGBMClassifier, DaskRGBMRegressor, cluster, statistics

from .rows import chunks_of, computed, frame_of, in_memory, labelled_frame, wait_until

FRAME, Y = labelled_frame()
SHORT = dict(random_state=0, max_iter=20)
ROWS = da.zeros((4, 2), chunks=2), da.zeros(4, chunks=2)

REFUSED = [
    (dict(loss="absolute"), "no quadratic model"),
    (dict(learner="trees"), "Use stumps"),
    (dict(monotone_constraints={0: 1}), "Leave them out"),
    (dict(engine="direct"), "Use engine='auto'"),
    (dict(warm_start=True), "larger max_iter"),
    (dict(cv=[(np.arange(2), np.arange(2, 4))]), "number of folds"),
]


def never(*args):
    raise AssertionError("nothing is to be computed")


@pytest.mark.parametrize(("parameters", "remedy"), REFUSED)
def test_refused_before_anything_is_computed(client, parameters, remedy):
    X = da.from_delayed(delayed(never)(), (4, 2), float)
    with pytest.raises(ValueError, match=f"not for rows on a cluster: .*{remedy}"):
        DaskRGBMRegressor(**parameters).fit(X, ROWS[1])


def test_what_fit_is_given(client, tmp_path):
    model, (X, y) = DaskRGBMRegressor(), ROWS
    with pytest.raises(ValueError, match="groups is not for rows on a cluster"):
        model.fit(X, y, groups=np.zeros(4))
    with pytest.raises(ValueError, match="y is missing"):
        model.fit(X)
    with pytest.raises(ValueError, match="y_val is missing"):
        model.fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="without X_val"):
        model.fit(X, y, sample_weight_val=y)
    with pytest.raises(TypeError, match="X is a ndarray, and this takes a Dask array"):
        model.fit(np.zeros((4, 2)), y)
    with pytest.raises(TypeError, match=r"y is a ndarray.*partitioned like X"):
        model.fit(X, np.zeros(4))
    with pytest.raises(ValueError, match="X has one dimension"):
        model.fit(y, y)
    with pytest.raises(TypeError, match="X is a Delayed, and this takes"):
        model.fit(delayed(never)(), y)
    with pytest.raises(ValueError, match="X has 4 rows and y has 5"):
        model.fit(X, da.zeros(5))
    with pytest.raises(ValueError, match="X has 3 partitions and y 2"):
        model.fit(frame_of(FRAME, (1000,) * 3), frame_of(Y, (1500,) * 2))
    with pytest.raises(ValueError, match="Checkpoint is not for rows on a cluster"):
        DaskRGBMRegressor(callbacks=[Checkpoint(tmp_path / "run")]).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        DaskRGBMClassifier().fit(X, y)
    with pytest.raises(ValueError, match="no rows with a weight"):
        model.fit(X, y, da.zeros(4, chunks=2))
    with pytest.raises(TypeError, match=r"client='here' is no dask.distributed.Client"):
        DaskRGBMRegressor(client="here").fit(X, y)
    with pytest.raises(TypeError, match="device='cuda' is not for rows on a cluster"):
        DaskRGBMRegressor(device="cuda")
    with pytest.raises(TypeError, match="use max_iter"):
        DaskRGBMRegressor(n_estimators=3)


def test_no_client(monkeypatch):
    def no_client():
        raise ValueError("No global client found")

    monkeypatch.setattr(cluster, "get_client", no_client)
    with pytest.raises(ValueError, match="no Dask client; make one before"):
        DaskRGBMRegressor().fit(*ROWS)


def test_the_partition_and_the_column_are_named(client):
    sizes = (1000, 1500, 500)
    y = frame_of(Y, sizes)
    X = FRAME.copy()
    X.loc[1200, "income"] = np.inf
    with pytest.raises(ValueError, match=r"partition 1: .*infinity in column 'income'"):
        DaskRGBMRegressor(**SHORT).fit(frame_of(X, sizes), y)
    model = DaskRGBMRegressor(**SHORT).fit(frame_of(FRAME, sizes), y)
    with pytest.raises(ValueError, match=r"partition 1: .*infinity in column 'income'"):
        model.predict(frame_of(X, sizes)).compute()
    X_val = FRAME.copy()
    X_val.loc[2800, "age"] = np.nan
    held = dict(X_val=frame_of(X_val, sizes), y_val=y)
    with pytest.raises(ValueError, match=r"partition 2 of X_val: .*missing values in column 0"):
        DaskRGBMRegressor(**SHORT).fit(frame_of(FRAME, sizes), y, **held)
    with pytest.raises(ValueError, match=r"partition [01]: it has 1[05]00 rows and 1[05]00 labels"):
        DaskRGBMRegressor(**SHORT).fit(frame_of(FRAME, sizes), frame_of(Y, (1500, 1000, 500)))


@pytest.mark.parametrize(
    ("change", "error", "what"),
    [
        (lambda X: X.rename(columns={"income": "wage"}), ValueError, "column 1 is 'wage'"),
        (lambda X: X.assign(age="old"), TypeError, "column 'age' of X holds categories"),
        (lambda X: X.iloc[:, :2], ValueError, "it has 2 columns"),
    ],
)
def test_partitions_that_differ(client, change, error, what):
    X = [FRAME[:1000], FRAME[1000:2000], change(FRAME[2000:])]
    parts = dd.from_delayed([delayed(p) for p in X], meta=FRAME.iloc[:0], verify_meta=False)
    with pytest.raises(error, match=f"partition 2: {what}"):
        DaskRGBMRegressor(**SHORT).fit(parts, frame_of(Y, (1000,) * 3))


def test_other_rows_when_they_are_computed_again(client):
    def drawn():
        return np.random.default_rng().normal(size=(300, 4))

    X = da.from_delayed(delayed(drawn, pure=False)(), (300, 4), float)
    with pytest.raises(ValueError, match="partition 0 has other rows now than when"):
        DaskRGBMRegressor(**SHORT).fit(X, da.zeros(300, chunks=300))


def test_interrupt_cancels_the_tasks(client, tmp_path):
    """Ctrl-C while partitions are computed: the estimator is as before, and tasks are gone."""
    gate, model = tmp_path / "gate", DaskRGBMRegressor(**SHORT, client=client)
    tasks = client.cluster.scheduler.tasks
    X, y = computed((300,) * 8, gates=dict.fromkeys(range(8), str(gate)))

    def interrupt():
        wait_until(lambda: any(str(key).startswith("rgboost-survey") for key in list(tasks)))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    thread.join()
    assert not hasattr(model, "input_")
    wait_until(lambda: not any(str(key).startswith("rgboost") for key in list(tasks)))
    gate.touch()
    model.fit(X, y)  # the cluster is well
    assert len(model.trace_) == 20


def test_interrupt_while_gram_rows_are_made(client, monkeypatch):
    tasks = client.cluster.scheduler.tasks

    def interrupt(*args):
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(60)

    monkeypatch.setattr(statistics.ClusterStatistics, "_receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        DaskRGBMRegressor(random_state=0).fit(*computed((300,) * 4))
    wait_until(lambda: not any(str(key).startswith("rgboost") for key in list(tasks)))


def test_the_plan_says_what_is_held_and_what_is_under_way(client):
    X, y = computed((1000,) * 40)
    plan = DaskRGBMRegressor(random_state=0).plan(X, y)
    (way,) = plan.ways
    splits = 4 * (way.max_bins - 1)
    assert way.engine == "gram"
    assert f"at most {splits**2 * (5 * 2 + 2):,} bytes" in plan["partitions"].why
    rough = [DaskRGBMRegressor(max_bins=64, interactions=n).plan(X, y) for n in (0, "auto")]
    gram, cells = (4 * 63) ** 2 * (5 * 2 + 2), 6 * 65**2 + 4 * 65
    rows = 2 * 1000 * (4 + 8) + 64 * 1000
    answers = [gram, 8 * 2 * 5 * cells]  # with pairs, ten sums in each of their cells
    assert [one["bytes in flight"].value for one in rough] == [9 * one + rows for one in answers]
    less = DaskRGBMRegressor(random_state=0, gram_memory=6 * 10**6).plan(X, y)
    assert less.ways[0].engine == "quadratic"  # one matrix for all runs
    least = DaskRGBMRegressor(random_state=0, gram_memory=10**5).plan(X, y)
    assert least.ways[0].max_bins < way.max_bins
    assert (4 * (least.ways[0].max_bins - 1)) ** 2 * 2 <= 10**5


def test_rows_in_memory_still_predict(client):
    model = DaskRGBMClassifier(**SHORT).fit(*computed((300, 300), classes=True))
    X, y = in_memory((300, 300), classes=True)
    assert model.predict(X).tolist() == model.to_local().predict(X).tolist()
    assert model.score(X, y) == model.to_local().score(X, y)
    assert model.predict_proba(X).shape == (600, 2)
    assert model.score(chunks_of(X, y)) == model.score(X, y)
    assert pandas.Series(model.predict(X)).isin(["yes", "no"]).all()
