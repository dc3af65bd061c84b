"""What is compared. A case runs in a process of its own and leaves figures and curves."""

from . import a9a, dense, growth, prediction, quality, shapes, startup
from .base import Bench, Case

CASES: dict[str, Case] = {
    case.name: case
    for module in (dense, a9a, prediction, growth, shapes, startup, quality)
    for case in module.CASES
}

__all__ = ["CASES", "Bench", "Case"]
