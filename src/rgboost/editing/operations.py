"""What each kind of edit does to the values of a term.

Values have an axis of bins for each feature, that of missing values last, and then one of scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from .._core.validation import check_count, check_option, check_real
from .terms import Array, Term

Where = tuple[Any, ...]
"""The bins of each axis, and the scores, that an edit is made to: an index of ``values``."""


def places(term: Term, bins: Any, scores: Sequence[int]) -> Where:
    """``bins`` of a term, as in a file of edits, as an index."""
    sizes = term.weights.shape
    if bins is None:
        spans = [range(size) for size in sizes]
    else:
        ends = [bins] if len(sizes) == 1 else bins
        if not isinstance(ends, list | tuple) or len(ends) != len(sizes):
            raise _not_bins(bins, sizes)
        spans = [_span(one, size) for one, size in zip(ends, sizes, strict=True)]
    return np.ix_(*spans, list(scores))


def _not_bins(bins: Any, sizes: tuple[int, ...]) -> ValueError:
    form = "[first, last]" if len(sizes) == 1 else "[[first, last], [first, last]]"
    last = " and ".join(str(size - 1) for size in sizes)
    return ValueError(
        f"bins={bins!r:.60} is not {form} with first <= last, counted from 0; the bin of missing "
        f"values is {last}, and the last there is."
    )


def _span(ends: Any, size: int) -> range:
    good = (
        isinstance(ends, list | tuple)
        and len(ends) == 2
        and all(isinstance(end, int | np.integer) and not isinstance(end, bool) for end in ends)
        and 0 <= ends[0] <= ends[1] < size
    )
    if not good:
        raise _not_bins(ends, (size,))
    return range(int(ends[0]), int(ends[1]) + 1)


def set_values(term: Term, where: Where, value: Any, name: str = "value") -> Array:
    """These values; a number for all, one for each bin, or one for each bin and score."""
    values = term.values.copy()
    given = numbers(value, name)
    target = values[where].shape
    if given.ndim and given.shape == target[:-1]:
        given = given[..., None]
    elif given.ndim and given.shape != target and given.shape != target[-1:]:
        bins = " by ".join(map(str, target[:-1]))
        raise ValueError(
            f"{name} has the shape {given.shape}, and the edit is to {bins} bins; give a number, "
            "or one for each of the bins."
        )
    values[where] = given
    return values


def numbers(value: Any, name: str) -> Array:
    """Finite numbers, in lists or alone."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}={value!r:.60} is no number, nor lists of numbers.") from error
    if not np.isfinite(found).all() or isinstance(value, bool):
        raise ValueError(f"{name}={value!r:.60} must be finite numbers.")
    return found


def flatten(term: Term, where: Where) -> Array:
    """The mean over the training rows in the bins; the plain mean where there are none."""
    values = term.values.copy()
    some, weights = values[where], term.weights[tuple(axis[..., 0] for axis in where[:-1])]
    weights = weights if weights.sum() > 0 else np.ones_like(weights)
    flat = some.reshape(weights.size, -1)
    values[where] = np.average(flat, axis=0, weights=weights.ravel())
    return values


def clip(term: Term, where: Where, low: Any, high: Any) -> Array:
    """Values within two bounds, of which one may be None."""
    if low is None and high is None:
        raise ValueError("low and high are missing: give one of them, or both.")
    least = -np.inf if low is None else check_real(low, "low")
    most = np.inf if high is None else check_real(high, "high")
    if least > most:
        raise ValueError(f"low={low} is above high={high}; exchange them.")
    values = term.values.copy()
    values[where] = np.clip(values[where], least, most)
    return values


def smooth(term: Term, where: Where, width: Any) -> Array:
    """Each bin has the mean, over the training rows, of the bins at most ``width`` away along each
    axis of numbers; where these have no rows, their plain mean. Missing values have no neighbours,
    nor have categories."""
    width = min(check_count(width, "width", 1), term.weights.size)
    if all(term.categorical):
        raise ValueError("smooth needs an order of the bins, and categories have none; use set.")
    weights = np.broadcast_to(term.weights[..., None], term.values.shape)
    sums, mass, plain, count = term.values * weights, weights, term.values, np.ones_like(weights)
    for axis, by_set in enumerate(term.categorical):
        if not by_set:
            sums, mass, plain, count = (
                _window_sums(x, axis, width) for x in (sums, mass, plain, count)
            )
    means = np.where(mass > 0, sums / np.where(mass > 0, mass, 1.0), plain / count)
    values = term.values.copy()
    values[where] = means[where]
    return values


def _window_sums(x: Array, axis: int, width: int) -> Array:
    """Sums over the window of each bin; that of missing values, the last, stays alone."""
    bins = np.moveaxis(x, axis, 0)
    n = len(bins) - 1
    lows, highs = np.maximum(np.arange(n) - width, 0), np.minimum(np.arange(n) + width, n - 1)
    found = [bins[a : b + 1].sum(axis=0) for a, b in zip(lows, highs, strict=True)]
    return np.moveaxis(np.stack([*found, bins[n]]), 0, axis)


def monotone(term: Term, axis: int, scores: Sequence[int], direction: Any) -> Array:
    """The closest values that rise, or fall, along an axis of numbers: least squares, weighted by
    the training rows. Missing values stay."""
    check_option(direction, "direction", ("increasing", "decreasing"))
    if term.categorical[axis]:
        raise ValueError("monotone needs an order of the bins, and categories have none; use set.")
    values = term.values.copy()
    lines, rows = np.moveaxis(values, axis, 0)[:-1], np.moveaxis(term.weights, axis, 0)[:-1]
    lines = lines.reshape(*rows.shape[:1], -1, values.shape[-1])  # a view: of values, or copied
    rows = rows.reshape(len(rows), -1)
    found = lines.copy()
    for i in range(lines.shape[1]):
        for c in scores:
            found[:, i, c] = isotonic(lines[:, i, c], rows[:, i], direction == "increasing")
    target = np.moveaxis(values, axis, 0)[:-1]
    target[...] = found.reshape(target.shape)
    return values


def isotonic(values: NDArray[np.float64], weights: NDArray[np.float64], rises: bool) -> Array:
    """Isotonic regression; bins without rows go along with the others."""
    weights = weights if weights.sum() > 0 else np.ones_like(weights)
    least = 1e-9 * weights.sum() / len(weights)
    return np.asarray(
        isotonic_regression(values, sample_weight=np.maximum(weights, least), increasing=rises)
    )
