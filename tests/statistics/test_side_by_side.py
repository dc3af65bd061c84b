"""Losses and sums of several runs in one pass are those of one run after the other."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import RGBMClassifier
from rgboost._core.team import Team
from rgboost.learners import Stumps
from rgboost.losses import Huber, Logistic, Loss, Poisson
from rgboost.statistics import in_memory, side_by_side
from rgboost.statistics.side_by_side import LANES, MOST_ROWS, SideBySide, can_stand_side_by_side
from tests.conftest import JIT


def data(mixed, weighted, n=700):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 5, n), rng.normal(size=n)])
    learner = Stumps(max_bins=40)
    if mixed:
        X[rng.random(n) < 0.1, 0] = np.nan
        learner = Stumps(max_bins=40, categorical=(1,))
    weight = rng.random(n) + 0.5 if weighted else None
    return X, learner.prepare(X, weight).arrays, weight, rng


def cells_of(arrays):
    if hasattr(arrays, "columns"):
        return arrays.columns.bin_start
    return arrays.splits.offsets + np.arange(len(arrays.splits.offsets))


@pytest.mark.kernel
@pytest.mark.parametrize("loss", [Logistic(), Poisson(), Huber(0.5)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
def test_sums_are_those_of_each_run(mixed, with_offset, weighted, loss):
    n = 700
    X, arrays, weight, rng = data(mixed, weighted, n)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0 if isinstance(loss, Logistic) else 2.0)
    first = cells_of(arrays)
    n_models = LANES + 2
    tables, start = rng.normal(size=(n_models, first[-1])) * 0.3, rng.normal(size=n_models)
    offset = rng.normal(size=n) if with_offset else None
    with Team(1) as team:
        rows = SideBySide(arrays, first, y, weight, offset, loss, team)
        found = rows.look(start, tables)
    cell = first[:-1, None] + arrays.codes[:, :n]
    w = np.ones(n) if weight is None else weight
    for k, (bins, *sums) in enumerate(zip(*found, strict=True)):
        score = start[k] + tables[k][cell].sum(axis=0) + (offset if with_offset else 0.0)
        residual = w * loss.residual(y, score)
        assert sums[0] == pytest.approx(residual.sum(), abs=1e-11)
        each = loss.value(y, score), loss.model_curvature(y, score), residual * residual / w
        for one, values in zip(sums[1:], each, strict=True):
            assert one == pytest.approx((w * values).sum(), rel=1e-13)
        expected = np.zeros(first[-1])
        for g in range(X.shape[1]):
            np.add.at(expected, cell[g], residual)
        np.testing.assert_allclose(bins, expected, atol=1e-11)


@pytest.mark.skipif(not JIT, reason="threads need compiled code")
def test_threads_change_no_bit_and_batches_only_rounding(monkeypatch):
    n = 30_000
    _, arrays, weight, rng = data(True, True, n)
    y, tables = np.sign(rng.normal(size=n)), rng.normal(size=(3, cells_of(arrays)[-1]))
    found = []
    for n_threads, most_rows in ((1, MOST_ROWS), (2, MOST_ROWS), (3, MOST_ROWS), (2, 9000), (1, 1)):
        monkeypatch.setattr(side_by_side, "MOST_ROWS", most_rows)
        with Team(n_threads) as team:
            rows = SideBySide(arrays, cells_of(arrays), y, weight, None, Logistic(), team)
            found.append(rows.look(np.zeros(3), tables))
    for threads, batches in ((found[1], found[3]), (found[2], found[4])):
        for sums, same, nearly in zip(found[0], threads, batches, strict=True):
            np.testing.assert_array_equal(sums, same)
            np.testing.assert_allclose(sums, nearly, rtol=1e-10)


@pytest.mark.parametrize("mixed", [False, True])
def test_fits_are_those_of_runs_alone(mixed, monkeypatch):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(2500, 3)), rng.integers(0, 4, 2500)])
    if mixed:
        X[::7, 0] = np.nan
    y = X[:, 1] + (X[:, 3] == 2) + rng.normal(size=2500) > 0
    model = RGBMClassifier(
        selection="learners", categorical_features=[3] if mixed else None, random_state=0
    )
    together = model.fit(X, y).decision_function(X)
    assert "on quadratic models" in model.trace_.engine
    alone = []
    monkeypatch.setattr(in_memory, "can_stand_side_by_side", lambda *_: alone.append(1) and False)
    np.testing.assert_allclose(together, model.fit(X, y).decision_function(X), rtol=1e-9)
    assert alone


def test_where_it_is_possible():
    _, arrays, _, _ = data(False, False)
    assert can_stand_side_by_side(arrays, Logistic())
    assert not can_stand_side_by_side(arrays, InPython())
    sparse = Stumps().prepare(scipy.sparse.csc_array(np.eye(9)), None).arrays
    assert not can_stand_side_by_side(sparse, Logistic())


class InPython(Loss):
    smoothness = 1.0

    def value(self, y, f):
        return 0.5 * (y - f) ** 2

    def residual(self, y, f):
        return y - f
