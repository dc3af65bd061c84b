"""Sparse matrices as users give them: whole, and with every entry once."""

from __future__ import annotations

from typing import Any

import scipy.sparse


def clean_sparse(X: Any, name: str) -> Any:
    """A CSR or CSC matrix in canonical form (indices ascend, none is there twice), or an error if
    its indices are out of range. What is dense is returned as it is.

    Whatever reads entries one by one may rely on it. Arrays are shared if they are in order, and
    copied if not; the matrix of the user is left alone, the flags that scipy keeps in it as well.
    """
    if not scipy.sparse.issparse(X):
        return X
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
