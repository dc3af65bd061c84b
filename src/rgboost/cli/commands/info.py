"""``rgboost info``."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..files.models import load_model
from ..show.output import AsJson, print_json, print_lines

NEEDED = ("rgboost", "numpy", "scipy", "scikit-learn", "numba", "narwhals", "safetensors")
OPTIONAL = ("pandas", "pyarrow", "polars", "matplotlib", "pooch")


def info(
    model: Annotated[
        Path | None, typer.Argument(help="A model that rgboost fit has stored.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Versions and settings, for a bug report; or what a stored model is, and by which plan.

    rgboost info model.rgb
    """
    if model is not None:
        _about(load_model(model), as_json)
        return
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


def _about(estimator: Any, as_json: bool) -> None:
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
    if as_json:
        edits = [] if history is None else history.edits
        plan = None if plan is None else plan.to_dict()
        print_json({**facts, "edits": edits, "plan": plan})
        return
    _show(facts, False)
    if history is not None:
        print_lines(["", "edits after the fit", *(f"  {line}" for line in history.lines())])
    if plan is not None:
        print_lines(["", *str(plan).splitlines()])


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
