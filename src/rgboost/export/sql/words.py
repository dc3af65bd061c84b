"""The words of SQL that the query is made of, as sqlglot has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ..terms import refuse

DIALECTS = ("duckdb", "sqlite", "postgres", "bigquery", "snowflake", "spark")


def check_dialect(dialect: str) -> None:
    if dialect not in DIALECTS:
        known = ", ".join(repr(name) for name in DIALECTS)
        refuse(f"dialect={dialect!r} is not known; use {known}.")


def table_of(name: str, dialect: str) -> Any:
    """A table, as one writes its name in SQL."""
    try:
        found = parse_one(name, into=exp.Table, dialect=dialect)
    except SqlglotError as error:
        told = str(error).splitlines()[0]
        refuse(f"table={name!r} is no name of a table in SQL ({told}); quote what is not a word.")
    if not isinstance(found, exp.Table) or not isinstance(found.this, exp.Identifier):
        refuse(f"table={name!r} is no name of a table in SQL; quote what is not a word.")
    return found


class Names:
    """Names of columns that are not taken, whatever their case."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {name.lower() for name in taken}

    def new(self, wanted: str) -> str:
        """That name, with underscores if it is taken."""
        while wanted.lower() in self._taken:
            wanted += "_"
        self._taken.add(wanted.lower())
        return wanted

    def plain(self, prefix: str, name: str, suffix: str = "") -> str:
        """A name of letters, digits and underscores, for a step on the way."""
        word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()[:30]
        return self.new(f"{prefix}_{word}{suffix}")


def column(name: str, table: str | None = None) -> Any:
    own = exp.Identifier(this=name, quoted=True)
    return exp.Column(this=own, table=None if table is None else exp.to_identifier(table))


def named(value: Any, name: str) -> Any:
    return exp.Alias(this=value, alias=exp.Identifier(this=name, quoted=True))


def number_text(value: float) -> str:
    """A number that is read as the same double, with an exponent: without one it is a decimal in
    some dialects."""
    text = repr(value).upper()
    return text if "E" in text else f"{text}E0"


def double(value: float) -> Any:
    if value < 0:
        return exp.Neg(this=exp.Literal(this=number_text(-value), is_string=False))
    return exp.Literal(this=number_text(value), is_string=False)


def integer(value: int) -> Any:
    return exp.Literal(this=str(value), is_string=False)


def literal(value: Any) -> Any:
    """A label or a category."""
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return exp.Literal(this=value, is_string=True)
    if isinstance(value, float):
        return double(value)
    return exp.Neg(this=integer(-value)) if value < 0 else integer(value)


def as_double(value: Any) -> Any:
    return exp.Cast(this=value, to=exp.DataType(this=exp.DataType.Type.DOUBLE))


def case(branches: Iterable[tuple[Any, Any]], otherwise: Any, subject: Any = None) -> Any:
    """CASE WHEN condition THEN value ... ELSE otherwise END."""
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(this=subject, ifs=ifs, default=otherwise)


def is_null(value: Any) -> Any:
    return exp.Is(this=value, expression=exp.Null())


def at_most(value: Any, edge: float) -> Any:
    return exp.LTE(this=value, expression=double(edge))


def total(summands: Sequence[Any]) -> Any:
    """Added from left to right."""
    found = summands[0]
    for summand in summands[1:]:
        found = exp.Add(this=found, expression=summand)
    return found


def times(value: Any, factor: float) -> Any:
    """A value, in brackets, times a number."""
    if factor == -1:
        return exp.Neg(this=value)
    number = integer(factor) if isinstance(factor, int) else double(factor)
    return exp.Mul(this=exp.Paren(this=value), expression=number)


def over(value: Any, divisor: Any) -> Any:
    """A quotient of doubles."""
    return exp.Div(this=value, expression=exp.Paren(this=divisor), typed=True, safe=False)


def less(value: Any, other: Any) -> Any:
    return exp.Sub(this=value, expression=other)


def greater(value: Any, other: Any) -> Any:
    return exp.GT(this=value, expression=other)


def bounded_exp(value: Any) -> Any:
    """EXP of a value, with exponents from -700 to 700: beyond, some engines raise."""
    low, high = double(-700.0), double(700.0)
    ends = [
        (exp.LT(this=value.copy(), expression=low.copy()), low),
        (exp.GT(this=value.copy(), expression=high.copy()), high),
    ]
    return exp.Exp(this=case(ends, value))


def number_or_null(value: Any, dialect: str) -> Any:
    """A number as a double; NULL where it is NaN, for which every dialect has words of its own."""
    found = as_double(value)
    if dialect == "sqlite":  # it has no NaN
        return found
    if dialect == "bigquery":
        return case([(exp.IsNan(this=found.copy()), exp.Null())], found)
    return exp.Nullif(this=found, expression=as_double(literal("NaN")))


def category(label: Any) -> Any:
    """A category to compare with: numbers are doubles, as the values are."""
    return literal(label) if isinstance(label, str) else double(float(label))


def greatest(values: Sequence[Any], dialect: str) -> Any:
    name = "MAX" if dialect == "sqlite" else "GREATEST"
    return exp.Anonymous(this=name, expressions=list(values))


def select(values: Sequence[Any], source: Any) -> Any:
    return exp.select(*values, copy=False).from_(source, copy=False)


def joined(query: Any, table: str, condition: Any) -> Any:
    """With LEFT JOIN, which keeps every row and the order of the joins."""
    return query.join(table, on=condition, join_type="left", copy=False)


def equal(left: Any, right: Any) -> Any:
    return exp.EQ(this=left, expression=right)
