"""Every form says what made-up terms say, for rows that probe their edges and categories."""

import shutil
import sqlite3

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
from hypothesis import given, settings

from rgboost.export.onnx_model import write_onnx
from rgboost.export.sources import write_javascript, write_python
from rgboost.export.sql import write_sql

from . import naive
from .strategies import terms_and_rows
from .test_sources import javascript_answers, needs_node, python_answers

CLOSE = dict(rtol=1e-12, atol=1e-12)


def check(terms, rows, scores, answers, labels):
    """Scores, predictions or probabilities, and labels of some form."""
    expected = np.array([naive.score(terms, row) for row in rows])
    np.testing.assert_allclose(np.reshape(scores, expected.shape), expected, **CLOSE)
    expected = np.array([naive.answer(terms, row) for row in rows])
    np.testing.assert_allclose(np.reshape(answers, expected.shape), expected, **CLOSE)
    if terms.classes is not None:
        assert list(labels) == [naive.label(terms, row) for row in rows]


def check_answers(terms, rows, answers):
    numbers = "prediction" if terms.classes is None else "probabilities"
    check(terms, rows, *([a[k] for a in answers] for k in ("score", numbers, "prediction")))


def in_python(terms, rows):
    check_answers(terms, rows, list(python_answers(write_python(terms, "us"), rows)))


def in_onnx(terms, rows):
    graph = write_onnx(terms, "us", False).SerializeToString()
    runner = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    columns = {}
    for feature in terms.features:
        column = [row[feature.name] for row in rows]
        if feature.kind == "text":
            columns[feature.name] = np.array([v or "" for v in column], object)
        else:
            columns[feature.name] = np.array([np.nan if v is None else v for v in column])
    names = [value.name.rstrip("_") for value in runner.get_outputs()]
    found = dict(zip(names, runner.run(None, columns), strict=True))
    numbers = found["prediction" if terms.classes is None else "probabilities"]
    check(terms, rows, found["score"], numbers, found["prediction"].tolist())


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def check_query(terms, rows, connection, kinds, dialect):
    columns = {f.name: kinds[f.kind == "text"] for f in terms.features} | {"row key": "INTEGER"}
    told = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())
    connection.execute(f"CREATE TABLE t ({told})")
    marks = ", ".join("?" * len(columns))
    data = [(*(row[f.name] for f in terms.features), k) for k, row in enumerate(rows)]
    connection.executemany(f"INSERT INTO t VALUES ({marks})", data)
    cursor = connection.execute(write_sql(terms, "t", dialect, ["row key"], False))
    found = pd.DataFrame(cursor.fetchall()).sort_values(0).drop(columns=0)
    n = terms.outputs
    scores, labels = found.iloc[:, :n].to_numpy(float), found.iloc[:, -1].tolist()
    shares = found.iloc[:, n:-1] if terms.classes is not None else found.iloc[:, -1]
    check(terms, rows, scores, shares.to_numpy(float), labels)


def in_sqlite(terms, rows):
    connection = sqlite3.connect(":memory:")
    check_query(terms, rows, connection, ("REAL", "TEXT"), "sqlite")
    connection.close()


def in_duckdb(terms, rows):
    with duckdb.connect() as connection:
        check_query(terms, rows, connection, ("DOUBLE", "VARCHAR"), "duckdb")


def has_empty_text(terms):
    """In ONNX an empty string cannot be a category and a missing value."""
    return any("" in (axis.categories or ()) for term in terms.terms for axis in term.axes)


@settings(max_examples=25)
@given(terms_and_rows())
def test_all_but_javascript(drawn):
    in_python(*drawn)
    in_sqlite(*drawn)
    in_duckdb(*drawn)
    if not has_empty_text(drawn[0]):
        in_onnx(*drawn)


@needs_node
@settings(max_examples=12)
@given(terms_and_rows())
def test_javascript(tmp_path_factory, drawn):
    terms, rows = drawn
    folder = tmp_path_factory.mktemp("node")
    text = write_javascript(terms, "us", "predict")
    check_answers(terms, rows, javascript_answers(text, rows, folder))
    shutil.rmtree(folder)
