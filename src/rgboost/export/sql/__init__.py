"""Models as SQL; needs the package sqlglot."""

from .query import write_sql

__all__ = ["write_sql"]
