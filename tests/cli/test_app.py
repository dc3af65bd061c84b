"""The program as a whole: help, start, completion, exit codes."""

import os
import subprocess
import sys

import pytest

from rgboost.cli.app import app, load_command

NAMES = [command.name for command in app.registered_commands]


def shell(*arguments, **environment):
    """The program in a process of its own, on a terminal of 80 columns."""
    command = [sys.executable, "-m", "rgboost", *arguments]
    env = {**os.environ, "COLUMNS": "80", "LINES": "24", **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env)


def test_help_fits_a_screen():
    done = shell("--help")
    lines = done.stdout.splitlines()
    assert len(lines) < 30
    assert max(map(len, lines)) <= 80
    assert all(any(line.startswith(f"  {name} ") for line in lines) for name in NAMES)


def test_no_arguments_show_the_help(rgboost):
    done = rgboost()
    assert "Usage: rgboost" in done.out + done.err


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_and_the_common_options(name, rgboost):
    done = rgboost(name, "--help")
    assert done.code == 0
    assert f"Usage: rgboost {name}" in done.out
    if name != "theory":  # its commands have it
        assert "--debug" in done.out


def test_commands_are_what_they_are_called():
    assert [load_command(name).name for name in NAMES] == NAMES


def test_help_does_not_wait_for_heavy_packages():
    code = (
        "import sys\nfrom rgboost.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(*{'numpy', 'numba', 'scipy', 'sklearn', 'pandas'} & {*sys.modules}, 'end')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "end"


def test_version(rgboost):
    import rgboost as package

    assert rgboost("--version").out == f"rgboost {package.__version__}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("rgboost ", {"fit", "predict", "explain", "theory", "bench", "info"}),
        ("rgboost fit --max-", {"--max-iter", "--max-bins"}),
        ("rgboost fit x.csv --task ", {"regression", "classification"}),
        ("rgboost fit x.csv --engine ", {"auto", "direct", "gram", "quadratic"}),
        ("rgboost theory ", {"limit", "theta", "spread"}),
    ],
)
def test_completion(words, expected):
    count = str(len(words.split()) - (0 if words.endswith(" ") else 1))
    env = {"_RGBOOST_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": count}
    done = shell(**env)
    assert expected <= {*done.stdout.split()}, done


def test_completion_script():
    done = shell("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_RGBOOST_COMPLETE=complete_bash" in done.stdout


def test_wrong_command_and_option(rgboost):
    assert rgboost("fitt").code == 2
    done = rgboost("info", "--nope")
    assert done.code == 2
    assert "--nope" in done.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_standard_output():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "rgboost", "info"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 4
    assert done.stderr == (
        "rgboost: standard output: cannot be written (No space left on device), "
        "free some space or write elsewhere\n"
    )


def test_reader_of_the_output_goes_away():
    command = [sys.executable, "-m", "rgboost", "info"]
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True)
    os.close(write_end)
    assert done.stderr == ""
    assert done.returncode == 4
