"""Put the speed table into the README: ``python -m benchmarks.readme out/bench/full``."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from .report import Row, rows, show

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- speed: begin -->\n", "<!-- speed: end -->\n"
SHOWN = {
    ("total", "total"): "fit 10,000 stumps, all features, {data}",
    ("a9a-rates", "t=11, 2"): "iterations per second, {data}, t = 11",
    ("a9a-target", "target"): "to a training log-loss of 0.3215, {data}",
    ("a9a-ebm", "time"): "fit with the test loss of an EBM, {data}",
    ("predict-sparse", "sparse"): "rows predicted per second, {data}, 1,000 stumps",
}
"""Cases and rows of the table, and what is said of them."""
PEERS = ("LightGBM", "XGBoost", "CatBoost", "EBM")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out/bench/full")
    results = json.loads((folder / "results.json").read_text())
    path = ROOT / "README.md"
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(before + BEGIN + section(results) + END + after, encoding="utf-8")


def section(results: dict[str, Any]) -> str:
    """The table and where it comes from."""
    lines = [["", "rgboost", *PEERS, "ahead"], ["---"] * (3 + len(PEERS))]
    for row in rows(results["cases"]):
        lines += [line] if (line := _line(row, results["cases"])) else []
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    machine, versions = results["machine"], results["versions"]
    named = {"LightGBM": "lightgbm", "XGBoost": "xgboost-cpu", "CatBoost": "catboost"}
    packages = [f"{peer} {versions[name]}" for peer, name in named.items() if name in versions]
    packages += [f"interpret {versions['interpret-core']}"] * ("interpret-core" in versions)
    make = "make bench" if results["set"] == "short" else "make bench SET=full"
    text = (
        f"`{make}` measures it on your machine, and `python -m benchmarks.readme "
        f"out/bench/{results['set']}` writes it here: stumps in every library, the same rows, bins "
        "and threads, best of three; ~ scaled from fewer stumps, * one run, ! other processes were "
        f"running. {machine['processor']}, {results['threads']} threads; {', '.join(packages)}."
    )
    return f"\n{table}\n\n{textwrap.fill(text, 100, break_on_hyphens=False)}\n\n"


def _line(row: Row, cases: dict[str, Any]) -> list[str] | None:
    name = next(f["row"] for f in cases[row.case]["figures"] if f["what"] == row.what)
    text = SHOWN.get((row.case, name))
    if text is None:
        return None
    cells = [show(row.figures.get(who), row.unit) for who in ("rgboost", *PEERS)]
    return [text.format(data=row.data), *cells, row.ahead()]


if __name__ == "__main__":
    main()
