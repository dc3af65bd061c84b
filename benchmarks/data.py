"""Rows to fit: made ones of any size, and the named sets of `rgboost.data`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from rgboost.data.datasets import find, load

from .measure import Skip

USED = 90
"""Features beyond these have no influence on the made target."""

SHAPES = (
    lambda x: x,
    lambda x: np.sin(3 * x),
    lambda x: (x > 0.5) - 0.3,
    lambda x: np.abs(x) - 0.8,
    lambda x: np.exp(0.5 * x) - 1.1,
)


def dense(n: int, p: int, noise: float = 1.0, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Normal float32 features, and an additive target of the first 90 with falling influence."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, p), np.float32)
    rng.standard_normal(dtype=np.float32, out=X)
    y = noise * rng.standard_normal(n)
    for j in range(min(p, USED)):
        y += SHAPES[j % len(SHAPES)](X[:, j].astype(np.float64)) / np.sqrt(1.0 + j)
    return X, y


def text(
    n: int = 20_242, p: int = 47_236, share: float = 0.0016, seed: int = 0
) -> tuple[scipy.sparse.csr_array, NDArray]:
    """A sparse matrix like tf-idf of text: column counts fall as a power, rows have norm 1."""
    rng = np.random.default_rng(seed)
    n_stored = round(n * p * share)
    length = rng.lognormal(0.0, 0.5, n)
    popularity = 1.0 / (np.arange(p) + 20.0)
    drawn = 3 * n_stored  # frequent words come several times a row, which counts once
    row = np.repeat(np.arange(n), rng.multinomial(drawn, length / length.sum()))
    column = np.repeat(np.arange(p), rng.multinomial(drawn, popularity / popularity.sum()))
    cell = np.sort(row * p + rng.permutation(column))
    cell = cell[np.diff(cell, prepend=-1) > 0]
    cell = np.sort(rng.permutation(cell)[:n_stored])
    row, column = cell // p, cell % p
    value = (1.0 + rng.exponential(1.0, len(cell))) * np.log(n * popularity[0] / popularity[column])
    X = scipy.sparse.csr_array((value, (row, column)), shape=(n, p))
    norm = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / np.maximum(norm, 1e-12)) @ X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    score = X @ rng.standard_normal(p)
    y = np.where(score + 0.3 * score.std() * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y


def named(name: str, data_dir: str | None) -> tuple[Any, NDArray]:
    """A set of `rgboost.data`, from a folder or the user's cache; never downloaded."""
    if find(name, data_dir) is None:
        raise Skip(f"{name} is not here; name its folder in RGBOOST_DATA or --data-dir")
    rows = load(name, data_dir, download=False)
    return rows.X, rows.y


def make(kind: str, **size: Any) -> tuple[Any, NDArray]:
    """Made rows by name, for a fresh process."""
    return {"dense": dense, "text": text}[kind](**size)


def input_bytes(X: Any) -> int:
    """What the matrix takes in memory."""
    if scipy.sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
