"""Minimal Cosine Angles that are known in closed form (Examples 1 to 3 and Remark slope)."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..._core.validation import check_count
from .._validation import Floats
from ..norms import StructuredNorm

_BINARY_ROWS = 16
"""`is_binary_basis` looks at no more rows than this; 3^16 columns are far beyond any memory."""


def orthogonal_angle(norm: StructuredNorm) -> float:
    r"""The Minimal Cosine Angle of orthonormal weak-learners (Examples 1 and 2, and beyond).

    .. math:: \Theta_F = \min_a \frac{\|a\|_F}{\|a\|_2}
              = \min_{1 \le i \le G} \frac{\gamma_1 + \dots + \gamma_i}{\sqrt{N_i}},

    where N_i is the number of coordinates in the i largest groups. Example 1 (infinity norm) is
    one group: 1/sqrt(p). Example 2 (ordered l1 norm) is N_i = i. The group norm with G groups of
    s coordinates gives 1/(G sqrt(s)).

    Notes
    -----
    Proof. B'B = I makes B injective, so by Proposition norm-transformation
    Theta = min ||a||_2 / ||a||_{F*}, and 1/Theta is the maximum of ||a||_{F*} over the Euclidean
    unit ball. Write Gamma_i = gamma_1 + ... + gamma_i. The sum of the i largest group norms is
    the maximum over all sets S of i groups, hence

        1/Theta = max_i max_{|S| = i} max_{||a||_2 <= 1} sum_{g in S} ||a_{I_g}||_1 / Gamma_i.

    By Cauchy-Schwarz the inner maximum is sqrt(number of coordinates in S) / Gamma_i, attained by
    a constant vector on S; the best S of size i holds the i largest groups.

    The same number is the largest kappa with ||a||_F >= kappa ||a||_2 for all a in R^K.

    Parameters
    ----------
    norm : StructuredNorm

    Returns
    -------
    float

    Examples
    --------
    >>> from rgboost.theory import infinity_norm, orthogonal_angle
    >>> round(orthogonal_angle(infinity_norm(25)), 6)
    0.2
    """
    counts = np.cumsum(np.sort(norm.sizes)[::-1])
    return float((norm.cumulative / np.sqrt(counts)).min())


def orthogonal_minimiser(norm: StructuredNorm) -> Floats:
    """A unit vector a with ||a||_F = `orthogonal_angle`: constant on the i largest groups."""
    ranked = np.argsort(-norm.sizes, kind="stable")
    counts = np.cumsum(norm.sizes[ranked])
    last = int(np.argmin(norm.cumulative / np.sqrt(counts)))
    chosen = np.zeros(norm.n_groups, dtype=bool)
    chosen[ranked[: last + 1]] = True
    a = np.zeros(norm.n_coordinates)
    a[norm.members[np.repeat(chosen, norm.sizes)]] = 1.0 / np.sqrt(counts[last])
    return a


def random_learners_angle(p: int, t: int) -> float:
    r"""The Minimal Cosine Angle of p orthonormal weak-learners under Type 1 (Remark slope).

    .. math:: \Theta_S = \min\left\{\frac{t}{p}, \frac{1}{\sqrt p}\right\},

    which is 1/sqrt(p) for p <= t^2 and t/p after. The paper reads this off its figure, up to a
    constant; it holds with equality for all 1 <= t <= p.

    Notes
    -----
    Proof. With Gamma_i = gamma_1 + ... + gamma_i, Example 2 says Theta = min_i Gamma_i/sqrt(i).
    The ends are Gamma_1 = t/p and Gamma_p/sqrt(p) = 1/sqrt(p). It is enough that the sequence
    first rises, then falls. It rises from i to i + 1 exactly if h(i) <= w(i), where

        h(i) = Gamma_i / gamma_{i+1},    w(i) = 1 / (sqrt(1 + 1/i) - 1) = i + sqrt(i (i + 1)).

    From gamma_{j+1} / gamma_j = (p - j - t + 1) / (p - j) follows, with h(0) = 0,

        h(i+1) - h(i) = 1 + (h(i) + 1) (rho_i - 1),    rho_i = (p - i - 1) / (p - i - t) >= 1;

    h and rho increase, so the increments of h increase: h is convex. And w, with w(0) = 0, is
    concave. So h - w is convex and 0 at i = 0: once positive it stays positive. (Where
    gamma_{i+1} = 0, h is infinite and the sequence falls.)

    Parameters
    ----------
    p : int
        The number of weak-learners.
    t : int
        The size of the subset.

    Returns
    -------
    float

    Examples
    --------
    >>> from rgboost.theory import random_learners_angle
    >>> random_learners_angle(25, 5), random_learners_angle(25, 1)
    (0.2, 0.04)
    """
    p = check_count(p, "p", at_least=1, remedy="pass the number of weak-learners, at least 1")
    t = check_count(t, "t", at_least=1, at_most=p, remedy=f"pass a subset size from 1 to p={p}")
    return float(min(t / p, 1.0 / np.sqrt(p)))


def binary_angle(p: int) -> float:
    r"""The Minimal Cosine Angle of the binary basis under the infinity norm (Example 3).

    .. math:: \Theta_\infty
              = \Big(\sum_{i=1}^p (\sqrt i - \sqrt{i-1})^2\Big)^{-1/2} \propto 1/\sqrt{\ln p}.

    Parameters
    ----------
    p : int
        The number of samples.

    Returns
    -------
    float

    Examples
    --------
    >>> from rgboost.theory import binary_angle
    >>> round(binary_angle(4), 4)
    0.8625
    """
    return float(1.0 / np.linalg.norm(_binary_weights(p)))


def binary_minimiser(p: int) -> Floats:
    r"""The unit vector proportional to :math:`(\sqrt i - \sqrt{i-1})_i`, the worst direction."""
    weights = _binary_weights(p)
    return np.asarray(weights / np.linalg.norm(weights))


def _binary_weights(p: int) -> Floats:
    p = check_count(p, "p", at_least=1, remedy="pass the number of samples, at least 1")
    root = np.sqrt(np.arange(p + 1, dtype=np.float64))
    return np.diff(root)


def binary_basis(p: int) -> Floats:
    """The normalised columns of {-1, 0, 1}^p, one of each pair +-b: (3^p - 1)/2 columns.

    The paper counts 3^p weak-learners. The zero vector among them cannot be normalised, and of
    the others b and -b are the same weak-learner.

    Parameters
    ----------
    p : int
        The number of samples, up to 12.

    Returns
    -------
    ndarray of shape (p, (3^p - 1)/2)

    Examples
    --------
    >>> from rgboost.theory import binary_basis
    >>> binary_basis(3).shape
    (3, 13)
    """
    p = check_count(p, "p", at_least=1, at_most=12, remedy="pass a number of samples up to 12")
    patterns = np.array(list(product((-1.0, 0.0, 1.0), repeat=p)))
    half = patterns[len(patterns) // 2 + 1 :]
    return np.asarray((half / np.linalg.norm(half, axis=1, keepdims=True)).T)


def is_binary_basis(B: Floats) -> bool:
    """Whether the columns of B are all of {-1, 0, 1}^p, up to scale, sign and repetition.

    In balanced ternary every vector of {-1, 0, 1}^p is an integer from -(3^p - 1)/2 to
    (3^p - 1)/2, and its negative the negative of that integer.
    """
    p, K = B.shape
    if p > _BINARY_ROWS or 3**p - 1 > 2 * K:
        return False
    largest = np.abs(B).max(axis=0)
    if (largest == 0.0).any():
        return False
    scaled = B / largest
    pattern = np.rint(scaled)
    if np.abs(scaled - pattern).max() > 1e-12:
        return False
    code = np.abs(3 ** np.arange(p) @ pattern.astype(np.int64))
    return int(np.unique(code).size) == (3**p - 1) // 2
