"""What a fit ended with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...training.plan import Plan
from ...training.plan.report import shown
from ..files.models import is_classifier
from ..typed import parameter_option
from .output import columns

MOST_IMPORTANT, PAIRS_NAMED = 10, 3
WHAT_MATTERS = (
    "selection", "learning_rate", "iterations by", "n_runs", "max_bins", "engine",
)  # fmt: skip
"""Settings that a person may want to know of, if rules set them."""


def summarise(
    estimator: Any,
    files: Any,
    *,
    task: str,
    reason: str,
    out: Path,
    seconds: float,
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """The facts, as the program gives them to machines; ``files`` know their size, ``given`` are
    the parameters that were."""
    trace = estimator.trace_
    held = trace.validation_loss
    best = estimator.best_iteration_
    return {
        "task": task,
        "task_reason": reason,
        "rows": files.n_rows,
        "features": files.n_features,
        **({"classes": estimator.classes_.tolist()} if is_classifier(estimator) else {}),
        "iterations": estimator.n_iter_,
        "best_iteration": best,
        "train_loss": trace.train_loss[best],
        "validation_loss": None if held is None else held[best],
        "engine": trace.engine,
        "plan": estimator.plan_.to_dict(),
        "no_effect": without_effect(estimator.plan_, given),
        "seconds": seconds,
        "importances": dict(most_important(estimator)),
        **pair_facts(estimator),
        "model": str(out),
        "bytes": out.stat().st_size,
    }


def without_effect(plan: Plan, given: Mapping[str, Any]) -> list[str]:
    """Of the parameters that were given, those that have no effect, and why."""
    return [
        f"{parameter_option(entry.name, given[entry.name])}: {entry.idle}"
        for entry in plan.entries
        if entry.name in given and entry.idle
    ]


def most_important(estimator: Any, most: int | None = MOST_IMPORTANT) -> list[tuple[str, float]]:
    """The features with the largest importances (None: all), largest first; none that has none."""
    shares, names = estimator._importance_of_used(), estimator._feature_names()
    order = sorted(shares, key=lambda g: (-shares[g], g))[:most]
    return [(names[g], shares[g]) for g in order if shares[g] > 0]


def pair_facts(estimator: Any, most: int = MOST_IMPORTANT) -> dict[str, Any]:
    """Pairs of features, the strongest first, and the terms with the largest importances, curves
    and pairs; nothing if there are no pairs."""
    if not hasattr(estimator, "term_names_"):
        return {}
    names, shares = estimator.term_names_, np.asarray(estimator.term_importances_)
    pairs = [n for n, term in zip(names, estimator.term_features_, strict=True) if len(term) == 2]
    order = np.argsort(-shares, kind="stable")[:most]
    terms = {names[k]: float(shares[k]) for k in order if shares[k] > 0}
    return {"pairs": pairs, "terms": terms} if pairs else {}


def summary_lines(found: dict[str, Any]) -> list[str]:
    """The facts, as the program gives them to people."""
    losses = f"train {found['train_loss']:.6g}"
    if found["validation_loss"] is not None:
        losses += f", valid {found['validation_loss']:.6g}"
    pairs = found.get("pairs", [])
    facts = [
        ("task", f"{found['task']} ({found['task_reason']})"),
        ("rows", f"{found['rows']:,}"),
        ("features", f"{found['features']:,}"),
        ("best iteration", f"{found['best_iteration']:,} of {found['iterations']:,}"),
        ("mean loss", losses + (" (of the curves; for pairs see below)" if pairs else "")),
        ("seconds", f"{found['seconds']:.2f}"),
        ("engine", found["engine"]),
    ]
    if pairs:
        some = ", ".join(map(_cut, pairs[:PAIRS_NAMED])) + (", ..." if pairs[PAIRS_NAMED:] else "")
        facts.append(("pairs", f"{len(pairs):,}: {some}"))
    lines = [f"{name:<16}{value}" for name, value in facts]
    lines += ["plan", *plan_lines(Plan.from_dict(found["plan"]))]
    lines += [f"  {'no effect':<14}{told}" for told in found["no_effect"]]
    shares = found.get("terms", found["importances"])
    if shares:
        lines.append("most important")
        lines += columns([(_cut(n), f"{v:.4g}") for n, v in shares.items()])
    return [*lines, f"{'model':<16}{found['model']} ({found['bytes']:,} bytes)"]


def plan_lines(plan: Plan) -> list[str]:
    """What matters of a plan, and its events."""
    told = [(name, f"{shown(plan[name].value)} ({plan[name].why})") for name in WHAT_MATTERS]
    told += [("event", event) for event in plan.events]
    return [f"  {name:<14}{value}" for name, value in told]


def _cut(name: str, most: int = 50) -> str:
    return name if len(name) <= most else name[: most - 3] + "..."
