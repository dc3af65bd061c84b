"""The Minimal Cosine Angle: how densely weak-learners fill the space of predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ..selection import SelectionRule
from ._validation import Floats, check_integer, check_matrix
from .ascent import ascend
from .closed_forms import (
    binary_angle,
    binary_minimiser,
    is_binary_basis,
    orthogonal_angle,
    orthogonal_minimiser,
)
from .distance import factorise
from .enumeration import enumerate_angle
from .norms import StructuredNorm, infinity_norm, norm_of
from .procedure import Groups
from .spectral import lower_bound

_ORTHOGONAL = 1e-9
"""Largest Frobenius norm of B'B - I that counts as orthonormal."""


@dataclass(frozen=True, eq=False)
class MinimalCosineAngle:
    """An interval that holds Theta, and how each end was got.

    Attributes
    ----------
    lower, upper : float
        lower <= Theta <= upper, up to rounding.
    lower_method, upper_method : str
        The closed form, enumeration or bound that gave each end.
    witness : ndarray of shape (n,)
        A unit vector c in Range(B) with ||B'c||_F = upper (B with unit columns).
    """

    lower: float
    upper: float
    lower_method: str
    upper_method: str
    witness: Floats

    @property
    def exact(self) -> bool:
        """Whether both ends agree to eight digits."""
        return self.upper - self.lower <= 1e-8 * self.upper


def minimal_cosine_angle(
    B: ArrayLike,
    selection: SelectionRule,
    groups: Groups | None = None,
    *,
    n_starts: int = 12,
    random_state: int | np.random.Generator | None = None,
) -> MinimalCosineAngle:
    r"""The Minimal Cosine Angle of the columns of B under a selection rule's norm.

    .. math:: \Theta_F = \min_{c \in \mathrm{Range}(B)} \|[\cos(B_{:j}, c)]_j\|_F
              = \min_{c \in \mathrm{Range}(B)} \frac{\|B'c\|_F}{\|c\|_2}
              = \min_a \frac{\|Ba\|_2}{\mathrm{Dist}_F^B(0, a)} > 0

    (equation Theta and Proposition norm-transformation; the minima leave out c = 0 and Ba = 0).

    Parameters
    ----------
    B : array-like of shape (n, K)
        One column per weak-learner. Columns are scaled to length 1; none may be zero.
    selection : SelectionRule
    groups : sequence of sequences of int, optional
        A partition of range(K); None means one group per column.
    n_starts : int
        From how many directions the upper bound is sought where Theta is not found exactly.
    random_state : int, Generator or None
        Where the random ones of these directions come from.

    Returns
    -------
    MinimalCosineAngle
        One number twice, where a closed form is recognised (orthonormal columns, the binary
        basis under the infinity norm) or the polytope {c : ||B'c||_F <= 1} can be enumerated;
        otherwise a lower bound from eigenvalues (`rgboost.theory.spectral`) and an upper bound
        from a multi-start ascent (`rgboost.theory.ascent`).

    Notes
    -----
    Theta depends on the rank of B without continuity; singular values below max(n, K) eps times
    the largest count as zero. Columns of one group that agree up to sign are counted once, which
    changes no norm.
    """
    n_starts = check_integer(
        "n_starts", n_starts, at_least=1, remedy="pass at least one direction to start from"
    )
    matrix = normalise_columns(B)
    norm = norm_of(selection, matrix.shape[1], groups)
    if norm.weights[0] == norm.cumulative[-1]:  # t = G: the largest group is always drawn
        norm = infinity_norm(matrix.shape[1])
    matrix, norm = merge_duplicates(matrix, norm)
    return _recognised(matrix, norm) or _computed(
        matrix, norm, n_starts, np.random.default_rng(random_state)
    )


def normalise_columns(B: ArrayLike) -> Floats:
    """B with columns of length 1 (Assumption normalization)."""
    matrix = check_matrix("B", B)
    largest = np.abs(matrix).max(axis=0)
    zero = np.flatnonzero(largest == 0.0)
    if zero.size:
        raise ValueError(
            f"B has {zero.size} zero columns, the first of them {zero[:5].tolist()}; a "
            "weak-learner must have length 1, so remove them (and from groups)."
        )
    scaled = matrix / largest
    return np.asarray(scaled / np.linalg.norm(scaled, axis=0))


def merge_duplicates(B: Floats, norm: StructuredNorm) -> tuple[Floats, StructuredNorm]:
    """Keep one of the columns of a group that agree up to sign, to 12 digits."""
    if norm.n_groups == norm.n_coordinates:
        return B, norm
    rounded = np.round(B, 12)
    leading = rounded[np.argmax(rounded != 0.0, axis=0), np.arange(B.shape[1])]
    keys = rounded * np.sign(leading) + 0.0
    kept, start = [], [0]
    for g in range(norm.n_groups):
        own = norm.members[norm.start[g] : norm.start[g + 1]]
        _, first = np.unique(keys[:, own], axis=1, return_index=True)
        kept.extend(own[np.sort(first)].tolist())
        start.append(len(kept))
    if len(kept) == norm.n_coordinates:
        return B, norm
    return B[:, kept], replace(norm, start=np.array(start), members=np.arange(len(kept)))


def _recognised(B: Floats, norm: StructuredNorm) -> MinimalCosineAngle | None:
    """Theta of orthonormal columns or of the binary basis, None for any other B."""
    n, K = B.shape
    if norm.n_groups == 1 and is_binary_basis(B):
        value, name = binary_angle(n), "closed form of the binary basis"
        return MinimalCosineAngle(value, value, name, name, binary_minimiser(n))
    if n < K:
        return None
    skew = float(np.linalg.norm(B.T @ B - np.eye(K)))
    if skew > _ORTHOGONAL:
        return None
    name = "closed form of an orthogonal basis"
    c = B @ orthogonal_minimiser(norm)
    c /= np.linalg.norm(c)
    upper = norm.norm(B.T @ c)
    # ||Ba||_2 >= sqrt(1 - skew) ||a||_2
    lower = min(orthogonal_angle(norm) * np.sqrt(1.0 - skew), upper)
    return MinimalCosineAngle(lower, upper, name, name, c)


def _computed(
    B: Floats, norm: StructuredNorm, n_starts: int, rng: np.random.Generator
) -> MinimalCosineAngle:
    """Theta by enumeration where it is affordable, else its bounds."""
    factors = factorise(B)
    exact = enumerate_angle(factors, norm)
    if exact is not None:
        x, lower, lower_method, upper_method = exact.x, exact.value, exact.method, exact.method
    else:
        bound = lower_bound(factors, norm)
        x = ascend(factors, norm, rng, n_starts)
        lower, lower_method, upper_method = bound.value, bound.method, "ascent"
    c = factors.U @ (x / np.linalg.norm(x))
    upper = norm.norm(B.T @ c)
    return MinimalCosineAngle(min(lower, upper), upper, lower_method, upper_method, c)
