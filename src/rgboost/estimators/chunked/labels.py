"""Labels of pieces: numbers, or classes, which are known when all pieces were read."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from ..._core.validation import check_positive
from ...data.input import read_labels

Vector = NDArray[np.float64]


def as_column(y: Any, n_rows: int) -> NDArray:
    """Labels as an array."""
    if y is None:
        raise ValueError("it has no labels; give (X, y), or name the target of the files.")
    labels = column_or_1d(read_labels(y, "y"), warn=True)
    labels = check_array(labels, ensure_2d=False, dtype=None, input_name="y")
    if len(labels) != n_rows:
        raise ValueError(f"it has {n_rows} rows and {len(labels)} labels; give one for each row.")
    return labels


class Labels(ABC):
    """Labels as numbers, piece by piece."""

    settled_at_once: bool
    """Whether `first` gives final numbers."""
    rows: NDArray[np.int64] = np.zeros(0, np.int64)
    """How many rows each class has; empty without classes."""
    classes: NDArray = np.empty(0)
    """The labels of the classes, in order."""

    @abstractmethod
    def first(self, y: NDArray) -> tuple[Vector, Vector | None]:
        """When a piece is read for the first time: numbers, which `settled` makes final, and the
        weights of the classes of the rows."""

    @abstractmethod
    def count(self, numbers: Vector, weight: Vector | None) -> None:
        """Some of the rows of `first` have a weight."""

    @abstractmethod
    def merge(self, other: Any) -> Callable[[Vector], Vector]:
        """Add what was counted of other pieces; what makes their numbers the numbers here."""

    @abstractmethod
    def finish(self) -> None:
        """All pieces were read."""

    def class_rows(self, y: Vector) -> NDArray[np.int64]:
        """How many of the rows with these labels each class has; empty without classes."""
        return np.zeros(0, np.int64)

    def unknown(self, y: NDArray) -> NDArray:
        """Labels that no class has."""
        return y[:0]

    def settled(self, numbers: Vector) -> Vector:
        """The labels that losses take, from those of `first`."""
        return numbers

    @abstractmethod
    def again(self, y: NDArray) -> tuple[Vector, Vector | None]:
        """When a piece is read again: labels that losses take, and the weights of classes."""

    @property
    @abstractmethod
    def facts(self) -> tuple[Vector, Vector]:
        """See `rgboost.statistics.base.Facts`: ``labels`` and ``label_weights``."""


class NumberLabels(Labels):
    """Labels of a regression."""

    settled_at_once = True

    def __init__(self) -> None:
        self.low, self.high = np.inf, -np.inf

    def first(self, y: NDArray) -> tuple[Vector, None]:
        return check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"), None

    def count(self, numbers: Vector, weight: Vector | None) -> None:
        self.low = min(self.low, float(numbers.min(initial=np.inf)))
        self.high = max(self.high, float(numbers.max(initial=-np.inf)))

    def merge(self, other: NumberLabels) -> Callable[[Vector], Vector]:
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        return self.settled

    def finish(self) -> None:
        pass

    def again(self, y: NDArray) -> tuple[Vector, None]:
        return self.first(y)

    @property
    def facts(self) -> tuple[Vector, Vector]:
        return np.array([self.low, self.high]), np.empty(0)


class ClassLabels(Labels):
    """Labels of classes. ``class_weight`` has weights of them, by label."""

    settled_at_once = False

    def __init__(self, class_weight: Mapping[Any, float] | None) -> None:
        self.weight_of = {
            label: check_positive(factor, f"class_weight[{label!r}]")
            for label, factor in (class_weight or {}).items()
        }
        self.known: NDArray | None = None
        """The labels so far, in the order in which they came."""
        self.rows = np.zeros(0, np.int64)
        self.weights = np.zeros(0)
        self._place = np.empty(0)

    def first(self, y: NDArray) -> tuple[Vector, Vector | None]:
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            warnings.filterwarnings("ignore", "The number of unique classes")  # of a short piece
            check_classification_targets(y)
        labels, place = np.unique(y, return_inverse=True)
        return self._numbers(labels)[place].astype(np.float64), self._weights(labels, place)

    def _numbers(self, labels: NDArray) -> NDArray[np.int64]:
        """The numbers of different labels; those that are new get the next ones."""
        known = labels[:0] if self.known is None else self.known
        if (known.dtype.kind in "OUS") != (labels.dtype.kind in "OUS") and len(known):
            raise TypeError(
                "y holds strings here and numbers in other pieces, or the other way round; give it "
                "one type."
            )
        self.known = np.concatenate([known, labels[~np.isin(labels, known)]])
        grown = len(self.known) - len(self.rows)
        self.rows = np.append(self.rows, np.zeros(grown, np.int64))
        self.weights = np.append(self.weights, np.zeros(grown))
        number = {label: k for k, label in enumerate(self.known.tolist())}
        return np.array([number[label] for label in labels.tolist()], np.int64)

    def merge(self, other: ClassLabels) -> Callable[[Vector], Vector]:
        if other.known is None:
            return self.settled
        numbers = self._numbers(other.known)
        self.rows[numbers] += other.rows
        self.weights[numbers] += other.weights
        return lambda y: numbers[y.astype(np.int64)].astype(np.float64)

    def _weights(self, labels: NDArray, place: NDArray) -> Vector | None:
        if not self.weight_of:
            return None
        return np.array([self.weight_of.get(label, 1.0) for label in labels.tolist()])[place]

    def count(self, numbers: Vector, weight: Vector | None) -> None:
        codes = numbers.astype(np.int64)
        self.rows += np.bincount(codes, minlength=len(self.rows))
        self.weights += np.bincount(codes, weight, len(self.rows))

    def finish(self) -> None:
        assert self.known is not None
        there = np.flatnonzero(self.rows)
        order = there[np.argsort(self.known[there])]
        self.classes = self.known[order]
        self.rows, self.weights = self.rows[order], self.weights[order]
        self._place = np.zeros(len(self.known))
        self._place[order] = self._codes()
        if len(self.classes) == 1:
            raise ValueError(
                f"y has only one class, {self.classes.tolist()[0]!r}, among the rows with positive "
                "weight; a classifier needs two classes."
            )
        unknown = self.weight_of.keys() - set(self.classes.tolist())
        if unknown:
            raise ValueError(
                f"class_weight has the label {min(unknown, key=str)!r}, which is not in y; "
                f"the classes are {self.classes.tolist()}."
            )

    def _codes(self) -> Vector:
        """-1 and +1 for two classes, 0, 1, ..., C - 1 for more."""
        n = len(self.classes)
        return np.array([-1.0, 1.0]) if n == 2 else np.arange(float(n))

    def settled(self, numbers: Vector) -> Vector:
        return self._place[numbers.astype(np.int64)]

    def again(self, y: NDArray) -> tuple[Vector, Vector | None]:
        place = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        return self._codes()[place], self._weights(self.classes, place)

    def class_rows(self, y: Vector) -> NDArray[np.int64]:
        return np.bincount(np.searchsorted(self._codes(), y), minlength=len(self.classes))

    def unknown(self, y: NDArray) -> NDArray:
        return np.setdiff1d(y, self.classes)

    @property
    def facts(self) -> tuple[Vector, Vector]:
        return self._codes(), self.weights
