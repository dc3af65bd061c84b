"""From cells to curves with bands over the seeds, and to the table of times."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import CONVERGED
from .protocol import GAPS

Vector = NDArray[np.float64]

AXES = ("iterations", "epochs", "seconds")
POINTS = 100


@dataclass(frozen=True)
class Run:
    """A cell as arrays; ``gap`` is the optimality gap, not below where runs end."""

    step: str
    t: int
    seed: int
    engine: str
    x: dict[str, Vector]
    gap: Vector
    train_loss: Vector
    test_loss: Vector
    reached: list[dict[str, Any]]

    @property
    def seconds(self) -> Vector:
        return self.x["seconds"]


def runs_of(study: dict[str, Any]) -> list[Run]:
    """The cells of a study, with their gaps to the optimum of their seed."""
    optimum = {entry["seed"]: entry["loss"] for entry in study["optima"]}
    runs = []
    for cell in study["cells"]:
        iterations = np.array(cell["iterations"], dtype=float)
        train_loss = np.array(cell["train_loss"])
        runs.append(
            Run(
                step=cell["step"],
                t=cell["t"],
                seed=cell["seed"],
                engine=cell["engine"],
                x={
                    "iterations": iterations,
                    "epochs": iterations * cell["epochs_per_iteration"],
                    "seconds": np.array(cell["seconds"]),
                },
                gap=np.maximum(train_loss - optimum[cell["seed"]], CONVERGED),
                train_loss=train_loss,
                test_loss=np.array(cell["test_loss"]),
                reached=cell["reached"],
            )
        )
    return runs


def by_series(runs: list[Run]) -> dict[tuple[str, str, int], list[Run]]:
    """Runs that differ by the seed only, keyed by (engine, step, t)."""
    groups: dict[tuple[str, str, int], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.engine, run.step, run.t].append(run)
    return dict(groups)


def curves(study: dict[str, Any]) -> list[dict[str, Any]]:
    """For each series and horizontal axis: median, smallest and largest value over the seeds."""
    return [
        {"engine": engine, "step": step, "t": t, **{axis: _curve(runs, axis) for axis in AXES}}
        for (engine, step, t), runs in by_series(runs_of(study)).items()
    ]


def _curve(runs: list[Run], axis: str) -> dict[str, list[float]]:
    """Losses from the first iteration to the end of the shortest run."""
    first = float(np.median([run.x[axis][1] for run in runs]))
    last = min(float(run.x[axis][-1]) for run in runs)
    x = np.geomspace(first, max(last, first), POINTS)
    gaps = np.array([10 ** np.interp(x, run.x[axis], np.log10(run.gap)) for run in runs])
    tests = np.array([np.interp(x, run.x[axis], run.test_loss) for run in runs])
    return {"x": _short(x), **_band("gap", gaps), **_band("test", tests)}


def _band(name: str, values: NDArray[np.float64]) -> dict[str, list[float]]:
    return {
        name: _short(np.median(values, axis=0)),
        f"{name}_low": _short(values.min(axis=0)),
        f"{name}_high": _short(values.max(axis=0)),
    }


def _short(values: Vector) -> list[float]:
    """Six digits are more than a plot shows."""
    return [float(f"{v:.6g}") for v in values]


def table(study: dict[str, Any]) -> list[dict[str, Any]]:
    """Median time and epochs to each gap, and the gain in time against all features.

    A gap that fewer than half of the seeds reach has no entry (None). ``best`` marks the fastest t
    of the paper's runs with the same step rule.
    """
    rows: list[dict[str, Any]] = []
    for (engine, step, t), runs in by_series(runs_of(study)).items():
        to = {
            measure: [_median_reached(runs, k, measure) for k in range(len(GAPS))]
            for measure in ("seconds", "epochs", "iterations")
        }
        rows.append({"engine": engine, "step": step, "t": t, **to})
    for row in rows:
        peers = [r for r in rows if r["step"] == row["step"] and r["engine"] == "direct"]
        whole = next((r for r in peers if r["t"] == study["grid"][0]), row)
        row["best"] = [_is_best(row, peers, k, "seconds") for k in range(len(GAPS))]
        row["best_epochs"] = [_is_best(row, peers, k, "epochs") for k in range(len(GAPS))]
        row["gain"] = [
            None if not a or not b else a / b
            for a, b in zip(whole["seconds"], row["seconds"], strict=True)
        ]
    return rows


def _median_reached(runs: list[Run], k: int, measure: str) -> float | None:
    values = [run.reached[k][measure] for run in runs]
    numbers = sorted(np.inf if value is None else value for value in values)
    middle = numbers[(len(numbers) - 1) // 2 : len(numbers) // 2 + 1]
    return float(np.mean(middle)) if np.isfinite(middle).all() else None


def _is_best(row: dict[str, Any], peers: list[dict[str, Any]], k: int, measure: str) -> bool:
    found = [peer[measure][k] for peer in peers if peer[measure][k] is not None]
    return row["engine"] == "direct" and bool(found) and row[measure][k] == min(found)


def engine_check(study: dict[str, Any]) -> dict[str, Any] | None:
    """How far the losses of the Gram engine are from those of the direct one."""
    direct = {(c["seed"], c["t"]): c for c in study["cells"] if _key(c) == ("direct", "constant")}
    largest, iterations = 0.0, []
    for cell in study["cells"]:
        twin = direct.get((cell["seed"], cell["t"]))
        if cell["engine"] != "gram" or twin is None:
            continue
        mine = dict(zip(cell["iterations"], cell["train_loss"], strict=True))
        theirs = dict(zip(twin["iterations"], twin["train_loss"], strict=True))
        both = sorted(mine.keys() & theirs.keys())
        iterations.append(both[-1])
        largest = max(largest, *(abs(mine[m] - theirs[m]) for m in both))
    return {"iterations": min(iterations), "largest": largest} if iterations else None


def _key(cell: dict[str, Any]) -> tuple[str, str]:
    return cell["engine"], cell["step"]


def time_text(seconds: float | None) -> str:
    """A time in the unit that reads best; – if it is not known."""
    if seconds is None:
        return "–"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
