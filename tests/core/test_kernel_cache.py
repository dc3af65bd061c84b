"""Where compiled code is kept, also where next to nothing can be written.

Each case is a process of its own.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rgboost
from tests.conftest import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled without JIT")

CALL = """
import tempfile, warnings
import numpy as np
{before}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from rgboost._core.math import blocked_sum, largest
    assert blocked_sum(np.ones(20), 20) == 20.0 and largest(np.arange(3.0), 3) == 2.0
print(len(blocked_sum.stats.cache_hits))
for one in caught:
    print(one.category.__name__, one.message, sep=": ")
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package that may be read and not written."""
    copy = tmp_path / "lib"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(rgboost.__file__).parent, copy / "rgboost", ignore=ignored)
    subprocess.run(["chmod", "-R", "a-w", copy], check=True)
    yield copy
    subprocess.run(["chmod", "-R", "u+w", copy], check=True)


@pytest.fixture
def temporary(tmp_path):
    """The system's temporary folder."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


def obey_permissions():
    """Root may write everything, unless it gives up that right (CAP_DAC_OVERRIDE)."""
    if os.getuid() == 0:
        assert ctypes.CDLL(None).prctl(24, 1, 0, 0, 0) == 0  # PR_CAPBSET_DROP


def call(package, temporary, before="", **environment):
    """Cache hits of a kernel in a fresh process, and its warnings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "XDG", "HOME"))}
    environment = {"HOME": "/dev/null/home", "TMPDIR": str(temporary), **environment}
    done = subprocess.run(
        [sys.executable, "-B", "-c", CALL.format(before=before)],
        env={**kept, "PYTHONPATH": str(package), **environment},
        preexec_fn=obey_permissions,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    hits, *warned = done.stdout.splitlines()
    return int(hits), warned


def test_without_a_writable_folder_the_temporary_one_is_used(package, temporary):
    hits, warned = call(package, temporary)
    assert hits == 0
    assert len(warned) == 1
    assert warned[0].startswith("RuntimeWarning: Compiled code cannot be kept in ")
    assert "__pycache__ (Permission denied) or /dev/null/home/" in warned[0]
    (kept,) = temporary.glob("rgboost-*")
    assert f"It goes to {kept}, where it may not stay. Set NUMBA_CACHE_DIR" in warned[0]
    assert kept.stat().st_mode & 0o077 == 0
    assert call(package, temporary) == (1, [])


def test_nowhere_to_keep_code(package, temporary):
    hits, (warned,) = call(package, temporary, before="tempfile.tempdir = '/dev/null/tmp'")
    assert hits == 0
    assert "Every process compiles anew" in warned


def test_no_temporary_folder_at_all(package, temporary):
    no_folder = "def fail(): raise FileNotFoundError\ntempfile.gettempdir = fail"
    _, (warned,) = call(package, temporary, before=no_folder)
    assert "Every process compiles anew" in warned


def test_a_given_folder_that_cannot_be_written(package, temporary):
    _, (warned,) = call(package, temporary, NUMBA_CACHE_DIR="/dev/null/cache")
    assert "cannot be kept in /dev/null/cache/_core_" in warned
    assert "(Not a directory). It goes to " in warned
    assert call(package, temporary, NUMBA_CACHE_DIR="/dev/null/cache") == (1, [])


def test_a_disk_that_is_full(package, temporary, tmp_path):
    full = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    _, (warned,) = call(package, temporary, full, NUMBA_CACHE_DIR=str(tmp_path / "given"))
    assert "Every process compiles anew" in warned


@pytest.mark.parametrize("kind", ["open", "link"])
def test_code_is_not_taken_from_a_folder_that_others_can_write(package, temporary, kind):
    call(package, temporary)
    (kept,) = temporary.glob("rgboost-*")
    if kind == "open":
        kept.chmod(0o777)
    else:
        kept.symlink_to(kept.rename(temporary / "elsewhere"))
    hits, (warned,) = call(package, temporary)
    assert hits == 0
    assert "(others could write it)" in warned
    assert "Every process compiles anew" in warned


def test_code_in_a_package_that_cannot_be_written_is_used(package, temporary):
    subprocess.run(["chmod", "-R", "u+w", package], check=True)
    assert call(package, temporary) == (0, [])
    subprocess.run(["chmod", "-R", "a-w", package], check=True)
    assert call(package, temporary, before="tempfile.tempdir = '/dev/null/tmp'") == (1, [])


def test_a_damaged_file_is_as_good_as_none(package, temporary, tmp_path):
    given = tmp_path / "given"
    call(package, temporary, NUMBA_CACHE_DIR=str(given))
    for file in given.rglob("*.nb[ic]"):
        file.write_bytes(file.read_bytes()[:5])
    assert call(package, temporary, NUMBA_CACHE_DIR=str(given)) == (0, [])
    assert call(package, temporary, NUMBA_CACHE_DIR=str(given)) == (1, [])


def test_everything_is_imported_where_nothing_can_be_written(package, temporary):
    call(package, temporary, "import rgboost.estimators, rgboost.theory, rgboost.data.readers")


FAMILY = """
from typing import NamedTuple
from rgboost.losses.kernels import evaluate

class Terms(NamedTuple):
    factor: float

@evaluate.register(Terms)
def _evaluate(terms, y, f):
    return {value}, 0.0, 0.0
"""
EVALUATE = """
import numpy as np
from own_terms import Terms
from rgboost.statistics.rows import make_rows, start_rows
rows = make_rows(np.ones(3), None, 0.0)
start_rows(Terms(2.0), rows)
print(rows.loss_sums.sum(), sum(start_rows.stats.cache_hits.values()))
"""


def test_somebody_elses_code_may_change(tmp_path):
    """A kernel that calls a body from outside the package is not kept."""
    seen = []
    for value in ("terms.factor", "terms.factor", "3.0 * terms.factor"):
        (tmp_path / "own_terms.py").write_text(FAMILY.format(value=value))
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        environment["PYTHONPATH"] = f"{tmp_path}:{Path(rgboost.__file__).parent.parent}"
        done = subprocess.run(
            [sys.executable, "-B", "-c", EVALUATE], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        seen.append(done.stdout.split())
    assert seen == [["6.0", "0"], ["6.0", "0"], ["18.0", "0"]]
    kept = [path.read_bytes() for path in (tmp_path / "cache").rglob("*.nbi")]
    assert not any(b"own_terms" in index for index in kept)
