"""SQL, run in DuckDB and SQLite and compared with `predict`; for other dialects it is parsed, and
what was parsed is run in DuckDB."""

import re
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot

from rgboost import RGBMRegressor
from rgboost.export import ExportError
from rgboost.export.sql.words import DIALECTS

from .made import NAMES, made_models, python_rows, rows_of

CLOSE = dict(rtol=1e-12, atol=1e-14)
TABLE = 'my "table"'
QUOTED = '"my ""table"""'


def plain(frame):
    """Rows with a key and numbers where categories are numbers."""
    found = frame.copy()
    for name in found.columns:
        if isinstance(found[name].dtype, pd.CategoricalDtype):
            found[name] = found[name].astype(float)
    return found.assign(key=np.arange(len(found)))


def from_duckdb(query, frame):
    with duckdb.connect() as connection:
        connection.register("rows", frame)
        connection.execute(f"CREATE TABLE {QUOTED} AS SELECT * FROM rows")
        for name in frame.select_dtypes("float"):  # NaN and NULL, in turn
            quoted = '"' + name.replace('"', '""') + '"'
            connection.execute(
                f"UPDATE {QUOTED} SET {quoted} = 'NaN' WHERE {quoted} IS NULL AND key % 2 = 0"
            )
        return connection.execute(query).df().sort_values("key", ignore_index=True)


def from_sqlite(query, frame):
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
    connection.execute(f"CREATE TABLE {QUOTED} ({names})")
    marks = ", ".join("?" * frame.shape[1])
    rows = [tuple(row.values()) for row in python_rows(frame)]
    connection.executemany(f"INSERT INTO {QUOTED} VALUES ({marks})", rows)
    cursor = connection.execute(query)
    found = pd.DataFrame(cursor.fetchall(), columns=[c[0] for c in cursor.description])
    connection.close()
    return found.sort_values("key", ignore_index=True)


def check(made, found, same_labels=True):
    """A table of results with contributions."""
    model, X = made.model, rows_of(made)
    expected = model.explain_local(X)
    added = found.filter(regex="^contribution_").to_numpy(np.float64)
    assert np.array_equal(added.reshape(expected.contributions.shape), expected.contributions)
    assert found.columns[-1] == "prediction"
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(found["prediction"], model.predict(X), **CLOSE)
        return
    predicted = found["prediction"].to_numpy().astype(model.classes_.dtype)
    assert np.array_equal(predicted, model.predict(X))
    shares = found.filter(regex="^probability_").to_numpy()
    np.testing.assert_allclose(shares, model.predict_proba(X), **CLOSE)
    scores = found.filter(regex="^score").to_numpy()
    expected = model.decision_function(X)
    np.testing.assert_allclose(scores.reshape(expected.shape), expected, **CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_duckdb_is_predict(name):
    made = made_models()[name]
    query = made.model.to_sql(QUOTED, dialect="duckdb", columns=["key"], contributions=True)
    check(made, from_duckdb(query, plain(made.frame)))


@pytest.mark.parametrize("name", NAMES)
def test_sqlite_is_predict(name):
    made = made_models()[name]
    query = made.model.to_sql(QUOTED, dialect="sqlite", columns=["key"], contributions=True)
    check(made, from_sqlite(query, plain(made.frame)))


@pytest.mark.parametrize("dialect", sorted({*DIALECTS} - {"duckdb", "sqlite"}))
@pytest.mark.parametrize("name", ["regression", "two classes", "three classes", "poisson"])
def test_other_dialects_mean_the_same(name, dialect):
    made = made_models()[name]
    table = '`my "table"`' if dialect in ("bigquery", "spark") else QUOTED
    query = made.model.to_sql(table, dialect=dialect, columns=["key"], contributions=True)
    parsed = sqlglot.parse_one(query, dialect=dialect)
    if dialect == "bigquery":
        with_values(parsed, query)
    check(made, from_duckdb(parsed.sql(dialect="duckdb"), plain(made.frame)))


def with_values(parsed, query):
    """BigQuery's arrays of rows become VALUES: sqlglot would make columns of structs of them."""
    array = r"(\w+) AS \(SELECT \* FROM UNNEST\(\[STRUCT<(.*?)>\n(.*?)\]\)\)"
    tables = {}
    for table, fields, rows in re.findall(array, query, flags=re.DOTALL):
        columns = ", ".join(f.split()[0] for f in fields.split(", "))
        text = f"WITH {table}({columns}) AS (VALUES {rows}) SELECT 1"
        tables[table] = sqlglot.parse_one(text, dialect="duckdb").ctes[0]
    found = [step for step in parsed.ctes if step.alias.startswith("rgboost_pair_")]
    assert {step.alias for step in found} == set(tables)
    for step in found:
        step.replace(tables[step.alias])


def test_default_columns_are_the_features():
    made = made_models()["two classes"]
    query = made.model.to_sql(QUOTED, dialect="sqlite")
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in made.frame.columns)
    connection.execute(f"CREATE TABLE {QUOTED} ({names})")
    found = [column[0] for column in connection.execute(query).description]
    connection.close()
    labels = made.model.classes_
    added = ["score", *(f"probability_{label}" for label in labels), "prediction"]
    assert found == [*made.frame.columns, *added]


def test_names_that_are_taken():
    """Columns of the table that are called like ours, also but for capitals."""
    X = pd.DataFrame({"Prediction": np.arange(40.0), "cell": 0.0, "X_cell": np.arange(40.0) % 7})
    y = X["Prediction"] + X["X_cell"]
    model = RGBMRegressor(max_iter=9, interactions=0, random_state=0).fit(X, y)
    query = model.to_sql(QUOTED, dialect="duckdb", columns=[*X.columns, "key"])
    found = from_duckdb(query, X.assign(key=np.arange(40)))
    np.testing.assert_allclose(found["prediction_"], model.predict(X), **CLOSE)


def test_scores_beyond_the_exponents_of_engines():
    X = pd.DataFrame({"a": np.arange(40.0)})
    model = RGBMRegressor(loss="poisson", max_iter=3, interactions=0, random_state=0)
    model.fit(X, X["a"])
    for shift, expected in ((2000.0, np.exp(700.0)), (-2000.0, np.exp(-700.0))):
        model.model_.tables[:] += shift
        for dialect, run in (("duckdb", from_duckdb), ("sqlite", from_sqlite)):
            query = model.to_sql(QUOTED, dialect=dialect, columns=["key"])
            found = run(query, X.assign(key=np.arange(40)))["prediction"]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)
        model.model_.tables[:] -= shift


FAULTS = [
    (dict(table="a; DROP TABLE b"), "no name of a table"),
    (dict(table="(SELECT 1)"), "no name of a table"),
    (dict(table=""), "no name of a table"),
    (dict(dialect="oracle"), "'duckdb', 'sqlite', 'postgres'"),
    (dict(columns="key"), "list of names"),
    (dict(columns=["key", "KEY"]), "same name but for capitals"),
]


@pytest.mark.parametrize(("change", "message"), FAULTS)
def test_faults(change, message):
    given = {"table": "t", "dialect": "duckdb", "columns": ["key"]} | change
    with pytest.raises(ExportError, match=message):
        made_models()["codes"].model.to_sql(given.pop("table"), **given)


def test_tables_in_schemas():
    query = made_models()["codes"].model.to_sql("risk.customers", dialect="postgres")
    assert "FROM risk.customers" in query
