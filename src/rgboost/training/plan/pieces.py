"""What does not go with rows that are read piece by piece: known from the parameters alone, before
anything is read, which may take long."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from typing import Any

from ...learners import family_of
from ...losses import Loss
from ...steps import ConstantStep, LineSearch, NewtonStep, check_step

_NOT_SMOOTH = ("absolute", "absolute_error", "quantile")
IN_MEMORY = "give fit rows in memory"


Obstacle = tuple[str, str, str]
"""What does not go, why, and what to do."""


def obstacles(p: Mapping[str, Any]) -> Iterator[Obstacle]:
    """What of the parameters does not go with rows in pieces."""
    yield from by_sums_obstacles(p)
    if p["engine"] == "direct":
        yield "engine='direct'", "it works on the rows", "use engine='auto'"
    if not isinstance(p["cv"], numbers.Integral):
        why = "splitters need all rows at once"
        yield f"cv={p['cv']!r}", why, "give the number of folds, to which rows come by chance"
    if isinstance(p.get("class_weight"), str):
        why = "how many rows a class has is not known when rows are first weighed"
        yield f"class_weight={p['class_weight']!r}", why, "give a dict of the weights of classes"
    yield from loss_obstacles(p)


def by_sums_obstacles(p: Mapping[str, Any]) -> Iterator[Obstacle]:
    """What does not go where all that is known of rows are sums."""
    learner = p["learner"]
    if not family_of(learner).by_statistics:
        yield f"learner={learner!r}", "it is fitted on the rows", f"use stumps, or {IN_MEMORY}"
    if p["monotone_constraints"] is not None:
        why = "constraints are kept on the rows"
        yield "monotone_constraints", why, f"leave them out, or {IN_MEMORY}"
    if p["bags"]:
        why = "bags weigh the rows anew, and need them at once"
        yield f"bags={p['bags']}", why, f"use 0, or {IN_MEMORY} (a sample of them, say)"
    if p["warm_start"]:
        yield "warm_start=True", "the scores of rows are not kept", "use a larger max_iter"
    for callback in p["callbacks"] or ():
        if getattr(callback, "needs_one_run", False):
            yield f"the callback {type(callback).__name__}", "it looks at rows", "leave it out"


def loss_obstacles(p: Mapping[str, Any]) -> Iterator[Obstacle]:
    """Losses and steps that there are no sums of."""
    loss, squared = p["loss"], p["loss"] in ("squared", "squared_error")
    smooth = loss not in _NOT_SMOOTH
    if isinstance(loss, Loss):
        smooth, squared = loss.smoothness is not None or loss.newton, loss.quadratic
    if not smooth:
        why = "it has no quadratic model, and statistics know no other loss"
        remedy = f"use a smooth loss such as 'huber' or 'log-cosh', or {IN_MEMORY}"
        yield f"loss={loss!r}", why, remedy
    step = None if isinstance(p["step"], str) and p["step"] == "auto" else check_step(p["step"])
    if step not in (None, ConstantStep(), LineSearch(), NewtonStep()):
        why = "it looks at the rows of a leaf"
        yield f"step={p['step']!r}", why, "use 'auto', 'constant' or 'line-search'"
    if p["engine"] == "gram" and not squared:
        yield "engine='gram'", f"it has no sums of loss={loss!r}", "use 'auto' or 'quadratic'"
    if p["max_iter"] == "cv" and p["ensemble"] is False and not squared:
        why = "the run after cross-validation would be on rows"
        yield "ensemble=False with max_iter='cv'", why, "use ensemble=True, or validation rows"
