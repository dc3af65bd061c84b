"""Made rows for the fixed paths: elementwise arithmetic only, so that they are the same bits on
every machine."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

N_TRAIN, N_HELD = 500, 150
"""Training rows and rows held out."""
N_FEATURES = 8
GROUPS = [[0, 1, 2], [3, 4], [5], [6, 7]]


class Rows(NamedTuple):
    X: Any
    y: np.ndarray
    weight: np.ndarray
    offset: np.ndarray


def made_rows(kind="numbers", labels="real", n=N_TRAIN + N_HELD, n_features=N_FEATURES, seed=1):
    """Rows of a kind: "numbers", "few values", "sparse", "missing", "categories", "mixed" (both) or
    "sparse mixed"."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_features))
    u = rng.random((6, n))
    noise = u[0] + u[1] + u[2] + u[3] - 2.0
    if kind.startswith("sparse"):
        X[X < 0.6] = 0.0
    if kind == "few values":
        X = np.floor(8.0 * X)
    signal = _signal(X / 8.0 if kind == "few values" else X)
    if kind in ("categories", "mixed", "sparse mixed"):
        signal = signal + _make_categories(X)
    if kind in ("missing", "mixed", "sparse mixed"):
        lost = rng.random((n, n_features)) < 0.12
        lost[:, 3:] = False
        signal = signal + 0.7 * lost[:, 0]
        X[lost] = np.nan
    y = _LABELS[labels](signal, noise, u[4])
    offset = u[5] - 0.5
    if labels.startswith("class"):
        offset = np.stack([offset, -0.5 * offset, -0.5 * offset], axis=1)
    data = scipy.sparse.csr_array(X) if kind.startswith("sparse") else X
    return Rows(data, y, 0.2 + np.floor(4.0 * u[5]) + u[4], offset)


def _signal(X):
    """From about 0 to 5."""
    return (
        1.5 * X[:, 0]
        + np.where(X[:, 1] > 0.4, 1.0, 0.0)
        + 4.0 * (X[:, 2] - 0.5) * (X[:, 2] - 0.5)
        + 1.5 * X[:, 3] * X[:, 4]
    )


def _make_categories(X):
    """Five common categories in column 1, and some thirty in column 2, most of them rare."""
    X[:, 1] = np.floor(5.0 * X[:, 1])
    X[:, 2] = np.floor(30.0 * X[:, 2] * X[:, 2] * X[:, 2])
    return np.array([0.0, 1.2, -0.4, 0.8, 0.2])[X[:, 1].astype(int)] + 0.3 * (X[:, 2] % 3.0)


def _classes(n):
    return lambda signal, noise, u: np.clip(np.floor(0.8 * (signal + noise)), 0.0, n - 1.0)


_LABELS = {
    "real": lambda signal, noise, u: signal + 0.7 * noise,
    "sign": lambda signal, noise, u: np.where(signal + noise > 2.0, 1.0, -1.0),
    "count": lambda signal, noise, u: np.floor(2.0 * u * (0.5 + signal)),
    "positive": lambda signal, noise, u: (0.3 + signal) * (0.2 + u),
    "sums": lambda signal, noise, u: np.where(noise < -0.4, 0.0, (0.3 + signal) * (0.2 + u)),
    "class of 3": _classes(3),
    "class of 4": _classes(4),
}
