"""The steps of a query, one after the other, and what the columns on the way are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..terms import Terms
from . import words as sql

ONCE = ("rgboost_pairs", "rgboost_scores", "rgboost_shares")
"""Steps that some dialects must be told to compute once: SQLite would put them where they are used,
as often as they are, and DuckDB would look for an order of all joins at once."""

TOLD = ("duckdb", "sqlite")


@dataclass
class Query:
    """The steps so far, and what the columns on the way are called."""

    terms: Terms
    dialect: str
    kept: list[str]
    values: dict[int, str] = field(default_factory=dict)
    """Of features: their values, as doubles or strings."""
    cells: list[str] = field(default_factory=list)
    """Of pairs."""
    added: list[list[str]] = field(default_factory=list)
    """Of terms, for every output."""
    steps: list[tuple[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = sql.Names(self.kept)

    def step(self, name: str, select: Any) -> None:
        self.steps.append((f"rgboost_{name}", select))

    def new_columns(self, term: str) -> list[str]:
        """Names of columns for what a term adds to every score."""
        if self.terms.outputs == 1:
            return [self.names.plain("t", term)]
        return [self.names.plain("t", term, f"_{c}") for c in range(self.terms.outputs)]

    @property
    def last(self) -> str:
        """The name of the last step."""
        return self.steps[-1][0]

    def keep(self) -> Iterator[Any]:
        """The columns that stay."""
        yield from map(sql.column, self.kept)

    def text(self, last: Any) -> str:
        """The SELECT ``last`` with the steps before it."""
        for name, select in self.steps:
            alone = True if self.dialect in TOLD and name.startswith(ONCE) else None
            last = last.with_(name, as_=select, materialized=alone, copy=False)
        return str(last.sql(dialect=self.dialect, pretty=True))
