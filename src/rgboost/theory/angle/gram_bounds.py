r"""Bounds on the Minimal Cosine Angle from the Gram matrix, for thousands of weak-learners.

Let J be columns that are linearly independent and span Range(B), found by a Cholesky factor with
pivots. Singular values of B are not computed; what is needed is

- solutions with G_JJ, for the ascent of the upper bound: if J is everything, c = B z with
  G z = u runs through Range(B) as u runs through R^K, so the linear program of
  `theory.angle.ascent` has the closed form ``dual_maximiser`` (Proposition dual-norm): after u
  comes the maximiser of <z, u'> over ||u'||_F <= 1, and ||c||^2 = u' G^{-1} u never falls;
- the smallest eigenvalue of diag(sqrt w) G_JJ diag(sqrt w) for some weights w, in the lower bounds
  of `theory.angle.spectral` (w = 0 outside of J is one of the choices there). Lanczos' method on
  the inverse finds it, but from above. So it is proved: if the Cholesky factorisation of the matrix
  less tau runs through, no eigenvalue is below tau - margin, the margin being what rounding can do
  (Rump, *Verification of positive definiteness*, BIT 46, 2006).

One K x K array is held at a time, 3.2 GB for K = 20,000.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import blas, eigvalsh_tridiagonal, lapack

from .._validation import Floats
from ..norms import StructuredNorm, ordered_l1_norm
from ..procedure import Indices
from .closed_forms import orthogonal_angle
from .definite import is_positive_definite
from .spectral import Bound

_EPS = float(np.finfo(np.float64).eps)
_PROBES = 24
"""Random vectors that the diagonal of the inverse is estimated with."""

_STEPS = 40
"""Steps of an ascent."""

_LANCZOS = 40
"""Steps of Lanczos' method."""

_SHARES = (0.99, 0.9, 0.5, 0.1, 0.01)
"""Shares of the eigenvalue that Lanczos' method found which are tried to be proved, in turn."""


class Columns(Protocol):
    """Unit columns that are known by their inner products."""

    n_columns: int

    def fill(self, out: Floats) -> None:
        """Row u of B'B from column u on."""

    def entry_error(self) -> Floats:
        """e with |error of entry (u, j)| <= e_u e_j."""


class GramFactor:
    """G_JJ = R'R for independent columns J (``kept``) that span the range."""

    def __init__(self, gram: Floats) -> None:
        """``gram`` holds the upper triangle row by row, and is overwritten."""
        K = len(gram)
        noise = 4.0 * K * _EPS
        lower, pivots, rank, _ = lapack.dpstrf(gram.T, tol=noise, lower=1, overwrite_a=1)
        self.rank = int(rank)
        self.kept: Indices = pivots[:rank] - 1
        self.lower = _leading(lower, self.rank)

    def solve(self, rhs: Floats) -> Floats:
        """G_JJ^{-1} rhs, for one column or several."""
        b = np.asfortranarray(rhs.reshape(self.rank, -1))
        half = blas.dtrsm(1.0, self.lower, b, lower=1)
        full = blas.dtrsm(1.0, self.lower, half, lower=1, trans_a=1, overwrite_b=1)
        return np.asarray(full.reshape(rhs.shape))


def _leading(matrix: Floats, size: int) -> Floats:
    """The leading block of a matrix by columns, moved together in place."""
    K = len(matrix)
    if size == K:
        return matrix
    flat = matrix.T.reshape(-1)
    for j in range(1, size):
        flat[j * size : (j + 1) * size] = flat[j * K : j * K + size].copy()
    return flat[: size * size].reshape(size, size).T


@dataclass(frozen=True, eq=False)
class Candidate:
    """A lower bound ``constant * eigenvalue ** power`` with weights w of the columns J.

    ``guess`` is what the eigenvalue seems to be.
    """

    constant: float
    power: float
    w: Floats
    method: str
    guess: float = 0.0

    def value(self, eigenvalue: float) -> float:
        return self.constant * max(eigenvalue, 0.0) ** self.power


def most_promising(factor: GramFactor, norm: StructuredNorm, rng: np.random.Generator) -> Candidate:
    """The best of the bounds of `theory.angle.spectral`, if its eigenvalue can be proved."""
    candidates = _candidates(factor, norm, rng)
    guesses = _smallest_eigenvalues(factor, [candidate.w for candidate in candidates], rng)
    known = [replace(c, guess=guess) for c, guess in zip(candidates, guesses, strict=True)]
    return max(known, key=lambda candidate: candidate.value(candidate.guess))


def proved_bound(columns: Columns, kept: Indices, candidate: Candidate) -> Bound:
    """The bound with a proved eigenvalue."""
    eigenvalue = prove_eigenvalue(columns, kept, candidate.w, candidate.guess)
    return Bound(candidate.value(eigenvalue), f"{candidate.method}, from the Gram matrix")


def _candidates(
    factor: GramFactor, norm: StructuredNorm, rng: np.random.Generator
) -> list[Candidate]:
    r"""Bounds that may be the best one.

    Weights of E-optimal designs would be best. With d the diagonal of :math:`G_{JJ}^{-1}`,
    weights in proportion to sqrt(d) minimise the trace of the inverse, and those in proportion to
    d make its diagonal constant.
    """
    ones = np.ones(factor.rank)
    kappa = orthogonal_angle(norm)
    found = [Candidate(kappa, 0.5, ones, "spectral")]
    d = inverse_diagonal(factor, rng)
    for w in (np.sqrt(d), d):
        share = w / w.sum()
        found.append(Candidate(float(norm.weights[0]), 0.5, share, "spectral, largest cosine"))
    if norm.n_groups == 1:
        return found
    mean = float(norm.cumulative[-1]) / norm.n_groups
    if norm.n_groups == norm.n_coordinates:
        return [*found, Candidate(mean, 1.0, ones, "squared cosines")]
    kappa = orthogonal_angle(ordered_l1_norm(norm.weights))
    group = np.empty(norm.n_coordinates, dtype=np.int64)
    group[norm.members] = np.repeat(np.arange(norm.n_groups), norm.sizes)
    own = group[factor.kept]
    for w in (ones, np.sqrt(d)):
        share = w / np.bincount(own, w, minlength=norm.n_groups)[own]
        found.append(Candidate(kappa, 0.5, share, "weighted spectral"))
        found.append(Candidate(mean, 1.0, share, "squared cosines"))
    return found


def inverse_diagonal(factor: GramFactor, rng: np.random.Generator) -> Floats:
    """The diagonal of the inverse, estimated with random signs; at least 1, as it must be."""
    signs = rng.choice([-1.0, 1.0], (factor.rank, _PROBES))
    return np.maximum((signs * factor.solve(signs)).mean(axis=1), 1.0)


def _smallest_eigenvalues(
    factor: GramFactor, weights: list[Floats], rng: np.random.Generator
) -> list[float]:
    """Of diag(sqrt w) G_JJ diag(sqrt w) for every w, by Lanczos' method on the inverse.

    What it finds is not below the eigenvalue. All w go together: a solution for several right-hand
    sides costs little more than one.
    """
    root = 1.0 / np.sqrt(np.column_stack(weights))
    v = rng.standard_normal(root.shape)
    v /= np.linalg.norm(v, axis=0)
    before, off = np.zeros_like(v), np.zeros(v.shape[1])
    diagonal, beside = [], []
    for _ in range(min(_LANCZOS, factor.rank)):
        u = root * factor.solve(root * v) - off * before
        diagonal.append((u * v).sum(axis=0))
        u -= diagonal[-1] * v
        off = np.linalg.norm(u, axis=0)
        beside.append(off)
        before, v = v, u / np.maximum(off, 1e-300)
    d, e = np.array(diagonal), np.array(beside)[:-1]
    return [1.0 / float(eigvalsh_tridiagonal(d[:, i], e[:, i])[-1]) for i in range(len(weights))]


def prove_eigenvalue(columns: Columns, kept: Indices, w: Floats, guess: float) -> float:
    """A number that no eigenvalue of diag(sqrt w) G_JJ diag(sqrt w) is below; 0 if none is found.

    With M = matrix - tau computed and factorised in floating point, the exact matrix has no
    eigenvalue below tau less (|J| + 2) eps tr(M) for the factorisation and sum_u w_u e_u^2 for the
    errors of the entries.
    """
    order = np.argsort(kept)  # by ascending columns, as the triangle has them
    kept, w = kept[order], w[order]
    root = np.sqrt(w)
    error = columns.entry_error()[kept]
    margin = (len(kept) + 8) * _EPS * float(w.sum()) + float(w @ error**2)
    for share in _SHARES:
        gram = np.empty((columns.n_columns, columns.n_columns))
        columns.fill(gram)
        lower = _submatrix(gram, kept)
        del gram
        lower *= root
        lower *= root[:, None]
        tau = share * guess
        lower[np.diag_indices_from(lower)] -= tau + margin
        if is_positive_definite(lower):
            return tau
    return 0.0


def _submatrix(gram: Floats, kept: Indices) -> Floats:
    """G_JJ by columns (its lower triangle), in the memory of G. ``kept`` ascends."""
    K, size = len(gram), len(kept)
    if size == K:
        return gram.T
    flat = gram.reshape(-1)
    for i, u in enumerate(kept):
        flat[i * size : (i + 1) * size] = gram[u, kept]
    return flat[: size * size].reshape(size, size).T


def ascend_by_gram(
    factor: GramFactor, norm: StructuredNorm, rng: np.random.Generator, n_starts: int
) -> Floats:
    """Coefficients z (as columns) of directions c = B z with a small ||B'c||_F / ||c||.

    Each is where an ascent ends; see the head of this file. Where J is not everything, the ascent
    looks at the columns J only: what it finds is still an upper bound, if a less good one.
    """
    K, kept = norm.n_coordinates, factor.kept

    def maximisers(z: Floats) -> Floats:
        out = np.empty_like(z)
        for i in range(z.shape[1]):
            full = np.zeros(K)
            full[kept] = z[:, i]
            out[:, i] = norm.dual_maximiser(full)[kept]
        return out

    u = maximisers(_starts(factor, rng, n_starts))
    z = factor.solve(u)
    lengths = (u * z).sum(axis=0)
    for _ in range(_STEPS):
        u = maximisers(z)
        z_new = factor.solve(u)
        new = (u * z_new).sum(axis=0)
        if not (new > lengths * (1.0 + 1e-10)).any():
            break
        z, lengths = z_new, new
    coefficients = np.zeros((K, z.shape[1]))
    coefficients[kept] = z
    best = np.argsort(-lengths, kind="stable")
    return np.asarray(coefficients[:, best])


def _starts(factor: GramFactor, rng: np.random.Generator, n_starts: int) -> Floats:
    """Signs that alternate from column to column, random signs, and single columns, times G^{-1}.

    Neighbouring stumps are nearly equal: a direction that tells them apart is bad for all of them.
    The single columns are those with the largest diagonal entries of G^{-1}: for rules that rarely
    draw one certain column, the worst direction has a cosine with few columns only.
    """
    signs = rng.choice([-1.0, 1.0], (factor.rank, n_starts))
    signs[:, 0] = (-1.0) ** factor.kept
    hardest = np.argsort(-inverse_diagonal(factor, rng), kind="stable")[: n_starts // 2]
    for i, k in enumerate(hardest):
        signs[:, -1 - i] = np.arange(factor.rank) == k
    return factor.solve(signs)
