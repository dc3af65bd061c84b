"""A file with texts, missing values and three classes, from fit to explain."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import rgboost as package
from rgboost.cli.commands import predict as predict_module


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"age": rng.normal(size=150), "city": rng.choice(["Ulm", "Bonn", "007"], 150)}
    )
    drift = rows["age"] + 2.0 * (rows["city"] == "Ulm")
    rows.loc[::7, "age"] = np.nan
    rows.loc[::5, "city"] = None
    return rows.assign(label=np.array(["low", "middle", "high"])[np.digitize(drift, [0.0, 1.0])])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_texts_missing_values_and_three_classes(rgboost, frame, tmp_path, monkeypatch, ending):
    data, model = tmp_path / f"data.{ending}", tmp_path / "model.rgb"
    frame.to_csv(data, index=False) if ending == "csv" else frame.to_parquet(data)
    done = rgboost("fit", data, "--target", "label", "--out", model, "--max-iter", 30,
                   "--valid", data, "--verbose", 0, "--json")  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["classes"] == ["high", "low", "middle"]
    assert set(found["importances"]) == {"age", "city"}
    # In batches so short that some have no text in the column of texts.
    monkeypatch.setattr(predict_module, "BATCH_ROWS", 2)
    monkeypatch.setattr(predict_module, "BATCH_VALUES", 4)
    done = rgboost("predict", model, data, "--proba")
    assert done.code == 0, done.err
    written = pd.read_csv(io.StringIO(done.out))
    loaded = package.load(model)
    rows = frame[["age", "city"]]
    assert written.prediction.tolist() == loaded.predict(rows).tolist()
    names = ["probability_high", "probability_low", "probability_middle"]
    np.testing.assert_allclose(written[names], loaded.predict_proba(rows), rtol=1e-12)
    page = tmp_path / "page.html"
    assert rgboost("explain", model, "--out", page).code == 0
    assert '"007"' in page.read_text(encoding="utf-8")
    assert loaded.explain_global()["city"].categories.tolist() == ["007", "Bonn", "Ulm"]


def test_texts_among_numbers_are_still_a_fault(rgboost, frame, tmp_path):
    data, model = tmp_path / "data.csv", tmp_path / "model.rgb"
    frame.to_csv(data, index=False)
    rgboost("fit", data, "--target", "label", "--out", model, "--max-iter", 3, "--verbose", 0)
    frame.assign(age="old").to_csv(data, index=False)
    done = rgboost("predict", model, data)
    assert done.code == 3
    assert "'old' is not a number, which the model needs in the column 'age'" in done.err
