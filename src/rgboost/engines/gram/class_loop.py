"""Algorithm 2 on statistics for several classes: an iteration costs O(C K) for C classes.

A quadratic model of the loss whose curvature h is one number a row, the same for all classes, is

    sum over classes c of  -<r_c, d_c> + <d_c, d_c>_h / 2

so the classes have nothing in common but the split: a step that adds L_c left and R_c right of
split u of feature q changes the sums of residuals left of split j by

    S_cj -= R_c W_j + (L_c - R_c) N_uj

with W_j and N_uj sums of curvature, as in `loop`: one Gram row serves all classes. What all rows
get is kept as one number for each class. Where features have missing values or categories, sums are
those of slots (`rgboost.statistics.slots`), and the left side of a split is several of them.

**Rows that are held out** are taken to have a share of the Gram matrix that the training rows have.
So all that a step changes of their sums is ``ratio`` times what it changes of the training sums:
the sums less ``ratio`` times the training sums stay what they are, and no step touches them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ...learners.kernels import Pick, note_set
from ..direct.loop import subset_of
from .class_search import Parts, search
from .search import note_loss, parts_of_step


class ClassState(NamedTuple):
    """Sums of the rows that a run is fitted to, under its model.

    The sum of class c in slot j (left of split j, for numbers) is ``left_sums[c, j] - constant[c] *
    left_weight[j]``. ``rows`` are Gram rows of more rows than those of the run, which have the same
    ``share`` of everything; ``row_start[g]`` is the first one of feature g, -1 if it has none yet.
    ``loss`` is a single number.
    """

    left_sums: NDArray[np.float64]
    left_weight: NDArray[np.float64]
    total_weight: float
    constant: NDArray[np.float64]
    total: NDArray[np.float64]
    loss: NDArray[np.float64]
    rows: NDArray
    row_start: NDArray[np.int64]
    share: float


class HeldState(NamedTuple):
    """Sums of rows that a run is not fitted to, less ``ratio`` times those of `ClassState`; empty
    if there are no such rows."""

    beside: NDArray[np.float64]
    total_beside: NDArray[np.float64]
    ratio: float
    loss: NDArray[np.float64]


@kernel()
def run_class_block(learners, state, held, rate, subsets, record, begin, pending, room):
    """Run iterations from ``begin`` until the record is full or a feature lacks its Gram rows.

    Returns the iteration to go on with. A pending step is applied first, so a feature is asked for
    by leaving it pending.
    """
    splits, first = learners.splits, learners.slots.start
    n_iter, n_classes = record.learner.shape[0], state.total.shape[0]
    learner = pending.learner[0]
    left, right = pending.values[0], pending.values[1]
    column, parts = 0, Parts(0, 0.0, 0.0)
    note_loss(learners, 0.0)  # what sums have by chance does not follow from the loss here
    if learner >= 0:
        column = np.searchsorted(splits.offsets, learner, side="right") - 1
        parts = left_side(learners, column, learner, room)
    m = begin
    while True:
        if learner >= 0:
            if state.row_start[column] < 0:
                break
            row = state.row_start[column] - first[column]
            add_gram_rows(state.rows, row, room.slot[: parts.n], room.share, room.both)
            apply_step(state, parts, left, right, room.both)
            learner = -1
        if m == n_iter:
            break
        record.loss[m], record.held_loss[m] = state.loss[0], held.loss[0]
        subset = subset_of(subsets, m)
        k = search(learners, state, subset, room)
        gradient = 0.0
        if k >= 0:
            learner, column = room.learner[k], subset.columns[k]
            gradient = set_values(splits, learner, room.inner[k], state.total, rate, left, right)
            parts = left_side(learners, column, learner, room)
            note_change(state, held, parts, room.slot, room.share, left, right)
        note_set(learners, Pick(learner, column, 0.0, 1.0, 0.0), record.sets[m])
        record.learner[m], record.gradient[m] = learner, gradient
        for c in range(n_classes):
            record.left[m, c] = left[c] if k >= 0 else 0.0
            record.right[m, c] = right[c] if k >= 0 else 0.0
        m += 1
    pending.learner[0] = learner
    return m


@kernel()
def left_side(learners, column, learner, room):
    """The `Parts` of the left side of a split."""
    n, base, jump = parts_of_step(learners, column, learner, 1.0, 0.0, room.slot, room.share)
    return Parts(n, base, jump)


@kernel()
def set_values(splits, learner, inner, total, rate, left_out, right_out):
    """What to add on both sides of a split; returns <b, r>."""
    below = splits.left_weight[learner]
    above = splits.total_weight - below
    square = 0.0
    for c in range(total.shape[0]):
        outer = total[c] - inner[c]
        square += inner[c] ** 2 / below + outer * outer / above
        left_out[c] = rate * inner[c] / below
        right_out[c] = rate * outer / above
    return math.sqrt(square)


@kernel()
def note_change(state, held, parts, slot, share, left, right):
    """Losses and totals after a step d: -<d, r> + <d, d>/2 and the sum of d, class by class."""
    weight, square_weight = 0.0, 0.0
    for i in range(parts.n):
        weight += share[i] * state.left_weight[slot[i]]
        square_weight += share[i] * share[i] * state.left_weight[slot[i]]
    with_held = held.beside.shape[1] > 0
    for c in range(state.total.shape[0]):
        base, jump = in_parts(parts, left[c], right[c])
        inner, beside = -state.constant[c] * weight, 0.0
        for i in range(parts.n):
            inner += share[i] * state.left_sums[c, slot[i]]
        linear = base * state.total[c] + jump * inner
        square = base * base * state.total_weight
        square += jump * (2.0 * base * weight + jump * square_weight)
        if with_held:
            for i in range(parts.n):
                beside += share[i] * held.beside[c, slot[i]]
            held_linear = base * held.total_beside[c] + jump * beside + held.ratio * linear
            held.loss[0] += 0.5 * held.ratio * square - held_linear
        state.loss[0] += 0.5 * square - linear
        state.total[c] -= base * state.total_weight + jump * weight


@kernel()
def in_parts(parts, left, right):
    """A step of ``left`` and ``right`` as base + jump * sum of the shares of slots."""
    return right + (left - right) * parts.base, (left - right) * parts.jump


@kernel()
def add_gram_rows(rows, row, slot, share, out):
    """The sum of shares of Gram rows of some slots; slot i has the row ``row + i``."""
    if slot.shape[0] == 0:
        out[:] = 0.0
    for i in range(slot.shape[0]):
        one, times = rows[row + slot[i]], share[i]
        if i == 0:
            for j in range(out.shape[0]):
                out[j] = times * one[j]
        else:
            for j in range(out.shape[0]):
                out[j] += times * one[j]


@kernel()
def apply_step(state, parts, left, right, both):
    """The sums after a step; ``both`` are the Gram rows of its slots."""
    for c in range(state.total.shape[0]):
        base, jump = in_parts(parts, left[c], right[c])
        sums, times = state.left_sums[c], jump * state.share
        for j in range(sums.shape[0]):
            sums[j] -= times * both[j]
        state.constant[c] += base
