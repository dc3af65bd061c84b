"""A loss that is written on the command line: huber, or Huber(5)."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from .errors import CommandError, ExitCode


def read_loss(text: str) -> Any:
    """The loss that a text stands for. A name without brackets stays one: the estimators know it.

    The text is parsed, never run.
    """
    if "(" not in text:
        return text
    try:
        return _loss(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError) as fault:
        reason = fault.msg if isinstance(fault, SyntaxError) else str(fault).rstrip(".")
        names = ", ".join(kind.__name__ for kind in _losses().values())
        raise CommandError(
            f"--loss {text}: {reason}; write a loss and its numbers, such as Quantile(0.9) or "
            f"Huber(delta=5), with one of {names}",
            ExitCode.USAGE,
        ) from fault


def _loss(node: ast.AST) -> Any:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError("this is no loss")
    kind = _losses().get(node.func.id.lower())
    if kind is None:
        raise ValueError(f"there is no loss {node.func.id}")
    given = {one.arg: _value(one.value) for one in node.keywords if one.arg is not None}
    return kind(*(_value(one) for one in node.args), **given)


def _value(node: ast.AST) -> Any:
    """A number, or the loss that another one is made of."""
    return _loss(node) if isinstance(node, ast.Call) else ast.literal_eval(node)


def _losses() -> dict[str, Any]:
    """The losses of the package by their names in small letters."""
    from .. import losses

    kinds = [getattr(losses, name) for name in losses.__all__]
    concrete = [kind for kind in kinds if inspect.isclass(kind) and not inspect.isabstract(kind)]
    return {kind.__name__.lower(): kind for kind in concrete if issubclass(kind, losses.Loss)}
