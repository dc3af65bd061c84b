"""Dask collections as partitions of rows: what each task is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

import dask
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed

_KINDS = "a Dask array or a Dask data frame"


class Partition(NamedTuple):
    """Some rows, not yet computed. Labels, weights and offsets are None where there are none;
    ``n_rows`` is None where it is not known."""

    k: int
    X: Delayed
    y: Delayed | None
    weight: Delayed | None
    offset: Delayed | None
    n_rows: int | None

    @property
    def parts(self) -> tuple[Delayed | None, ...]:
        """X, labels, weights and offsets."""
        return self[1:5]


def partitions_of(names: str, X: Any, *others: Any) -> list[Partition]:
    """The partitions of X and of labels, weights and offsets (or None), which are partitioned
    alike. ``names`` are those of the arguments, for errors."""
    of_X, *of_others = names.split()
    check_collection(X, of_X)
    if X.ndim != 2:
        raise ValueError(f"{of_X} has one dimension; give a table (X[:, None], X[[name]]).")
    lengths = _lengths(X)
    columns: list[Any] = [_parts(X)]
    for name, other in zip(of_others, others, strict=False):
        if other is None:
            columns.append([None] * len(columns[0]))
            continue
        check_collection(other, name, like=of_X)
        columns.append(_parts(_like(other, name, X, of_X)))
        if len(columns[-1]) != len(columns[0]):
            raise ValueError(
                f"{of_X} has {len(columns[0])} partitions and {name} {len(columns[-1])}; partition "
                f"them alike: take {name} from the same collection, or repartition one of them."
            )
    columns += [[None] * len(columns[0])] * (4 - len(columns))
    rows = zip(*columns, lengths, strict=True)
    return [Partition(k, *parts) for k, parts in enumerate(rows)]


def is_collection(X: Any) -> bool:
    """Whether rows are partitions of a Dask collection."""
    return bool(is_dask_collection(X))


def is_frame(X: Any) -> bool:
    """Whether a collection is a data frame, or a column of one."""
    return hasattr(X, "divisions")


def check_collection(X: Any, name: str, like: str | None = None) -> None:
    """Raise if X is no collection of rows."""
    frame_or_array = not isinstance(X, Delayed) and (is_frame(X) or hasattr(X, "numblocks"))
    if is_collection(X) and frame_or_array:
        return
    remedy = "give it to RGBMRegressor or RGBMClassifier, or make a collection of it"
    if like is not None:
        remedy = (
            f"give one that is partitioned like {like}, such as da.from_array({name}, chunks=...)"
        )
    raise TypeError(f"{name} is a {type(X).__name__}, and this takes {_KINDS}; {remedy}.")


def _lengths(X: Any) -> list[int | None]:
    """The rows of each partition, where they are known."""
    if is_frame(X):
        return [None] * int(X.npartitions)
    return [None if np.isnan(n) else int(n) for n in X.chunks[0]]


def _like(other: Any, name: str, X: Any, of_X: str) -> Any:
    """A collection with the partitions of X, where it can be told."""
    if is_frame(X) or is_frame(other) or other.chunks[0] == X.chunks[0]:
        return other
    if np.isnan([*X.chunks[0], *other.chunks[0]]).any():
        return other
    if len(X) != len(other):
        raise ValueError(
            f"{of_X} has {len(X)} rows and {name} has {len(other)}; give one entry for each row."
        )
    return other.rechunk({0: X.chunks[0]})


def _parts(X: Any) -> list[Delayed]:
    """The partitions; of arrays, all columns of some rows.

    Dask may put partitions of files together where few columns are read, of labels other ones than
    of X. It is told not to; before it could be told, graphs were to be left as they are.
    """
    if is_frame(X):
        with configured("optimization.tune.active", False):
            parts = list(X.to_delayed())
        as_told = len(parts) == X.npartitions
        return parts if as_told else list(X.to_delayed(optimize_graph=False))
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel())


_ONE_AT_A_TIME = Lock()


@contextmanager
def configured(name: str, value: Any) -> Iterator[None]:
    """A setting of Dask, in this block only. Settings are those of the process: two threads that
    change one at once would not find it again as it was."""
    with _ONE_AT_A_TIME, dask.config.set({name: value}):
        yield
