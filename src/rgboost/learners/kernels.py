"""The compiled side of a weak-learner family: functions, chosen by the family's arrays.

A family is a ``NamedTuple`` of arrays prepared once. Its weak-learners lie in columns (all splits
of a feature; one column of a dictionary) and are numbered 0..K-1 in the order of the columns.
Every b_j is normalised: <b_j, b_j> = 1 in the weighted inner product. ``residual`` is always the
weighted residual w_i r_i, so that <b, r> is a plain sum.

The loop calls, in this order:

0. `note_noise` with the residuals of the iteration;
1. `accumulate` for each chunk of rows, while its residuals are in cache (may do nothing);
2. `search_columns` for the columns of J, shared among the threads;
3. `make_pick` for the winner;
4. `note_set` to keep what the number of a weak-learner does not say;
5. `direction` to get b_j on some rows.

A family has to have `search_columns`, `make_pick` and `direction`; the others do nothing unless it
says otherwise (`note_noise`, `trust` and `note_set` are for sets of categories).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import by_type

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


class Subset(NamedTuple):
    """The subset J of one iteration: its columns in ascending order.

    If ``restricted``, only the weak-learners ``learners[first[k]:first[k + 1]]`` of column k are
    in J, otherwise all of them.
    """

    columns: NDArray[np.int64]
    restricted: bool
    first: NDArray[np.int64]
    learners: NDArray[np.int64]


class Best(NamedTuple):
    """The best of each column of J: its <b, r>^2, its index, and what `make_pick` needs."""

    score: NDArray[np.float64]
    learner: NDArray[np.int64]
    inner: NDArray[np.float64]


class Scratch(NamedTuple):
    """One thread's own memory: sums of residuals in bins, and a tile of rows twice."""

    bins: NDArray[np.float64]
    delta: NDArray[np.float64]
    values: NDArray[np.float64]


def _one(learners):
    return 1


def _nothing_to_add(learners, columns, residual, lo, hi, scratch, first, partial_out):
    return


def _nothing_to_note(learners, pick, bits_out):
    return


@by_type(otherwise=_one)
def scratch_size(learners):
    """How many numbers `accumulate` and `search_columns` need in ``Scratch.bins``."""


@by_type(otherwise=_nothing_to_add)
def accumulate(learners, columns, residual, lo, hi, scratch, first, partial_out):
    """Add what rows lo..hi say about the columns of J: ``partial_out[k]`` for column k of J.

    ``first`` tells that ``partial_out`` is to be written, not added to.
    """


@by_type
def search_columns(learners, subset, k_start, k_stop, residual, total, scratch, partial, best_out):
    """The best weak-learner of each of the columns k_start..k_stop of a `Subset` J.

    Writes ``best_out.score[k]`` (-1 if there is none), ``.learner[k]`` and ``.inner[k]``. Scores
    are <b_j, r>^2; ties go to the smallest index (see `TIE`). ``total`` is the sum of residuals.
    ``partial[:, k]`` is what `accumulate` left for a column, one entry a chunk of rows; if
    ``partial`` is empty, columns are searched from the residuals.

    All columns in one call: a call counts references to every array that it is given, which costs
    more than a short column.
    """


@by_type
def make_pick(learners, column, learner, inner, total):
    """The normalised weak-learner from what `search_columns` found."""


@by_type
def direction(learners, pick, lo, hi, out):
    """Write b_j on rows lo..hi to ``out[:hi - lo]``."""


@by_type(otherwise=_nothing_to_note)
def note_set(learners, pick, bits_out):
    """Write which bins are on the left of a pick, if its number does not tell (categories).

    Bit b % 8 of byte b // 8 stands for bin b.
    """


def _nothing(learners, residual, weight, weighted):
    return


@by_type(otherwise=_nothing)
def note_noise(learners, residual, weight, weighted):
    """Before a search: what sums of the residuals have by chance, for families that ask.

    ``residual`` is (outputs, rows): one for each class. All threads of a team write the same.
    """


def _whole(learners, pick):
    return 1.0


@by_type(otherwise=_whole)
def trust(learners, pick):
    """By how much to shorten a step that is found from the rows themselves; from 0 to 1."""
