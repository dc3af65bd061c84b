"""Seconds, memory, and how much else the machine was doing."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from numba.core.event import install_recorder

REPEATS = 3
LONG_SECONDS = {"short": 1.5, "full": 60.0}
"""A contestant whose first run took longer than this has one run."""

BUSY_CORES = 0.2
"""A run is disturbed if other processes kept more than this busy."""

_CLOCK_SECONDS = 0.3
"""The system counts the time of processes in steps of 10 ms: shorter runs tell nothing."""

PACKAGES = ("lightgbm", "xgboost-cpu", "xgboost", "catboost", "interpret-core", "scikit-learn")
PACKAGES += ("chimeraboost", "numpy", "scipy", "numba", "rgboost")


class Skip(Exception):
    """A case that cannot run here, and why."""


@dataclass
class Timing:
    """The fastest of some runs. ``seconds`` is None if it failed, then ``error`` says how."""

    seconds: float | None = None
    wall: float = 0.0
    """The time that the run itself took, where ``seconds`` is scaled from it."""
    runs: int = 0
    parts: dict[str, Any] = field(default_factory=dict)
    others: float | None = None
    """Cores that other processes kept busy during the fastest run; None: not known."""
    error: str = ""


Run = Callable[[], Any]
"""What is timed. It may return a dictionary: its entry "seconds" is taken instead of the wall
clock, the rest is kept."""


@dataclass(frozen=True)
class Rules:
    """Three runs, one if it takes longer than ``long_seconds``. ``patience``: seconds that a run
    may wait for other processes to be quiet, and be repeated if they were not."""

    long_seconds: float
    patience: float = 0.0
    repeats: int = REPEATS
    say: Callable[[str], None] = lambda text: None


def race(contestants: dict[str, Run], rules: Rules) -> dict[str, Timing]:
    """Run the contestants in turn, each at most three times; who fails drops out."""
    timings = {name: Timing() for name in contestants}
    for turn in range(rules.repeats):
        for name, run in contestants.items():
            best = timings[name]
            if best.error or best.wall > rules.long_seconds:
                continue
            rules.say(f"{name}, run {turn + 1}")
            try:
                one = _one_run(run, rules.patience)
            except Exception as error:  # a peer that fails must not end the benchmark
                timings[name] = Timing(error=f"{type(error).__name__}: {error}"[:300])
                continue
            if best.seconds is None or one.seconds < best.seconds:
                timings[name] = one
            timings[name].runs = turn + 1
    return timings


def _one_run(run: Run, patience: float) -> Timing:
    deadline = time.perf_counter() + patience
    while True:
        _wait_for_quiet(deadline)
        one = _timed(run)
        if one is None:
            continue
        is_disturbed = one.others is not None and one.others > BUSY_CORES
        if not is_disturbed or time.perf_counter() >= deadline:
            return one


def _wait_for_quiet(deadline: float) -> None:
    while time.perf_counter() < deadline:
        load = OtherLoad()
        time.sleep(0.5)
        if (load.cores() or 0.0) <= BUSY_CORES:
            return


def _timed(run: Run) -> Timing | None:
    """None if the run compiled code, which the next one finds."""
    gc.collect()
    with install_recorder("numba:compile") as compiled:
        load, start = OtherLoad(), time.perf_counter()
        result = run()
        seconds = time.perf_counter() - start
    if compiled.buffer:
        return None
    others = load.cores() if seconds > _CLOCK_SECONDS else None
    parts = dict(result) if isinstance(result, dict) else {}
    return Timing(float(parts.pop("seconds", seconds)), seconds, 1, parts, others)


class PeakMemory:
    """Resident memory before and at the peak of a ``with`` block, in bytes.

    Linux lets a process reset its own high-water mark. Elsewhere the peak is the one since the
    process began, so data should be made without a higher peak of their own.
    """

    def __enter__(self) -> PeakMemory:
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):  # give back what data left behind
            ctypes.CDLL(None).malloc_trim(0)
        self._exact = _reset_peak()
        self.before = _status("VmRSS") or _max_rss()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.peak = (_status("VmHWM") if self._exact else None) or _max_rss()


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status(key: str) -> int | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    return None


def _max_rss() -> int:
    import resource

    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def available_memory() -> int | None:
    """Bytes that the machine has left; None where it does not tell."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


class OtherLoad:
    """How many cores other processes kept busy meanwhile; None where it cannot be known."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), _busy_seconds(), _own_seconds()

    def cores(self) -> float | None:
        start, busy, own = self._start
        now = _busy_seconds()
        if busy is None or now is None:
            return None
        others = (now - busy) - (_own_seconds() - own)
        return max(0.0, others / max(1e-9, time.perf_counter() - start))


def _busy_seconds() -> float | None:
    with contextlib.suppress(OSError):
        fields = [
            int(part) for part in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        ]
        user, nice, system, _idle, _wait, irq, soft, steal = fields[:8]
        return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")
    return None


def _own_seconds() -> float:
    """Of this process and of those that it started: the ones that ended, and the ones that live."""
    times = os.times()
    ended = times.children_user + times.children_system
    return times.user + times.system + ended + _living_children_seconds()


def _living_children_seconds() -> float:
    """Seconds of the processor of all processes below this one (EBM's bags have their own)."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            number = int(stat.parent.name)
            parents[number], ticks[number] = int(fields[1]), sum(map(int, fields[11:15]))

    def is_below(number: int) -> bool:
        while (number := parents.get(number, 0)) > 0:
            if number == os.getpid():
                return True
        return False

    below = sum(count for number, count in ticks.items() if is_below(number))
    return below / os.sysconf("SC_CLK_TCK")


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def machine() -> dict[str, Any]:
    """The processor and memory, without names of hosts or folders."""
    name = platform.processor() or platform.machine()
    memory = None
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    with contextlib.suppress(AttributeError, ValueError, OSError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    system = f"{platform.system()} {platform.machine()}"
    return {"processor": name, "cores": os.cpu_count(), "memory": memory, "system": system}


def source_digest() -> str:
    """A digest of rgboost's source files: compiled code is cached under it."""
    import rgboost

    root = Path(rgboost.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
