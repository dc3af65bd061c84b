"""A sparse matrix column by column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray


class SparseColumns(NamedTuple):
    """Sparse columns with ascending rows, no stored zeros and no duplicates.

    Entry k has the value ``data[order[k]]``, or ``data[k]`` if ``order`` is empty: values are not
    copied, and positions take half their memory.
    """

    n_rows: int
    indptr: NDArray[np.integer]
    rows: NDArray[np.int32]
    data: NDArray[np.floating]
    order: NDArray[np.integer]


def sparse_columns(X: Any) -> SparseColumns:
    """The columns of a sparse matrix, which is left alone."""
    clean = X.format in ("csr", "csc") and X.has_canonical_format and bool(np.all(X.data))
    order = np.empty(0, np.int32)
    if not clean:
        columns = as_columns(X)
    elif X.format == "csc":
        columns = X
    else:
        positions = np.arange(X.nnz, dtype=np.int32 if X.nnz < 2**31 else np.int64)
        columns = scipy.sparse.csr_array((positions, X.indices, X.indptr), X.shape).tocsc()
        order = columns.data
    data = X.data if len(order) else columns.data
    rows = columns.indices.astype(np.int32, copy=False)
    return SparseColumns(X.shape[0], columns.indptr, rows, data, order)


def as_columns(X: Any) -> Any:
    """Of a sparse X a CSC copy with sorted rows, no explicit zeros and no duplicates."""
    if not scipy.sparse.issparse(X):
        return X
    columns = scipy.sparse.csc_array(X, copy=X.format == "csc")
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns
