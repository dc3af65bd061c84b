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
from ..engines.gram.gram_rows import gram_types
from ..engines.gram.runs import gram_obstacle
from ..engines.problem import Problem
from ..engines.quadratic.runs import quadratic_obstacle
from ..learners.dense_stumps import DenseStumps
from ..learners.mixed_stumps import MixedStumps
from ..learners.sparse_stumps import SparseStumps
from ..statistics.short_rows import pays_by_rows, stored_entries

CELL = 0.45
ROW = 1.0
SPLIT = 0.5
PAIR = 0.8
CUMULATE = 1.0

TYPICAL_ITERATIONS = 2000
"""How many iterations are expected of a run that ends by itself, if it may do more."""


def expected_iterations(problem: Problem, may_end: bool) -> int:
    """How many iterations the run will have: an upper limit tells little if a rule may end it."""
    return min(problem.n_iter, TYPICAL_ITERATIONS) if may_end else problem.n_iter


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
    rows = float(sizes[: problem.n_iter].sum())
    n_rows = [len(problem.y), len(problem.held_rows.y)][: 1 if problem.held is None else 2]
    kinds = gram_types(n_rows, problem.weight is not None, False)
    per_entry = sum(np.dtype(kind).itemsize for kind in kinds)
    return rows * int(offsets[-1]) * per_entry


def choose_engine(problem: Problem, may_end: bool) -> Literal["direct", "gram", "quadratic"]:
    """The engine that ``engine="auto"`` takes: of those that give the iterates of Algorithm 2, and
    of several runs also the quadratic one."""
    n_iter = expected_iterations(problem, may_end)
    if problem.prepared.layout.n_learners == 0:
        return "direct"
    if gram_obstacle(problem) is not None:
        several = problem.fold is not None and quadratic_obstacle(problem) is None
        return "quadratic" if several else "direct"
    if gram_bytes(problem) > problem.gram_memory:
        return "direct"
    faster = gram_nanoseconds(problem, n_iter) < direct_nanoseconds(problem, n_iter)
    return "gram" if faster else "direct"
