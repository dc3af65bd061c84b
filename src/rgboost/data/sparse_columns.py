"""A sparse matrix column by column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.jit import kernel


class SparseColumns(NamedTuple):
    """Sparse columns with ascending rows, no stored zeros and no duplicates.

    Entry k has the value ``data[order[k]]``, or ``data[k]`` if ``order`` is empty: values are not
    copied, and positions take half their memory.
    """

    n_rows: int
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    data: NDArray[np.floating]
    order: NDArray[np.integer]


def clean_sparse(X: Any, name: str) -> Any:
    """A CSR or CSC matrix in canonical form (indices ascend, none is there twice), or an error if
    its indices are out of range.

    Whatever reads entries one by one may rely on it. Arrays are shared if they are in order, and
    copied if not; the matrix of the user is left alone, the flags that scipy keeps in it as well.
    """
    try:
        shell = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
        shell.check_format(full_check=True)
    except ValueError as fault:
        raise ValueError(
            f"{name} is a broken sparse matrix of the shape {X.shape}: {fault}. Make it anew, for "
            "example by scipy.sparse.coo_array of values, rows and columns."
        ) from fault
    if shell.has_canonical_format:
        return shell
    whole = shell.copy()
    whole.sum_duplicates()
    return whole


def filled_columns(X: Any) -> NDArray[np.int64]:
    """The columns of a CSR or CSC matrix that store something, ascending."""
    if X.format == "csc":
        return np.flatnonzero(np.diff(X.indptr))
    if X.shape[1] > len(X.indices):
        return np.unique(X.indices).astype(np.int64)
    stored = np.zeros(X.shape[1], bool)
    stored[X.indices] = True
    return np.flatnonzero(stored)


def take_columns(X: Any, columns: NDArray[np.int64]) -> Any:
    """Some columns, ascending, of a CSR or CSC matrix. Cost follows these and the entries, not the
    number of all columns; arrays are shared if nothing that is stored is left out."""
    shape = (X.shape[0], len(columns))
    if X.format == "csc":
        if X.nnz != np.sum(X.indptr[columns + 1] - X.indptr[columns]):
            return X[:, columns]
        indptr = np.append(X.indptr[columns], X.indptr[-1:])
        return scipy.sparse.csc_array((X.data, X.indices, indptr), shape=shape)
    place = np.searchsorted(columns, X.indices)
    kept = np.append(columns, -1)[place] == X.indices
    indptr, data, place = X.indptr, X.data, place.astype(X.indices.dtype)
    if not kept.all():
        indptr = np.append(0, np.cumsum(kept))[indptr].astype(indptr.dtype)
        data, place = data[kept], place[kept]
    return scipy.sparse.csr_array((data, place, indptr), shape=shape)


def sparse_columns(X: Any) -> SparseColumns:
    """The columns of a sparse matrix, which is left alone."""
    if X.format == "csr" and np.all(X.data):
        found = _columns_of_rows(X)
        if found is not None:
            return found
    clean = X.format == "csc" and X.has_canonical_format and np.all(X.data)
    columns = X if clean else as_columns(X)
    return SparseColumns(
        n_rows=X.shape[0],
        indptr=columns.indptr.astype(np.int64, copy=False),
        rows=columns.indices.astype(np.int32, copy=False),
        data=columns.data,
        order=np.empty(0, np.int32),
    )


def _columns_of_rows(X: Any) -> SparseColumns | None:
    """The columns of a CSR matrix; None if an entry is there twice. A row may list its columns in
    any order. Nothing else is allocated on the way: these are among the largest arrays of a fit."""
    rows = np.empty(X.nnz, np.int32)
    order = np.empty(X.nnz, np.int32 if X.nnz < 2**31 else np.int64)
    starts = np.zeros(X.shape[1] + 1, np.int64)
    twice = sort_into_columns(X.indptr, X.indices, starts, rows, order)
    return None if twice else SparseColumns(X.shape[0], starts, rows, X.data, order)


@kernel()
def sort_into_columns(indptr, indices, starts_out, rows_out, order_out):
    """Rows and positions of the entries of each column, rows ascending; whether one is there twice.

    ``starts_out`` is zero before.
    """
    for k in range(indptr[-1]):
        starts_out[indices[k] + 1] += 1
    for c in range(1, starts_out.shape[0]):
        starts_out[c] += starts_out[c - 1]
    free = starts_out.copy()  # the place of the next entry of each column
    twice = False
    for row in range(indptr.shape[0] - 1):
        for k in range(indptr[row], indptr[row + 1]):
            c = indices[k]
            place = free[c]
            twice |= place > starts_out[c] and rows_out[place - 1] == row
            rows_out[place] = row
            order_out[place] = k
            free[c] = place + 1
    return twice


def as_columns(X: Any) -> Any:
    """Of a sparse X a CSC copy with sorted rows, no explicit zeros and no duplicates."""
    if not scipy.sparse.issparse(X):
        return X
    columns = scipy.sparse.csc_array(X, copy=X.format == "csc")
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


def dense_column(X: Any, g: int) -> NDArray[np.floating]:
    """Column g of an array or of a sparse matrix in CSC form."""
    return X[:, [g]].toarray().ravel() if scipy.sparse.issparse(X) else X[:, g]
