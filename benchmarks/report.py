"""The figures as a Markdown table, and on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from .goals import outcomes
from .measure import BUSY_CORES
from .peers import ALL

CONTESTANTS = ("rgboost", *ALL)
SMALLER_IS_BETTER = {"s", "MiB", "x input", "loss", "slope"}
NO_RACE = {"slope"}


@dataclass(frozen=True)
class Row:
    """One comparison: the figure of each contestant."""

    case: str
    data: str
    what: str
    unit: str
    figures: dict[str, dict[str, Any]]

    def cells(self) -> list[str]:
        shown = [show(self.figures.get(name), self.unit) for name in CONTESTANTS]
        return [self.data, self.what, *shown, self.ahead()]

    def nearest(self) -> str | None:
        """The best of the peers."""
        values = {n: f["value"] for n, f in self.figures.items() if f["value"] is not None}
        values.pop("rgboost", None)
        pick = min if self.unit in SMALLER_IS_BETTER else max
        return pick(values, key=lambda name: values[name]) if values else None

    def ahead(self) -> str:
        """Who is ahead of whom, and by how much; in bold if it is not us."""
        name, ours = self.nearest(), (self.figures.get("rgboost") or {}).get("value")
        if ours is None or name is None or self.unit in NO_RACE:
            return ""
        best = self.figures[name]["value"]
        if self.unit == "loss":
            return f"rgboost by {best - ours:.4f}" if ours <= best else f"**{name}**"
        ratio = best / ours if self.unit in SMALLER_IS_BETTER else ours / best
        if ratio >= 1:
            return f"rgboost {times(ratio)} ({name})"
        return f"**{name} {times(1 / ratio)}**"


def times(ratio: float) -> str:
    return f"{ratio:,.0f} x" if ratio >= 20 else f"{ratio:.1f} x" if ratio >= 1.1 else "1.0 x"


def show(figure: dict[str, Any] | None, unit: str) -> str:
    """A number with its unit; ~ scaled, * a single run, ! other processes were running."""
    if figure is None:
        return ""
    value = figure["value"]
    if value is None:
        return "failed"
    mark = "~" if figure["scaled"] else ""
    star = "*" if figure["runs"] == 1 and unit not in {"loss", "MiB", "x input", "slope"} else ""
    star += " !" if (figure.get("others") or 0.0) > BUSY_CORES else ""
    return f"{mark}{number(value, unit)}{star}"


def number(value: float, unit: str) -> str:
    if unit == "s":
        return f"{value * 1e3:.3g} ms" if value < 0.1 else f"{value:,.3g} s"
    if unit == "rows/s":
        return f"{value / 1e6:.3g} M/s" if value >= 1e6 else f"{value / 1e3:,.3g} k/s"
    if unit == "iterations/s":
        return f"{value:,.0f}/s" if value >= 100 else f"{value:.3g}/s"
    if unit == "MiB":
        return f"{value / 1024:.2f} GiB" if value >= 1024 else f"{value:,.0f} MiB"
    if unit == "x input":
        return f"{value:.2f} x"
    return f"{value:.4f}" if unit == "loss" else f"{value:.2f}"


def rows(cases: dict[str, Any]) -> Iterator[Row]:
    for name, case in cases.items():
        grouped: dict[str, list[dict[str, Any]]] = {}
        for figure in case.get("figures", []):
            grouped.setdefault(figure["row"], []).append(figure)
        for figures in grouped.values():
            first = figures[0]
            by_name = {figure["contestant"]: figure for figure in figures}
            yield Row(name, first["data"], first["what"], first["unit"], by_name)


def markdown(results: dict[str, Any], digest: str) -> str:
    """The whole report."""
    parts = [
        f"# Benchmarks, {results['set']} set",
        _conditions(results, digest),
        "## Goals",
        _markdown_table(
            ["goal", "measured", "reached"],
            [[o.goal, o.measured, _answer(o.met)] for o in outcomes(results["cases"])],
        ),
        "## Figures",
        "Best of three runs in turn; * one run, because it was long; ~ scaled from fewer stumps; "
        "! other processes were running. "
        "The last column names who is ahead, and next to us the nearest peer.",
        _markdown_table(
            ["data", "what", *CONTESTANTS, "ahead"], [row.cells() for row in rows(results["cases"])]
        ),
        _remarks(results["cases"]),
        "## Settings",
        _settings(results["cases"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _answer(met: bool | None) -> str:
    return "" if met is None else "yes" if met else "**no**"


def _markdown_table(head: list[str], body: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _conditions(results: dict[str, Any], digest: str) -> str:
    machine, versions = results["machine"], results["versions"]
    memory = machine["memory"]
    size = f", {memory / 2**30:.0f} GiB" if memory else ""
    lines = [
        f"{machine['processor']}, {machine['cores']} cores{size}, {machine['system']}; "
        f"{results['threads']} threads unless stated otherwise.",
        ", ".join(f"{name} {version}" for name, version in versions.items()) + ".",
    ]
    figures = [f for case in results["cases"].values() for f in case.get("figures", [])]
    if any((f.get("others") or 0.0) > BUSY_CORES for f in figures):
        lines.append(
            "**Other processes were running**, during the best run of figures with an exclamation "
            "mark too: those are too slow, by far where the threads of a library wait for each "
            "other (OpenMP). Run it again on a quiet machine, or with `--patience 60`."
        )
    older = [name for name, case in results["cases"].items() if case.get("digest") != digest]
    if older:
        lines.append(f"Measured with an earlier version of the source: {', '.join(older)}.")
    return "\n\n".join(lines)


def _remarks(cases: dict[str, Any]) -> str:
    lines = []
    for name, case in cases.items():
        if "skipped" in case:
            lines.append(f"- {name}: skipped, {case['skipped']}")
        if "failed" in case:
            lines.append(f"- {name}: failed, {case['failed']}")
        notes = {
            (f["contestant"] + ": " if f["value"] is None else "") + f["note"]
            for f in case.get("figures", [])
            if f["note"] and f["unit"] != "x input"
        }
        lines += [f"- {name}: {note}" for note in sorted(notes)]
    return "\n".join(["Remarks:", "", *lines]) if lines else ""


def _settings(cases: dict[str, Any]) -> str:
    """The parameters of every contestant, once for each task."""
    found: dict[str, dict[str, Any]] = {}
    for case in cases.values():
        for who, settings in case.get("settings", {}).items():
            found.setdefault(who, settings)
    lines = [
        "As first used; features per stump, learning rate, bins and threads follow the case.",
        "",
    ]
    for who in sorted(found):
        peer = ALL.get(who.split(",")[0])
        link = f" ({peer.documentation})" if peer else ""
        values = ", ".join(f"{key}={value!r}" for key, value in found[who].items())
        lines.append(f"- {who}{link}: `{values}`")
    return "\n".join(lines)


def show_on(console: Console, results: dict[str, Any]) -> None:
    """Us and the nearest peer on the terminal; the Markdown table has all of them."""
    table = Table(title=f"{results['set']} set")
    for name in ("data", "what", "rgboost", "nearest peer", "ahead"):
        table.add_column(name, overflow="fold")
    for row in rows(results["cases"]):
        ours, ahead = show(row.figures.get("rgboost"), row.unit), row.ahead()
        nearest = row.nearest()
        theirs = f"{nearest} {show(row.figures[nearest], row.unit)}" if nearest else ""
        style = "yellow" if ahead.startswith("**") else None
        table.add_row(row.data, row.what, ours, theirs, ahead.replace("*", ""), style=style)
    console.print(table)
    goals = Table(title="goals")
    for name in ("goal", "measured", "reached"):
        goals.add_column(name, overflow="fold")
    for outcome in outcomes(results["cases"]):
        style = "yellow" if outcome.met is False else "dim" if outcome.met is None else None
        answer = _answer(outcome.met).replace("*", "")
        goals.add_row(outcome.goal, outcome.measured, answer, style=style)
    console.print(goals)
    console.print("Settings", style="bold")
    console.print(_settings(results["cases"]), highlight=False, markup=False)
