"""The compiled side of a weak-learner family: five functions, chosen by the family's arrays.

A family is a ``NamedTuple`` of arrays prepared once. Its weak-learners lie in columns (all splits
of a feature; one column of a dictionary) and are numbered 0..K-1 in the order of the columns.
Every b_j is normalised: <b_j, b_j> = 1 in the weighted inner product. ``residual`` is always the
weighted residual w_i r_i, so that <b, r> is a plain sum.

The loop calls, in this order:

1. `accumulate` for each chunk of rows, while its residuals are in cache (may do nothing);
2. `best_in_column` for each column of J, on any thread;
3. `make_pick` for the winner;
4. `direction` to get b_j on some rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import by_type

TIE = 1e-9
"""Scores (squares of <b, r>) that differ by less than this share are a tie.

Weak-learners that cut the rows alike are common (indicators of two complementary categories), and
their scores differ only by rounding. With a margin the smallest index wins on every engine, for
every order of summation.
"""


class Pick(NamedTuple):
    """The weak-learner that an iteration chose.

    ``gradient`` is <b_j, r> >= 0: the sign is part of b_j. A stump's b_j is ``left`` on the left
    of its split and ``right`` on the right; a dictionary's is ``left`` times its column.
    """

    learner: int
    column: int
    gradient: float
    left: float
    right: float


class Scratch(NamedTuple):
    """One thread's own memory: sums of residuals in bins, and a tile of rows twice."""

    bins: NDArray[np.float64]
    delta: NDArray[np.float64]
    values: NDArray[np.float64]


@by_type
def scratch_size(learners):
    """How many numbers `accumulate` and `best_in_column` need in ``Scratch.bins``."""


@by_type
def accumulate(learners, columns, residual, lo, hi, scratch, partial_out):
    """Add what rows lo..hi say about the columns of J: ``partial_out[k]`` for column k of J."""


@by_type
def best_in_column(learners, column, candidates, residual, total, scratch, partial, k):
    """(score, learner, inner) of the best weak-learner in a column; score -1 if there is none.

    Scores are <b_j, r>^2; ties go to the smallest index (see `TIE`). ``candidates`` are the only
    weak-learners to look at, or empty for all. ``total`` is the sum of residuals.
    ``partial[:, k]`` is what `accumulate` left for this column, one entry a chunk of rows; if
    ``partial`` is empty, the column is searched from the residuals.
    """


@by_type
def make_pick(learners, column, learner, inner, total):
    """The normalised weak-learner from what `best_in_column` returned."""


@by_type
def direction(learners, pick, lo, hi, out):
    """Write b_j on rows lo..hi to ``out[:hi - lo]``."""
