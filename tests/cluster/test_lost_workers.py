"""Workers that come and go, as processes: fits end with the bits of an undisturbed one."""

import os
import signal
import subprocess
import sys

import dask.array as da
import numpy as np
import pytest
from dask import delayed
from dask.distributed import Client, futures_of, wait

from rgboost.dask import DaskRGBMClassifier, DaskRGBMRegressor, statistics
from rgboost.training.plan import cluster as plan

from .conftest import cluster_of
from .rows import WAIT, assert_same, computed, in_memory, wait_until

SIZES = (300,) * 9
MEAN = dict(random_state=0, n_iter_no_change=20)


class Processes:
    """A scheduler and workers on the loopback interface, on ports that the system chooses."""

    def __init__(self, folder):
        self.folder = folder
        self.address = folder / "scheduler.json"
        paths = os.pathsep.join(path for path in sys.path if path)
        self.environment = {**os.environ, "PYTHONPATH": paths}
        self.scheduler = self._start("scheduler", "--port", "0", "--no-show")
        self.workers = []
        wait_until(self.address.exists)
        self.client = Client(scheduler_file=str(self.address), timeout=WAIT)

    def _start(self, what, *options):
        command = [sys.executable, "-m", "distributed.cli.dask_" + what]
        command += ["--host", "127.0.0.1", "--scheduler-file", str(self.address)]
        command += ["--dashboard-address", "127.0.0.1:0", *options]
        with open(self.folder / f"{what}.log", "ab") as log:
            return subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)

    def add_worker(self):
        options = ["--nthreads", "1", "--no-nanny", "--death-timeout", str(int(WAIT))]
        folder = ["--local-directory", str(self.folder)]
        self.workers.append(self._start("worker", *options, *folder))

    def have(self, n):
        """Wait for n workers."""
        while len(self.workers) < n:
            self.add_worker()
        self.client.wait_for_workers(n, timeout=WAIT)

    def kill_worker(self, holding=None):
        """Kill -9 a worker: one that has the result of a future, or any."""
        pids = self.client.run(os.getpid)
        addresses = set(pids)
        if holding is not None:
            addresses &= set(self.client.who_has([holding])[holding.key])
        pid = pids[min(addresses)]
        (victim,) = [worker for worker in self.workers if worker.pid == pid]
        os.kill(pid, signal.SIGKILL)
        victim.wait()
        self.workers.remove(victim)
        return victim

    def close(self):
        self.client.close()
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    processes = Processes(tmp_path_factory.mktemp("cluster"))
    try:
        processes.have(2)
        yield processes
    finally:
        processes.close()


@pytest.fixture
def processes(cluster):
    """Two workers, whatever became of those of the test before."""
    cluster.have(2)
    return cluster


@pytest.fixture(scope="module")
def undisturbed():
    """Fits that nothing happens to."""
    with cluster_of(1) as cluster, Client(cluster) as client:
        regressor = DaskRGBMRegressor(**MEAN, client=client).fit(*computed(SIZES))
        classifier = DaskRGBMClassifier(random_state=0, max_iter=150, client=client)
        return regressor, classifier.fit(*computed(SIZES, classes=True))


def when_a_block_is_there(monkeypatch, n, do):
    """Do something when the n-th block of Gram rows has come, and others are to come."""
    monkeypatch.setattr(plan, "BLOCK_BYTES", 1)  # a feature
    receive, seen = statistics.ClusterStatistics._receive, []

    def received(self, *args):
        receive(self, *args)
        seen.append(self)
        if len(seen) == n:
            do(self)

    monkeypatch.setattr(statistics.ClusterStatistics, "_receive", received)
    return seen


def test_killed_in_the_gram_pass(processes, undisturbed, monkeypatch):
    """The bins that the worker had are made again, by another."""
    before = len(processes.workers)

    def kill(rows):
        processes.kill_worker(holding=rows.codes[0])

    seen = when_a_block_is_there(monkeypatch, 1, kill)
    there = DaskRGBMRegressor(**MEAN, client=processes.client).fit(*computed(SIZES))
    assert len(processes.workers) == before - 1
    assert len(seen) == 4
    assert there.trace_.engine == "gram: the mean of 5 runs"
    assert_same(undisturbed[0], there)


def test_killed_in_a_quadratic_refresh(processes, undisturbed, monkeypatch):
    """So is the curvature of its rows, at the models of the moment."""
    before = len(processes.workers)

    def kill(rows):
        processes.kill_worker(holding=rows.curved[2][0])

    seen = when_a_block_is_there(monkeypatch, 4 + 2, kill)  # in the second refresh
    there = DaskRGBMClassifier(random_state=0, max_iter=150, client=processes.client)
    there.fit(*computed(SIZES, classes=True))
    assert len(processes.workers) == before - 1
    assert len(seen) > 8
    assert there.trace_.engine.startswith("quadratic")
    assert_same(undisturbed[1], there)


def test_a_worker_added_in_the_middle(processes, undisturbed, monkeypatch):
    before = len(processes.workers)

    def add(rows):
        processes.have(len(processes.workers) + 1)

    when_a_block_is_there(monkeypatch, 1, add)
    there = DaskRGBMRegressor(**MEAN, client=processes.client).fit(*computed(SIZES))
    assert len(processes.workers) == before + 1
    assert_same(undisturbed[0], there)


def test_killed_during_predict(processes, undisturbed, tmp_path):
    """A worker that has predictions is lost while others are to come."""
    gate, model = tmp_path / "gate", undisturbed[0]
    X, _ = computed(SIZES, gates={len(SIZES) - 1: str(gate)})
    predictions = processes.client.persist(model.predict(X))
    first = min(futures_of(predictions), key=lambda future: future.key)
    wait([first], timeout=WAIT)
    processes.kill_worker(holding=first)
    gate.touch()
    found = processes.client.compute(predictions).result(timeout=WAIT)
    np.testing.assert_array_equal(found, model.to_local().predict(in_memory(SIZES)[0]))


def test_scattered_rows_of_a_lost_worker(processes):
    """Nobody can compute them again."""
    client, (X, y) = processes.client, in_memory((300, 300))
    address = min(client.scheduler_info()["workers"])
    sent = client.scatter([X[:300], X[300:]], workers=[address], direct=False)
    parts = [da.from_delayed(delayed(one), (300, 4), float) for one in sent]
    rows, labels = da.concatenate(parts), da.from_array(y, chunks=300)
    model = DaskRGBMRegressor(random_state=0, max_iter=20, client=client)
    model.fit(rows, labels)
    processes.kill_worker(holding=sent[0])
    wait_until(lambda: address not in client.scheduler_info()["workers"])
    with pytest.raises(RuntimeError, match="lost rows that it cannot compute again"):
        model.fit(rows, labels)
