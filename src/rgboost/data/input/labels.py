"""Labels: those of rows (y) as an array, those of categories as numbers; and columns of Python
objects as one or the other."""

from __future__ import annotations

import decimal
import numbers
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.object_]
Kind = Literal["strings", "numbers"]


def missing_objects(values: Values) -> NDArray[np.bool_]:
    """Where Python objects are None, NaN, or one of the other ways to say missing."""
    return np.fromiter((_is_missing(v) for v in values), np.bool_, len(values))


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):  # the second counts as a Real
        return bool(np.isnat(value))
    return isinstance(value, numbers.Real | decimal.Decimal) and bool(value != value)


def refuse_dates(kind: Any, title: str) -> None:
    """Raise for a type of dates or durations: as numbers they would mean their unit."""
    if np.dtype(kind).kind in "mM":
        raise wrong_type(kind, title)


def wrong_type(kind: Any, title: str) -> TypeError:
    return TypeError(
        f"{title} has the type {kind}; turn it into numbers (for a date, say, the days since "
        "another one) or strings, or drop it."
    )


def kind_of(values: Values, missing: NDArray[np.bool_], name: str) -> Kind | None:
    """What the values of a column are; None if all are missing. Columns must not mix."""
    types = {type(value) for value, absent in zip(values, missing, strict=True) if not absent}
    if not types:
        return None
    if all(issubclass(t, str) for t in types):
        return "strings"
    number = (numbers.Real, decimal.Decimal, np.bool_)
    if all(issubclass(t, number) and t is not np.timedelta64 for t in types):
        return "numbers"
    kinds = ", ".join(sorted(t.__name__ for t in types))
    raise TypeError(
        f"{name} holds values of the types {kinds}; the argument must be a column of either "
        "string or number values. Convert the column to one of them, or drop it."
    )


def as_numbers(values: Values, missing: NDArray[np.bool_], name: str) -> NDArray[np.float64]:
    """Numbers of any Python type as float64, NaN where missing."""
    out = np.full(len(values), np.nan)
    try:
        out[~missing] = values[~missing].astype(np.float64)
    except OverflowError as error:
        raise ValueError(f"{name} has a number beyond the range of float64; scale it.") from error
    return out


def find_labels(values: Values, missing: NDArray[np.bool_], name: str) -> NDArray:
    """The distinct labels of a column in sorted order: objects that are strings, or numbers.

    NumPy's own strings would lose zero bytes at their end.
    """
    kind = kind_of(values, missing, name)
    if kind == "strings":
        return np.array(sorted(set(values[~missing])), dtype=object)
    if kind == "numbers":
        return np.unique(as_numbers(values[~missing], missing[~missing], name))
    return np.empty(0)


def are_strings(labels: NDArray) -> bool:
    """Whether the labels that `find_labels` found are strings."""
    return bool(labels.dtype == object)


def encode_labels(
    values: Values, missing: NDArray[np.bool_], labels: NDArray, name: str
) -> NDArray[np.float64]:
    """The number of each label, that of the one after the last where it is not among ``labels``,
    NaN where it is missing."""
    kind = kind_of(values, missing, name)
    expected: Kind = "strings" if are_strings(labels) else "numbers"
    if kind is not None and len(labels) and kind != expected:
        raise TypeError(
            f"{name} had categories that are {expected} at fit, and has {kind} now; give it the "
            "type that it had."
        )
    unknown = float(len(labels))
    number = {label: float(k) for k, label in enumerate(labels.tolist())}
    look_up: Callable[[Any], float] = lambda value: number.get(value, unknown)  # noqa: E731
    out = np.full(len(values), np.nan)
    out[~missing] = np.fromiter(map(look_up, values[~missing]), np.float64, int((~missing).sum()))
    return out


def read_labels(y: Any, name: str) -> Any:
    """y as an array if it is a series or an array of objects; what else it is, is left alone.

    Missing labels and labels of several kinds raise.
    """
    if y is None or isinstance(y, list | tuple):
        y = _from_list(y)
    elif not isinstance(y, np.ndarray):
        y = _from_series(y, name)
    if isinstance(y, np.ndarray):
        refuse_dates(y.dtype, name)
    if isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1:
        return _from_objects(y, name)
    return y


def _from_objects(y: NDArray[np.object_], name: str) -> NDArray:
    """Strings stay objects; booleans, integers and other numbers become arrays of their kind."""
    missing = missing_objects(y)
    if missing.any():
        raise _missing(missing, name)
    if kind_of(y, missing, name) != "numbers":
        return y
    if all(isinstance(label, bool | np.bool_) for label in y):
        return y.astype(bool)
    small = all(isinstance(label, int | np.integer) and abs(int(label)) < 2**63 for label in y)
    return y.astype(np.int64) if small else as_numbers(y, missing, name)


def _from_list(y: Any) -> Any:
    kinds = str | np.datetime64 | np.timedelta64
    mixed = y is not None and any(label is None or isinstance(label, kinds) for label in y)
    return np.array(y, dtype=object) if mixed else y


def _from_series(y: Any, name: str) -> Any:
    import narwhals.stable.v2 as nw

    series = nw.from_native(y, allow_series=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return y
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if missing.any():
        raise _missing(missing, name)
    return np.asarray(series.to_numpy())


def _missing(missing: NDArray[np.bool_], name: str) -> ValueError:
    return ValueError(
        f"Input {name} contains NaN: {int(missing.sum())} labels are missing, the first of them in "
        f"row {int(missing.argmax())}; remove these rows."
    )
