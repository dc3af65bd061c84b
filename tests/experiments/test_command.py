"""The command, through a program of its own."""

import json

import pytest
import typer
from typer.testing import CliRunner

from rgboost.data import datasets
from rgboost.experiments import command
from rgboost.experiments.command import reproduce

runner = CliRunner()


@pytest.fixture
def app():
    program = typer.Typer()
    program.command()(reproduce)
    return program


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No cache and no network."""
    monkeypatch.setattr(datasets, "cache_dir", lambda: tmp_path / "cache")
    monkeypatch.delenv("RGBOOST_DATA", raising=False)

    def fail(url, *_, **__):
        raise datasets.DataError(f"{url} cannot be reached, check the network")

    monkeypatch.setattr(datasets, "fetch", fail)


def test_embedded(app, tmp_path, nowhere):
    arguments = ["--out", str(tmp_path), "--seeds", "1", "--iterations", "40"]
    result = runner.invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    for name in ("embedded", "embedded-digits"):
        for step in ("constant", "line-search"):
            assert (tmp_path / name / f"{name}-{step}.png").stat().st_size > 30_000
            assert (tmp_path / name / f"{name}-{step}.svg").read_text().startswith("<?xml")
        numbers = json.loads((tmp_path / name / "results.json").read_text())
        assert {c["n_iter"] for c in numbers["cells"]} == {40}
        assert {v["status"] for v in numbers["verdicts"]} == {"not tested here"}
        assert numbers["table"]
        assert numbers["versions"]["rgboost"]
        assert numbers["machine"]["processor"]
    page = (tmp_path / "reproduce.html").read_text()
    assert "Breast cancer" in page
    assert "same iterates, other cost" in page
    assert "Breast cancer" in result.output
    words = " ".join(result.output.split())
    assert words.count("not tested here: 8 of the paper's 8 claims") == 2
    assert "(rgboost reproduce a9a colon-cancer rcv1 year)" in words
    assert "not confirmed" not in words


def test_page_keeps_the_sets_that_are_there(app, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "draw_figures", lambda *_: [])
    arguments = ["--out", str(tmp_path), "--seeds", "1", "--iterations", "5"]
    for name in ("embedded-digits", "embedded"):
        runner.invoke(app, [name, "--step", "constant", *arguments], catch_exceptions=False)
    page = (tmp_path / "reproduce.html").read_text()
    assert page.index('id="embedded"') < page.index('id="embedded-digits"')


def test_missing_data(app, tmp_path, nowhere):
    with pytest.raises(datasets.DataError) as caught:
        runner.invoke(app, ["colon-cancer", "--out", str(tmp_path)], catch_exceptions=False)
    message = str(caught.value)
    assert "colon-cancer is not here" in message
    assert "put colon-cancer (as it is, or as .xz, .bz2 or .gz) into" in message
    assert str(tmp_path / "cache") in message


def test_missing_data_with_a_stand_in(app, tmp_path, nowhere):
    (tmp_path / "YearPredictionMSD.first1176.csv").write_text("2001,1\n")
    arguments = ["year", "--out", str(tmp_path / "out"), "--data-dir", str(tmp_path)]
    with pytest.raises(datasets.DataError, match="which is here: rgboost reproduce year-sample"):
        runner.invoke(app, arguments, catch_exceptions=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a8a"], "'a8a' is no data set; use one of"),
        (["--epochs", "3", "--seconds", "1"], "Give one budget"),
        (["--seconds", "-1"], "seconds=-1.0 is no budget"),
        (["--step", "newton"], "step='newton' is not known; use both, constant or line-search"),
        (["--seeds", "0"], "seeds=0 leaves nothing to run"),
    ],
)
def test_bad_input(app, tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        runner.invoke(app, [*arguments, "--out", str(tmp_path)], catch_exceptions=False)


def test_figures_without_matplotlib(app, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'rgboost\[plot\]'"):
        runner.invoke(app, ["--out", str(tmp_path)], catch_exceptions=False)
