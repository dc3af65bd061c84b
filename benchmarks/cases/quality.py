"""Test loss, fit seconds and model size at default settings; see `benchmarks.quality`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..measure import Skip
from ..quality import PATIENCE, measure, parts_to_judge, protocol_of
from ..quality_data import SETS
from .base import Bench, Case, Figure, Unit

SHORT = ("diabetes",)
ADDITIVE = {
    "rgboost": "rgboost",
    "EBM": "EBM",
    "LightGBM": "LightGBM stumps",
    "HistGradientBoosting": "HistGB stumps",
}
TREES = {"rgboost": "rgboost", "LightGBM": "LightGBM", "HistGradientBoosting": "HistGB"}
ROWS: tuple[tuple[str, str, Unit, float, dict[str, str]], ...] = (
    ("loss", "test loss, additive models", "loss", 1.0, ADDITIVE),
    ("loss", "test loss, trees at their defaults", "loss", 1.0, TREES),
    ("seconds", "fit, additive models", "s", 1.0, ADDITIVE),
    ("bytes", "size of the pickled model, additive models", "MiB", 2.0**-20, ADDITIVE),
)


def quality(bench: Bench) -> None:
    options = argparse.Namespace(
        data_dir=Path(bench.data_dir or "."),
        threads=bench.threads,
        fresh=False,
        split=None,
        rows=None,
        more=[],
        patience=PATIENCE,
    )
    for which in SETS if bench.is_full else SHORT:
        try:
            data = SETS[which](options.data_dir)
        except Skip as reason:
            bench.say(f"{which}: {reason}")
            continue
        found, protocol = {}, protocol_of(list(parts_to_judge(data, options)))
        for name in dict.fromkeys([*ADDITIVE.values(), *TREES.values()]):
            bench.say(f"{which}: {name}")
            found[name] = measure(name, which, protocol, options)
        for key, what, unit, scale, contestants in ROWS:
            for contestant, name in contestants.items():
                one = found[name]
                value = one[key] * scale if key in one else None
                bench.figures.append(
                    Figure(
                        f"{which}, {what}",
                        f"{which} {one.get('shape', '')}",
                        what,
                        contestant,
                        value,
                        unit,
                        threads=bench.threads,
                        note=one.get("error", ""),
                    )
                )


CASES = (Case("quality", "Test loss at default settings", quality),)
