"""How much memory this process may use, and how much of it a fit may add."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path, PurePosixPath

SHARE = 4
"""A fit adds at most one part in so many of what the process may use."""

UNKNOWN_MACHINE = 8 << 30
"""Where the system does not tell how much memory it has."""


def memory_budget() -> int:
    """Bytes that a fit may add, all that it needs on the way included."""
    return memory_limit() // SHARE


def memory_limit(proc: Path = Path("/proc/self"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that this process may use: the least of the machine's memory, the limits of its control
    groups (which containers set), and what is left of its address space (``ulimit -v``)."""
    limits = [machine_memory(), *group_limits(proc, groups)]
    space = address_space(proc)
    return min(limits if space is None else [*limits, space])


def machine_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not POSIX
        return UNKNOWN_MACHINE


@functools.cache
def group_limits(proc: Path, groups: Path) -> tuple[int, ...]:
    """The limits of the control groups of the process, and of all groups that these are in; read
    once, which takes longer than some fits.

    A container often sees its own group as the root, and is told a path outside it: files that are
    not there say nothing.
    """
    roots: tuple[Path, ...]
    names: tuple[str, ...]
    found = []
    for line in _read(proc / "cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:  # version 2, by itself or beside version 1
            roots, names = (groups, groups / "unified"), ("memory.max", "memory.high")
        elif "memory" in controllers.split(","):
            roots, names = (groups / "memory", groups / controllers), ("memory.limit_in_bytes",)
        else:
            continue
        inner = PurePosixPath(path.lstrip("/"))
        for group in {root / part for root in roots for part in (inner, *inner.parents)}:
            for name in names:
                limit = _read(group / name).strip()
                if limit.isdigit():  # not "max"
                    found.append(int(limit))
    return tuple(found)


def address_space(proc: Path) -> int | None:
    """What is left of the address space; None if it has no limit."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    pages = _read(proc / "statm").split()
    return max(0, limit - (int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 0))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError):
        return ""
