"""Lower bounds on the Minimal Cosine Angle that hold for any weak-learners.

Notation: unit columns, B = U diag(s) V', a_j = U'B_{:j} (unit vectors in R^r), groups I_1, ...,
I_G, and for a unit vector x the group maxima u_g = max_{k in I_g} |<a_k, x>|, so that
Theta = min_x ||u||_gamma with the ordered l1 norm of u.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._validation import Floats
from ..distance import Factors
from ..norms import StructuredNorm, infinity_norm, ordered_l1_norm
from .closed_forms import orthogonal_angle

_WORK = 2e9
"""Multiplications that `within_group_weights` may spend."""

_STEPS = 60


@dataclass(frozen=True, eq=False)
class Bound:
    value: float
    method: str


def lower_bound(factors: Factors, norm: StructuredNorm) -> Bound:
    r"""The best of four lower bounds.

    For weights w >= 0 that sum to 1 within each group let
    :math:`\lambda(w) = \lambda_{\min}(\sum_k w_k a_k a_k')`, the smallest eigenvalue on R^r. As
    :math:`u_g^2 \ge \sum_{k \in I_g} w_k \langle a_k, x\rangle^2`, always
    :math:`\|u\|_2^2 \ge \lambda(w)`.

    "spectral"
        :math:`\kappa\, s_{\min}`, s_min the smallest positive singular value of B and
        kappa = min ||a||_F / ||a||_2 (`orthogonal_angle` of the norm).
    "weighted spectral"
        :math:`\kappa' \sqrt{\lambda(w)}`, kappa' = min_i (gamma_1 + ... + gamma_i) / sqrt(i), the
        constant of ||u||_gamma >= kappa' ||u||_2.
    "squared cosines"
        :math:`\lambda(w) \sum_g \gamma_g / G`: cosines are at most 1, so
        ||u||_gamma >= ||u^2||_gamma, and the weights gamma in decreasing order give at least what
        their mean gives.
    "spectral, largest cosine"
        :math:`\gamma_1 \sqrt{\lambda(w)}` with w over all columns: ||u||_gamma >= gamma_1 max u.

    Any w is valid; `within_group_weights` looks for a good one.
    """
    kappa = orthogonal_angle(norm)
    found = [Bound(kappa * float(factors.s[-1]), "spectral")]
    largest = infinity_norm(norm.n_coordinates)
    root = math.sqrt(_weighted_eigenvalue(factors, largest))
    found.append(Bound(float(norm.weights[0]) * root, "spectral, largest cosine"))
    if norm.n_groups > 1:
        eigenvalue = _weighted_eigenvalue(factors, norm)
        kappa = orthogonal_angle(ordered_l1_norm(norm.weights))
        mean = float(norm.cumulative[-1]) / norm.n_groups
        found.append(Bound(mean * eigenvalue, "squared cosines"))
        if norm.n_groups < norm.n_coordinates:  # otherwise it is the spectral bound again
            found.append(Bound(kappa * math.sqrt(eigenvalue), "weighted spectral"))
    return max(found, key=lambda bound: bound.value)


def _weighted_eigenvalue(factors: Factors, norm: StructuredNorm) -> float:
    """lambda(w) for the weights found, through singular values so that small ones are accurate."""
    rows = factors.V * factors.s
    w = within_group_weights(rows, norm)
    return float(np.linalg.svd(np.sqrt(w)[:, None] * rows, compute_uv=False)[-1] ** 2)


def within_group_weights(rows: Floats, norm: StructuredNorm) -> Floats:
    r"""Weights, 1 in sum within each group, that make the smallest eigenvalue large.

    For one group this is the E-optimal design problem. It is approached through the smooth
    criteria :math:`(\mathrm{tr} M^{-q})^{-1/q}` with growing q by the multiplicative update
    :math:`w_k \leftarrow w_k (a_k' M^{-q-1} a_k)^{1/(q+1)}`, normalised; the best w met is kept.
    """
    K, rank = rows.shape
    group = np.empty(K, dtype=np.int64)
    group[norm.members] = np.repeat(np.arange(norm.n_groups), norm.sizes)
    w = 1.0 / norm.sizes[group]
    if norm.n_groups == K:
        return w
    steps = int(min(_STEPS, _WORK / (K * rank**2 + 10 * rank**3)))
    best, best_w = -math.inf, w
    for step in range(steps):
        values, vectors = np.linalg.eigh((rows * w[:, None]).T @ rows)
        if values[0] > best:
            best, best_w = float(values[0]), w
        if values[0] <= 0.0:
            break
        power = 1.0 + 8.0 * step / steps
        ratio = (values[0] / values) ** (power + 1.0)
        score = (rows @ vectors) ** 2 @ ratio
        w = w * score ** (1.0 / (power + 1.0))
        w = w / np.bincount(group, w)[group]
    return best_w
