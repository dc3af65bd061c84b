"""Checks of parameters. Every message names the parameter, the value and the remedy."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np


def check_real(value: Any, name: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{name}={value} must be finite.")
    return number


def check_positive(value: Any, name: str) -> float:
    number = check_real(value, name)
    if number <= 0:
        raise ValueError(f"{name}={value} must be greater than 0.")
    return number


def check_not_negative(value: Any, name: str) -> float:
    number = check_real(value, name)
    if number < 0:
        raise ValueError(f"{name}={value} must be 0 or greater.")
    return number


def check_count(value: Any, name: str, at_least: int = 0) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < at_least:
        raise ValueError(f"{name}={value} must be {at_least} or greater.")
    return int(value)


def check_option(value: Any, name: str, options: Iterable[Any]) -> Any:
    options = list(options)
    if not any(value is option or (type(value) is str and value == option) for option in options):
        raise ValueError(
            f"{name}={value!r} is not known; use one of {', '.join(map(repr, options))}."
        )
    return value
