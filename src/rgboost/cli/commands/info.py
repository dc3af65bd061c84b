"""``rgboost info``."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..errors import CommandError, ExitCode
from ..files.labelled import judged_rows
from ..files.models import load_model
from ..show.output import AsJson, print_json, print_lines

NEEDED = ("rgboost", "numpy", "scipy", "scikit-learn", "numba", "narwhals", "safetensors")
OPTIONAL = ("pandas", "pyarrow", "polars", "matplotlib", "pooch")


def info(
    model: Annotated[
        Path | None, typer.Argument(help="A model that rgboost fit has stored.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Rows to tell by what the edits of the model cost.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Column of the labels of --data, by name or position.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Versions and settings, for a bug report; or what a stored model is, and by which plan.

    Of an edited model also its terms before and after the edits.

      rgboost info model.rgb --data test.csv --target y
    """
    if model is not None:
        _about(load_model(model), data, target, as_json)
        return
    if data is not None:
        raise CommandError("--data needs a model; give its file first", ExitCode.USAGE)
    from ...data.cache import cache_dir

    facts = {
        "Python": f"{platform.python_version()} on {platform.platform()}",
        "interpreter": sys.executable,
        "cores": str(_cores()),
        **{name: _version(name) for name in (*NEEDED, *OPTIONAL)},
        "data sets": os.environ.get("RGBOOST_DATA") or str(cache_dir()),
        "compiled code": os.environ.get("NUMBA_CACHE_DIR") or "beside the sources",
    }
    _show(facts, as_json)


def _about(estimator: Any, data: Path | None, target: str | None, as_json: bool) -> None:
    """A stored model: what it is, what was edited, and every setting of its fit."""
    from ...editing import checksum

    facts = {
        "estimator": type(estimator).__name__,
        "loss": repr(estimator.loss_),
        "features": estimator.n_features_in_,
        **_terms(estimator),
        "weak-learners": estimator.n_learners_,
        "best iteration": f"{estimator.best_iteration_:,} of {estimator.n_iter_:,}",
        "engine": estimator.trace_.engine,
    }
    if hasattr(estimator, "coverage_") and estimator.coverage_ is not None:
        facts["checksum"] = checksum(estimator)
    plan, history = getattr(estimator, "plan_", None), getattr(estimator, "edits_", None)
    if history is None and data is not None:
        raise CommandError("the model was not edited; leave --data out", ExitCode.USAGE)
    changed = {} if history is None else _changed(estimator, data, target)
    if as_json:
        edits = [] if history is None else history.edits
        plan = None if plan is None else plan.to_dict()
        print_json({**facts, "edits": edits, **changed, "plan": plan})
        return
    _show(facts, False)
    if history is not None:
        print_lines(["", "edits after the fit", *(f"  {line}" for line in history.lines())])
        print_lines(_in_lines(changed))
    if plan is not None:
        print_lines(["", *str(plan).splitlines()])


def _changed(estimator: Any, data: Path | None, target: str | None) -> dict[str, Any]:
    """The values of edited terms before and after, in the order of their bins; with rows, their
    mean loss."""
    old = estimator.unedited()
    before, after = (
        {term.name: term for term in one.explain_global().terms} for one in (old, estimator)
    )
    terms = {}
    for name in [*before, *(name for name in after if name not in before)]:
        both = [one[name].values.tolist() if name in one else None for one in (before, after)]
        if both[0] != both[1]:
            terms[name] = {"before": both[0], "after": both[1]}
    if data is None:
        return {"terms": terms}
    rows = judged_rows(estimator, data, target, None, {}, by=None, weight=None, offset=None)
    del rows["by"]
    try:
        losses = [one._mean_loss(**rows) for one in (old, estimator)]
    except (ValueError, TypeError) as error:
        raise CommandError(f"{data}: {error}", ExitCode.DATA) from error
    return {"terms": terms, "mean_loss": dict(zip(("before", "after"), losses, strict=True))}


def _in_lines(changed: dict[str, Any]) -> list[str]:
    """Edited terms by their smallest and largest value, and what the edits cost."""
    lines = ["", "terms before and after (smallest and largest value)"]
    for name, both in changed["terms"].items():
        lines.append(f"  {name}: {_range(both['before'])} -> {_range(both['after'])}")
    if "mean_loss" in changed:
        both = changed["mean_loss"]
        lines.append(f"  mean loss of these rows: {both['before']:.6g} -> {both['after']:.6g}")
    return lines


def _range(values: Any) -> str:
    return "none" if values is None else f"{np.min(values):.4g} to {np.max(values):.4g}"


def _terms(estimator: Any) -> dict[str, int]:
    """How many curves and pairs, or trees, a model has."""
    if not hasattr(estimator, "term_features_"):
        return {"trees": estimator.model_.n_trees}
    sizes = [len(term) for term in estimator.term_features_]
    return {"curves": sizes.count(1), "pairs": sizes.count(2)}


def _show(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(facts)
    else:
        width = max(map(len, facts))
        print_lines(f"{name.ljust(width)}  {fact}" for name, fact in facts.items())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
