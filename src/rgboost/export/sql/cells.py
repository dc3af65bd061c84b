"""Tables of pairs, written out: too many numbers to be an expression each."""

from __future__ import annotations

from ..terms import Pair
from .words import number_text


def table_of_pair(k: int) -> str:
    return f"rgboost_pair_{k}"


def cells_text(k: int, pair: Pair, dialect: str) -> str:
    """A step of WITH that has the values of pair k by cells."""
    values = pair.values.reshape(-1, pair.values.shape[-1]).tolist()
    texts = (", ".join(map(number_text, row)) for row in values)
    rows = ",\n".join(f"({cell}, {text})" for cell, text in enumerate(texts))
    names = [f"value_{c}" for c in range(pair.values.shape[-1])]
    table = table_of_pair(k)
    if dialect == "bigquery":
        fields = ", ".join(["cell INT64", *(f"{name} FLOAT64" for name in names)])
        return f"{table} AS (SELECT * FROM UNNEST([STRUCT<{fields}>\n{rows}]))"
    columns = ", ".join(f'"{name}"' for name in ["cell", *names])
    if dialect == "spark":
        columns = columns.replace('"', "`")
    start = "SELECT * FROM VALUES" if dialect == "snowflake" else "VALUES"
    return f"{table}({columns}) AS ({start}\n{rows})"
