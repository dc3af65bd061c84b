"""What the process may use: the machine, control groups of both versions, the address space."""

import subprocess
import sys

import pytest

from rgboost._core import memory
from rgboost._core.memory import memory_budget, memory_limit

GIB = 1 << 30
NO_LIMIT = "9223372036854771712"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of 64 GiB whose files are in a folder; ``write`` fills in some of them."""
    monkeypatch.setattr(memory, "machine_memory", lambda: 64 * GIB)
    monkeypatch.setattr(memory, "address_space", lambda proc: None)

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        memory.group_limits.cache_clear()
        return memory_limit(tmp_path / "proc", tmp_path / "cgroup")

    return write


def test_without_groups_it_is_the_machine(machine):
    assert machine({}) == 64 * GIB
    assert machine({"proc/cgroup": "0::/\n"}) == 64 * GIB


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"memory.max": "max\n"}, 64 * GIB),
        ({"a/b/memory.max": f"{2 * GIB}\n"}, 2 * GIB),
        ({"a/b/memory.max": "max\n", "a/memory.max": f"{3 * GIB}\n"}, 3 * GIB),
        ({"a/b/memory.max": f"{2 * GIB}", "a/memory.max": f"{GIB}"}, GIB),
        ({"a/b/memory.max": f"{2 * GIB}", "a/b/memory.high": f"{GIB}"}, GIB),
        ({"memory.max": f"{GIB}"}, GIB),  # a container that sees its group as the root
        ({"other/memory.max": f"{GIB}"}, 64 * GIB),
        ({"a/b/memory.max": f"{128 * GIB}"}, 64 * GIB),
    ],
)
def test_groups_of_version_2(machine, files, expected):
    assert machine({"proc/cgroup": "0::/a/b\n"}) == 64 * GIB
    assert machine({f"cgroup/{name}": text for name, text in files.items()}) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"memory/memory.limit_in_bytes": NO_LIMIT}, 64 * GIB),
        ({"memory/a/b/memory.limit_in_bytes": f"{GIB}\n"}, GIB),
        ({"memory/a/memory.limit_in_bytes": f"{GIB}\n"}, GIB),
        ({"memory/memory.limit_in_bytes": f"{GIB}\n"}, GIB),
        ({"memory/memory.limit_in_bytes": NO_LIMIT, "unified/a/memory.max": f"{GIB}"}, GIB),
        ({"cpu/a/b/memory.limit_in_bytes": f"{GIB}\n"}, 64 * GIB),
    ],
)
def test_groups_of_version_1(machine, files, expected):
    groups = "5:cpu,cpuacct:/a/b\n4:memory:/a/b\n0::/a\n"
    machine({"proc/cgroup": groups})
    assert machine({f"cgroup/{name}": text for name, text in files.items()}) == expected


def test_the_budget_is_a_quarter(monkeypatch):
    monkeypatch.setattr(memory, "memory_limit", lambda: 4 * GIB)
    assert memory_budget() == GIB


LIMITED = """
import resource
from rgboost._core.memory import memory_limit
free = memory_limit()
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
print(free, memory_limit())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is mapped")
def test_address_space_that_is_left():
    code = LIMITED.format(limit=6 * GIB)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    free, limited = map(int, done.stdout.split())
    assert limited < min(free, 6 * GIB)  # what is mapped already is not left
    assert limited > min(free, 3 * GIB)
