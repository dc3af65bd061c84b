"""rgboost bench."""

import json

from rgboost.cli.commands import bench as module


def test_suite_is_found_in_a_checkout(rgboost, monkeypatch, tmp_path):
    seen = {}

    def run(command, cwd, stdout):
        seen.update(command=command, cwd=cwd)
        return type("Done", (), {"returncode": 3})

    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks/run.py").write_text("")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "src/rgboost/cli/commands/bench.py"))
    monkeypatch.setattr(module.subprocess, "run", run)
    done = rgboost("bench", "--full", "--out", tmp_path / "o")
    assert seen["cwd"] == tmp_path
    assert seen["command"][1:] == [
        "-m", "benchmarks.run", "--set", "full", "--out", str(tmp_path / "o")
    ]  # fmt: skip
    assert done.code == 1
    assert "exit code 3" in done.err


def test_comparison_elsewhere(rgboost, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "__file__", str(tmp_path / "site/rgboost/cli/commands/bench.py"))
    monkeypatch.setattr(module, "SIZE", (2000, 5, 10))
    found = json.loads(rgboost("bench", "--json").out)
    assert (found["rows"], found["features"], found["stumps"]) == (2000, 5, 10)
    losses = [one["loss"] for one in found["fits"].values()]
    assert abs(losses[0] / losses[2] - 1) < 0.01  # the same stumps up to where the bins end
    done = rgboost("bench")
    assert "scikit-learn, stumps" in done.out
    assert rgboost("bench", "--full").code == 2
