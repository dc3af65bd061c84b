"""Losses and sums of several runs in one pass are those of one run after the other."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import RGBMClassifier
from rgboost._core.team import Team
from rgboost.engines.quadratic import curved_rows
from rgboost.learners import Stumps
from rgboost.losses import Logistic, Poisson
from rgboost.statistics import side_by_side
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
    fold = rng.choice(3, size=n, p=[0.2, 0.5, 0.3])
    return X, learner.prepare(X, weight).arrays, weight, fold, rng


def cells_of(arrays):
    if hasattr(arrays, "columns"):
        return arrays.columns.bin_start
    return arrays.splits.offsets + np.arange(len(arrays.splits.offsets))


@pytest.mark.kernel
@pytest.mark.parametrize("loss", [Logistic(), Poisson()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
def test_sums_are_those_of_each_run(mixed, with_offset, weighted, loss):
    n = 700
    X, arrays, weight, fold, rng = data(mixed, weighted, n)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0 if isinstance(loss, Logistic) else 2.0)
    first = cells_of(arrays)
    tables, start = rng.normal(size=(3, first[-1])) * 0.3, np.array([0.1, -0.2, 0.3])
    offset = rng.normal(size=n) if with_offset else None
    with Team(1) as team:
        rows = SideBySide(arrays, first, y, weight, offset, loss, fold, team)
        every, held = rows.look(start, tables)
    cell = first[:-1, None] + arrays.codes[:, :n]
    w = np.ones(n) if weight is None else weight
    for k in range(3):
        score = start[k] + tables[k][cell].sum(axis=0) + (offset if with_offset else 0.0)
        residual, value = w * loss.residual(y, score), w * loss.value(y, score)
        for rows, found in ((np.ones(n, bool), every), (fold == k, held)):
            assert found.total[k] == pytest.approx(residual[rows].sum(), abs=1e-11)
            assert found.loss[k] == pytest.approx(value[rows].sum(), rel=1e-13)
            expected = np.zeros(first[-1])
            for g in range(X.shape[1]):
                np.add.at(expected, cell[g, rows], residual[rows])
            np.testing.assert_allclose(found.bins[k], expected, atol=1e-11)


@pytest.mark.skipif(not JIT, reason="threads need compiled code")
def test_threads_and_batches_change_no_bit(monkeypatch):
    n = 30_000
    _, arrays, weight, fold, rng = data(True, True, n)
    y, tables = np.sign(rng.normal(size=n)), rng.normal(size=(3, cells_of(arrays)[-1]))
    found = []
    for n_threads, most_rows in ((1, MOST_ROWS), (2, MOST_ROWS), (3, MOST_ROWS), (2, 9000), (1, 1)):
        monkeypatch.setattr(side_by_side, "MOST_ROWS", most_rows)
        with Team(n_threads) as team:
            rows = SideBySide(arrays, cells_of(arrays), y, weight, None, Logistic(), fold, team)
            found.append(rows.look(np.zeros(3), tables))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            for sums, same_sums in zip(one, same, strict=True):
                np.testing.assert_array_equal(sums, same_sums)


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
    monkeypatch.setattr(curved_rows, "can_stand_side_by_side", lambda *_: alone.append(1) and False)
    np.testing.assert_allclose(together, model.fit(X, y).decision_function(X), rtol=1e-9)
    assert alone


def test_where_it_is_possible():
    _, arrays, _, fold, _ = data(False, False)
    assert can_stand_side_by_side(arrays, Logistic(), fold)
    assert can_stand_side_by_side(arrays, Logistic(), np.arange(LANES))
    assert not can_stand_side_by_side(arrays, Logistic(), np.arange(LANES + 1))
    sparse = Stumps().prepare(scipy.sparse.csc_array(np.eye(9)), None).arrays
    assert not can_stand_side_by_side(sparse, Logistic(), np.arange(3))
