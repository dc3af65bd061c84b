"""The arithmetic of the page, run by Node: what ``predict`` says, on every kind of model."""

import json
import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse

from rgboost import RGBMRegressor
from rgboost.explain.page.write import read_asset
from rgboost.export.extract import extract
from rgboost.report.exact import Inputs, exact_tables

from ..export.made import NAMES, NUMBER, SHADES, TEXT, made_models, rows_of

node = shutil.which("node")

HARNESS = """
const {tables, rows} = JSON.parse(require("fs").readFileSync(0, "utf8")), model = readModel(tables);
const told = rows.map(row => {
  const {added, score} = evaluate(model, row.map(x => x ?? NaN));
  return {added: added.map(v => [...v]), score: [...score], predicted: predictionOf(model, score)};
});
process.stdout.write(JSON.stringify(told));
"""


def in_node(tables, rows):
    values = [[None if np.isnan(x) else x for x in row] for row in rows.tolist()]
    done = subprocess.run(
        [node, "-e", '"use strict";\n' + read_asset("rgboost.report", "score.js") + HARNESS],
        input=json.dumps({"tables": tables, "rows": values}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(node is None, reason="needs Node; tests/browser has the same in a browser")
@pytest.mark.parametrize("name", NAMES)
def test_predictions_are_those_of_python(name):
    made = made_models()[name]
    model, X = made.model, rows_of(made)
    terms = extract(model)
    inputs = Inputs(model, terms)
    told = in_node(exact_tables(terms, inputs), inputs.values(model._check_rows(X)))
    local = model.explain_local(X)
    wanted = local.contributions.reshape(len(X), -1, terms.outputs)
    found = np.array([one["added"] for one in told]).reshape(wanted.shape)
    np.testing.assert_array_equal(found, wanted)
    score = local.score().reshape(len(X), -1)
    np.testing.assert_array_equal([one["score"] for one in told], score)
    ask = model.predict_proba if terms.classes else model.predict
    wanted = ask(X).reshape(len(X), -1)
    np.testing.assert_allclose([one["predicted"] for one in told], wanted, rtol=1e-14, atol=1e-15)


def fields_of(name):
    made = made_models()[name]
    rows = made.model._check_rows(rows_of(made))
    fields = Inputs(made.model, extract(made.model)).to_list(rows)
    return made, {field["name"]: field for field in fields}


def test_fields_of_the_most_important_features_come_first():
    made, fields = fields_of("three classes")
    shares = [made.model.feature_importances_[field["feature"]] for field in fields.values()]
    assert shares == sorted(shares, reverse=True)
    assert "unused" not in fields


def test_fields_start_at_medians_and_frequent_categories():
    made, fields = fields_of("regression")
    known = made.frame[NUMBER].dropna().sort_values().to_numpy()
    assert fields[NUMBER]["start"] == float(f"{known[(len(known) - 1) // 2]:.4g}")
    kinds = fields[TEXT]
    counts = made.frame[TEXT].value_counts()
    known = counts[counts.index.isin(kinds["labels"])]
    started = (kinds["labels"] + ["never seen"])[int(kinds["start"])]
    assert counts[started] == max(known.max(), counts["never seen"])
    assert kinds["labels"] == sorted([*SHADES, *(f"rare {k}" for k in range(6))])


def test_categories_that_are_numbers_are_choices():
    assert fields_of("regression")[1]["code"]["labels"] == ["2.5", "7", "1e+09"]


def test_categories_without_labels():
    X = np.column_stack([np.arange(120) % 4 * 2.5, np.arange(120) % 7])
    model = RGBMRegressor(categorical_features=[0], max_iter=30, interactions=0, random_state=0)
    model.fit(X, np.sin(X[:, 0]) + 0.1 * X[:, 1])
    inputs = Inputs(model, extract(model))
    place = inputs.place[0]
    assert inputs.to_list(X)[place]["labels"] == ["0", "2.5", "5", "7.5"]
    values = inputs.values(np.array([[5.0, 1.0], [3.0, 1.0], [np.nan, 1.0]]))[:, place]
    np.testing.assert_array_equal(values, [2, 4, np.nan])
    assert exact_tables(extract(model), inputs)["terms"][0]["axes"][0]["bins"] == [0, 1, 2, 3, 4]


def test_sparse_rows_are_read_alike():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.4)
    model = RGBMRegressor(max_iter=30, interactions=0, random_state=0).fit(X, X @ np.arange(6.0))
    inputs = Inputs(model, extract(model))
    sparse = scipy.sparse.csr_array(X)
    np.testing.assert_array_equal(inputs.values(sparse), inputs.values(X))
    assert inputs.starts(sparse) == inputs.starts(X)
