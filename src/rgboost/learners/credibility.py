"""How far the mean residual of a category can be trusted: means of few rows are mostly noise.

In the order of their mean residuals, prefixes of many rare categories fit noise: with a category
for each row the best split explains two thirds of any residual. So sums are smoothed before they
are sorted, as actuaries do (credibility: Bühlmann and Straub 1970) and as scikit-learn's
``TargetEncoder`` does. With S_l and W_l the sum of residuals and the weight of category l, T and W
of all rows, phi the variance that S_l / sqrt(W_l) has by chance,

    B     = sum_l (S_l - T W_l / W)^2 / W_l            what differs between the L categories
    tau^2 = (B - (L - q) phi) / (W - sum_l W_l^2 / W)  less what chance explains of it
    s_l   = W_l / (W_l + phi / tau^2)                  how far category l is trusted
    S_l  -> mu W_l + s_l (S_l - mu W_l),               mu so that the sums still add up to T

and tau^2 = 0 (all categories alike) where that is negative. Chance explains (L - 1) phi. What is
left in is q = 8 categories' worth, about what it lets the best of many thresholds of a number
explain, and a two-thousandth of the loss: less is not worth the iterations that shorter steps take.
So up to q = 8 + n / 2,000 categories stay as they are, and large ones do, as s_l is near 1.

Splits are searched on the smoothed sums. A left set is a prefix in the order of smoothed means, and
a step takes off the loss at least what <b, r>, made of smoothed sums, says: |S - E| of a prefix is
larger before smoothing than after, with E the sum that scores nothing. Rules that set the values of
leaves from the rows themselves multiply them by the quotient of the two, the ``trust`` in a prefix.
"""

from __future__ import annotations

import numpy as np

from .._core.jit import kernel, reduction

FEW_CATEGORIES, SHARE_OF_ROWS = 8, 1 / 2000
"""q: so many categories are not smoothed, and for so many rows one more."""

MOST_OF_THE_WEIGHT = 1.0 - 1e-9
"""If categories are trusted up to this share of the weight, there is no mean of the rest."""


@kernel()
def smooth_sums(sums, weights, total, total_weight, noise, few):
    """Smooth the sums of the categories in place; ``sums`` are (categories, residuals).

    Several residuals (classes) share B, phi and so the trust in a category: ``noise`` is the sum of
    their phi. ``few`` is q.
    """
    n, n_outputs = sums.shape
    between, squares, present = 0.0, 0.0, 0
    for b in range(n):
        if weights[b] > 0.0:
            present += 1
            squares += weights[b] * weights[b]
            for c in range(n_outputs):
                off = sums[b, c] - total[c] * weights[b] / total_weight
                between += off * off / weights[b]
    room = total_weight - squares / total_weight
    if present <= few or noise <= 0.0 or room <= 0.0:
        return
    spread = max(0.0, between - (present - few) * noise) / room
    trusted = 0.0
    for b in range(n):
        trusted += weights[b] * trust_of(weights[b], spread, noise)
    if trusted >= MOST_OF_THE_WEIGHT * total_weight:
        return
    for c in range(n_outputs):
        known = 0.0
        for b in range(n):
            known += trust_of(weights[b], spread, noise) * sums[b, c]
        mean = (total[c] - known) / (total_weight - trusted)
        for b in range(n):
            share = trust_of(weights[b], spread, noise)
            sums[b, c] = share * sums[b, c] + (1.0 - share) * mean * weights[b]


@kernel()
def trust_of(weight, spread, noise):
    """s_l, by ``spread`` = tau^2."""
    return weight * spread / (weight * spread + noise)


@kernel()
def residual_noise(residual, weight, weighted, row_weight, total_weight):
    """phi of weighted residuals w r, (outputs, rows): sum w r^2 / W, times the weight of a usual
    row."""
    total = 0.0
    for c in range(residual.shape[0]):
        if weighted:
            total += weighted_squares(residual[c], weight)
        else:
            total += squares(residual[c])
    return row_weight * total / total_weight


@reduction()
def squares(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i] * values[i]
    return total


@reduction()
def weighted_squares(values, weight):
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i] * values[i] / weight[i]
    return total


def few_categories(total_weight: float, row_weight: float) -> float:
    """q, for rows of such a weight in all, and each."""
    return FEW_CATEGORIES + SHARE_OF_ROWS * total_weight / row_weight


def usual_weight(weight: np.ndarray | None) -> float:
    """The mean weight of a row, as rows are weighted: sum w^2 / sum w."""
    return 1.0 if weight is None else float(np.sum(weight * weight) / weight.sum())
