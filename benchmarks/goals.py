"""What the project set out to reach, and whether this run reached it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .cases.startup import FIRST_FITS

Values = Callable[[str, str, str], float | None]
"""(case, row, contestant) -> the figure, None if it is not there."""


@dataclass(frozen=True)
class Outcome:
    """``met`` is None where this run does not have the figures."""

    goal: str
    measured: str
    met: bool | None


@dataclass(frozen=True)
class Ratio:
    """At least ``times`` better than the best of some peers; ``seconds``: smaller is better."""

    goal: str
    case: str
    row: str
    peers: tuple[str, ...]
    times: float
    seconds: bool = True

    def outcome(self, value: Values) -> Outcome:
        ours = value(self.case, self.row, "rgboost")
        theirs = [v for name in self.peers if (v := value(self.case, self.row, name)) is not None]
        if ours is None or not theirs:
            return Outcome(self.goal, "not measured", None)
        ratio = min(theirs) / ours if self.seconds else ours / max(theirs)
        return Outcome(self.goal, f"{ratio:,.3g} x", ratio >= self.times)


@dataclass(frozen=True)
class Limit:
    """At most (or at least) a number. ``scale`` turns the figure into the unit of the text."""

    goal: str
    case: str
    row: str
    limit: float
    unit: str
    at_least: bool = False
    scale: float = 1.0

    def outcome(self, value: Values) -> Outcome:
        ours = value(self.case, self.row, "rgboost")
        if ours is None:
            return Outcome(self.goal, "not measured", None)
        ours *= self.scale
        met = ours >= self.limit if self.at_least else ours <= self.limit
        return Outcome(self.goal, f"{ours:,.3g} {self.unit}", met)


@dataclass(frozen=True)
class NotWorse:
    """Our loss is at most the peer's."""

    goal: str
    case: str
    row: str
    peer: str

    def outcome(self, value: Values) -> Outcome:
        ours, theirs = (value(self.case, self.row, name) for name in ("rgboost", self.peer))
        if ours is None or theirs is None:
            return Outcome(self.goal, "not measured", None)
        return Outcome(self.goal, f"{ours:.4f} against {theirs:.4f}", ours <= theirs)


GBDT = ("LightGBM", "XGBoost", "CatBoost")

TREES = ("LightGBM", "XGBoost")

GOALS = (
    Ratio(
        "direct engine, all features: 1.7 x LightGBM's iterations",
        "rates", "t=90, 2", ("LightGBM",), 1.7, seconds=False,
    ),
    Ratio(
        "direct engine, t=9: 2 x LightGBM's iterations",
        "rates", "t=9, 2", ("LightGBM",), 2, seconds=False,
    ),
    Ratio(
        "a9a, t=11, 1 thread: 3 x the iterations of LightGBM and XGBoost",
        "a9a-rates", "t=11, 1", TREES, 3, seconds=False,
    ),
    Ratio(
        "a9a, t=11, 2 threads: 3 x the iterations of LightGBM and XGBoost",
        "a9a-rates", "t=11, 2", TREES, 3, seconds=False,
    ),
    Limit("370,972 x 90 in bins in 1 s", "total", "binning", 1, "s"),
    Limit("import in 0.3 s more than scikit-learn and numba", "startup", "import", 0.3, "s"),
    Limit("first fit of a process, compiled before, in 1 s", "cold", "warm, regression", 1, "s"),
    *(
        Limit(f"first fit that compiles in 6 s: {path}", "cold", f"cold, {path}", 6, "s")
        for path in FIRST_FITS
    ),
    Ratio(
        "370,972 x 90, 10,000 stumps, binning included: 60 x faster than LightGBM",
        "total", "total", ("LightGBM",), 60,
    ),
    Ratio("training loss of EBM with one bag, 60 x faster", "ebm", "time", ("EBM",), 60),
    Ratio("a9a, 200 x faster than EBM", "a9a-ebm", "time", ("EBM",), 200),
    NotWorse("a9a, test loss of EBM or better", "a9a-ebm", "loss", "EBM"),
    Ratio(
        "a9a, training loss 0.3215 8 x faster than LightGBM, XGBoost and CatBoost",
        "a9a-target", "target", GBDT, 8,
    ),
    Ratio(
        "1,000 stumps predict sparse rows 20 x faster than LightGBM",
        "predict-sparse", "sparse", ("LightGBM",), 20, seconds=False,
    ),
    Ratio(
        "1,000 stumps predict dense rows 5 x faster than LightGBM",
        "predict-dense", "dense", ("LightGBM",), 5, seconds=False,
    ),
    Limit("300 x 2,325, 1,000 stumps at t=sqrt in 0.2 s", "wide", "t=48", 0.2, "s"),
    Limit("208 x 60, 1,000 stumps at t=sqrt in 20 ms", "small", "t=7", 20, "ms", scale=1e3),
    Limit("208 x 60, 1,000 stumps at t=all in 20 ms", "small", "t=60", 20, "ms", scale=1e3),
    Limit("sparse, peak memory 3 x the input", "memory", "text, ratio", 3, "x"),
    Limit("sparse, t=all at 200 iterations/s", "text", "all", 200, "iterations/s", at_least=True),
    Limit("sparse, t=sqrt at 5,000 iterations/s", "text", "sqrt", 5000, "iterations/s", True),
    Limit("900 x 860,000 in 180 s", "very-wide", "very-wide", 180, "s"),
    Limit(
        "900 x 860,000 in 10 GiB", "very-wide", "very-wide, memory", 10, "GiB", scale=1 / 1024
    ),
    Limit("10,000,000 x 50, 5,000 stumps in 60 s", "very-long", "very-long", 60, "s"),
    Limit(
        "10,000,000 x 50 in 12 GiB", "very-long", "very-long, memory", 12, "GiB", scale=1 / 1024
    ),
)  # fmt: skip


def outcomes(cases: dict[str, Any]) -> list[Outcome]:
    figures = {
        (name, figure["row"], figure["contestant"]): figure["value"]
        for name, case in cases.items()
        for figure in case.get("figures", [])
    }
    return [goal.outcome(lambda *key: figures.get(key)) for goal in GOALS]
