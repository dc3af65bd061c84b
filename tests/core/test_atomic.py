"""A crash leaves the old file."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rgboost
from rgboost import RGBMRegressor
from rgboost._core.atomic import atomic_file, write_atomically

X = np.arange(20.0).reshape(10, 2)
FILE = str(Path(rgboost.__file__).parent / "_core" / "atomic.py")


def failing(number):
    yield b"half of the "
    raise RuntimeError(number)


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, [b"old"])
    with pytest.raises(RuntimeError):
        write_atomically(path, failing(1))
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_crash_leaves_the_old_file(tmp_path, step):
    """The process ends, as by a loss of power, in the middle of each step."""
    path = tmp_path / "model"
    model = RGBMRegressor(max_iter=3).fit(X, X[:, 0])
    model.save(path)
    crash = """
import os, sys
import importlib.util  # the module alone: importing the package takes a while
spec = importlib.util.spec_from_file_location("atomic", sys.argv[3])
atomic = importlib.util.module_from_spec(spec)
spec.loader.exec_module(atomic)
def pieces():
    yield b"half of the "
    if sys.argv[2] == "write":
        os._exit(9)
    yield b"new file"
if sys.argv[2] != "write":
    setattr(atomic.os, sys.argv[2], lambda *args: os._exit(9))
atomic.write_atomically(sys.argv[1], pieces())
"""
    done = subprocess.run([sys.executable, "-c", crash, str(path), step, FILE], check=False)
    assert done.returncode == 9
    np.testing.assert_array_equal(rgboost.load(path).predict(X), model.predict(X))
    assert len(list(tmp_path.iterdir())) == 2  # with the draft that the crash left
    model.save(path)
    rgboost.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_several_writers_do_not_meet(tmp_path):
    path = tmp_path / "file[1]"
    (tmp_path / ".file[1].notes.part").write_bytes(b"of somebody else")
    with atomic_file(path) as one:
        one.write(b"one, ")
        with atomic_file(path) as other:
            other.write(b"the other")
        assert path.read_bytes() == b"the other"
        one.write(b"and more of it")
    assert path.read_bytes() == b"one, and more of it"
    assert {p.name for p in tmp_path.iterdir()} == {"file[1]", ".file[1].notes.part"}


def test_many_processes_write_one_file(tmp_path):
    """Each of them whole, none of them disturbed by another that cleans up."""
    path = tmp_path / "file"
    write = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("atomic", sys.argv[2])
atomic = importlib.util.module_from_spec(spec)
spec.loader.exec_module(atomic)
for k in range(100):
    atomic.write_atomically(sys.argv[1], [sys.argv[3].encode() * 1000])
"""
    command = [sys.executable, "-c", write, str(path), FILE]
    writers = [subprocess.Popen([*command, letter]) for letter in "abcd"]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    found = path.read_bytes()
    assert len(found) == 1000
    assert found == found[:1] * 1000
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_permissions_are_those_of_a_plain_file(tmp_path):
    write_atomically(tmp_path / "a", [b""])
    (tmp_path / "b").write_bytes(b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_links_stay_links(tmp_path):
    write_atomically(tmp_path / "file", [b"old"])
    os.symlink(tmp_path / "file", tmp_path / "link")
    write_atomically(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_stay_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(tmp_path / "pipe", [b"through"])
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]
    assert not (tmp_path / "pipe").is_file()


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        RGBMRegressor(max_iter=1).fit(X, X[:, 0]).save(tmp_path / "no" / "model")
