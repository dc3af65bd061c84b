"""rgboost theory."""

import json

import pytest


@pytest.mark.parametrize(
    ("arguments", "name", "expected"),
    [
        (["limit"], "limit", "K = 40: largest difference to the Beta(1, 10) density"),
        (["limit", "--t", "3", "--size", "30"], "limit", "K = 30: largest difference to the Beta"),
        (["theta", "--t", "4"], "theta", "theta.svg"),
        (["spread"], "spread", "Theta^2 = 0.933"),
    ],
)
def test_figures(rgboost, arguments, name, expected, tmp_path):
    done = rgboost("theory", *arguments, "--out", tmp_path)
    assert done.code == 0, done.err
    assert expected in done.out
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")


def test_json(rgboost, tmp_path):
    done = rgboost("theory", "spread", "--out", tmp_path / "new", "--json")
    found = json.loads(done.out)
    assert found["files"] == [str(tmp_path / f"new/spread.{end}") for end in ("png", "svg")]
    assert len(found["theta_squared"]) == 3


def test_bad_value(rgboost, tmp_path):
    done = rgboost("theory", "limit", "--t", "0", "--out", tmp_path)
    assert done.code == 2
    assert done.err.startswith("rgboost: t=0 ")
    assert len(done.err.splitlines()) == 1
