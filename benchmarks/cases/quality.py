"""Test loss, fit seconds and model size at default settings; see `benchmarks.quality`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..measure import Skip
from ..quality.data import SETS
from ..quality.run import OUT, PATIENCE, results_of
from ..quality.verdicts import figure, named
from .base import Bench, Case, Figure, Unit

SHORT = ("diabetes",)
ADDITIVE = {
    "rgboost": "rgboost, additive",
    "EBM": "EBM, additive",
    "LightGBM": "LightGBM stumps",
    "HistGradientBoosting": "HistGB stumps",
}
DEFAULTS = {"rgboost": "rgboost", "LightGBM": "LightGBM", "HistGradientBoosting": "HistGB"}
ROWS: tuple[tuple[str, str, Unit, float, dict[str, str]], ...] = (
    ("loss", "test loss, additive models", "loss", 1.0, ADDITIVE),
    ("loss", "test loss, pairs and trees at the defaults", "loss", 1.0, DEFAULTS),
    ("seconds", "fit, additive models", "s", 1.0, ADDITIVE),
    ("seconds", "fit, pairs and trees at the defaults", "s", 1.0, DEFAULTS),
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
        table=OUT / "table.md",
    )
    for which in SETS if bench.is_full else SHORT:
        try:
            data = SETS[which](options.data_dir)
        except Skip as reason:
            bench.say(f"{which}: {reason}")
            continue
        found = {}
        names = list(dict.fromkeys([*DEFAULTS.values(), *ADDITIVE.values()]))
        bench.say(which)
        for name, one in results_of(which, data, names, options):
            found[name] = one
            bench.say(f"{which}: {name} is done")
        for key, what, unit, scale, contestants in ROWS:
            for contestant, name in contestants.items():
                one, value = found[named(found, name)], figure(found, name, key)
                bench.figures.append(
                    Figure(
                        f"{which}, {what}",
                        f"{which} {one.get('shape', '')}",
                        what,
                        contestant,
                        None if value is None else value * scale,
                        unit,
                        threads=bench.threads,
                        note=one.get("error", ""),
                    )
                )


CASES = (Case("quality", "Test loss at default settings", quality),)
