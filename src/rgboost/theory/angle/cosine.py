"""The Minimal Cosine Angle: how densely weak-learners fill the space of predictions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..._core.team import check_n_jobs
from ..._core.validation import check_count
from ...learners.base import Prepared
from ...selection import SelectionRule
from .._validation import Floats, check_matrix, check_vector
from ..distance import factorise
from ..norms import StructuredNorm, infinity_norm, norm_of
from ..procedure import Groups
from .closed_forms import (
    binary_angle,
    binary_minimiser,
    is_binary_basis,
    orthogonal_angle,
    orthogonal_minimiser,
)
from .known import ORTHOGONAL, MinimalCosineAngle, angle_of_factors
from .stump_angle import stump_angle


def minimal_cosine_angle(
    B: ArrayLike | Prepared,
    selection: SelectionRule,
    groups: Groups | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    n_starts: int = 12,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> MinimalCosineAngle:
    r"""The Minimal Cosine Angle of the columns of B under a selection rule's norm.

    .. math:: \Theta_F = \min_{c \in \mathrm{Range}(B)} \|[\cos(B_{:j}, c)]_j\|_F
              = \min_{c \in \mathrm{Range}(B)} \frac{\|B'c\|_F}{\|c\|_2}
              = \min_a \frac{\|Ba\|_2}{\mathrm{Dist}_F^B(0, a)} > 0

    (equation Theta and Proposition norm-transformation; the minima leave out c = 0 and Ba = 0).

    Parameters
    ----------
    B : array-like of shape (n, K), or the outcome of `Stumps.prepare`
        One column per weak-learner. Columns are scaled to length 1; none may be zero. Prepared
        stumps are known by counts of rows (`theory.angle.stump_gram`): no n x K matrix is made,
        and K may be 20,000 or so (one K x K matrix is held). Free leaves are planes, not columns;
        what the greedy step sees there is the length of c's projection.
    selection : SelectionRule
    groups : sequence of sequences of int, optional
        A partition of range(K); None means one group per column. Prepared stumps have groups of
        features of their own, from ``prepare(X, groups=...)``.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows: all inner products and lengths are weighted. Rows without weight are
        not there. For prepared stumps, the weights that they were prepared with.
    n_starts : int
        From how many directions the upper bound is sought where Theta is not found exactly.
    random_state : int, Generator or None
        Where the random ones of these directions come from.
    n_jobs : int, optional
        Threads that count rows of prepared stumps; None for all that the process may use.

    Returns
    -------
    MinimalCosineAngle
        One number twice, where a closed form is recognised (orthonormal columns, the binary
        basis under the infinity norm) or the polytope {c : ||B'c||_F <= 1} can be enumerated;
        otherwise a lower bound from eigenvalues (`theory.angle.spectral`) and an upper bound
        from a multi-start ascent (`theory.angle.ascent`). For many stumps both come from a
        factor of the Gram matrix (`theory.angle.gram_bounds`).

    Notes
    -----
    Theta depends on the rank of B without continuity; singular values below max(n, K) eps times
    the largest count as zero. Columns of one group that agree up to sign are counted once, which
    changes no norm.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import Stumps
    >>> from rgboost.selection import AllLearners
    >>> from rgboost.theory import minimal_cosine_angle
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # two orthogonal stumps
    >>> found = minimal_cosine_angle(Stumps().prepare(X), AllLearners())
    >>> round(found.lower, 6), round(found.upper, 6), found.lower_method
    (0.707107, 0.707107, 'closed form of an orthogonal basis')
    """
    n_starts = check_count(
        n_starts, "n_starts", at_least=1, remedy="pass at least one direction to start from"
    )
    rng = np.random.default_rng(random_state)
    if isinstance(B, Prepared):
        if not B.numeric_bins:
            raise ValueError(
                f"B is {type(B).__name__}; pass stumps that were prepared without missing values, "
                "categories and constraints, or an explicit matrix."
            )
        if groups is not None:
            raise ValueError(
                "groups is for explicit matrices; prepare the stumps with groups of features: "
                "Stumps(...).prepare(X, groups=...)."
            )
        weight = None if sample_weight is None else check_weights(sample_weight)
        return stump_angle(B, selection, weight, n_starts, rng, check_n_jobs(n_jobs))
    if sample_weight is not None:
        return _weighted(B, check_weights(sample_weight), selection, groups, n_starts, rng)
    matrix = normalise_columns(B)
    norm = norm_of(selection, matrix.shape[1], groups)
    if norm.weights[0] == norm.cumulative[-1]:  # t = G: the largest group is always drawn
        norm = infinity_norm(matrix.shape[1])
    matrix, norm = merge_duplicates(matrix, norm)
    return _recognised(matrix, norm) or _computed(matrix, norm, n_starts, rng)


def check_weights(sample_weight: ArrayLike) -> Floats:
    weight = check_vector("sample_weight", sample_weight)
    if (weight < 0.0).any() or not weight.any():
        raise ValueError(
            "sample_weight has negative entries, or only zeros; pass weights of 0 or more."
        )
    return weight


def _weighted(
    B: ArrayLike,
    weight: Floats,
    selection: SelectionRule,
    groups: Groups | None,
    n_starts: int,
    rng: np.random.Generator,
) -> MinimalCosineAngle:
    """Theta with <a, b> = sum_i w_i a_i b_i: that of the rows times sqrt(w)."""
    matrix = check_matrix("B", B)
    if len(weight) != len(matrix):
        raise ValueError(
            f"sample_weight has {len(weight)} entries, B {len(matrix)} rows; give one for each."
        )
    root = np.sqrt(weight)
    kept = weight > 0.0
    scaled = root[kept, None] * matrix[kept]
    found = minimal_cosine_angle(scaled, selection, groups, n_starts=n_starts, random_state=rng)
    witness = np.zeros(len(matrix))
    witness[kept] = found.witness / root[kept]
    return replace(found, witness=witness)


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
    if skew > ORTHOGONAL:
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
    factors = factorise(B)
    ends = angle_of_factors(factors, norm, n_starts, rng)
    c = factors.U @ (ends.x / np.linalg.norm(ends.x))
    upper = norm.norm(B.T @ c)
    lower = min(ends.lower, upper)
    return MinimalCosineAngle(lower, upper, ends.lower_method, ends.upper_method, c)
