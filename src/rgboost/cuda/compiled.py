"""Scalar functions of the house, compiled for the card: formulas stand in one place only.

A function of the house is compiled for the processor. Here its Python source is taken, and the
functions that it calls are replaced by theirs for the card.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

from numba import cuda

from .._core import math as house
from ..losses.kernels import evaluate

_OURS = {id(house.exp): math.exp, id(house.log): math.log}
"""Functions that a card has of its own."""

_LOSSES: dict[Any, Any] = {}


def loss_on_card(terms: Any) -> Any:
    """`rgboost.losses.kernels.evaluate` of the loss with such terms."""
    kind = _kind(terms)
    if kind not in _LOSSES:
        inner = loss_on_card(terms.inner) if hasattr(terms, "inner") else None
        _LOSSES[kind] = on_card(evaluate.body_of(type(terms)), {id(evaluate): inner})
    return _LOSSES[kind]


def _kind(terms: Any) -> Any:
    """By what the functions of a loss are told from others: its class, and that of its parts."""
    return type(terms), _kind(terms.inner) if hasattr(terms, "inner") else None


def on_card(function: Any, known: dict[int, Any]) -> Any:
    """A function of the house as one that kernels call; ``known`` are those that it is to call in
    place of others, by their identity."""
    plain = getattr(function, "py_func", function)
    names = plain.__globals__
    replaced = {}
    for name in plain.__code__.co_names:
        one = names.get(name)
        if id(one) in known:
            replaced[name] = known[id(one)]
        elif id(one) in _OURS:
            replaced[name] = _OURS[id(one)]
        elif hasattr(one, "py_func"):
            replaced[name] = on_card(one, known)
    copy = FunctionType(plain.__code__, {**names, **replaced}, plain.__name__)
    return cuda.jit(device=True)(copy)
