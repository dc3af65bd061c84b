"""Compile ahead of time what fits at the defaults need: for images, for CI, for the impatient.

Each kind of fit is done once on made data, in a process of its own, so that all cores compile at
once. The next process finds the code on disk (see `rgboost._core.cache` for where).
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ._core.team import check_n_jobs
from .estimators import RGBMClassifier, RGBMRegressor


def _numbers(n_rows: int) -> tuple[Any, Any]:
    """Two of them act together: the kernels of pairs are needed, too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    return X, X[:, 0] + 2.0 * X[:, 0] * X[:, 1] + rng.normal(size=n_rows)


def _mixed(n_rows: int) -> tuple[Any, Any]:
    """Missing values, and categories in the last column."""
    X, y = _numbers(n_rows)
    X[::7, 1] = np.nan
    X[:, -1] = np.arange(n_rows) % 5
    return X, y + X[:, -1]


def _sparse(n_rows: int) -> tuple[Any, Any]:
    from scipy.sparse import random_array

    X = random_array((n_rows, 40), density=0.1, format="csr", rng=np.random.default_rng(0))
    return X, X.sum(axis=1) + _numbers(n_rows)[1]


def _fit(classes: int, rows: tuple[Any, Any], *, weighted: bool = False, **parameters: Any) -> None:
    """Fit at the defaults and predict; ``classes`` is 0 for regression."""
    X, y = rows
    weight = np.linspace(0.5, 1.5, len(y)) if weighted else None
    made: Any = RGBMClassifier if classes else RGBMRegressor
    if classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y)
    made(random_state=0, **parameters).fit(X, y, sample_weight=weight).predict(X)


_CATEGORIES: dict[str, Any] = {"categorical_features": [5]}

PATHS: dict[str, Callable[[], None]] = {
    "trees, regression": lambda: _fit(0, _numbers(2_000), learner="trees"),
    "trees, two classes": lambda: _fit(2, _numbers(2_000), learner="trees"),
    "trees, sparse": lambda: _fit(0, _sparse(2_000), learner="trees"),
    "trees, categories": lambda: _fit(0, _mixed(2_000), learner="trees", **_CATEGORIES),
    "trees, several classes": lambda: _fit(3, _numbers(2_000), learner="trees"),
    "several classes": lambda: _fit(3, _numbers(1_500)),
    "several classes, 20,000 rows": lambda: _fit(3, _numbers(20_000)),
    "several classes, categories": lambda: _fit(3, _mixed(2_000), **_CATEGORIES),
    "regression, categories": lambda: _fit(0, _mixed(2_000), **_CATEGORIES),
    "regression, 30,000 rows": lambda: _fit(0, _numbers(30_000)),
    "regression, 30,000 rows, categories": lambda: _fit(0, _mixed(30_000), **_CATEGORIES),
    "two classes, categories": lambda: _fit(2, _mixed(2_000), **_CATEGORIES),
    "two classes, 30,000 rows": lambda: _fit(2, _numbers(30_000)),
    "two classes, 30,000 rows, categories": lambda: _fit(2, _mixed(30_000), **_CATEGORIES),
    "two classes": lambda: _fit(2, _numbers(2_000)),
    "regression": lambda: _fit(0, _numbers(500)),
    "regression, weights": lambda: _fit(0, _numbers(500), weighted=True),
    "two classes, weights": lambda: _fit(2, _numbers(2_000), weighted=True),
    "regression, sparse": lambda: _fit(0, _sparse(2_000)),
    "two classes, sparse": lambda: _fit(2, _sparse(2_000)),
}
"""Kinds of fits that take kernels of their own, those that compile longest first."""


def compile_path(name: str) -> None:
    """Fit one of `PATHS` here, and print why its code cannot be kept, if so."""
    with warnings.catch_warnings(record=True) as caught:
        PATHS[name]()
    print(*{str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)})


def _compile_apart(name: str) -> str:
    code = f"import rgboost.warming\nrgboost.warming.compile_path({name!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"The fit {name!r} failed.\n{done.stderr}")
    return done.stdout.strip()


def warm_up(
    n_jobs: int | None = None, *, paths: Iterable[str] | None = None, verbose: int = 1
) -> None:
    """Compile what fits at the defaults need, so that later ones begin at once.

    Takes about a minute on two cores, once for a version of rgboost and Numba and a kind of
    processor. `rgboost warm-up` is the same from a shell. A second call finds everything done.

    Parameters
    ----------
    n_jobs : int, optional
        How many processes compile at a time: None for as many as the process may use threads, -1
        for all cores.
    paths : iterable of str, optional
        Some of `rgboost.warming.PATHS`, by default all.
    verbose : int
        0 for no progress bar.

    Returns
    -------
    None

    Examples
    --------
    >>> import rgboost
    >>> rgboost.warm_up(paths=[], verbose=0)  # paths=None compiles all of them
    """
    names = list(PATHS if paths is None else paths)
    unknown = [name for name in names if name not in PATHS]
    if unknown:
        raise ValueError(f"paths={unknown!r} are not among {list(PATHS)!r}.")
    with _bar(verbose) as bar, ThreadPoolExecutor(check_n_jobs(n_jobs)) as pool:
        compiled = pool.map(_compile_apart, names)
        reasons = set(bar.track(compiled, len(names), description="compiling"))
    for reason in filter(None, reasons):
        warnings.warn(reason, RuntimeWarning, stacklevel=2)


def _bar(verbose: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=not verbose,
    )
