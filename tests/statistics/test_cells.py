"""Sums in the cells of pairs of features, against a loop over rows."""

import numpy as np
import pytest
import scipy.sparse

from rgboost._core.team import Team
from rgboost.engines.gram.family import gram_family
from rgboost.learners import Stumps
from rgboost.losses import Logistic, Softmax, Squared
from rgboost.statistics.base import CellTables, Models, fold_of_rows
from rgboost.statistics.cells import Cells
from rgboost.statistics.pieces import MemoryRows, Pieces
from rgboost.training.make_problem import problem_of_source

from ..training.situations import PseudoHuber
from .far_rows import FarRows
from .test_far_rows import KINDS, LOSSES, labels, mixed_rows, pieces_of, settings, weight_and_offset

FOLDS = 3
COLUMNS = np.array([[0, -1], [1, -1], [3, -1], [0, 1], [1, 3], [2, 4]])


def in_bins(kind, pieces, loss, **other):
    """The statistics, and the problem that their rows are in the bins of."""
    source = FarRows(pieces) if kind == "far" else Pieces([MemoryRows(*one) for one in pieces])
    if kind != "far":
        first = np.cumsum([0, *(len(one[1]) for one in pieces)])
        for piece, a in zip(source.pieces, first, strict=False):
            piece.first = a
    options = (
        settings(loss, FOLDS) | {"names": None, "groups": None, "tol": 0.0, "n_jobs": 1} | other
    )
    del options["early_stopping"]
    given = dict.fromkeys(("weight", "offset", "validation"))
    problem = problem_of_source(source, None, None, **options, **given)
    family = gram_family(problem)
    return source.binned(problem, family, FOLDS, 7, Team(2)), problem, family


def coarse_cells(first, rng):
    """Neighbouring bins of every feature, some of them together."""
    bin_of, n_bins = [], []
    for size in np.diff(first):
        steps = rng.random(size - 1) < 0.5
        bin_of.append(np.concatenate([[0], np.cumsum(steps)]))
        n_bins.append(bin_of[-1][-1] + 1)
    bin_of = np.concatenate(bin_of).astype(np.uint8)
    return Cells.make(COLUMNS, first, bin_of, np.array(n_bins, np.int64))


def naive_cell(cells, codes, k, i):
    """The number of the cell of row i in column k."""
    g, h = cells.features[k]
    a = int(cells.bin_of[cells.first_bin[g] + codes[g, i]])
    if h < 0:
        return cells.start[k] + a
    return (
        cells.start[k] + a * cells.n_bins[h] + int(cells.bin_of[cells.first_bin[h] + codes[h, i]])
    )


def naive_scores(models, offset, codes, first, cells, m, n_columns):
    """Of all rows, with the first so many columns."""
    n, several = codes.shape[1], np.ndim(models.start[m])
    score = np.zeros((n, *np.shape(models.start[m])))
    for i in range(n):
        score[i] = models.start[m] + (0.0 if offset is None else offset[i])
        tables, values = models.tables[m], models.pairs.values[m]
        numbers = [first[g] + codes[g, i] for g in range(len(codes))]
        places = [naive_cell(cells, codes, k, i) for k in range(n_columns)]
        score[i] += tables[..., numbers].sum(axis=-1) + values[..., places].sum(axis=-1)
    return score if several else score.reshape(n)


@pytest.mark.parametrize("loss", [*LOSSES, PseudoHuber()], ids=repr)
@pytest.mark.parametrize(
    ("kind", "source"), [*((kind, "near") for kind in KINDS), (KINDS[-1], "far")]
)
def test_sums_in_cells(loss, kind, source):
    X, score = mixed_rows()
    y, (weight, offset) = labels(loss, score), weight_and_offset(kind, loss)
    statistics, problem, family = in_bins(source, pieces_of(X, y, weight, offset), loss)
    if loss.quadratic:
        y, offset = y - problem.centre - (0.0 if offset is None else offset), None
    rng, first = np.random.default_rng(1), family.first_cell
    codes = problem.prepared.arrays_for(X).codes[:, : len(X)]
    cells = coarse_cells(first, rng)
    tail = (loss.outputs,) if loss.outputs > 1 else ()
    draw = lambda *shape: 0.3 * rng.normal(size=shape)  # noqa: E731
    pairs = CellTables(cells, draw(2, *tail, int(cells.start[-1])))
    models = Models(draw(2, *tail), draw(2, *tail, family.n_tables), pairs)
    fold = fold_of_rows(0, len(X), FOLDS, 7)
    w = np.ones(len(X)) if weight is None else weight
    table = np.array([[-1, 0], [1, -1], [1, 0]])
    found = statistics.tables(cells, models, table)
    np.testing.assert_allclose(
        statistics.cell_weights(cells), weights_in_cells(cells, codes, fold, w), rtol=1e-12
    )
    residual, curvature = np.zeros(found.residual.shape), np.zeros(found.curvature.shape)
    losses, squares = np.zeros((FOLDS, 2)), np.zeros((FOLDS, 2))
    for m in range(2):
        f = naive_scores(models, offset, codes, first, cells, m, len(COLUMNS))
        r, h, value = loss.residual(y, f), loss.model_curvature(y, f), loss.value(y, f)
        for i in range(len(X)):
            t = table[fold[i], m]
            if t < 0:
                continue
            losses[fold[i], m] += w[i] * value[i]
            squares[fold[i], m] += w[i] * np.sum(r[i] ** 2)
            for k in range(len(COLUMNS)):
                cell = naive_cell(cells, codes, k, i)
                residual[t, ..., cell] += w[i] * r[i]
                if not loss.quadratic:
                    curvature[t, cell] += w[i] * h[i]
    for one, other in zip(found, (residual, curvature, losses, squares), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


def weights_in_cells(cells, codes, fold, w):
    out = np.zeros((FOLDS, int(cells.start[-1])))
    for i, f in enumerate(fold):
        for k in range(len(COLUMNS)):
            out[f, naive_cell(cells, codes, k, i)] += w[i]
    return out


@pytest.mark.parametrize("loss", [Squared(), Logistic(0.0), Softmax(3)], ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_falls_of_models_with_pairs(loss, kind):
    X, score = mixed_rows()
    y, (weight, offset) = labels(loss, score), weight_and_offset(kind, loss)
    statistics, problem, family = in_bins("near", pieces_of(X, y, weight, offset), loss)
    if loss.quadratic:
        y, offset = y - problem.centre - (0.0 if offset is None else offset), None
    rng, first = np.random.default_rng(2), family.first_cell
    codes = problem.prepared.arrays_for(X).codes[:, : len(X)]
    cells = coarse_cells(first, rng)
    tail = (loss.outputs,) if loss.outputs > 1 else ()
    pairs = CellTables(cells, 0.3 * rng.normal(size=(2, *tail, int(cells.start[-1]))))
    tables = 0.3 * rng.normal(size=(2, *tail, family.n_tables))
    models = Models(np.zeros((2, *tail)), tables, pairs)
    fold = fold_of_rows(0, len(X), FOLDS, 7)
    w = np.ones(len(X)) if weight is None else weight
    sums, only = statistics.sums(models), statistics.sums(models, losses_only=True)
    np.testing.assert_allclose(sums.loss, only.loss, rtol=1e-12)
    counts, of = np.array([0, 2, 5, 6]), (2, 0)
    unit = 0.125  # bits stay
    falls = statistics.falls(models, of, counts, unit)
    for m in range(2):
        value = [
            w * loss.value(y, naive_scores(models, offset, codes, first, cells, m, n))
            for n in (0, *counts)
        ]
        expected = np.bincount(fold, value[-1])
        np.testing.assert_allclose(sums.loss[:, m], expected, rtol=1e-10)
        mine = fold == of[m]
        np.testing.assert_allclose(unit * falls.loss[m], value[0][mine].sum(), rtol=1e-10)
        for i in range(len(counts)):
            fall = (value[0] - value[1 + i])[mine] / unit
            np.testing.assert_allclose(falls.fall[m, i], fall.sum(), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(falls.square[m, i], (fall**2).sum(), rtol=1e-9, atol=1e-12)


def test_sparse_rows():
    """Their bins are made dense."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((500, 6), density=0.1, rng=rng, format="csr")
    y = rng.normal(size=500)
    (one, _, family), (other, _, _) = (
        in_bins("near", [[rows, y, None, None]], Squared(), learner=Stumps(max_bins=32))
        for rows in (X, X.toarray())
    )
    cells = coarse_cells(family.first_cell, rng)
    cells = Cells.make(COLUMNS[-1:], *cells[1:4])
    np.testing.assert_array_equal(one.cell_weights(cells), other.cell_weights(cells))
    models = Models(np.zeros(1), np.zeros((1, family.n_tables)))
    table = np.zeros((FOLDS, 1), np.int64)
    for found in zip(*(some.tables(cells, models, table) for some in (one, other)), strict=True):
        np.testing.assert_allclose(*found, atol=1e-12)
