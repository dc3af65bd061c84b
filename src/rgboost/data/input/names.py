"""Feature names: kept at fit, checked at predict; and the features that a list means."""

from __future__ import annotations

import numbers
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SHOWN = 10


def check_unique(names: Sequence[Any]) -> None:
    """Column names must differ: features are found and checked by name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        places = [i for i, name in enumerate(names) if name == repeated[0]]
        raise ValueError(
            f"X has {len(repeated)} repeated column name(s), the first of them {repeated[0]!r} in "
            f"the columns {_listed(places)}; rename the columns."
        )


def string_names(names: Sequence[Any]) -> NDArray[np.object_] | None:
    """Names as scikit-learn keeps them: all strings, or none if no name is a string."""
    are_strings = [isinstance(name, str) for name in names]
    if all(are_strings) and len(names):
        return np.asarray(names, dtype=object)
    if any(are_strings):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but X has "
            f"names of the types {kinds}; turn them into strings, for example with "
            "X.columns = X.columns.astype(str)."
        )
    return None


def check_same_names(
    at_fit: NDArray[np.object_] | None, now: NDArray[np.object_] | None, who: str
) -> None:
    """Raise if columns have other names or another order than at fit; warn if one side has none.

    The first lines of the messages are scikit-learn's; the two orders follow.
    """
    if at_fit is None and now is None:
        return
    if at_fit is None:
        warnings.warn(
            f"X has feature names, but {who} was fitted without feature names", stacklevel=4
        )
        return
    if now is None:
        warnings.warn(
            f"X does not have valid feature names, but {who} was fitted with feature names",
            stacklevel=4,
        )
        return
    if list(at_fit) == list(now):
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen = sorted(set(now) - set(at_fit))
    missing = sorted(set(at_fit) - set(now))
    if unseen:
        message += f"Feature names unseen at fit time:\n{_bulleted(unseen)}"
    if missing:
        message += f"Feature names seen at fit time, yet now missing:\n{_bulleted(missing)}"
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
        first = next(i for i, (a, b) in enumerate(zip(at_fit, now, strict=True)) if a != b)
        message += f"They differ from column {first} on:\n"
        at_fit, now = at_fit[first:], now[first:]
    raise ValueError(f"{message}At fit: {_listed(at_fit)}\nNow:    {_listed(now)}")


def check_same_number(at_fit: int, now: int, who: str) -> None:
    if now != at_fit:
        raise ValueError(
            f"X has {now} features, but {who} is expecting {at_fit} features as input."
        )


def feature_mask(
    features: Iterable[Any], n_features: int, names: Sequence[str] | None, parameter: str
) -> NDArray[np.bool_]:
    """The features that a list of names, a list of indices or a mask means."""
    if isinstance(features, str):
        raise ValueError(
            f"{parameter}={features!r} is not known; use a list of names or indices, or a mask."
        )
    items = list(features)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != n_features:
            raise ValueError(
                f"{parameter} is a mask of {len(items)} entries, but X has {n_features} features; "
                "give one entry for each."
            )
        return np.array(items, dtype=bool)
    mask = np.zeros(n_features, dtype=bool)
    position = {} if names is None else {name: i for i, name in enumerate(names)}
    for item in items:
        if isinstance(item, str):
            if item not in position:
                known = "X has no feature names" if names is None else "no feature has that name"
                raise ValueError(f"{parameter} has the name {item!r}, but {known}.")
            mask[position[item]] = True
        elif isinstance(item, numbers.Integral) and not isinstance(item, bool | np.bool_):
            if not 0 <= int(item) < n_features:
                raise ValueError(
                    f"{parameter} has the index {item}; use indices from 0 to {n_features - 1}."
                )
            mask[int(item)] = True
        else:
            raise TypeError(
                f"{parameter} has the entry {item!r}; use names, indices, or a mask of booleans."
            )
    return mask


def _listed(items: Sequence[Any] | NDArray) -> str:
    shown = ", ".join(str(item) for item in list(items)[:_SHOWN])
    return f"{shown}, ..." if len(items) > _SHOWN else shown


def _bulleted(items: Sequence[str]) -> str:
    lines = [f"- {item}\n" for item in items[:5]]
    return "".join(lines) + ("- ...\n" if len(items) > 5 else "")
