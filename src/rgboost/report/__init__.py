"""Reports: what a model has learnt, how well it does on given rows, and what would be if."""

from .page import write_report

__all__ = ["write_report"]
