"""Which engine is faster: an explicit model of their cost.

Nanoseconds, measured on one core of a 2023 server and meant to be right within a factor of two:

- direct, an iteration: `CELL` for each entry of the data that the search reads, `ROW` a row;
- gram, an iteration: `SPLIT` for each of the K sums (update) and each split in J (search). A sum
  is that of a split, or of a bin of categories, where an update adds up a row for each member of a
  set;
- gram, a feature that is chosen for the first time: `PAIR` for each entry of the data, and
  `CUMULATE` for each entry of its Gram rows. No more features than iterations are ever chosen.
  Where Gram rows are made row by row (`row_statistics`): `PAIR` for each pair of entries of a row.

Threads divide everything alike and are left out. The Gram engine is taken if it is expected to be
faster and its rows fit into ``gram_memory`` whole. A run that may end by early stopping is expected
to end after `TYPICAL_ITERATIONS`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..engines.gram.family import gram_family
from ..engines.gram.gram import gram_obstacle, gram_type
from ..engines.problem import Problem
from ..learners.dense_stumps import DenseStumps
from ..learners.mixed_stumps import MixedStumps
from ..learners.sparse_stumps import SparseStumps
from ..statistics.short_rows import pays_by_rows, stored_entries
from .stopping import EarlyStopping

CELL = 0.45
ROW = 1.0
SPLIT = 0.5
PAIR = 0.8
CUMULATE = 1.0

TYPICAL_ITERATIONS = 2000
"""How many iterations are expected of a run that ends by itself, if it may do more."""


def expected_iterations(problem: Problem) -> int:
    """How many iterations the run will have: an upper limit tells little if a rule may end it."""
    limit = problem.recorder.n_iter
    if any(isinstance(callback, EarlyStopping) for callback in problem.callbacks):
        return min(limit, TYPICAL_ITERATIONS)
    return limit


def direct_nanoseconds(problem: Problem, n_iter: int) -> float:
    """The expected time of the iterations on the rows."""
    per_iteration = CELL * problem.cells_per_iteration() + ROW * len(problem.y)
    return n_iter * per_iteration


def gram_nanoseconds(problem: Problem, n_iter: int) -> float:
    """The expected time of the iterations on statistics, the making of Gram rows included."""
    layout = problem.prepared.layout
    n_sums = int(gram_family(problem).offsets[-1])
    n_features = len(layout.members)
    size, of = problem.selection.size(layout)
    chosen = min(n_features, n_iter)
    searched = layout.n_learners * size / max(1, of)
    per_iteration = SPLIT * (n_sums * rows_per_step(problem) + searched)
    entries = CUMULATE * n_sums * n_sums / max(1, n_features)
    return n_iter * per_iteration + chosen * entries + pair_nanoseconds(problem, chosen)


def pair_nanoseconds(problem: Problem, n_features: int) -> float:
    """The expected time to read the rows for the Gram rows of so many features."""
    arrays, n_rows = problem.prepared.arrays, len(problem.y)
    if isinstance(arrays, DenseStumps | SparseStumps) and pays_by_rows(arrays, n_rows):
        return PAIR * stored_entries(arrays, n_rows) ** 2 / (2 * max(1, n_rows))
    return PAIR * problem.prepared.cells * n_features


def rows_per_step(problem: Problem) -> float:
    """How many Gram rows a step adds up, on average over the features.

    A set of categories has a row for each member, and its smaller side a quarter of them.
    """
    arrays, members = problem.prepared.arrays, problem.prepared.layout.members
    if not isinstance(arrays, MixedStumps) or len(members) == 0:
        return 1.0
    categories = np.where(arrays.columns.categorical, arrays.columns.n_bins, 0)
    return float(np.maximum(1.0, categories[members] / 4).mean())


def gram_bytes(problem: Problem) -> float:
    """The memory of the Gram rows of all features that can be chosen."""
    offsets = gram_family(problem).offsets
    sizes = np.sort(np.diff(offsets))[::-1]
    rows = float(sizes[: problem.recorder.n_iter].sum())
    per_entry = np.dtype(gram_type(problem.weight, len(problem.y))).itemsize
    if problem.held is not None:
        per_entry += np.dtype(gram_type(problem.held.weight, len(problem.held.y))).itemsize
    return rows * int(offsets[-1]) * per_entry


def choose_engine(
    problem: Problem, gram_memory: int, n_iter: int | None = None
) -> Literal["direct", "gram"]:
    """The engine that ``engine="auto"`` takes. Both give the iterates of Algorithm 2.

    ``n_iter`` iterations are expected, by default `expected_iterations`.
    """
    n_iter = expected_iterations(problem) if n_iter is None else n_iter
    if gram_obstacle(problem) is not None or problem.prepared.layout.n_learners == 0:
        return "direct"
    if gram_bytes(problem) > gram_memory:
        return "direct"
    faster = gram_nanoseconds(problem, n_iter) < direct_nanoseconds(problem, n_iter)
    return "gram" if faster else "direct"
