"""What a readable model costs: models compared on the same held-out rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._core.validation import check_count
from ..data.input import read_labels
from ..data.input.task import task_of
from ..estimators import RGBMClassifier, RGBMRegressor
from ..learners import LearnerFamily
from ..losses import Loss
from ..losses.base import SYNONYMS
from .compared import ComparedModel
from .entrants import Constant, Entrant, Fitted, our_entrants, that_can_be_had, why_not
from .measure import Measure
from .paired import Vector, mean_loss, standard_error
from .peers import find_peers
from .progress import Tell, say_nothing, shown_on
from .result import Comparison
from .rows import Rows, Split, read_rows, splits


def compare(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    estimator: Any = None,
    loss: Any = None,
    pairs: Sequence[Any] = (5, 10, "all"),
    peers: str | Sequence[str] = (),
    cv: Any = None,
    groups: Any = None,
    offset: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    verbose: int = 0,
) -> Comparison:
    """What a readable model costs: fit curves, pairs and trees, and compare them on held-out rows.

    All models are fitted to the same rows and judged by the same others. The result prints as a
    table and ends with one sentence: the smallest model whose loss is within one standard error of
    the best. Standard errors are of paired differences: the losses of a row under two models differ
    much less than the losses of two rows.

    Parameters
    ----------
    X, y
        Rows and labels, as `fit` takes them: arrays, sparse matrices, frames with categories and
        missing values.
    sample_weight
        Weights of the rows, for fits and for losses.
    estimator
        `RGBMRegressor` or `RGBMClassifier` with the settings that all models share, such as
        ``monotone_constraints``; not fitted here. Default: by ``loss``; without one, classes if y
        has texts, truth values or at most ten different whole numbers, else regression.
    loss
        As that of the estimators; default: that of ``estimator``.
    pairs
        How many pairs of features the models between curves and trees have: numbers, and ``"all"``.
        More than there are count as all.
    peers
        ``"lightgbm"``, ``"ebm"`` (of the package interpret), or both: fitted besides at the
        defaults of their libraries, with the same loss. They have to be installed.
    cv : int, splitter, list of (train, test) rows, or None
        The folds, which hold out every row once. None: five below 5,000 rows, three below 20,000;
        of more rows a quarter is held out once (or three folds, if there are less than forty
        ``groups``).
    groups
        The group of every row; those of a group stay in one fold. Standard errors are between
        groups then.
    offset
        A known part of the score of every row; see `fit`.
    n_jobs : int or None
        Threads. None: as many as the process may use.
    random_state : int, RandomState or None
        Seed of the folds and of the fits.
    verbose : int
        1: a progress bar, or a line for every fit where there is no terminal.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import rgboost
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> found = rgboost.compare(X, y, pairs=[3], cv=2)
    >>> [model.name for model in found.models]
    ['constant', 'curves', '3 pairs', 'trees']
    >>> found.smallest.things is not None
    True
    """
    with ExitStack() as stack:
        tell: Tell = say_nothing
        if check_count(int(verbose), "verbose"):
            from rich.console import Console

            tell = stack.enter_context(shown_on(Console()))
        return run_comparison(
            X, y, sample_weight, estimator=estimator, loss=loss, pairs=pairs, peers=peers, cv=cv,
            groups=groups, offset=offset, n_jobs=n_jobs, random_state=random_state, tell=tell,
        )  # fmt: skip


def run_comparison(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    estimator: Any = None,
    loss: Any = None,
    pairs: Sequence[Any] = (5, 10, "all"),
    peers: str | Sequence[str] = (),
    cv: Any = None,
    groups: Any = None,
    offset: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    target: str = "",
    tell: Tell = say_nothing,
) -> Comparison:
    """See `compare`; ``tell`` hears how far it is, ``target`` is what y is called."""
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    template = _template(estimator, y, loss, n_jobs, seed)
    rows = read_rows(template, X, y, sample_weight, offset, groups)
    parts = splits(rows, cv, seed)
    n_features = rows.schema.n_features
    ours = our_entrants(template, check_pairs(pairs), n_features)
    others = find_peers(peers, rows, template.n_jobs, seed)
    ours, left_out = that_can_be_had(ours, rows, parts[0])
    entrants: list[Entrant] = [Constant(), *ours, *others]
    found, refused = _fit_all(entrants, ours[1:], rows, parts, tell)
    entrants = [one for one in entrants if one.name in found]
    fitted = [found[one.name] for one in entrants]
    measure = Measure.of(template.loss, rows, np.concatenate([held for _, held in parts]))
    models, errors = _judge(entrants, fitted, rows, parts, measure)
    return Comparison(
        models=models,
        errors=errors,
        measure=measure.name,
        n_rows=len(rows.checked.present),
        n_features=n_features,
        n_held_out=sum(len(held) for _, held in parts),
        n_fits=len(parts),
        target=target or str(getattr(y, "name", None) or ""),
        left_out=left_out | refused,
    )


def _template(estimator: Any, y: Any, loss: Any, n_jobs: int | None, seed: int) -> Any:
    """The settings that all models share."""
    if estimator is None:
        estimator = RGBMClassifier() if _are_classes(y, loss) else RGBMRegressor()
    elif not isinstance(estimator, RGBMRegressor | RGBMClassifier):
        raise TypeError(
            f"estimator={estimator!r} is none of ours; use RGBMRegressor(...) or "
            "RGBMClassifier(...), or leave it out."
        )
    learner = estimator.learner
    if not (learner.additive if isinstance(learner, LearnerFamily) else learner == "stumps"):
        raise ValueError(
            f"estimator has learner={learner!r}; give one with curves (stumps), trees take part "
            "by themselves."
        )
    given = {"loss": loss, "n_jobs": n_jobs}
    given = {name: value for name, value in given.items() if value is not None}
    if estimator.random_state is None:
        given["random_state"] = seed
    found = type(estimator)(**estimator.get_params(deep=False))
    return found.set_params(**given, warm_start=False, callbacks=None, verbose=0)


def _are_classes(y: Any, loss: Any) -> bool:
    """Whether labels are classes: by the loss, if there is one."""
    if isinstance(loss, Loss):
        return loss.labels_are_classes
    if loss is not None:
        return SYNONYMS.get(loss, loss) in ("logistic", "exponential")
    return task_of(np.asarray(read_labels(y, "y")))[0] == "classification"


def check_pairs(pairs: Any) -> list[Any]:
    """Numbers of pairs in order, and "all" at the end."""
    if isinstance(pairs, str | int):
        pairs = [pairs]
    if pairs is None or any(isinstance(n, str) and n != "all" for n in pairs):
        raise TypeError(f"pairs={pairs!r} must be numbers of pairs and 'all': [5, 10, 'all'], say.")
    counts = {check_count(n, "pairs", at_least=1) for n in pairs if n != "all"}
    return [*sorted(counts), *(["all"] if "all" in list(pairs) else [])]


def _fit_all(
    entrants: Sequence[Entrant],
    optional: Sequence[Entrant],
    rows: Rows,
    parts: Sequence[Split],
    tell: Tell,
) -> tuple[dict[str, list[Fitted]], dict[str, str]]:
    """The fits of every entrant, fold by fold, by its name; and why not of those optional ones that
    can be planned but not fitted (more pairs than some fold has, say)."""
    found: dict[str, list[Fitted]] = {one.name: [] for one in entrants}
    refused: dict[str, str] = {}
    total = len(entrants) * len(parts)
    for k, part in enumerate(parts):
        for j, one in enumerate(entrants):
            if one.name in refused:
                continue
            fold = f", fold {k + 1} of {len(parts)}" if len(parts) > 1 else ""
            tell(k * len(entrants) + j, total, f"{one.name}{fold}")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)  # its loss tells
                    found[one.name].append(one.fit(rows, part))
            except (TypeError, ValueError) as reason:
                if one not in optional:
                    raise
                del found[one.name]
                refused[one.name] = why_not(one, reason)
    tell(total, total, "done")
    return found, refused


def _judge(
    entrants: Sequence[Entrant],
    fitted: Sequence[Sequence[Fitted]],
    rows: Rows,
    parts: Sequence[Split],
    measure: Measure,
) -> tuple[tuple[ComparedModel, ...], tuple[tuple[float, ...], ...]]:
    """Losses and what they cost, the smallest model first, and the standard errors of all
    differences between them."""
    held = np.concatenate([held for _, held in parts])
    weight = rows.weight[held]
    groups = None if rows.checked.groups is None else rows.checked.groups[held]
    losses: list[Vector] = []
    for fits in fitted:
        of_parts = [rows.losses(f.scores, h) for f, (_, h) in zip(fits, parts, strict=True)]
        losses.append(measure.losses(np.concatenate(of_parts)))
    means = [mean_loss(one, weight) for one in losses]
    best = int(np.argmin(means))
    errors = [[standard_error(a - b, weight, groups) for b in losses] for a in losses]
    models = []
    for one, fits, mine, mean in zip(entrants, fitted, errors, means, strict=True):
        size = np.mean([f.size for f in fits], axis=0)
        models.append(
            ComparedModel(
                name=one.name,
                loss=mean,
                difference=mean - means[best],
                standard_error=mine[best],
                curves=math.ceil(size[0]),
                heat_maps=math.ceil(size[1]),
                trees=math.ceil(size[2]),
                seconds=float(np.mean([f.seconds for f in fits])),
                bytes=float(size[3]),
                is_peer=one.is_peer,
                estimator=one.estimator,
            )
        )
    order = sorted(range(len(models)), key=lambda k: models[k].size)
    sorted_errors = tuple(tuple(errors[k][j] for j in order) for k in order)
    return tuple(models[k] for k in order), sorted_errors
