"""Checks of parameters. Every message names the parameter, the value and the remedy."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np


def check_real(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    remedy: str = "",
) -> float:
    """``value`` as a finite float within the given range. ``remedy`` is what to do, in place of the
    range."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}{remedy and '; ' + remedy}.")
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the range of float64
        number = np.inf
    if not np.isfinite(number):
        wrong = "must be finite"
    elif above is not None and number <= above:
        wrong = f"must be greater than {above:g}"
    elif at_least is not None and number < at_least:
        wrong = f"must be {at_least:g} or greater"
    elif at_most is not None and number > at_most:
        wrong = f"must be {at_most:g} or less"
    elif below is not None and number >= below:
        wrong = f"must be less than {below:g}"
    else:
        return number
    raise ValueError(f"{name}={value} {'is impossible; ' + remedy if remedy else wrong}.")


def check_positive(value: Any, name: str) -> float:
    return check_real(value, name, above=0.0)


def check_not_negative(value: Any, name: str) -> float:
    return check_real(value, name, at_least=0.0)


def check_count(
    value: Any, name: str, at_least: int = 0, at_most: int | None = None, remedy: str = ""
) -> int:
    """``value`` as an int within the given range; ``remedy`` as of `check_real`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}{remedy and '; ' + remedy}.")
    number = int(value)
    if number < at_least:
        wrong = f"must be {at_least} or greater"
    elif at_most is not None and number > at_most:
        wrong = f"must be {at_most} or less"
    else:
        return number
    raise ValueError(f"{name}={value} {'is impossible; ' + remedy if remedy else wrong}.")


def check_option(value: Any, name: str, options: Iterable[Any]) -> Any:
    options = list(options)
    if not any(value is option or (type(value) is str and value == option) for option in options):
        raise ValueError(
            f"{name}={value!r} is not known; use one of {', '.join(map(repr, options))}."
        )
    return value
