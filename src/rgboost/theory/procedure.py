"""The random-then-greedy procedure (section "Random-then-Greedy Procedure" of the paper).

Given a vector a, draw a random subset J of its coordinates, then return the j in J with the
largest |a_j|. Ties go to the smallest index, here as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.validation import check_count
from ..selection import Layout, SelectionRule
from ._validation import Floats, check_vector

Groups = Sequence[Iterable[int]]
Indices = NDArray[np.int64]

_FEW = 16
"""Up to this t the product of `selection_probability` runs over t, above it over j."""

_CHUNK = 2_000_000
"""How many coordinates of subsets `sample_chosen` holds at a time."""


@overload
def selection_probability(K: int, t: int) -> Floats: ...
@overload
def selection_probability(K: int, t: int, j: int) -> float: ...


def selection_probability(K: int, t: int, j: int | None = None) -> Floats | float:
    r"""The probability that the j-th largest of K coordinates is chosen (Proposition prob-R1).

    .. math:: \gamma_t^K(j) = \binom{K-j}{t-1} \Big/ \binom{K}{t}, \qquad j = 1, \dots, K.

    Parameters
    ----------
    K : int
        The number of coordinates.
    t : int
        The size of the random subset, 1 <= t <= K.
    j : int, optional
        A rank from 1 (the largest) to K. Without it, all ranks are returned.

    Returns
    -------
    ndarray of shape (K,) or float
        ``result[j - 1]`` is gamma_t^K(j); it decreases in j and sums to 1.

    Notes
    -----
    No factorial and no log-gamma is formed: their difference would lose eight digits at K = 1e7.
    Two products of at most K factors below 1 are equal to gamma,

    .. math:: \frac{t}{K} \prod_{l=1}^{j-1} \frac{K-l-t+1}{K-l}
              = \frac{t}{K} \prod_{i=1}^{t-1} \frac{K-j-i+1}{K-i}.

    All ranks at once use the second for t <= 16 and the first, as a running product, otherwise
    (it has died out after a few multiples of K/t factors). One rank alone uses the shorter of
    the two. What is smaller than the smallest float comes out as 0.

    Examples
    --------
    >>> from rgboost.theory import selection_probability
    >>> selection_probability(5, 2).round(3)
    array([0.4, 0.3, 0.2, 0.1, 0. ])
    """
    K = check_count(K, "K", at_least=1, remedy="pass the number of coordinates, at least 1")
    t = check_count(t, "t", at_least=1, at_most=K, remedy=f"pass a subset size from 1 to K={K}")
    if j is not None:
        j = check_count(j, "j", at_least=1, at_most=K, remedy=f"pass a rank from 1 to K={K}")
        return _single_probability(K, t, j)
    if t <= _FEW:
        rank = np.arange(1, K + 1, dtype=np.float64)
        gamma = np.full(K, t / K)
        for i in range(1, t):
            gamma *= np.maximum(K - i + 1 - rank, 0.0) / (K - i)
        return gamma
    factors = np.empty(K)
    factors[0] = t / K
    left = np.arange(K - 1, 0, -1, dtype=np.float64)  # K - l for l = 1, ..., K - 1
    np.divide(np.maximum(left - (t - 1), 0.0), left, out=factors[1:])
    return np.cumprod(factors, out=factors)


def _single_probability(K: int, t: int, j: int) -> float:
    if j - 1 > K - t:
        return 0.0
    short, long = sorted((j - 1, t - 1))
    left = np.arange(K - short, K, dtype=np.float64)
    return float(t / K * np.exp(np.log1p(-long / left).sum()))


def beta_limit(q: ArrayLike, t: int) -> Floats:
    r"""The density of Beta(1, t), to which K gamma_t^K(qK) converges as K grows.

    .. math:: \lim_{j, K \to \infty,\; j/K = q} K \gamma_t^K(j) = t (1 - q)^{t-1}

    Notes
    -----
    For fixed t the error is O(1/K), and largest at j = 1, where it is about t (t - 1) / K. The
    paper calls the two "almost indistinguishable" from K = 40 on for t = 10; at q = j/K they
    still differ by 2.0 of 10 there (j = 1), and by 0.09 at K = 1000. Distribution functions
    differ by at most 0.049 at K = 40.

    Parameters
    ----------
    q : array-like
        Quantiles j/K, from 0 to 1.
    t : int
        The size of the subset.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from rgboost.theory import beta_limit
    >>> beta_limit([0.0, 0.5, 1.0], t=2)
    array([2., 1., 0.])
    """
    t = check_count(t, "t", at_least=1, remedy="pass a subset size of at least 1")
    quantile = np.asarray(q, dtype=np.float64)
    if not ((quantile >= 0.0) & (quantile <= 1.0)).all():
        raise ValueError("q holds values outside [0, 1]; pass quantiles j/K.")
    return np.asarray(t * (1.0 - quantile) ** (t - 1))


def coordinate_layout(K: int, groups: Groups | None = None) -> Layout:
    """K coordinates, one weak-learner each, in the given groups (None: one group each)."""
    K = check_count(K, "K", at_least=1, remedy="pass the number of coordinates, at least 1")
    return Layout.make(np.arange(K + 1, dtype=np.int64), groups)


def check_uniform(selection: SelectionRule) -> None:
    """The theory is for draws in which all items are alike."""
    if not selection.uniform:
        raise ValueError(
            f"{selection!r} is not one of the paper's rules: its draws are not uniform; use "
            "AllLearners, RandomLearners, RandomGroup or RandomGroups."
        )


def drawn_items(selection: SelectionRule, layout: Layout) -> tuple[Indices, Indices]:
    """The items that a rule draws t of: item g holds the weak-learners
    ``members[start[g]:start[g + 1]]``.

    Type 1 draws weak-learners, the other types draw groups of columns.
    """
    check_uniform(selection)
    if selection.by_learner:
        every = np.arange(layout.n_learners + 1, dtype=np.int64)
        return every, every[:-1]
    sizes = np.diff(layout.offsets)[layout.members]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    first = np.repeat(layout.offsets[layout.members] - ends[:-1], sizes)
    return ends[layout.group_start], first + np.arange(ends[-1])


def chosen_distribution(
    a: ArrayLike, selection: SelectionRule, groups: Groups | None = None
) -> Floats:
    r"""The exact distribution of the index that the random-then-greedy procedure returns.

    With k_g the best index of item g (a coordinate under Type 1, a group otherwise), n items,
    t of them drawn, and the items ranked by :math:`|a_{k_g}|`,

    .. math:: P(\hat\jmath = k_{(g)}) = \gamma_t^n(g)

    (Proposition prob-R1 and equation prob-T3; 1/G each under Type 2; all mass on the largest
    coordinate under Type 0).

    Parameters
    ----------
    a : array-like of shape (K,)
    selection : SelectionRule
    groups : sequence of sequences of int, optional
        A partition of range(K); None means one group per coordinate.

    Returns
    -------
    ndarray of shape (K,)
        The probability of each index.

    Examples
    --------
    >>> from rgboost.selection import RandomLearners
    >>> from rgboost.theory import chosen_distribution
    >>> chosen_distribution([3.0, -5.0, 1.0], RandomLearners(2)).round(3)
    array([0.333, 0.667, 0.   ])
    """
    size = np.abs(check_vector("a", a))
    layout = coordinate_layout(size.size, groups)
    t, n = selection.size(layout)
    start, members = drawn_items(selection, layout)
    best = members[first_maxima(size[members], start)]
    ranked = best[np.lexsort((best, -size[best]))]
    probability = np.zeros(size.size)
    probability[ranked] = selection_probability(n, t)
    return probability


def sample_chosen(
    a: ArrayLike,
    selection: SelectionRule,
    groups: Groups | None = None,
    n_samples: int = 1,
    random_state: int | np.random.Generator | None = None,
) -> Indices:
    """Run the random-then-greedy procedure ``n_samples`` times.

    The subsets J are those that the boosting loop draws (`SelectionRule.subsets`); within each,
    the largest |a_j| is looked for. Nothing of `chosen_distribution` is used.

    Returns
    -------
    ndarray of shape (n_samples,)
        The chosen indices.

    Parameters
    ----------
    a : array-like of shape (K,)
    selection : SelectionRule
    groups : sequence of sequences of int, optional
        A partition of range(K); None means one group per coordinate.
    n_samples : int
    random_state : int, Generator or None

    Examples
    --------
    >>> from rgboost.selection import AllLearners
    >>> from rgboost.theory import sample_chosen
    >>> sample_chosen([3.0, -5.0, 1.0], AllLearners(), n_samples=3, random_state=0)
    array([1, 1, 1])
    """
    size = np.abs(check_vector("a", a))
    n_samples = check_count(
        n_samples, "n_samples", at_least=0, remedy="pass how many indices to draw"
    )
    layout = coordinate_layout(size.size, groups)
    rng = np.random.default_rng(random_state)
    t, n = selection.size(layout)
    chunk = max(1, _CHUNK // min(size.size, t * -(-size.size // n)))
    chosen = np.empty(n_samples, dtype=np.int64)
    for low in range(0, n_samples, chunk):
        high = min(low + chunk, n_samples)
        drawn = selection.subsets(layout, rng, high - low)
        # One coordinate a column, so that a column's number is its coordinate's.
        index = drawn.learners if drawn.restricted else drawn.columns
        chosen[low:high] = index[first_maxima(size[index], drawn.start)]
    return chosen


def first_maxima(values: Floats, start: Indices) -> Indices:
    """For each segment ``values[start[i]:start[i + 1]]`` the first position of its maximum."""
    top = np.maximum.reduceat(values, start[:-1])
    at_top = np.flatnonzero(values == np.repeat(top, np.diff(start)))
    return at_top[np.searchsorted(at_top, start[:-1])]
