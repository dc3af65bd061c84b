"""Put the speed table into README and docs: ``python -m benchmarks.readme out/bench/full``.

The page of benchmarks has all figures, the README how far ahead we are: it stays short.
"""

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
NOT_IN_README = {("a9a-rates", "t=11, 2"), ("a9a-target", "target")}
PEERS = ("LightGBM", "XGBoost", "CatBoost", "EBM")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out/bench/full")
    results = json.loads((folder / "results.json").read_text())
    write(ROOT / "docs/benchmarks.md", section(results))
    write(ROOT / "README.md", summary(results))


def write(path: Path, text: str) -> None:
    """Between the marks of a file."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(before + BEGIN + text + END + after, encoding="utf-8")


def summary(results: dict[str, Any]) -> str:
    """Our figures, and how far the nearest other library is."""
    lines = [["", "rgboost", "ahead of the nearest"], ["---"] * 3]
    for row in rows(results["cases"]):
        if (row.case, _name(row, results["cases"])) not in NOT_IN_README:
            line = _line(row, results["cases"])
            lines += [[line[0], line[1], line[-1]]] if line else []
    text = (
        f"{_conditions(results)}: [every figure, and how it is measured](docs/benchmarks.md). "
        f"`{_make(results)}` measures it on your machine."
    )
    return f"\n{_table(lines)}\n\n{_fill(text)}\n\n"


def section(results: dict[str, Any]) -> str:
    """The table and where it comes from."""
    lines = [["", "rgboost", *PEERS, "ahead"], ["---"] * (3 + len(PEERS))]
    for row in rows(results["cases"]):
        lines += [line] if (line := _line(row, results["cases"])) else []
    versions = results["versions"]
    named = {"LightGBM": "lightgbm", "XGBoost": "xgboost-cpu", "CatBoost": "catboost"}
    packages = [f"{peer} {versions[name]}" for peer, name in named.items() if name in versions]
    packages += [f"interpret {versions['interpret-core']}"] * ("interpret-core" in versions)
    text = (
        f"`{_make(results)}` measures it on your machine, and `python -m benchmarks.readme "
        f"out/bench/{results['set']}` writes it here: stumps in every library, the same rows, bins "
        "and threads, best of three; ~ scaled from fewer stumps, * one run, ! other processes were "
        f"running. {_conditions(results)}; {', '.join(packages)}."
    )
    return f"\n{_table(lines)}\n\n{_fill(text)}\n\n"


def _make(results: dict[str, Any]) -> str:
    return "make bench" if results["set"] == "short" else "make bench SET=full"


def _conditions(results: dict[str, Any]) -> str:
    return f"{results['machine']['processor']}, {results['threads']} threads"


def _table(lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _fill(text: str) -> str:
    return textwrap.fill(text, 100, break_on_hyphens=False)


def _name(row: Row, cases: dict[str, Any]) -> str:
    return str(next(f["row"] for f in cases[row.case]["figures"] if f["what"] == row.what))


def _line(row: Row, cases: dict[str, Any]) -> list[str] | None:
    text = SHOWN.get((row.case, _name(row, cases)))
    if text is None:
        return None
    cells = [show(row.figures.get(who), row.unit) for who in ("rgboost", *PEERS)]
    return [text.format(data=row.data), *cells, row.ahead()]


if __name__ == "__main__":
    main()
