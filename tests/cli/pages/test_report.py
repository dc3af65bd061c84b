"""rgboost report."""

import json

import numpy as np
import pandas as pd
import pytest

import rgboost as package

from ...explain.test_page import embedded

N = 120


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model and rows that it was not fitted to, with columns that it does not know."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=N), "kind": rng.choice(["x", "y"], N)})
    rows = rows.assign(y=rows.a + (rows.kind == "x"), group=np.arange(N) % 2, heavy=1.0 + rows.a**2)
    model = package.RGBMRegressor(max_iter=20, interactions=0, random_state=0)
    model.fit(rows[["a", "kind"]], rows.y).save(folder / "model.rgb")
    rows.to_csv(folder / "rows.csv", index=False)
    rows[["a", "kind", "y"]].to_parquet(folder / "rows.parquet")
    return folder, rows


def data_of(path):
    return embedded(path.read_text(encoding="utf-8"))


def test_report(rgboost, files, tmp_path):
    folder, rows = files
    out = tmp_path / "report.html"
    done = rgboost(
        "report", folder / "model.rgb", folder / "rows.csv", "--target", "y", "--by", "group",
        "--weight", "heavy", "--out", out,
    )  # fmt: skip
    assert (done.code, done.out, done.err) == (0, f"{out}\n", "")
    data = data_of(out)
    model = package.load(folder / "model.rgb")
    wanted = (
        np.average((rows.y - model.predict(rows[["a", "kind"]])) ** 2, weights=rows.heavy) ** 0.5
    )
    told = {one["name"]: one["value"] for one in data["performance"]["measures"]}
    assert told["root of the mean squared error"] == pytest.approx(wanted, rel=1e-5)
    assert [level["rows"] for level in data["levels"]["levels"]] == [60, 60]
    assert data["levels"]["name"] == "group"
    assert "<h1" in out.read_text()
    assert "model.rgb" in out.read_text()


def test_the_only_other_column_is_the_target(rgboost, files, tmp_path):
    folder, _ = files
    out = tmp_path / "report.html"
    done = rgboost("report", folder / "model.rgb", folder / "rows.parquet", "--out", out, "--json")
    assert json.loads(done.out) == {"out": str(out), "rows": N, "rows_kept": 0}
    done = rgboost("report", folder / "model.rgb", folder / "rows.csv", "--out", out)
    assert done.code == 2
    assert "the target is missing, name it by --target" in done.err


def test_rows_leave_the_house_with_a_warning(rgboost, files, tmp_path):
    folder, _ = files
    out = tmp_path / "report.html"
    arguments = ["report", folder / "model.rgb", folder / "rows.parquet", "--out", out, "--rows"]
    done = rgboost(*arguments, "150")
    assert "holds the values of 120 rows" in done.err
    assert len(data_of(out)["rows"]) == N
    done = rgboost(*arguments, "201")
    assert done.code == 2
    assert "200" in done.err


def test_faults(rgboost, files, tmp_path):
    folder, _ = files
    rows = folder / "rows.csv"
    out = ["--out", tmp_path / "report.html"]
    assert rgboost("report", folder / "no.rgb", rows, *out).code == 3
    done = rgboost("report", folder / "model.rgb", rows, "--target", "y", "--by", "grup", *out)
    assert done.code == 3
    assert "there is no column 'grup', which --by names" in done.err
    done = rgboost("report", folder / "model.rgb", rows, "--target", "y", "--by", "y", *out)
    assert done.code == 3
    done = rgboost("report", folder / "model.rgb", rows, "--target", "y", "--out", "/dev/full")
    assert done.code == 4
    assert not list(tmp_path.iterdir())


def test_libsvm(rgboost, tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f} 1:{a:.3f} 3:{b:.3f}" for a, b in rng.normal(size=(60, 2))]
    rows, out = tmp_path / "rows.svm", tmp_path / "report.html"
    rows.write_text("\n".join(lines) + "\n")
    rgboost("fit", rows, "--out", tmp_path / "m.rgb", "--max-iter", "10", "--verbose", "0")
    done = rgboost("report", tmp_path / "m.rgb", rows, "--out", out, "--format", "libsvm")
    assert done.code == 0, done.err
    assert data_of(out)["performance"]["rows"] == 60
    done = rgboost("report", tmp_path / "m.rgb", rows, "--by", "a", "--out", out)
    assert done.code == 2
    assert "--by names a column, and LIBSVM files have none" in done.err
