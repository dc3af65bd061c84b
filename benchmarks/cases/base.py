"""What a case is, and what it needs: contestants, timing, figures."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..measure import LONG_SECONDS, REPEATS, Rules, Skip, Timing, available_memory, race
from ..peers import Peer, Spec

Set = Literal["short", "full"]
Unit = Literal["s", "iterations/s", "rows/s", "MiB", "x input", "loss", "slope"]


@dataclass
class Figure:
    """One number of one contestant. Figures with the same ``row`` are compared with each other."""

    row: str
    data: str
    what: str
    contestant: str
    value: float | None
    unit: Unit
    runs: int = 1
    threads: int = 2
    x: float | None = None
    """Where it is drawn: t, n or p."""
    others: float | None = None
    """Cores that other processes kept busy meanwhile."""
    scaled: bool = False
    """Whether it was scaled from fewer iterations."""
    note: str = ""


@dataclass
class Curve:
    """Loss against seconds of one contestant."""

    plot: str
    data: str
    contestant: str
    seconds: list[float]
    loss: list[float]


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    run: Callable[[Bench], None]
    sets: tuple[Set, ...] = ("short", "full")
    gibibytes: float = 0.0
    """Memory that must be available."""


@dataclass
class Bench:
    """What a case is given, and where it puts what it found."""

    set: Set
    threads: int
    data_dir: str | None
    say: Callable[[str], None]
    patience: float = 0.0
    figures: list[Figure] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        return self.set == "full"

    def spec(self, X: Any, **more: Any) -> Spec:
        return Spec(**{"n_features": X.shape[1], "threads": self.threads, **more})

    def race(
        self, contestants: dict[str, Callable[[], Any]], what: str, repeats: int = REPEATS
    ) -> dict[str, Timing]:
        def say(who: str) -> None:
            self.say(f"{what}: {who}")

        return race(contestants, Rules(LONG_SECONDS[self.set], self.patience, repeats, say))

    def note_settings(self, peer: Peer, spec: Spec) -> None:
        """Keep the parameters of a peer; which features it looks at follows from the figure."""
        self.settings[f"{peer.name}, {spec.task}"] = peer.settings(spec)

    def warm_up(self, peers: Iterable[Peer], X: Any, y: NDArray, spec: Spec) -> None:
        """Load libraries and compiled code: a few stumps on a few rows. Failures show later."""
        few = np.linspace(0, X.shape[0] - 1, min(256, X.shape[0])).astype(int)
        for peer in peers:
            self.say(f"warming up {peer.name}")
            self.note_settings(peer, spec)
            if peer.name == "EBM":
                continue
            try:
                model = peer.fit(X[few], y[few], spec, 20)
                peer.score(model, X[few], spec)
            except Exception as error:
                self.say(f"{peer.name}: {error}")

    def add(self, timings: dict[str, Timing], per_second: float | None = None, **row: Any) -> None:
        """A row of figures from timings: seconds, or how many of something per second."""
        for name, timing in timings.items():
            value = timing.seconds
            if value is not None and per_second is not None:
                value = per_second / value
            found = {
                "contestant": name,
                "value": value,
                "runs": timing.runs,
                "others": timing.others,
                "scaled": bool(timing.parts.get("scaled", False)),
                "note": timing.error or row.get("note", ""),
            }
            self.figures.append(Figure(**{"threads": self.threads, **row, **found}))

    def fresh(self, what: str, job: dict[str, Any]) -> dict[str, Any]:
        """Time and peak memory of a fit in a process of its own (`benchmarks.memory`)."""
        self.say(f"{what}: {job['peer']}")
        command = [sys.executable, "-m", "benchmarks.memory", json.dumps(job)]
        out = subprocess.run(command, capture_output=True, text=True, check=False)
        if out.returncode:
            lines = out.stderr.strip().splitlines() or [f"ended with {out.returncode}"]
            return {"error": lines[-1][:300]}
        return json.loads(out.stdout.splitlines()[-1])

    def result(self) -> dict[str, Any]:
        return {
            "figures": [asdict(figure) for figure in self.figures],
            "curves": [asdict(curve) for curve in self.curves],
            "settings": self.settings,
        }


def check_memory(case: Case) -> None:
    """Skip a case that would not fit."""
    left = available_memory()
    if left is not None and left < case.gibibytes * 2**30:
        raise Skip(f"needs {case.gibibytes:g} GiB of memory, {left / 2**30:.1f} are available")


def binned_and_scaled(
    peer: Peer, X: Any, y: NDArray, spec: Spec, n_timed: int, n_iter: int
) -> dict[str, Any]:
    """Seconds of binning and ``n_iter`` stumps, from ``n_timed`` of them.

    The time of a stump does not change on the way. A peer that bins inside its fit is timed with
    one stump first, which stands for the binning.
    """
    start = time.perf_counter()
    if peer.bins_apart:
        binned = peer.bin(X, y, spec)
        middle = time.perf_counter()
        peer.boost(binned, spec, n_timed)
        done = n_timed
        binning = middle - start
        boosting = time.perf_counter() - middle
    else:
        peer.fit(X, y, spec, 1)
        binning = time.perf_counter() - start
        start = time.perf_counter()
        peer.fit(X, y, spec, 1 + n_timed)
        done = n_timed
        boosting = time.perf_counter() - start - binning
    seconds = binning + boosting * n_iter / done
    return {"seconds": seconds, "binning": binning, "scaled": n_timed != n_iter}


def first_at_most(losses: NDArray, target: float) -> int | None:
    """The number of stumps after which the loss is at most the target; None if never."""
    reached = np.flatnonzero(losses <= target)
    return int(reached[0]) + 1 if len(reached) else None


def thin(values: NDArray, most: int = 200) -> NDArray[np.intp]:
    """Indices of at most ``most`` entries, denser at the beginning."""
    grid = np.geomspace(1, len(values), min(most, len(values)))
    return np.unique(grid.round().astype(int)) - 1
