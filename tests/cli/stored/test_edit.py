"""rgboost edit."""

import json

import numpy as np
import pandas as pd
import pytest

import rgboost as package


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(["x", "y"], 200)})
    model = package.RGBMRegressor(max_iter=20, interactions=0, random_state=0)
    labels = rows.a + (rows.b == "x")
    model.fit(rows, labels).save(tmp_path / "model.rgb")
    rows.assign(y=labels).to_csv(tmp_path / "rows.csv", index=False)
    editor = model.edit().drop("b", reason="not allowed").flatten("a", (0, 1), reason="few rows")
    editor.save(tmp_path / "edits.json")
    return tmp_path, model, editor, rows


def test_edits_are_made_stored_and_shown(rgboost, files):
    folder, _, editor, rows = files
    new = folder / "new.rgb"
    done = rgboost("edit", folder / "model.rgb", folder / "edits.json", "--out", new)
    assert done.code == 0
    assert done.out.startswith("drop b: not allowed")
    assert (package.load(new).predict(rows) == editor.model.predict(rows)).all()
    shown = rgboost("info", new).out
    assert "edits after the fit\n  drop b: not allowed (model " in shown
    told = json.loads(rgboost("info", new, "--json").out)
    assert [edit["do"] for edit in told["edits"]] == ["drop", "flatten"]
    assert told["checksum"] == package.editing.checksum(editor.model)


def test_what_the_edits_cost(rgboost, files):
    folder, _, editor, rows = files
    arguments = [folder / "model.rgb", folder / "edits.json", "--out", folder / "new.rgb"]
    done = rgboost("edit", *arguments, "--data", folder / "rows.csv", "--target", "y", "--json")
    found = json.loads(done.out)
    cost = editor.cost(rows, rows.a + (rows.b == "x"))
    assert found["loss_before"] == pytest.approx(cost.before)
    assert found["loss_after"] == pytest.approx(cost.after)
    assert len(found["edits"]) == 2


def test_info_shows_terms_before_and_after_and_what_edits_cost(rgboost, files):
    folder, model, editor, rows = files
    editor.model.save(folder / "new.rgb")
    told = json.loads(
        rgboost("info", folder / "new.rgb", "--data", folder / "rows.csv", "--json").out
    )
    curve = told["terms"]["a"]
    assert curve["before"] == model.explain_global()["a"].values.tolist()
    assert curve["after"] == editor.model.explain_global()["a"].values.tolist()
    assert set(told["terms"]) == {"a", "b"}
    cost = editor.cost(rows, rows.a + (rows.b == "x"))
    assert told["mean_loss"] == {"before": cost.before, "after": cost.after}
    shown = rgboost("info", folder / "new.rgb", "--data", folder / "rows.csv", "--target", "y").out
    low, high = min(curve["before"]), max(curve["before"])
    assert f"\n  a: {low:.4g} to {high:.4g} -> " in shown
    assert f"mean loss of these rows: {cost.before:.6g} -> {cost.after:.6g}" in shown
    for arguments in (
        ["--data", "rows.csv"],
        [folder / "model.rgb", "--data", folder / "rows.csv"],
    ):
        assert rgboost("info", *arguments).code == 2


def test_a_file_without_edits(rgboost, files):
    folder, model, _, rows = files
    model.edit().save(folder / "edits.json")
    done = rgboost("edit", folder / "model.rgb", folder / "edits.json", "--out", folder / "new.rgb")
    assert (done.code, done.out.strip()) == (0, str(folder / "new.rgb"))
    assert (package.load(folder / "new.rgb").predict(rows) == model.predict(rows)).all()


def test_offsets_and_weights_of_the_rows(rgboost, files):
    folder, _, _, rows = files
    more = {"y": rows.a + 1.0, "w": np.arange(200) % 3, "o": np.ones(200)}
    rows.assign(**more).to_csv(folder / "rows.csv", index=False)
    model = package.RGBMRegressor(max_iter=20, interactions=0, random_state=0)
    model.fit(rows, more["y"], more["w"], offset=more["o"]).save(folder / "model.rgb")
    editor = model.edit().flatten("a", (0, 3), reason="few rows")
    editor.refit_intercept(rows, more["y"], more["w"], more["o"], reason="they are others")
    editor.save(folder / "edits.json")
    files = [folder / "model.rgb", folder / "edits.json", "--out", folder / "new.rgb"]
    data = ["--data", folder / "rows.csv", "--target", "y", "--weight", "w"]
    done = rgboost("edit", *files, *data, "--offset", "o", "--json")
    cost = editor.cost(rows, more["y"], more["w"], more["o"])
    found = json.loads(done.out)
    assert found["loss_before"] == pytest.approx(cost.before)
    assert found["loss_after"] == pytest.approx(cost.after)
    done = rgboost("edit", *files, *data)
    assert done.code == 3
    assert "fitted with offsets" in done.err


def test_edits_that_do_not_apply(rgboost, files):
    folder, model, _, _ = files
    out = folder / "new.rgb"
    model.edit().drop("a", reason="x").model.save(folder / "other.rgb")
    done = rgboost("edit", folder / "other.rgb", folder / "edits.json", "--out", out)
    assert done.code == 3
    assert "the edits are for another model" in done.err
    done = rgboost("edit", folder / "model.rgb", folder / "none.json", "--out", out)
    assert done.code == 3
    assert "cannot be read" in done.err
    model.edit().refit_intercept(*_rows(folder), reason="x").save(folder / "edits.json")
    done = rgboost("edit", folder / "model.rgb", folder / "edits.json", "--out", out)
    assert done.code == 3
    assert "--data" in done.err
    assert not out.exists()


def _rows(folder):
    rows = pd.read_csv(folder / "rows.csv")
    return rows[["a", "b"]], rows.y
