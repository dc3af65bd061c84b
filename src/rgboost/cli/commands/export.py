"""``rgboost export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import CommandError, ExitCode, check_writable, writing
from ..files.models import load_model
from ..show.output import AsJson, print_json


class Form(StrEnum):
    """What a model can be written as."""

    onnx = "onnx"
    sql = "sql"
    json = "json"
    python = "python"
    javascript = "javascript"


def export(
    model: Annotated[Path, typer.Argument(help="A model that rgboost fit has stored.")],
    to: Annotated[Form, typer.Option(help="The form to write it in.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    table: Annotated[str | None, typer.Option(help="The table to predict, for SQL.")] = None,
    dialect: Annotated[
        str | None,
        typer.Option(help="Of SQL: duckdb, sqlite, postgres, bigquery, snowflake or spark."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="A column of the table to keep, for SQL. Repeatable."),
    ] = None,
    contributions: Annotated[
        bool, typer.Option("--contributions", help="Tell what every term adds, in ONNX and SQL.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a stored model in a form that other programs read.

    An ONNX graph, one SELECT of SQL, a JSON document, a Python file that needs no package, or a
    JavaScript function. All of them predict as the model does.

      rgboost export model.rgb --to onnx --out model.onnx

      rgboost export model.rgb --to sql --table customers --dialect duckdb --out model.sql
    """
    given = {"table": table, "dialect": dialect, "column": column}
    _check_options(to, given, contributions)
    check_writable(out)
    content = _content(load_model(model), to, given, contributions)
    from ..._core.atomic import write_atomically

    with writing(out):
        write_atomically(out, [content])
    if as_json:
        print_json({"out": str(out), "to": to.value, "bytes": len(content)})
    else:
        typer.echo(str(out))


def _check_options(to: Form, given: dict[str, Any], contributions: bool) -> None:
    """Options that a form has no use for are mistakes."""
    if to is Form.sql:
        for name in ("table", "dialect"):
            if given[name] is None:
                _refuse(f"--to sql needs --{name}: see rgboost export --help")
    for name, value in given.items():
        if to is not Form.sql and value:
            _refuse(f"--{name} is for --to sql, leave it out of --to {to.value}")
    if contributions and to not in (Form.sql, Form.onnx):
        _refuse(f"--contributions is for onnx and sql: those of --to {to.value} are always there")


def _refuse(message: str) -> None:
    raise CommandError(message, ExitCode.USAGE)


def _content(estimator: Any, to: Form, given: dict[str, Any], contributions: bool) -> bytes:
    """The bytes of the file."""
    if to is Form.onnx:
        found: bytes = estimator.to_onnx(contributions=contributions).SerializeToString()
        return found
    if to is Form.sql:
        text = estimator.to_sql(
            given["table"], dialect=given["dialect"], columns=given["column"] or None,
            contributions=contributions,
        )  # fmt: skip
    else:
        text = getattr(estimator, f"to_{to.value}")()
    return str(text).encode()
