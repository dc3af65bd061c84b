"""Labels and responses of any kind as an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .labels import as_numbers, kind_of, missing_objects, refuse_dates


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
