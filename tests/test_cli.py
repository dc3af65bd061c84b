"""The command-line program."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from rgboost.cli import app

runner = CliRunner()


@pytest.mark.parametrize(
    ("arguments", "name", "expected"),
    [
        (["limit"], "limit", "K = 40: largest difference to the Beta(1, 10) density"),
        (["limit", "--t", "3", "--size", "30"], "limit", "K = 30: largest difference to the Beta"),
        (["theta", "--t", "4"], "theta", "theta.svg"),
        (["spread"], "spread", "Theta^2 = 0.933"),
    ],
)
def test_theory_figures(arguments, name, expected, tmp_path):
    result = runner.invoke(app, ["theory", *arguments, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert expected in result.output
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")


def test_info():
    result = runner.invoke(app, ["info"])
    assert result.exit_code == 0
    assert "rgboost 0.1.0" in result.output


def test_help_fits_a_screen():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert len(result.output.splitlines()) < 24


def test_bad_input_is_told_in_a_line(tmp_path):
    command = [sys.executable, "-m", "rgboost", "theory", "limit", "--t", "0", "--out"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("rgboost: ")
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
