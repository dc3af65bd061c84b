"""Scores of rows that are on a card: made there, a thread a row, and left there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from .._core.on_card import LIBRARIES
from ..losses import Exponential, Logistic, Loss, Softmax
from ..losses.log_link import EXPONENT_MIN, LogLinkLoss
from .card import Card
from .kernels import edges_below, grid
from .matrix import CardMatrix, given_back

Vector = NDArray[np.float64]


class CardScores:
    """The scores of some rows by a model, and what follows from them: arrays on the card, of the
    library that ``like`` is of. ``offset`` is a known part of the score of every row."""

    def __init__(self, model: Any, rows: CardMatrix, offset: Vector | None, like: Any) -> None:
        self.card: Card = rows.card
        self.like = like
        with self.card.at_work():
            self.raw = score_on_card(model, rows)
            if offset is not None and offset.size:
                sent = self.card.send(offset.reshape(self.raw.shape))
                add_offsets[grid(offset.size)](sent, self.raw)

    def _given(self, found: Any) -> Any:
        """A column for each of several classes; a score alone has no axis of its own."""
        if found.ndim == 2 and found.shape[1] == 1:
            found = found.reshape(found.shape[0])
        with self.card.at_work():
            return given_back(found, self.like, self.card)

    def to_host(self) -> Vector:
        """The scores in memory."""
        with self.card.at_work():
            found = self.raw.copy_to_host()
        return found[:, 0] if found.shape[1] == 1 else found

    def scores(self) -> Any:
        return self._given(self.raw)

    def responses(self, loss: Loss) -> Any:
        """The mean responses that belong to the scores."""
        return self._given(self._means(loss))

    def probabilities(self, loss: Loss) -> Any:
        """Of every class, in a column."""
        with self.card.at_work():
            means = self._means(loss)
            if means.shape[1] > 1:
                return self._given(means)
            out = self.card.empty((means.shape[0], 2), np.float64)
            both_classes[grid(means.shape[0])](means, out)
            return self._given(out)

    def labels(self, classes: NDArray) -> Any:
        """The most probable class of every row; classes must be numbers."""
        if classes.dtype.kind not in "fiub":
            raise TypeError(
                f"the classes are of the type {classes.dtype}, and a card has numbers only: use "
                f"predict_proba, or give predict rows on the host ({LIBRARIES})."
            )
        with self.card.at_work():
            out = self.card.empty(self.raw.shape[0], classes.dtype)
            most_probable[grid(out.size)](self.raw, self.card.send(classes), out)
            return self._given(out)

    def _means(self, loss: Loss) -> Any:
        """The inverse link of the scores; that of a loss of somebody else, on the host."""
        while hasattr(loss, "inner"):
            loss = loss.inner
        link = type(loss).inverse_link
        if link is Loss.inverse_link:
            return self.raw
        with self.card.at_work():
            if link not in _LINKS:
                found = np.asarray(loss.inverse_link(self.to_host()), np.float64)
                return self.card.send(found.reshape(self.raw.shape))
            kernel, factor = _LINKS[link]
            out = self.card.empty(self.raw.shape, np.float64)
            kernel[grid(out.shape[0])](factor, self.raw, out)
            return out


def score_on_card(model: Any, rows: CardMatrix) -> Any:
    """The scores (rows, outputs) of an additive model, by the order of additions of the host: the
    same bits."""
    wide = getattr(model, "wide", None)
    if wide is None:
        raise TypeError(
            f"a {type(model).__name__} has no tables, by which rows on a card are scored: bring X "
            f"to the host ({LIBRARIES})."
        )
    card, X = rows.card, rows.on_card()
    n_rows, several = rows.shape[0], np.ndim(wide.intercept) > 0
    start = np.atleast_1d(np.asarray(wide.intercept, np.float64))
    out = card.empty((n_rows, len(start)), np.float64)

    def send(*parts: Any) -> list[Any]:
        return [card.send(np.asarray(part)) for part in parts]

    def columns(values: Vector) -> Vector:
        return values if several else values[:, None]

    blocks = grid(n_rows)
    begin_scores[blocks](*send(start), out)
    tables = wide.categories
    if tables is not None:
        score_categories[blocks](
            X, *send(tables.features, tables.starts, tables.values),
            *send(columns(tables.tables), columns(tables.missing)), out,
        )  # fmt: skip
    if len(wide.features):
        score_curves[blocks](
            X, *send(wide.features, wide.starts, wide.cuts),
            *send(columns(wide.tables), columns(wide.missing)), out,
        )  # fmt: skip
    if wide.pairs is not None:
        used, lookup = wide.pairs.lookup
        score_cells[blocks](X, *send(used, *lookup, columns(wide.pairs.tables)), out)
    return out


@cuda.jit
def begin_scores(start, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        for c in range(out.shape[1]):
            out[i, c] = start[c]


@cuda.jit
def score_curves(X, features, starts, cuts, tables, missing, out):
    """`rgboost.model.stump_model.score_rows`, for one or several outputs."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        alone = out.shape[1] == 1
        score = out[i, 0]
        for k in range(features.shape[0]):
            x = np.float64(X[i, features[k]])
            there = x == x
            entry = starts[k] + k
            if there:
                entry += edges_below(cuts, starts[k], starts[k + 1], x)
            if alone:
                score += tables[entry, 0] if there else missing[k, 0]
            else:
                for c in range(out.shape[1]):
                    out[i, c] += tables[entry, c] if there else missing[k, c]
        if alone:
            out[i, 0] = score


@cuda.jit
def score_categories(X, features, starts, values, tables, missing, out):
    """`rgboost.model.category_tables.CategoryTables.add_scores`: unknown categories are those that
    share a place, if there are any, else as missing ones."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(features.shape[0]):
            x = np.float64(X[i, features[k]])
            first, last = starts[k], starts[k + 1]
            place = first + edges_below(values, first, last, x) if x == x else last
            if place < last and values[place] != x:
                place = last
            if place == last and x == x and last > first and math.isinf(values[last - 1]):
                place = last - 1
            for c in range(out.shape[1]):
                out[i, c] += tables[place, c] if place < last else missing[k, c]


@cuda.jit(device=True)
def code_of(x, edges, first, last, categorical):
    """The code of a value of a feature, see `rgboost.model.pair_scores.PairLookup`."""
    n_edges = last - first
    if x != x:
        return n_edges + 1
    code = edges_below(edges, first, last, x)
    if categorical and (code == n_edges or edges[first + code] != x):
        code = n_edges
    return code


@cuda.jit
def score_cells(X, used, categorical, starts, edges, slots, cell_starts, cells, tables, out):
    """`rgboost.model.pair_scores.score_pairs`."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        for j in range(slots.shape[0] // 2):
            cell = np.int64(0)
            for axis in range(2 * j, 2 * j + 2):
                k = slots[axis]
                x = np.float64(X[i, used[k]])
                code = code_of(x, edges, starts[k], starts[k + 1], categorical[k])
                cell += cells[cell_starts[axis] + code]
            for c in range(out.shape[1]):
                out[i, c] += tables[cell, c]


@cuda.jit
def add_offsets(offset, out):
    j = cuda.grid(1)
    if j < out.shape[0] * out.shape[1]:
        i, c = j // out.shape[1], j % out.shape[1]
        out[i, c] += offset[i, c]


@cuda.jit
def both_classes(means, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i, 0] = 1.0 - means[i, 0]
        out[i, 1] = means[i, 0]


@cuda.jit
def most_probable(score, classes, out):
    """The first class of the largest score; of two, the second if its score is positive."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        best = 0
        if score.shape[1] == 1:
            best = 1 if score[i, 0] > 0.0 else 0
        for c in range(1, score.shape[1]):
            if score[i, c] > score[i, best]:
                best = c
        out[i] = classes[best]


@cuda.jit
def log_odds_link(factor, score, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        f = factor * score[i, 0]
        e = math.exp(-abs(f))
        out[i, 0] = 1.0 / (1.0 + e) if f >= 0.0 else e / (1.0 + e)


@cuda.jit
def log_link(least, score, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i, 0] = math.exp(min(max(score[i, 0], least), -least))


@cuda.jit
def class_link(factor, score, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        top, total = score[i, 0], 0.0
        for c in range(1, score.shape[1]):
            top = max(top, score[i, c])
        for c in range(score.shape[1]):
            out[i, c] = math.exp(factor * (score[i, c] - top))
            total += out[i, c]
        for c in range(score.shape[1]):
            out[i, c] /= total


_LINKS: dict[Any, Any] = {
    Logistic.inverse_link: (log_odds_link, 1.0),
    Exponential.inverse_link: (log_odds_link, 2.0),
    LogLinkLoss.inverse_link: (log_link, float(EXPONENT_MIN)),
    Softmax.inverse_link: (class_link, 1.0),
}
"""Kernels of the inverse links of our losses, and the number that they take."""
