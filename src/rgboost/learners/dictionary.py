"""A dictionary: weak-learners given as the columns of a matrix, or as functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.math import blocked_sum
from .._core.one_line import one_line
from ..model import DictionaryModel, Path
from ..selection import Layout
from .base import LearnerFamily, Prepared
from .kernels import (
    Pick,
    direction,
    make_pick,
    search_columns,
)
from .stumps.some_rows import normalised, on_some_rows, same_as, stored_rows, take_rows

WeakLearner = Callable[[Any], Any]


@one_line
@dataclass(frozen=True, eq=False)
class Dictionary(LearnerFamily):
    """Weak-learners that are the columns of an explicit matrix B.

    ``Dictionary(B)`` takes a matrix (rows, K), dense or sparse, made for the training rows.
    `from_functions` takes functions instead, so that the model can predict on new rows.
    Columns are normalised; a column of zeros is never chosen. Every column is a group of its own
    unless groups are given.

    Examples
    --------
    Linear terms, as one function that gives a column per feature:

    >>> import numpy as np
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.learners import Dictionary
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> linear = Dictionary.from_functions([lambda X: X])
    >>> model = RGBMRegressor(learner=linear, max_iter=200, learning_rate=1.0, init="zero")
    >>> model.fit(X, X @ [1.0, -2.0, 0.5]).predict(np.eye(3)).round(3)
    array([ 1. , -2. ,  0.5])
    """

    B: Any = None
    functions: tuple[WeakLearner, ...] = field(default=(), kw_only=True)
    knows_folds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.B is None) == (not self.functions):
            raise ValueError(
                "Dictionary needs either a matrix, Dictionary(B), or functions, "
                "Dictionary.from_functions([...])."
            )
        if self.B is not None:
            object.__setattr__(self, "B", _as_matrix(self.B, "B"))

    @classmethod
    def from_functions(cls, functions: Iterable[WeakLearner]) -> Dictionary:
        """Weak-learners h(X) -> one number a row, or a block of columns (rows, k).

        Anything that can be called with X serves: a lambda, a kernel centred at a point, the
        ``predict`` or ``decision_function`` of a fitted scikit-learn estimator.
        """
        return cls(functions=tuple(functions))

    def restricted_to(self, rows: NDArray[np.bool_]) -> Dictionary:
        return self if self.functions else Dictionary(self.B[rows])

    def matrix(self, X: Any) -> Any:
        """B on the rows of X."""
        if not self.functions:
            if X.shape[0] != self.B.shape[0]:
                raise ValueError(
                    f"Dictionary(B) has {self.B.shape[0]} rows and X has {X.shape[0]}: a matrix "
                    "knows only its own rows; use Dictionary.from_functions to predict on others."
                )
            return self.B
        blocks = [_as_block(h(X), X.shape[0], i) for i, h in enumerate(self.functions)]
        if any(scipy.sparse.issparse(block) for block in blocks):
            return _as_matrix(scipy.sparse.hstack(blocks, format="csc"), "functions")
        return _as_matrix(np.hstack(blocks), "functions")

    def prepare(
        self,
        X: Any,
        weight: NDArray[np.float64] | None = None,
        *,
        groups: Any = None,
        names: Any = None,
        n_jobs: int = 1,
    ) -> PreparedDictionary:
        B = self.matrix(X)
        w = np.ones(B.shape[0]) if weight is None else weight
        if scipy.sparse.issparse(B):
            norm = np.sqrt(np.asarray(B.multiply(B).T @ w).ravel())
        else:  # not a matrix product: BLAS sums differently for different numbers of threads
            norm = np.sqrt((B * B * w[:, None]).sum(axis=0))
        scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
        offsets = np.concatenate([[0], np.cumsum(norm > 0)]).astype(np.int64)
        layout = Layout.make(offsets, groups)
        cells = float(B.nnz if scipy.sparse.issparse(B) else B.size)
        return PreparedDictionary(self, _arrays(B, scale, offsets), layout, scale, cells)


@dataclass
class PreparedDictionary(Prepared):
    """A dictionary with the norms of its columns on the training rows."""

    family: Dictionary
    arrays: Any
    layout: Layout
    scale: NDArray[np.float64]
    cells: float

    def arrays_for(self, X: Any, n_jobs: int = 1) -> Any:
        return _arrays(self.family.matrix(X), self.scale, self.layout.offsets)

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        return isinstance(self.arrays, SparseDictionary)

    def columns(self, n_rows: int) -> Any:
        arrays = self.arrays
        if not self.sparse:
            return arrays.columns.T
        parts = arrays.data, arrays.rows, arrays.indptr
        return scipy.sparse.csc_array(parts, shape=(n_rows, len(arrays.scale)))

    def coefficients(self, path: Path) -> NDArray[np.float64]:
        return self.model(path, 0.0).coef

    def on_some_rows(self, rows: Any, weight: Any, others: Any) -> tuple[Any, Any]:
        return on_some_rows(self.arrays, rows, weight, others)

    def in_own_norm(
        self, arrays: Any, learner: NDArray[np.int64], steps: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        chosen, column = learner >= 0, np.flatnonzero(self.scale > 0)
        found = steps.copy()
        found[chosen] *= (arrays.scale / np.where(self.scale > 0, self.scale, 1.0))[
            column[learner[chosen]]
        ]
        return found

    def model(self, path: Path, intercept: float) -> DictionaryModel:
        chosen = path.learner >= 0
        column = np.flatnonzero(self.scale > 0)[path.learner[chosen]]
        added = np.zeros(len(path.learner))
        added[chosen] = path.left[chosen] * self.scale[column]
        columns = np.full(len(path.learner), -1)
        columns[chosen] = column
        return DictionaryModel.collapse(
            self.family.matrix, len(self.scale), columns, added, intercept
        )


class DenseDictionary(NamedTuple):
    """Columns of B as contiguous rows, the scale that normalises each, and its learner if any."""

    columns: NDArray[np.float64]
    scale: NDArray[np.float64]
    offsets: NDArray[np.int64]


class SparseDictionary(NamedTuple):
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    data: NDArray[np.float64]
    scale: NDArray[np.float64]
    offsets: NDArray[np.int64]


def _arrays(B: Any, scale: NDArray[np.float64], offsets: NDArray[np.int64]) -> Any:
    if scipy.sparse.issparse(B):
        rows = B.indices.astype(np.int32, copy=False)
        return SparseDictionary(B.indptr.astype(np.int64), rows, B.data, scale, offsets)
    return DenseDictionary(np.ascontiguousarray(B.T), scale, offsets)


def _as_matrix(B: Any, name: str) -> Any:
    if scipy.sparse.issparse(B):
        B = scipy.sparse.csc_array(B, dtype=np.float64)
        B.sum_duplicates()
        values = B.data
    else:
        B = values = np.asarray(B, dtype=np.float64)
    if B.ndim != 2 or 0 in B.shape:
        raise ValueError(f"{name} must be a matrix with rows and columns, got shape {B.shape}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has NaN or infinite entries; every weak-learner must be finite.")
    return B


def _as_block(block: Any, n_rows: int, i: int) -> Any:
    if not scipy.sparse.issparse(block):
        block = np.asarray(block, dtype=np.float64)
        block = block[:, None] if block.ndim == 1 else block
    if block.ndim != 2 or block.shape[0] != n_rows:
        raise ValueError(
            f"functions[{i}] gave shape {block.shape}; expected one number a row "
            f"({n_rows},) or a block of columns ({n_rows}, k)."
        )
    return block


@kernel()
def pick_column(column, learner, inner):
    return Pick(learner, column, abs(inner), 1.0 if inner >= 0.0 else -1.0, 0.0)


@make_pick.register(DenseDictionary)
@make_pick.register(SparseDictionary)
def _make_pick(learners, column, learner, inner, total):
    return pick_column(column, learner, inner)


@search_columns.register(DenseDictionary)
def _search_dense(learners, subset, k_start, k_stop, residual, total, scratch, partial, best_out):
    size = scratch.values.shape[0]
    for k in range(k_start, k_stop):
        column = subset.columns[k]
        product = 0.0
        for lo in range(0, residual.shape[0], size):
            values = learners.columns[column, lo : lo + size]
            r = residual[lo : lo + size]
            for i in range(r.shape[0]):
                scratch.values[i] = values[i] * r[i]
            product += blocked_sum(scratch.values, r.shape[0])
        inner = product * learners.scale[column]
        best_out.score[k], best_out.inner[k] = inner * inner, inner
        best_out.learner[k] = learners.offsets[column]


@search_columns.register(SparseDictionary)
def _search_sparse(learners, subset, k_start, k_stop, residual, total, scratch, partial, best_out):
    indptr, rows, data = learners.indptr, learners.rows, learners.data
    for k in range(k_start, k_stop):
        column = subset.columns[k]
        product = 0.0
        for e in range(indptr[column], indptr[column + 1]):
            product += data[e] * residual[np.uint32(rows[e])]
        inner = product * learners.scale[column]
        best_out.score[k], best_out.inner[k] = inner * inner, inner
        best_out.learner[k] = learners.offsets[column]


@direction.register(DenseDictionary)
def _dense_direction(learners, pick, lo, hi, out):
    scale = pick.left * learners.scale[pick.column]
    values = learners.columns[pick.column, lo:hi]
    for i in range(values.shape[0]):
        out[i] = scale * values[i]


@direction.register(SparseDictionary)
def _sparse_direction(learners, pick, lo, hi, out):
    scale = pick.left * learners.scale[pick.column]
    out[: hi - lo] = 0.0
    start = learners.indptr[pick.column]
    rows = learners.rows[start : learners.indptr[pick.column + 1]]
    for k in range(np.searchsorted(rows, lo), np.searchsorted(rows, hi)):
        out[rows[k] - lo] = scale * learners.data[start + k]


@take_rows.register
def _(arrays: DenseDictionary, rows: NDArray[np.int64], n_rows: int) -> DenseDictionary:
    return arrays._replace(columns=np.ascontiguousarray(arrays.columns[:, rows]))


@take_rows.register
def _(arrays: SparseDictionary, rows: NDArray[np.int64], n_rows: int) -> SparseDictionary:
    indptr, kept, place = stored_rows(arrays.indptr, arrays.rows, rows, n_rows)
    return arrays._replace(indptr=indptr, rows=place, data=arrays.data[kept])


@normalised.register
def _(arrays: DenseDictionary, weight: NDArray[np.float64] | None, n_rows: int) -> DenseDictionary:
    square = arrays.columns**2 if weight is None else arrays.columns**2 * weight
    return arrays._replace(scale=_scale(square.sum(axis=1), arrays.scale))


@normalised.register
def _(
    arrays: SparseDictionary, weight: NDArray[np.float64] | None, n_rows: int
) -> SparseDictionary:
    square = arrays.data**2 if weight is None else arrays.data**2 * weight[arrays.rows]
    column = np.repeat(np.arange(len(arrays.scale)), np.diff(arrays.indptr))
    squares = np.bincount(column, square, len(arrays.scale)).astype(np.float64)
    return arrays._replace(scale=_scale(squares, arrays.scale))


def _scale(square: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    """What normalises columns of these squared norms; 0 for a column that is 0."""
    norm = np.sqrt(square)
    return np.divide(1.0, norm, out=np.zeros_like(norm), where=(norm > 0) & (before > 0))


@same_as.register(DenseDictionary)
@same_as.register(SparseDictionary)
def _(arrays: Any, others: Any) -> Any:
    return arrays._replace(scale=others.scale)
