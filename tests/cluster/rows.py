"""Rows as partitions of Dask collections, and the same rows in memory."""

import functools
import itertools
import time
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas
from dask import delayed

from rgboost import Chunks

WAIT = 300.0
"""Seconds until a test that waits for another process gives up; it matters where that fails."""


def make_rows(k, n=400):
    """Rows of partition k. Sums of their labels depend on the order."""
    rng = np.random.default_rng(k)
    X = rng.normal(size=(n, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)


def features_of(k, n=400, gate=None):
    """X of `make_rows`, as soon as there is the file ``gate``."""
    if gate is not None:
        wait_until(Path(gate).exists)
    return make_rows(k, n)[0]


def labels_of(k, n=400, classes=False):
    y = make_rows(k, n)[1]
    return np.where(y > 0, "yes", "no") if classes else y


def computed(sizes, classes=False, gates=None):
    """X and y of `make_rows` as arrays whose partitions are computed by tasks."""
    X, y = [], []
    for k, n in enumerate(sizes):
        gate = None if gates is None else gates.get(k)
        X.append(da.from_delayed(delayed(features_of)(k, n, gate), (n, 4), float))
        dtype = "U3" if classes else float
        y.append(da.from_delayed(delayed(labels_of)(k, n, classes), (n,), dtype))
    return da.concatenate(X), da.concatenate(y)


def in_memory(sizes, classes=False):
    """X and y of `computed`."""
    parts = [(features_of(k, n), labels_of(k, n, classes)) for k, n in enumerate(sizes)]
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def chunks_of(*parts, sizes=None):
    """Chunks with the pieces of ``sizes``; None: in one piece."""
    ends = np.cumsum([0, *([len(parts[1])] if sizes is None else sizes)])

    def pieces():
        for a, b in itertools.pairwise(ends):
            yield tuple(part[a:b] for part in parts)

    return Chunks(pieces)


def frame_of(X, sizes):
    """A data frame as partitions of these sizes, whose divisions are not known."""
    ends = np.cumsum([0, *sizes])
    parts = [X.iloc[a:b] for a, b in itertools.pairwise(ends)]
    return dd.from_delayed([delayed(part, traverse=False) for part in parts], meta=X.iloc[:0])


def assert_same(one, other):
    """Two fits to the last bit."""
    assert one.trace_.train_loss.tobytes() == other.trace_.train_loss.tobytes()
    assert one.trace_.learner.tobytes() == other.trace_.learner.tobytes()
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)


@functools.cache
def labelled_frame(n=3000):
    """A data frame with categories and missing values, and labels that are whole numbers."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 12, n)
    X = pandas.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "income": rng.normal(size=n).round(2),
            "town": np.array([f"town {k:02d}" for k in range(12)])[town],
        }
    )
    X.loc[rng.random(n) < 0.1, "income"] = np.nan
    X.loc[rng.random(n) < 0.05, "town"] = None
    score = np.sin(X["age"] / 10) + X["income"].fillna(0.7) + 0.5 * (town % 3)
    return X, pandas.Series(np.round(4 * score + rng.normal(size=n)), name="y")


def wait_until(true):
    """Wait for what another thread or process does."""
    until = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)
