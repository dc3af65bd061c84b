"""The four norms of the paper, their dual norms, and the vectors that attain them.

All four are one: the ordered mixed norm with groups I_1, ..., I_G and weights gamma.

==========================  =====  ==============================  ==========================
norm                        type   groups                          weights
==========================  =====  ==============================  ==========================
infinity                    0      one, holding every coordinate   1
ordered l1                  1      one per coordinate              gamma_t^K(1), gamma_t^K(2), ...
group (l_{1,infinity})      2      given                           1/G, ..., 1/G
ordered mixed               3      given                           gamma_t^G(1), gamma_t^G(2), ...
==========================  =====  ==============================  ==========================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from .._core.one_line import one_line
from .._core.validation import check_count
from ..selection import Layout, SelectionRule
from ._validation import Floats, check_vector
from .procedure import (
    Groups,
    Indices,
    coordinate_layout,
    drawn_items,
    first_maxima,
    selection_probability,
)


@one_line
@dataclass(frozen=True, eq=False)
class StructuredNorm:
    r"""An ordered mixed norm and its dual.

    .. math:: \|a\|_F = \sum_{g=1}^G \gamma_g \|a_{I_{(g)}}\|_\infty,
              \qquad \gamma_1 \ge \dots \ge \gamma_G \ge 0,\; \gamma_1 > 0,

    where (g) is the group with the g-th largest :math:`\|a_{I_g}\|_\infty`.

    Parameters
    ----------
    name : str
        "infinity", "ordered l1", "group" or "ordered mixed".
    start, members : ndarray of int
        Group g is ``members[start[g]:start[g + 1]]``; together they partition the coordinates.
    weights : ndarray of shape (G,)
        gamma.

    Notes
    -----
    The paper also asks for :math:`\sum_g \gamma_g = 1`, which every selection rule gives; nothing
    here but Proposition expectation needs it (the paper's Example 3 does without). Its definition
    of the ordered l1 norm has the index i where j is meant.

    Examples
    --------
    >>> from rgboost.theory import group_norm
    >>> norm = group_norm([[0, 1], [2]])
    >>> norm.norm([3.0, -4.0, 2.0]), norm.dual_norm([1.0, 1.0, 1.0])
    (3.0, 4.0)
    """

    name: str
    start: Indices
    members: Indices
    weights: Floats
    cumulative: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        weights = check_vector("weights", self.weights, self.start.size - 1)
        if weights[0] <= 0.0 or weights[-1] < 0.0 or (np.diff(weights) > 0.0).any():
            raise ValueError(
                f"weights={weights.tolist()[:5]}... are no norm's weights; pass non-increasing, "
                "non-negative weights whose first is positive."
            )
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "cumulative", np.cumsum(weights))

    @property
    def n_coordinates(self) -> int:
        """How many coordinates a vector has."""
        return int(self.members.size)

    @property
    def n_groups(self) -> int:
        """G, how many groups there are."""
        return int(self.weights.size)

    @property
    def sizes(self) -> Indices:
        """How many coordinates each group has."""
        return np.diff(self.start)

    def norm(self, a: ArrayLike) -> float:
        """||a||_F."""
        vector = check_vector("a", a, self.n_coordinates)
        return float(self.norms(vector[None])[0])

    def norms(self, rows: Floats) -> Floats:
        """||a||_F of every row a of a matrix."""
        top = np.maximum.reduceat(np.abs(rows)[:, self.members], self.start[:-1], axis=1)
        if self.n_groups > 1:
            top.sort(axis=1)
        return np.asarray(top[:, ::-1] @ self.weights)

    def dual_norm(self, b: ArrayLike) -> float:
        r"""The dual norm (Proposition dual-norm).

        .. math:: \|b\|_{F^*} = \max_{1 \le g \le G}
                  \frac{\sum_{j \le g} \|b_{I_{(j)}}\|_1}{\sum_{j \le g} \gamma_j},

        with the groups sorted by :math:`\|b_{I_g}\|_1`. It is :math:`\|b\|_1` for the infinity
        norm and :math:`G \max_g \|b_{I_g}\|_1` for the group norm.
        """
        totals = self._group_totals(check_vector("b", b, self.n_coordinates))
        return float((np.cumsum(np.sort(totals)[::-1]) / self.cumulative).max())

    def dual_maximiser(self, b: ArrayLike) -> Floats:
        r"""An a with ||a||_F <= 1 and <a, b> = ||b||_{F*}.

        With g the position where the maximum of `dual_norm` is attained: sign(b_j) divided by
        :math:`\gamma_1 + \dots + \gamma_g` in the g largest groups, 0 elsewhere.
        """
        vector = check_vector("b", b, self.n_coordinates)
        totals = self._group_totals(vector)
        ranked = np.argsort(-totals, kind="stable")
        last = int(np.argmax(np.cumsum(totals[ranked]) / self.cumulative))
        chosen = np.zeros(self.n_groups, dtype=bool)
        chosen[ranked[: last + 1]] = True
        inside = self.members[np.repeat(chosen, self.sizes)]
        result = np.zeros(self.n_coordinates)
        result[inside] = np.sign(vector[inside]) / self.cumulative[last]
        return result

    def maximiser(self, a: ArrayLike) -> Floats:
        r"""A b with ||b||_{F*} <= 1 and <a, b> = ||a||_F.

        :math:`\gamma_g \operatorname{sign}(a_k)` at the largest coordinate k of the g-th largest
        group, 0 elsewhere: a subgradient of the norm at a.
        """
        vector = check_vector("a", a, self.n_coordinates)
        size = np.abs(vector)[self.members]
        best = self.members[first_maxima(size, self.start)]
        ranked = best[np.lexsort((best, -np.abs(vector[best])))]
        result = np.zeros(self.n_coordinates)
        result[ranked] = self.weights * np.sign(vector[ranked])
        return result

    def _group_totals(self, b: Floats) -> Floats:
        """The l1 norm of each group."""
        return np.add.reduceat(np.abs(b)[self.members], self.start[:-1])


def infinity_norm(K: int) -> StructuredNorm:
    r"""The infinity norm on R^K: :math:`\max_j |a_j|`.

    Parameters
    ----------
    K : int
        The number of coordinates.

    Returns
    -------
    StructuredNorm

    Examples
    --------
    >>> from rgboost.theory import infinity_norm
    >>> infinity_norm(3).norm([1.0, -4.0, 2.0])
    4.0
    """
    K = check_count(K, "K", at_least=1, remedy="pass the number of coordinates, at least 1")
    return StructuredNorm("infinity", np.array([0, K]), np.arange(K), np.ones(1))


def ordered_l1_norm(weights: Sequence[float] | Floats) -> StructuredNorm:
    r"""The ordered l1 norm: :math:`\sum_j \gamma_j |a_{(j)}|`.

    Parameters
    ----------
    weights : sequence of float
        gamma: not increasing, not negative, the first one positive.

    Returns
    -------
    StructuredNorm

    Examples
    --------
    >>> from rgboost.theory import ordered_l1_norm
    >>> ordered_l1_norm([0.5, 0.25, 0.25]).norm([1.0, -4.0, 2.0])
    2.75
    """
    gamma = check_vector("weights", weights)
    return StructuredNorm("ordered l1", np.arange(gamma.size + 1), np.arange(gamma.size), gamma)


def group_norm(groups: Groups) -> StructuredNorm:
    r"""The l_{1,infinity} group norm: :math:`\frac1G \sum_g \|a_{I_g}\|_\infty`.

    Parameters
    ----------
    groups : sequence of sequences of int
        A partition of the coordinates.

    Returns
    -------
    StructuredNorm

    Examples
    --------
    >>> from rgboost.theory import group_norm
    >>> group_norm([[0, 1], [2]]).norm([3.0, -4.0, 2.0])
    3.0
    """
    start, members = _partition(groups)
    G = start.size - 1
    return StructuredNorm("group", start, members, np.full(G, 1.0 / G))


def ordered_mixed_norm(groups: Groups, weights: Sequence[float] | Floats) -> StructuredNorm:
    r"""The ordered mixed norm: :math:`\sum_g \gamma_g \|a_{I_{(g)}}\|_\infty`.

    Parameters
    ----------
    groups : sequence of sequences of int
        A partition of the coordinates.
    weights : sequence of float
        gamma: not increasing, not negative, the first one positive.

    Returns
    -------
    StructuredNorm

    Examples
    --------
    >>> from rgboost.theory import ordered_mixed_norm
    >>> ordered_mixed_norm([[0, 1], [2]], [0.75, 0.25]).norm([3.0, -4.0, 2.0])
    3.5
    """
    start, members = _partition(groups)
    gamma = check_vector("weights", weights, start.size - 1)
    return StructuredNorm("ordered mixed", start, members, gamma)


def norm_of(selection: SelectionRule, K: int, groups: Groups | None = None) -> StructuredNorm:
    r"""The norm that a selection rule implies (Proposition norm-a).

    .. math:: \mathbb E |a_{\hat\jmath}| = \|a\|_F

    for the index that the random-then-greedy procedure returns.

    Parameters
    ----------
    selection : SelectionRule
    K : int
        The number of coordinates.
    groups : sequence of sequences of int, optional
        A partition of range(K); None means one group per coordinate.

    Returns
    -------
    StructuredNorm

    Examples
    --------
    >>> from rgboost.selection import RandomLearners
    >>> from rgboost.theory import norm_of
    >>> norm_of(RandomLearners(2), K=4).weights.round(3)
    array([0.5  , 0.333, 0.167, 0.   ])
    """
    return norm_of_layout(selection, coordinate_layout(K, groups))


def norm_of_layout(selection: SelectionRule, layout: Layout) -> StructuredNorm:
    """The same over the weak-learners of a family; groups are groups of its columns."""
    start, members = drawn_items(selection, layout)
    if selection.type == 0:
        return infinity_norm(layout.n_learners)
    t, n = selection.size(layout)
    mixed = "group" if t == 1 else "ordered mixed"
    name = "ordered l1" if selection.by_learner else mixed
    return StructuredNorm(name, start, members, selection_probability(n, t))


def _partition(groups: Groups) -> tuple[Indices, Indices]:
    listed = [list(group) for group in groups]
    layout = coordinate_layout(sum(map(len, listed)), listed)
    return layout.group_start, layout.members
