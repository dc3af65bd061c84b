"""Somebody who waits for the compiler is told, and can have it done beforehand."""

import gc
import io
import os
import shutil
import subprocess
import sys
import warnings

import numba
import pytest
from rich.console import Console

import rgboost
from rgboost import warming
from rgboost._core.compiling import NOTICE, told_by
from rgboost._core.jit import kernel
from rgboost.callbacks import ProgressBar
from rgboost.cli.show.progress import announce_compiling
from tests.conftest import JIT

compiles = pytest.mark.skipif(not JIT, reason="nothing is compiled without JIT")

CALL = """
import sys, types
{before}
import numpy as np
from rgboost._core.math import blocked_sum, largest
blocked_sum(np.ones(20), 20)
largest(np.ones(3), 3)
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty folder for compiled code, in this process and in those that it starts."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def compile_one(cache):
    """Compile a kernel as if it were one of the package."""

    def run():
        def double(x):
            return 2 * x

        shutil.rmtree(cache)
        double.__module__ = "rgboost.made"
        assert kernel()(double)(2) == 4

    return run


def told(cache, before="", terminal=True):
    """What a process that compiles writes to standard error, if that is a terminal or not."""
    reader, writer = os.openpty() if terminal else os.pipe()
    subprocess.run([sys.executable, "-c", CALL.format(before=before)], stderr=writer, check=True)
    os.close(writer)
    text = b""
    try:
        while more := os.read(reader, 1000):
            text += more
    except OSError:  # how a terminal ends
        pass
    os.close(reader)
    return text.decode()


@compiles
def test_a_terminal_shows_one_line_the_first_time(cache):
    assert told(cache).splitlines() == ["rgboost: compiling for this machine, once"]
    assert told(cache) == ""


@compiles
def test_a_notebook_shows_it_and_a_log_does_not(cache, tmp_path):
    assert told(cache, terminal=False) == ""
    for file in tmp_path.rglob("*.nb[ic]"):
        file.unlink()
    notebook = "sys.modules['ipykernel'] = types.ModuleType('ipykernel')"
    assert NOTICE in told(cache, notebook, terminal=False)


@compiles
def test_the_collector_rests_meanwhile(compile_one):
    seen = []
    with told_by(lambda: seen.append(gc.isenabled())):
        compile_one()
    assert seen == [False]
    assert gc.isenabled()
    gc.disable()
    try:
        compile_one()
        assert not gc.isenabled()
    finally:
        gc.enable()


@compiles
def test_the_collector_works_again_after_code_that_cannot_be_compiled(cache):
    def fails(x):
        return x.no_such_thing

    fails.__module__ = "rgboost.made"
    with pytest.raises(numba.TypingError):
        kernel()(fails)(1)
    assert gc.isenabled()


@compiles
def test_the_bar_says_it(compile_one, capfd):
    screen = io.StringIO()
    with ProgressBar(console=Console(file=screen, force_terminal=True, width=100)):
        compile_one()
    assert NOTICE in screen.getvalue()
    assert capfd.readouterr().err == ""


@compiles
@pytest.mark.parametrize("shows", [True, False])
def test_the_program_says_it(compile_one, capfd, shows):
    with announce_compiling(shows):
        compile_one()
        compile_one()
    assert capfd.readouterr().err == (f"{NOTICE}\n" if shows else "")


@compiles
def test_after_warming_up_nothing_is_compiled(cache):
    rgboost.warm_up(paths=["regression"], verbose=0)
    code = """
import numpy as np
from numba.core.event import install_recorder
from rgboost import RGBMRegressor
X = np.random.default_rng(1).normal(size=(300, 4))
with install_recorder("numba:compile") as compiled:
    RGBMRegressor().fit(X, X[:, 0]).predict(X)
assert not compiled.buffer, compiled.buffer
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_kinds_of_fits_that_do_not_exist():
    with pytest.raises(ValueError, match=r"paths=.'ranking'. are not among"):
        rgboost.warm_up(paths=["regression", "ranking"])


@pytest.fixture
def compiled_paths(monkeypatch):
    """Kinds of fits that would be compiled."""
    seen = []

    def compile_apart(name):
        seen.append(name)
        return "Compiled code cannot be kept." if name == "regression" else ""

    monkeypatch.setattr(warming, "_compile_apart", compile_apart)
    return seen


def test_warming_up_tells_that_code_cannot_be_kept(compiled_paths, capfd):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rgboost.warm_up(2)
    assert [str(one.message) for one in caught] == ["Compiled code cannot be kept."]
    assert sorted(compiled_paths) == sorted(warming.PATHS)
    assert "compiling" in capfd.readouterr().err
