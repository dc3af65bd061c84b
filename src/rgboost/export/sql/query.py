"""A model as one SELECT.

Steps stand in one WITH: the values of the features as doubles, NULL where they are missing; the
cells of pairs by the bins of both features; what every term adds; the score. Values of a pair are
rows (cell, value) of a table that is written out there, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..terms import Axis, Curve, Pair, Terms, refuse
from . import words as sql
from .answers import add_answers
from .cells import cells_text, table_of_pair
from .steps import Query

PAIRS_AT_ONCE = 15
"""Joins of one SELECT: SQLite takes 64, and planning many takes longer than several times few."""


def write_sql(
    terms: Terms, table: str, dialect: str, columns: Sequence[str] | None, contributions: bool
) -> str:
    """The text of ``estimator.to_sql()``."""
    sql.check_dialect(dialect)
    source = sql.table_of(table, dialect)
    query = Query(terms, dialect, _kept(terms, columns))
    query.step("given", _given(query, source))
    if terms.pairs:
        query.step("cells", _cells(query))
    _add_terms(query)
    last = add_answers(query, contributions)
    text: str = query.text(last)
    pairs = [cells_text(k, pair, dialect) for k, pair in enumerate(terms.pairs)]
    return "WITH " + ",\n".join([*pairs, text.removeprefix("WITH ")])


def _kept(terms: Terms, columns: Sequence[str] | None) -> list[str]:
    """The columns of the table that stay beside: by default the features."""
    if isinstance(columns, str):
        refuse(f"columns={columns!r} must be a list of names.")
    found = [f.name for f in terms.features] if columns is None else list(columns)
    if len({name.lower() for name in found}) < len(found):
        refuse("some columns have the same name but for capitals; name those to keep in columns=.")
    return found


def _given(query: Query, source: Any) -> Any:
    """The table with the values of the features that the model uses."""
    found = list(query.keep())
    for g in query.terms.used():
        feature = query.terms.features[g]
        query.values[g] = query.names.plain("x", feature.name)
        value = sql.column(feature.name)
        if feature.kind != "text":
            value = sql.number_or_null(value, query.dialect)
        found.append(sql.named(value, query.values[g]))
    if not found:
        found.append(sql.named(sql.integer(1), query.names.new("row")))
    return sql.select(found, source)


def _cells(query: Query) -> Any:
    """The cell of every pair: its rows are the bins of the first feature."""
    found = [*query.keep(), *map(sql.column, query.values.values())]
    for k, pair in enumerate(query.terms.pairs):
        first, second = (_bin(sql.column(query.values[a.feature]), a) for a in pair.axes)
        cell = sql.total([sql.times(first, pair.axes[1].size), second])
        query.cells.append(query.names.new(f"cell_{k}"))
        found.append(sql.named(cell, query.cells[-1]))
    return sql.select(found, query.last)


def _bin(value: Any, axis: Axis) -> Any:
    """The bin of a value of an axis."""
    if axis.categories is None:
        found = _between(value, axis.edges.tolist(), 0)
    else:
        known = [(sql.category(label), sql.integer(k)) for k, label in enumerate(axis.categories)]
        found = sql.case(known, sql.integer(axis.unknown), value.copy())
    return sql.case([(sql.is_null(value.copy()), sql.integer(axis.missing))], found)


def _between(value: Any, edges: list[float], first: int) -> Any:
    """The bin of a number among edges, by halves."""
    if not edges:
        return sql.integer(first)
    half = len(edges) // 2
    low = _between(value, edges[:half], first)
    high = _between(value, edges[half + 1 :], first + half + 1)
    return sql.case([(sql.at_most(value.copy(), edges[half]), low)], high)


def _add_terms(query: Query) -> None:
    """What curves add, and then some pairs at a time."""
    terms = query.terms
    found: list[Any] = [*query.keep(), *map(sql.column, query.cells)]
    for curve in terms.curves:
        query.added.append(query.new_columns(terms.term_name(curve)))
        value = sql.column(query.values[curve.axis.feature])
        for c, name in enumerate(query.added[-1]):
            found.append(sql.named(sql.as_double(_curve(value, curve, c)), name))
    query.step("curves", sql.select(found, query.last))
    for start in range(0, len(terms.pairs), PAIRS_AT_ONCE):
        _join_pairs(query, start, list(terms.pairs[start : start + PAIRS_AT_ONCE]))


def _curve(value: Any, curve: Curve, c: int) -> Any:
    """What a curve adds to score c: one CASE."""
    axis, values = curve.axis, curve.values[:, c].tolist()
    branches = [(sql.is_null(value), sql.double(values[axis.missing]))]
    if axis.categories is None:
        branches += [
            (sql.at_most(value.copy(), edge), sql.double(values[k]))
            for k, edge in enumerate(axis.edges.tolist())
        ]
        return sql.case(branches, sql.double(values[len(axis.edges)]))
    branches += [
        (sql.equal(value.copy(), sql.category(label)), sql.double(values[k]))
        for k, label in enumerate(axis.categories)
    ]
    return sql.case(branches, sql.double(values[axis.unknown]))


def _join_pairs(query: Query, start: int, pairs: list[Pair]) -> None:
    """A step with what some pairs add."""
    before, ends = query.last, range(start, start + len(pairs))
    stay = [*query.kept, *(name for names in query.added for name in names)]
    stay += query.cells[start + len(pairs) :]
    found = [sql.column(name, before) for name in stay]
    for k, pair in zip(ends, pairs, strict=True):
        query.added.append(query.new_columns(query.terms.term_name(pair)))
        for c, name in enumerate(query.added[-1]):
            value = sql.as_double(sql.column(f"value_{c}", table_of_pair(k)))
            found.append(sql.named(value, name))
    select = sql.select(found, before)
    for k in ends:
        cell = sql.column("cell", table_of_pair(k))
        same = sql.equal(cell, sql.column(query.cells[k], before))
        select = sql.joined(select, table_of_pair(k), same)
    query.step(f"pairs_{start // PAIRS_AT_ONCE + 1}", select)
