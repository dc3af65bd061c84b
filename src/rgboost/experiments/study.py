"""All runs of a data set."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from ..data.datasets import Dataset
from .cells import Cell, extra_cells, find_optimum, run_cell, warm_up
from .environment import machine, versions
from .protocol import RIDGE, Part, Plan, geometric_grid, split
from .store import Store

Report = Callable[[int, int, str], None]
"""Told how many cells are done, of how many, and what comes next."""


def run_study(
    plan: Plan, data: Dataset, store: Store, report: Report = lambda *_: None
) -> dict[str, Any]:
    """Run the cells that are not in the store; all cells, optima and settings as plain data."""
    grid = geometric_grid(data.n_features)
    shared = {
        "set": plan.name,
        "data": digest_of(data),
        "budget": asdict(plan.budget),
        "versions": versions(),
        "machine": machine(),
    }
    warmed: set[tuple[str, str]] = set()
    cells, optima, part = [], [], None
    per_seed = len(plan.steps) * len(grid) + 2
    total, done = per_seed * len(plan.seeds), 0
    for seed in plan.seeds:
        part = split(data, seed)
        report(done, total, f"seed {seed}: the optimum")
        key = {**shared, "optimum": seed}
        optimum = store.get(f"optimum-seed{seed}", key)
        if optimum is None:
            optimum = find_optimum(part)
            store.put(f"optimum-seed{seed}", key, optimum)
        optima.append({"seed": seed, **optimum})
        wanted = [Cell(step, t, seed) for step in plan.steps for t in grid]
        wanted += extra_cells(part, grid[0], seed)
        for cell in wanted:
            done += 1
            report(done, total, cell.name)
            key = {**shared, "cell": asdict(cell), "optimum": optimum["loss"]}
            result = store.get(cell.name, key)
            if result is None:
                if (cell.step, cell.engine) not in warmed:
                    warm_up(cell, part)
                    warmed.add((cell.step, cell.engine))
                result = run_cell(cell, part, plan.budget, optimum["loss"])
                store.put(cell.name, key, result)
            cells.append(result)
    report(total, total, "done")
    assert part is not None
    return {
        "set": plan.name,
        "title": plan.title,
        "note": plan.note,
        "settings": _settings(plan, data, part, grid),
        "versions": shared["versions"],
        "machine": shared["machine"],
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "grid": grid,
        "steps": list(plan.steps),
        "seeds": list(plan.seeds),
        "n_train": len(part.y_train),
        "n_features": data.n_features,
        "task": data.task,
        "is_papers": data.is_papers,
        "optima": optima,
        "cells": cells,
    }


def _settings(plan: Plan, data: Dataset, part: Part, grid: list[int]) -> dict[str, str]:
    classification = data.task == "classification"
    layout = part.prepared.layout
    return {
        "data": f"{data.n_rows:,} rows, {data.n_features:,} features, {data.task}"
        + (", the set of Table stats" if data.is_papers else ""),
        "split": f"80 % training ({len(part.y_train):,} rows), 20 % test, {len(plan.seeds)} seeds",
        "loss": f"logistic with d = {RIDGE:g}"
        if classification
        else "squared, target scaled to variance 1 on the training rows",
        "weak-learners": f"stumps with free leaves, {layout.n_learners:,} splits "
        + ("at 100 percentiles" if len(part.y_train) > 10_000 else "at every value"),
        "selection": f"Type 3, a feature is a group, t = {', '.join(map(str, grid))}",
        "steps": " and ".join(plan.steps),
        "engine": "direct, one thread, no test rows in the loop",
        "budget": f"{plan.budget} a run",
    }


def digest_of(data: Dataset) -> str:
    """A checksum of the numbers themselves."""
    digest = hashlib.sha256()
    arrays = [data.X] if isinstance(data.X, np.ndarray) else []
    if not arrays:
        arrays = [data.X.indptr, data.X.indices, data.X.data]
    for array in (*arrays, data.y):
        digest.update(str((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()[:16]
