"""Functions that are compiled as parts of others."""

import subprocess
import sys
import threading

import numba
import numpy as np
import pytest

from rgboost._core.jit import kernel
from rgboost._core.linking import is_part
from tests.conftest import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled without JIT")


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """A function that calls another one, and that one."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    @kernel()
    def root(x):
        if x < 0:
            raise ValueError("no root")
        return np.sqrt(x)

    @kernel()
    def two_roots(x):
        return root(x) + root(2 * x)

    return two_roots, root


def test_a_part_is_compiled_again_when_python_calls_it(functions):
    two_roots, root = functions
    assert two_roots(8.0) == np.sqrt(8.0) + 4.0
    assert all(map(is_part, root.overloads.values()))
    assert root(9.0) == 3.0
    assert not any(map(is_part, root.overloads.values()))
    assert two_roots(2.0) == np.sqrt(2.0) + 2.0


def test_a_function_that_python_called_first_is_linked_into_others(functions):
    two_roots, root = functions
    assert root(9.0) == 3.0
    assert two_roots(8.0) == np.sqrt(8.0) + 4.0
    assert root(16.0) == 4.0


def test_parts_are_not_kept_on_disk(functions, tmp_path):
    functions[0](8.0)
    assert [file.name.split("-")[0].split(".")[-1] for file in tmp_path.rglob("*.nbc")] == [
        "two_roots"
    ]


def test_an_error_in_a_part_is_raised(functions):
    with pytest.raises(ValueError, match="no root"):
        functions[0](-1.0)


def test_threads_that_call_a_part_while_another_is_compiled(functions):
    two_roots, root = functions
    two_roots(8.0)
    results = []
    calls = [lambda: two_roots(8), lambda: root(9.0), lambda: root(9), lambda: two_roots(2.0)]
    threads = [threading.Thread(target=lambda call=call: results.append(call())) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted([np.sqrt(8) + 4, 3.0, 3.0, np.sqrt(2) + 2])


def test_code_from_disk_raises_errors_of_its_parts(tmp_path):
    (tmp_path / "made.py").write_text(
        "from rgboost._core.jit import kernel\n"
        "@kernel()\n"
        "def inner(x):\n"
        "    if x < 0:\n"
        "        raise ValueError('negative')\n"
        "    return x\n"
        "@kernel()\n"
        "def outer(x):\n"
        "    return inner(x) + 1\n"
    )
    code = (
        "import made\n"
        "assert made.outer(1) == 2\n"
        "try:\n"
        "    made.outer(-1)\n"
        "except ValueError as error:\n"
        "    print(error, *made.outer.stats.cache_hits.values())\n"
    )
    for hits in ("", " 1"):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout == f"negative{hits}\n"
