"""``rgboost reproduce``: the paper's experiments by one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..data import datasets
from ..data.readers import DataError
from .figures import draw_figures
from .page import make_page
from .protocol import GAPS, STEPS, Budget, BudgetKind, Plan, make_plan, sets_of
from .store import Store, write_json, write_text
from .study import run_study
from .summary import curves, table, time_text
from .verdicts import ALL, NOT_TESTED, verdicts

PAGE = "reproduce.html"
NUMBERS = "results.json"


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SET]...",
            help="embedded (default), a9a, colon-cancer, rcv1, year or all; or a stand-in: "
            "rcv1-subsets, year-test, year-sample.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for page, figures and numbers.")] = Path("out"),
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder with the data files; or set RGBOOST_DATA.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="How many splits.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Budget of each run.")] = None,
    epochs: Annotated[
        float | None, typer.Option(help="Or: in costs of evaluating all weak-learners.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Or: in seconds.")] = None,
    step: Annotated[str, typer.Option(help="both, constant or line-search.")] = "both",
) -> None:
    """Run the paper's experiments and say which of its claims hold.

    Finished runs are kept in OUT: the same command goes on where it was interrupted. The page
    shows all sets that are in OUT.
    """
    console = Console()
    wanted = sets_of(names or ["embedded"])
    budget = _budget(iterations, epochs, seconds)
    steps = _steps(step)
    _check_matplotlib()
    missing: list[str] = []
    for name in wanted:
        plan = make_plan(name, seeds=seeds, budget=budget, steps=steps)
        try:
            data = datasets.load(name, data_dir)
        except DataError as fault:
            missing.append(f"{fault}{_stand_in(name, data_dir)}")
            continue
        study = _run(plan, data, out, console)
        _print(study, console)
    page = write_page(out)
    if page is not None:
        console.print(f"page: {page}", soft_wrap=True, highlight=False)
    if missing:
        raise DataError("\n".join(missing))


def write_page(out: Path) -> Path | None:
    """The page of all studies in a folder; None if there are none."""
    found = [json.loads(path.read_text("utf-8")) for path in out.glob(f"*/{NUMBERS}")]
    if not found:
        return None
    order = {name: k for k, name in enumerate(datasets.NAMES)}
    found.sort(key=lambda study: order.get(study["set"], len(order)))
    write_text(out / PAGE, make_page(found))
    return out / PAGE


def _run(plan: Plan, data: datasets.Dataset, out: Path, console: Console) -> dict[str, Any]:
    """Run a set, and write its numbers and figures."""
    folder = out / plan.name
    columns = (
        TextColumn("{task.fields[set]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=None, set=plan.name)

        def report(done: int, total: int, what: str) -> None:
            progress.update(task, completed=done, total=total, description=what)

        study = run_study(plan, data, Store(folder / "cells"), report)
        progress.update(task, description="figures")
        draw_figures(study, folder)
        progress.update(task, description="done")
    summary = {"curves": curves(study), "table": table(study), "verdicts": verdicts(study)}
    write_json(folder / NUMBERS, {**study, **summary}, indent=1)
    return study


def _print(study: dict[str, Any], console: Console) -> None:
    names = [f"{gap:g}" for gap in GAPS]
    grid = Table(title=f"{study['title']}: time (epochs) to a gap, ★ best t")
    for name in ("step", "engine", "t", *names):
        grid.add_column(name, justify="right")
    for row in table(study):
        cells = zip(row["seconds"], row["epochs"], row["best"], strict=True)
        shown = ["–" if s is None else f"{time_text(s)} ({e:.3g}){' ★' * b}" for s, e, b in cells]
        grid.add_row(row["step"], row["engine"], f"{row['t']:,}", *shown)
    console.print(grid)
    judged = verdicts(study)
    for verdict in judged:
        if verdict["status"] == NOT_TESTED:
            continue
        mark = {"confirmed": "[green]confirmed[/]", "not confirmed": "[red]not confirmed[/]"}
        status = mark.get(verdict["status"], verdict["status"])
        console.print(f"{status} ({verdict['step']}) {verdict['claim']}. {verdict['figures']}")
    others = {v["claim"] for v in judged if v["status"] == NOT_TESTED}
    if others:
        console.print(
            f"{NOT_TESTED}: {len(others)} of the paper's {len({v['claim'] for v in judged})} "
            f"claims, which are about other data (rgboost reproduce {' '.join(ALL)})"
        )
    console.print()


def _budget(iterations: int | None, epochs: float | None, seconds: float | None) -> Budget | None:
    given: list[tuple[BudgetKind, float | None]] = [
        ("iterations", iterations),
        ("epochs", epochs),
        ("seconds", seconds),
    ]
    budgets = [Budget(kind, amount) for kind, amount in given if amount is not None]
    if len(budgets) > 1:
        raise ValueError("Give one budget: --iterations, --epochs or --seconds.")
    return budgets[0] if budgets else None


def _steps(step: str) -> tuple[str, ...]:
    if step == "both":
        return tuple(STEPS)
    if step not in STEPS:
        raise ValueError(f"step={step!r} is not known; use both, {' or '.join(STEPS)}.")
    return (step,)


def _stand_in(name: str, data_dir: Path | None) -> str:
    """A set that can be run in place of one that is not here."""
    for other, entry in datasets.REGISTRY.items():
        if entry.stands_for == name and datasets.find(other, data_dir) is not None:
            return f". Or run its stand-in, which is here: rgboost reproduce {other}"
    return ""


def _check_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        raise ImportError(
            "the figures need matplotlib; install it with: pip install 'rgboost[plot]'"
        ) from missing


if __name__ == "__main__":
    typer.run(reproduce)
