"""The contract of statistics on a card, against rows in memory."""

import numpy as np
import pytest

from rgboost._core.team import Team
from rgboost.cuda.source import CardSource
from rgboost.engines.gram.family import gram_family
from rgboost.learners import Stumps
from rgboost.losses import Logistic, Poisson, Softmax, Squared
from rgboost.statistics.base import CellTables, Curvature, Models
from rgboost.statistics.cells import Cells
from rgboost.statistics.folded_rows import NumberRows
from rgboost.statistics.pieces import MemoryRows
from rgboost.training.make_problem import problem_of_source

from ..statistics.test_far_rows import labels, settings
from .rows import MAX_BINS, N_ROWS, card, mixed_rows, weights

FOLDS, SEED = 2, 7
CASES = {
    "squared": (Squared(), False, False),
    "logistic, weights": (Logistic(0.0), True, False),
    "Poisson, weights, offset": (Poisson(), True, True),
    "softmax, weights, offset": (Softmax(3), True, True),
}


@pytest.fixture(scope="module", params=CASES)
def both(request):
    """Statistics in memory and on a card, in the bins of one problem."""
    loss, weighted, has_offset = CASES[request.param]
    X, score = mixed_rows()
    rng, tail = np.random.default_rng(3), (loss.outputs,) if loss.outputs > 1 else ()
    offset = 0.3 * rng.normal(size=(N_ROWS, *tail)) if has_offset else None
    rows = NumberRows(X, labels(loss, score), weights() if weighted else None, offset)
    memory = MemoryRows(*rows)
    options = settings(loss, FOLDS) | {"names": None, "groups": None, "tol": 0.0, "n_jobs": 1}
    options["learner"] = Stumps(max_bins=MAX_BINS, categorical=(2,), smooth=True, min_frequency=2)
    del options["early_stopping"]
    given = dict.fromkeys(("weight", "offset", "validation"))
    problem = problem_of_source(memory, None, None, **options, **given)
    family = gram_family(problem)
    source = CardSource(card(), memory.cuts(loss.labels_are_classes), rows)
    args = problem, family, FOLDS, SEED, Team(1)
    return memory.binned(*args), source.binned(*args), problem, family


def models(problem, family, pairs=None, n=2):
    rng, loss = np.random.default_rng(4), problem.loss
    tail = (loss.outputs,) if loss.outputs > 1 else ()
    draw = lambda *shape: 0.3 * rng.normal(size=shape)  # noqa: E731
    if pairs is not None:
        pairs = CellTables(pairs, draw(n, *tail, int(pairs.start[-1])))
    return Models(draw(n, *tail), draw(n, *tail, family.n_tables), pairs)


def cells_of(family):
    sizes = np.diff(family.first_cell)
    bin_of = np.concatenate([np.arange(size) // 2 for size in sizes]).astype(np.uint8)
    columns = np.array([[0, -1], [2, -1], [0, 1], [1, 2]])
    return Cells.make(columns, np.asarray(family.first_cell), bin_of, (sizes + 1) // 2)


def close(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * N_ROWS)


def test_weights(both):
    memory, on_card, _, _ = both
    assert on_card.sizes == memory.sizes
    assert on_card.weighted == memory.weighted
    close(on_card.weights(), memory.weights())


def test_sums(both):
    memory, on_card, problem, family = both
    at = models(problem, family)
    close(on_card.sums(at), memory.sums(at))
    found, expected = (one.sums(at, losses_only=True) for one in both[:2])
    close([found.loss], [expected.loss])


def test_gram_rows(both):
    memory, on_card, _, family = both
    n_slots, features = int(family.offsets[-1]), range(3)
    found, expected = ([np.zeros((n_slots, n_slots)) for _ in range(FOLDS + 1)] for _ in range(2))
    on_card.gram(features, features, None, found)
    memory.gram(features, features, None, expected)
    close(found, expected)


def test_gram_rows_of_the_curvature(both):
    memory, on_card, problem, family = both
    start, tables = (part[0] for part in models(problem, family)[:2])
    at = Curvature(start, tables, 1e-4, 1e-6, (0, 1), np.dtype(np.float64))
    close(on_card.weights(at), memory.weights(at))
    n_slots, features = int(family.offsets[-1]), range(3)
    found, expected = ([np.zeros((n_slots, n_slots))] for _ in range(2))
    on_card.gram(features, features, at, found)
    memory.gram(features, features, at, expected)
    close(found, expected)


def test_cells(both):
    memory, on_card, problem, family = both
    cells, table = cells_of(family), np.array([[0, -1], [1, 0]])
    close(on_card.cell_weights(cells), memory.cell_weights(cells))
    at = models(problem, family, cells)
    close(on_card.tables(cells, at, table), memory.tables(cells, at, table))


def test_falls(both):
    memory, on_card, problem, family = both
    at, counts = models(problem, family, cells_of(family)), np.array([1, 4])
    close(on_card.falls(at, [1, 0], counts, 0.5), memory.falls(at, [1, 0], counts, 0.5))
