r"""Range(B): everything that combinations of weak-learners can add to the scores of the rows.

A `Span` gives coordinates to that space, x = A t, and the sums over rows that solvers need.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from ..._core.team import Team

Vector = NDArray[np.float64]


class Span(ABC):
    """The range of a matrix A with one row per row of the data and n_coordinates columns."""

    n_rows: int
    n_coordinates: int
    starts: NDArray[np.int64]
    """The first coordinate of each group (a feature; a column of a dictionary)."""

    holds_constants: bool
    """Whether constants are known to lie in the range."""

    cells: float
    """Entries of the data that a product with A reads."""

    gram_cells: float
    """Entries of the data that `gram` reads; infinite if there is no way to make it."""

    gram_by_rows: bool
    """Whether `gram` costs next to nothing for an x that is 0 in most rows."""

    def use(self, team: Team) -> None:
        """Work with these threads from now on."""
        return

    def expect_grams(self) -> None:
        """Do what makes products faster and `gram` needs anyway."""
        return

    @abstractmethod
    def rows(self, t: Vector) -> Vector:
        """A t, a new array."""

    def scores(self, coefficients: Vector) -> Vector:
        """What a path adds to the rows, from `Prepared.coefficients`."""
        return self.rows(coefficients)

    @abstractmethod
    def sums(self, x: Vector) -> Vector:
        """A' x."""

    def normal(self, t: Vector, x: Vector) -> tuple[Vector, Vector]:
        """A t and A' diag(x) A t."""
        rows = self.rows(t)
        return rows, self.sums(x * rows)

    @abstractmethod
    def squares(self, x: Vector) -> Vector:
        """The diagonal of A' diag(x) A."""

    @abstractmethod
    def gram(self, x: Vector) -> NDArray[np.float64]:
        """C' diag(x) C for columns C = A N that span the range, most dependencies left out."""

    def to_columns(self, sums: Vector) -> Vector:
        """C' x from A' x: sums over rows for the columns of `gram`."""
        return sums

    def from_columns(self, z: Vector) -> Vector:
        """Coordinates t with A t = C z."""
        return z

    @abstractmethod
    def matrix(self) -> Any:
        """A itself, for few rows: dense, or sparse by rows."""


class MatrixSpan(Span):
    """The columns of an explicit matrix, dense or sparse."""

    holds_constants = False
    gram_by_rows = False

    def __init__(self, A: Any) -> None:
        self.A = A
        self.n_rows, self.n_coordinates = A.shape
        self.starts = np.arange(self.n_coordinates)
        self.cells = float(A.nnz if scipy.sparse.issparse(A) else A.size)
        self.gram_cells = self.cells * self.n_coordinates / 8  # by BLAS
        self._squared: Any = None

    def rows(self, t: Vector) -> Vector:
        return np.asarray(self.A @ t)

    def sums(self, x: Vector) -> Vector:
        return np.asarray(self.A.T @ x)

    def squares(self, x: Vector) -> Vector:
        if self._squared is None:
            self._squared = self.A.multiply(self.A) if scipy.sparse.issparse(self.A) else self.A**2
        return np.asarray(self._squared.T @ x)

    def gram(self, x: Vector) -> NDArray[np.float64]:
        if scipy.sparse.issparse(self.A):
            scaled = scipy.sparse.diags_array(x) @ self.A
            return np.asarray((self.A.T @ scaled).toarray())
        return np.asarray((self.A.T * x) @ self.A)

    def matrix(self) -> Any:
        return self.A


def orthonormal_span(span: Span, weight: Vector) -> MatrixSpan:
    """The same range with orthonormal coordinates (in the weighted inner product), for few rows.

    The basis are the eigenvectors of A A' with columns of length 1. A direction is left out only
    if it cannot be told from rounding; to keep one too many would enlarge the range, which makes
    lower bounds of the best loss smaller, not wrong.
    """
    A = span.matrix()
    norm = np.sqrt(span.squares(weight))
    scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
    root = np.sqrt(weight)
    if scipy.sparse.issparse(A):
        A = scipy.sparse.diags_array(root) @ A @ scipy.sparse.diags_array(scale)
        kernel_matrix = (A @ A.T).toarray()
    else:
        A = root[:, None] * A * scale
        kernel_matrix = A @ A.T
    values, vectors = scipy.linalg.eigh(kernel_matrix)
    noise = len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    return MatrixSpan(vectors[:, values > noise] / root[:, None])
