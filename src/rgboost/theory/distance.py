r"""The distance between coefficient vectors that predict differently (section 4 of the paper).

Z(beta) = {b : B b = B beta} holds the coefficients with the predictions of beta, and

.. math:: \mathrm{Dist}_F^B(\beta_1, \beta_2)
          = \min_{\omega \in \mathrm{Ker}(B)} \|\beta_1 - \beta_2 - \omega\|_{F^*}.

It is a linear program. The dual norm of the ordered mixed norm is at most tau exactly if the
vector s of the groups' l1 norms is weakly majorised by tau gamma (the sum of the i largest s_g is
at most tau (gamma_1 + ... + gamma_i) for every i), that is, exactly if s <= D gamma for a
non-negative matrix D whose row and column sums are at most tau (Marshall, Olkin and Arnold,
*Inequalities*, 2.C.4). Columns of D that belong to equal weights are merged, those of weights
below 1e-9 of the largest left out (HiGHS would drop such coefficients; the answer stays feasible,
and is too large by at most about 1e-9 t, relative). With V distinct weights left this needs
2K + GV + 1 variables and r + 2G + V rows (r = rank of B): of the order K + G where all weights are
equal (infinity norm, group norm), of the order K + G^2 otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linprog

from .._core.one_line import one_line
from ..selection import SelectionRule
from ._validation import Floats, check_matrix, check_vector
from .norms import StructuredNorm, norm_of
from .procedure import Groups

_TOLERANCE = 1e-10
"""Feasibility asked of HiGHS, the smallest it takes."""

_SMALLEST = 1e-9
"""Weights below this share of the largest are left out of the program."""

_SIMPLEX_CELLS = 1_000
"""Programs with a larger D go to the interior point solver, which is then several times faster."""


@dataclass(frozen=True, eq=False)
class Factors:
    """B = U diag(s) V' with only the positive singular values (numerical rank r)."""

    U: Floats
    s: Floats
    V: Floats

    @property
    def rank(self) -> int:
        return int(self.s.size)


def factorise(B: Floats) -> Factors:
    """The thin singular value decomposition of B, cut at max(n, K) eps times the largest."""
    U, s, Vt = np.linalg.svd(B, full_matrices=False)
    keep = s > max(B.shape) * np.finfo(np.float64).eps * s[0]
    return Factors(U[:, keep], s[keep], np.ascontiguousarray(Vt[keep].T))


@one_line
@dataclass(frozen=True, eq=False)
class QuotientNorm:
    """The smallest dual norm among all b with V'b = y, from both sides.

    ``upper`` is the dual norm of ``b``; ``lower`` is <z, y> / ||V z||_F, which no b with V'b = y
    undercuts. Both are evaluated directly, so they hold whatever the solver's tolerance.
    """

    lower: float
    upper: float
    b: Floats
    z: Floats


class QuotientProgram:
    """min ||b||_{F*} subject to V'b = y, for one V with orthonormal columns and many y."""

    def __init__(self, V: Floats, norm: StructuredNorm) -> None:
        self.V = V
        self.norm = norm
        K, rank = V.shape
        G = norm.n_groups
        left = norm.weights[norm.weights > _SMALLEST * norm.weights[0]]
        values, counts = np.unique(left, return_counts=True)
        cells = G * values.size
        self._method = "highs" if cells <= _SIMPLEX_CELLS else "highs-ipm"
        group = np.repeat(np.arange(G), norm.sizes)
        member = sparse.csr_array((np.ones(K), (group, norm.members)), shape=(G, K))
        rows = sparse.kron(sparse.eye_array(G), np.ones((1, values.size)), format="csr")
        columns = sparse.kron(np.ones((1, G)), sparse.eye_array(values.size), format="csr")
        weighted = sparse.kron(sparse.eye_array(G), values[None], format="csr")
        self._less = sparse.block_array(
            [
                [member, member, -weighted, sparse.csr_array((G, 1))],
                [None, None, rows, sparse.csr_array(-np.ones((G, 1)))],
                [None, None, columns, sparse.csr_array(-counts[:, None].astype(np.float64))],
            ],
            format="csc",
        )
        self._equal = sparse.hstack(
            [sparse.csc_array(V.T), sparse.csc_array(-V.T), sparse.csc_array((rank, cells + 1))],
            format="csc",
        )
        self._cost = np.zeros(2 * K + cells + 1)
        self._cost[-1] = 1.0

    def solve(self, y: Floats) -> QuotientNorm:
        """The program's value at y, a minimiser b and multipliers z."""
        K, rank = self.V.shape
        scale = float(np.linalg.norm(y))
        if scale == 0.0:
            return QuotientNorm(0.0, 0.0, np.zeros(K), np.zeros(rank))
        unit = y / scale
        if rank == K:  # only one b has V'b = y
            return self._only(unit, scale)
        result = self._minimise(unit)
        b = result.x[:K] - result.x[K : 2 * K]
        b += self.V @ (unit - self.V.T @ b)
        z = np.asarray(result.eqlin.marginals)
        size = self.norm.norm(self.V @ z)
        lower = max(0.0, float(z @ unit) / size) if size > 0.0 else 0.0
        return QuotientNorm(lower * scale, self.norm.dual_norm(b) * scale, b * scale, z)

    def _only(self, unit: Floats, scale: float) -> QuotientNorm:
        """Independent columns: b = V y, and the multipliers are Proposition dual-norm's."""
        b = self.V @ unit
        z = self.V.T @ self.norm.dual_maximiser(b)
        value = self.norm.dual_norm(b) * scale
        return QuotientNorm(value, value, b * scale, z)

    def _minimise(self, y: Floats) -> Any:
        """What HiGHS makes of the program; the simplex method has the last word."""
        for method in (self._method, "highs-ds"):
            arguments: dict[str, Any] = {
                "A_ub": self._less,
                "b_ub": np.zeros(self._less.shape[0]),
                "A_eq": self._equal,
                "b_eq": y,
                "bounds": (0.0, None),
                "method": method,
                "options": {
                    "primal_feasibility_tolerance": _TOLERANCE,
                    "dual_feasibility_tolerance": _TOLERANCE,
                },
            }
            result = linprog(self._cost, **arguments)
            if result.status == 0:
                return result
        raise RuntimeError(f"HiGHS could not solve the distance's program: {result.message}")


def distance(
    B: ArrayLike,
    beta1: ArrayLike,
    beta2: ArrayLike,
    selection: SelectionRule,
    groups: Groups | None = None,
) -> float:
    r"""The distance between the sets Z(beta1) and Z(beta2) in the dual norm of a selection rule.

    .. math:: \mathrm{Dist}_F^B(\beta_1, \beta_2)
              = \min_{\omega : B\omega = 0} \|\beta_1 - \beta_2 - \omega\|_{F^*}

    It is symmetric and translation invariant (Proposition basic-prop), and 0 exactly if
    B beta1 = B beta2. If B has full column rank it is the dual norm of beta1 - beta2.

    Parameters
    ----------
    B : array-like of shape (n, K)
        One column per weak-learner. It is taken as it is, not normalised.
    beta1, beta2 : array-like of shape (K,)
    selection : SelectionRule
    groups : sequence of sequences of int, optional
        A partition of range(K); None means one group per column.

    Returns
    -------
    float
        The dual norm of a feasible point, so never below the distance by more than rounding;
        above it by what the linear program leaves (of the order 1e-9, relative).

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import AllLearners
    >>> from rgboost.theory import distance
    >>> round(distance(np.eye(2), [1.0, 2.0], [0.0, 0.0], AllLearners()), 6)
    3.0
    """
    matrix = check_matrix("B", B)
    K = matrix.shape[1]
    difference = check_vector("beta1", beta1, K) - check_vector("beta2", beta2, K)
    if not matrix.any():
        return 0.0
    V = factorise(matrix).V
    y = V.T @ difference
    # What rounding leaves of a vector in the kernel counts as nothing.
    if np.linalg.norm(y) <= 16 * np.finfo(np.float64).eps * np.linalg.norm(difference):
        return 0.0
    return QuotientProgram(V, norm_of(selection, K, groups)).solve(y).upper
