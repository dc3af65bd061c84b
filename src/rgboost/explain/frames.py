"""Explanations as data frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BACKENDS = ("pandas", "polars", "pyarrow")


def make_frame(columns: Mapping[str, Any], backend: Any) -> Any:
    """A data frame with these columns."""
    import narwhals.stable.v2 as nw

    if backend not in BACKENDS:
        known = ", ".join(repr(name) for name in BACKENDS)
        raise ValueError(f"backend={backend!r} is not known; use {known}.")
    return nw.from_dict(dict(columns), backend=backend).to_native()


def bins_of(
    cuts: NDArray[np.float64], categories: NDArray | None, prefix: str = ""
) -> dict[str, list[Any]]:
    """The bins of a feature, that of missing values last: where they begin and end, or the label of
    the category as a string."""
    nothing: list[Any] = [None]
    if categories is None:
        ends = [-np.inf, *cuts.tolist(), np.inf]
        n = len(ends) - 1
        found = {"from": ends[:-1] + nothing, "to": ends[1:] + nothing, "category": nothing * n}
    else:
        n = len(categories)
        labels = [str(label) for label in categories.tolist()]
        found = {"from": nothing * (n + 1), "to": nothing * (n + 1), "category": labels}
    found["category"] = found["category"] + nothing
    found["missing"] = [False] * n + [True]
    return {prefix + name: values for name, values in found.items()}


def repeated(columns: Mapping[str, list[Any]], each: int, whole: int = 1) -> dict[str, list[Any]]:
    """Every entry ``each`` times, and all that ``whole`` times."""
    return {
        name: [value for value in values for _ in range(each)] * whole
        for name, values in columns.items()
    }


def with_classes(
    columns: Mapping[str, list[Any]], values: NDArray[np.float64], classes: Sequence[Any] | None
) -> dict[str, Any]:
    """Rows of bins, and their values; with several classes a row for each, with its label."""
    if classes is None:
        return {**columns, "value": values.ravel().tolist()}
    n = values.size // len(classes)
    found: dict[str, Any] = repeated(columns, len(classes))
    return {**found, "class": list(classes) * n, "value": values.ravel().tolist()}
