"""The data sets of the paper's Table stats, by name.

========================  ==============  =========  ==========  =================================
name                      task            rows       features    source
========================  ==============  =========  ==========  =================================
``a9a``                   classification  32,561     123         LIBSVM collection
``colon-cancer``          classification  62         2,000       LIBSVM collection
``rcv1``                  classification  20,242     47,236      LIBSVM collection (binary, train)
``year``                  regression      463,715    90          LIBSVM collection (train)
``embedded``              classification  569        30          inside scikit-learn: breast cancer
``embedded-digits``       regression      1,797      64          inside scikit-learn: digits
``year-test``             regression      51,630     90          LIBSVM collection (test)
``rcv1-subsets``          classification  23,765     47,236      stand-in for ``rcv1``, by hand
``year-sample``           regression      1,176      90          first rows of UCI's file, by hand
========================  ==============  =========  ==========  =================================

The first four are the paper's. The authors' own script ran on ``year-test``. The last two are not
the paper's data: figures from them cannot be compared with the paper's.

Files are looked for in the folder ``data_dir``, in the folder named by the environment variable
``RGBOOST_DATA``, and in the user's cache; then they are downloaded into the cache. A folder holds
them directly (``DIR/a9a``) or in a folder of their own (``DIR/a9a/a9a``), plain or as ``.xz``,
``.bz2`` or ``.gz``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.one_line import one_line
from .._core.validation import check_count, check_option
from .cache import Report, cache_dir
from .cache import download as fetch
from .readers import DataError, Table, read_table
from .readers.compressed import OPENERS

Task = Literal["classification", "regression"]

_COLLECTION = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"


@dataclass(frozen=True)
class Entry:
    """What is known of a data set.

    ``files`` are names without the ending of a compression; several are stacked. ``folders`` are
    the names that a folder of their own may have. ``sha256`` belongs to the file at ``url``; None
    where none is published: then the checksum inside the compressed file is checked, and, as with
    all files, the number of rows and features.
    """

    task: Task
    n_rows: int
    n_features: int
    files: tuple[str, ...]
    folders: tuple[str, ...]
    url: str | None = None
    sha256: str | None = None
    dense: bool = False
    stands_for: str | None = None
    options: dict[str, Any] = field(default_factory=lambda: {"format": "libsvm"})


REGISTRY: dict[str, Entry] = {
    "a9a": Entry(
        task="classification",
        n_rows=32_561,
        n_features=123,
        files=("a9a",),
        folders=("a9a",),
        url=f"{_COLLECTION}/binary/a9a",
        sha256="f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    ),
    "colon-cancer": Entry(
        task="classification",
        n_rows=62,
        n_features=2_000,
        files=("colon-cancer",),
        folders=("colon-cancer",),
        url=f"{_COLLECTION}/binary/colon-cancer.bz2",
        sha256="724d7291efb9a833b8407442a27f70f64beeb86c107d7b3ce98e8c48fe878867",
        dense=True,
    ),
    "rcv1": Entry(
        task="classification",
        n_rows=20_242,
        n_features=47_236,
        files=("rcv1_train.binary",),
        folders=("rcv1", "rcv1_train.binary"),
        url=f"{_COLLECTION}/binary/rcv1_train.binary.bz2",
    ),
    "year": Entry(
        task="regression",
        n_rows=463_715,
        n_features=90,
        files=("YearPredictionMSD",),
        folders=("year", "YearPredictionMSD"),
        url=f"{_COLLECTION}/regression/YearPredictionMSD.bz2",
        dense=True,
    ),
    "year-test": Entry(
        task="regression",
        n_rows=51_630,
        n_features=90,
        files=("YearPredictionMSD.t",),
        folders=("year", "YearPredictionMSD"),
        url=f"{_COLLECTION}/regression/YearPredictionMSD.t.bz2",
        dense=True,
        stands_for="year",
    ),
    "rcv1-subsets": Entry(
        task="classification",
        n_rows=23_765,
        n_features=47_236,
        files=("rcv1_binary_from_subsets.part0.svm", "rcv1_binary_from_subsets.part1.svm"),
        folders=("rcv1_subsets",),
        stands_for="rcv1",
    ),
    "year-sample": Entry(
        task="regression",
        n_rows=1_176,
        n_features=90,
        files=("YearPredictionMSD.first1176.csv",),
        folders=("yearmsd_sample",),
        dense=True,
        stands_for="year",
        options={"format": "csv", "header": False, "target": 0},
    ),
}

_EMBEDDED = ("embedded", "embedded-digits")
NAMES = (*_EMBEDDED, *REGISTRY)


@one_line
@dataclass(frozen=True)
class Dataset:
    """A data set in memory.

    Attributes
    ----------
    name : str
    task : {"classification", "regression"}
    X : float64 array or scipy.sparse.csr_array of shape (n_rows, n_features)
        Dense where nearly all values are there (colon-cancer, year, embedded).
    y : float64 array of shape (n_rows,)
        -1 and +1 for classification.
    paths : tuple of Path
        Where it was read from; empty for ``embedded``.
    is_papers : bool
        Whether this is a set of the paper with the paper's size.
    """

    name: str
    task: Task
    X: Any
    y: NDArray[np.float64]
    paths: tuple[Path, ...]
    is_papers: bool

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])


def load(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    download: bool = True,
    progress: bool | Report | None = None,
    any_size: bool = False,
) -> Dataset:
    """Load a data set by name (see the table of this module).

    Parameters
    ----------
    name : str
    data_dir : path or None
        A folder to look in first.
    download : bool
        Whether to download a set that is nowhere found.
    progress : bool, callable or None
        True: a bar while downloading. None: a bar on a terminal. A callable is told of the bytes.
    any_size : bool
        Accept a file whose size is not the one of the table, such as a part of the rows.

    Raises
    ------
    DataError
        If there is no file (the message says which one to put where) or if it does not fit.
    """
    check_option(name, "name", NAMES)
    if name in _EMBEDDED:
        return _embedded() if name == "embedded" else _embedded_digits()
    entry = REGISTRY[name]
    paths = find(name, data_dir)
    if paths is None:
        paths = (_download(name, entry, data_dir, download, progress),)
    options = dict(entry.options)
    tables = [read_table(path, **options) for path in paths]
    _check_size(name, entry, tables, any_size)
    X, y = _stack(entry, tables)
    if entry.task == "classification":
        y = _signs(y, paths[0])
    is_papers = entry.stands_for is None and X.shape == (entry.n_rows, entry.n_features)
    return Dataset(name, entry.task, X, y, paths, is_papers)


def find(name: str, data_dir: str | os.PathLike[str] | None = None) -> tuple[Path, ...] | None:
    """The files of a data set, from the first folder that has all of them; None: nowhere."""
    entry = REGISTRY[name]
    if data_dir is not None and not Path(data_dir).is_dir():
        raise DataError("data_dir is not a folder, check the path", path=data_dir)
    for place in _places(data_dir):
        for folder in (place, *(place / sub for sub in entry.folders)):
            paths = [_with_any_ending(folder / file) for file in entry.files]
            found = tuple(path for path in paths if path is not None)
            if len(found) == len(entry.files):
                return found
    return None


class Split(NamedTuple):
    """Training and test rows."""

    X_train: Any
    X_test: Any
    y_train: Any
    y_test: Any


def train_test_split_80_20(X: Any, y: Any, seed: int | np.random.Generator) -> Split:
    """The paper's protocol: 80 % of the rows, drawn at random, for training, the rest for testing.

    The training part has ``4 n // 5`` rows. Rows keep their order within each part.
    """
    n_rows = X.shape[0]
    check_count(n_rows, "number of rows", at_least=2)
    if len(y) != n_rows:
        raise ValueError(f"X has {n_rows} rows, y has {len(y)}; they must be the same rows.")
    order = np.random.default_rng(seed).permutation(n_rows)
    train, test = np.sort(order[: 4 * n_rows // 5]), np.sort(order[4 * n_rows // 5 :])
    return Split(_take(X, train), _take(X, test), _take(y, train), _take(y, test))


def _take(rows: Any, which: NDArray[np.intp]) -> Any:
    return rows.iloc[which] if hasattr(rows, "iloc") else rows[which]


def _places(data_dir: str | os.PathLike[str] | None) -> list[Path]:
    named = [data_dir, os.environ.get("RGBOOST_DATA")]
    return [*(Path(place) for place in named if place), cache_dir()]


def _with_any_ending(path: Path) -> Path | None:
    for ending in ("", *OPENERS):
        candidate = path.with_name(path.name + ending)
        if candidate.is_file():
            return candidate
    return None


def _download(
    name: str,
    entry: Entry,
    data_dir: str | os.PathLike[str] | None,
    allowed: bool,
    progress: bool | Report | None,
) -> Path:
    """Download, or say which file to put where."""
    cause = None
    if entry.url is None:
        reason = "no address is known to download it from"
    elif not allowed:
        reason = "downloads are off"
    else:
        try:
            return fetch(entry.url, cache_dir(), sha256=entry.sha256, progress=progress)
        except DataError as error:
            reason, cause = str(error), error
    source = "" if entry.url is None else f"get {entry.url} and "
    folders = " or ".join(str(place) for place in _places(data_dir))
    hint = "" if os.environ.get("RGBOOST_DATA") else ", or name its folder in RGBOOST_DATA"
    raise DataError(
        f"{name} is not here, and {reason}. Remedy: {source}put {' and '.join(entry.files)} "
        f"(as it is, or as .xz, .bz2 or .gz) into {folders}{hint}"
    ) from cause


def _check_size(name: str, entry: Entry, tables: Sequence[Table], any_size: bool) -> None:
    n_rows = sum(table.n_rows for table in tables)
    n_features = max(table.n_features for table in tables)
    if any_size or (n_rows, n_features) == (entry.n_rows, entry.n_features):
        return
    others = [other for other, one in REGISTRY.items() if one.stands_for == name]
    remedy = f", or load {' or '.join(map(repr, others))}" if others else ""
    raise DataError(
        f"{name} has {entry.n_rows:,} rows and {entry.n_features:,} features, this file has "
        f"{n_rows:,} and {n_features:,}, get the whole file{remedy}, or accept it with "
        "any_size=True (its results are not the paper's)",
        path=tables[0].path,
    )


def _stack(entry: Entry, tables: Sequence[Table]) -> tuple[Any, NDArray[np.float64]]:
    y = np.concatenate([np.asarray(table.y, dtype=np.float64) for table in tables])
    if tables[0].format != "libsvm":
        return np.concatenate([table.X.to_numpy(dtype=np.float64) for table in tables]), y
    width = max(entry.n_features, *(table.n_features for table in tables))
    for table in tables:
        table.X.resize((table.n_rows, width))
    X = tables[0].X if len(tables) == 1 else scipy.sparse.vstack([t.X for t in tables], "csr")
    return X.toarray() if entry.dense else X, y


def _signs(y: NDArray[np.float64], path: Path) -> NDArray[np.float64]:
    """Two classes as -1 and +1."""
    classes = np.unique(y)
    if len(classes) != 2:
        raise DataError(
            f"the file has {len(classes)} classes instead of 2, check that it is the right file",
            path=path,
        )
    return np.where(y == classes[1], 1.0, -1.0)


def _embedded() -> Dataset:
    """Breast cancer (Wisconsin, diagnostic): small, all numbers, two classes; +1 is benign."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return Dataset("embedded", "classification", X, 2.0 * y - 1.0, (), is_papers=False)


def _embedded_digits() -> Dataset:
    """Pixels of hand-written digits; the digit, taken as a number, is the target."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return Dataset("embedded-digits", "regression", X, y.astype(float), (), is_papers=False)
