"""How much memory Gram rows may take, so that a fit as a whole stays within its budget."""

from __future__ import annotations

from typing import Any

import scipy.sparse

from .._core.memory import memory_budget

FRUGAL_TIMES, FRUGAL_BYTES = 10, 200_000_000
"""A fit that ends by itself adds at most so many times its input, or so many bytes if that is more:
to do with less it chooses among ways that predict alike (`engines.quadratic`)."""

CELL, ENTRY, ROW = 6, 16, 450
"""Bytes that a fit takes beside Gram rows, for each cell of a dense matrix (bins, those by folds,
and those that Gram rows are being made of), each stored entry of a sparse one, and each row
(labels, scores, residuals of several runs). Measured by `benchmarks.memory`: what was freed and not
yet given back is in them."""


def gram_budget(X: Any, *, frugal: bool = False) -> int:
    """Bytes for Gram rows: what the budget of a fit leaves."""
    budget = memory_budget()
    if frugal:
        budget = min(budget, max(FRUGAL_BYTES, FRUGAL_TIMES * input_bytes(X)))
    return max(0, budget - _rows_bytes(X))


def input_bytes(X: Any) -> int:
    """What a matrix takes."""
    if scipy.sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)


def _rows_bytes(X: Any) -> int:
    n_rows, n_features = X.shape
    cells = ENTRY * X.nnz if scipy.sparse.issparse(X) else CELL * n_rows * n_features
    return int(cells + ROW * n_rows)
