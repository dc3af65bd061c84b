"""What a model was fitted to: the prepared weak-learners, the rows and the loss."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from ..._core.team import Team, team_size
from ...estimators.base import BaseRGBM
from ...learners.base import LearnerFamily, Prepared
from ...losses import Loss
from ...model import Path
from ...statistics.memory import MOST_BINS
from ...training import Boosted
from ..dual.ground import Ground
from ..dual.span import Span, Vector, orthonormal_span
from ..dual.stump_span import span_of

_FEW_ROWS = 1000
"""With no more rows, and more coordinates than rows, an orthonormal basis is made."""

_FEW_COORDINATES = 3000
"""With no more coordinates the Gram matrix is factorised."""

_GRAM_PRODUCTS = 15.0
_GRAM_CELLS = 1e8
"""The Gram matrix may cost this many products, or this many entries of the data (0.1 s)."""


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """A context in which BLAS works alone: the same bits for any ``n_jobs``, and no waiting."""
    return _libraries().limit(limits=1, user_api="blas")


@dataclass(frozen=True)
class Training:
    """Rows with positive weight, prepared weak-learners on them, and the start score, the same for
    all rows or one for each."""

    prepared: Prepared
    y: Vector
    weight: Vector | None
    loss: Loss
    start: Any

    def __post_init__(self) -> None:
        if not self.prepared.additive:
            raise TypeError(
                "there are no certificates of trees: the best tree cannot be found, and so nobody "
                "knows how far the loss is from its smallest. Validation rows and cross-validation "
                "tell where to stop; learner='stumps' has certificates."
            )

    def team(self, n_jobs: int) -> Team:
        return Team(team_size(n_jobs, self.prepared.cells))

    def span(self, team: Team) -> Span:
        return span_of(self.prepared, len(self.y), team)

    def ground(self, span: Span, exact: bool | None) -> Ground:
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        wide = span.n_rows < span.n_coordinates
        if exact is not False and wide and span.n_rows <= _FEW_ROWS:
            return Ground(orthonormal_span(span, weight), self.y, weight, self.loss, True)
        if exact is None:
            cheap = span.gram_cells <= max(_GRAM_PRODUCTS * span.cells, _GRAM_CELLS)
            exact = cheap and span.n_coordinates <= _FEW_COORDINATES
        elif exact and not np.isfinite(span.gram_cells):
            raise ValueError(
                f"exact=True needs at most {MOST_BINS} bins per feature when rows are many; set "
                "max_bins to that or less, or use exact=None and radius=math.inf."
            )
        if exact:
            span.expect_grams()
        return Ground(span, self.y, weight, self.loss, exact)

    def score(self, span: Span, path: Path) -> Vector:
        """The scores of the rows after the iterations of a path."""
        return self.start + span.scores(self.prepared.coefficients(path))


def prepare(
    X: Any,
    y: Any,
    sample_weight: Any,
    loss: Loss,
    learner: LearnerFamily,
    start: float | None,
    n_jobs: int,
) -> Training:
    """Weak-learners made for these rows, as boosting would make them."""
    y, weight, kept = checked_rows(y, sample_weight)
    loss.check_labels(y)
    if kept is not None:
        X, learner = X[kept], learner.restricted_to(kept)
    prepared = learner.prepare(X, weight, n_jobs=n_jobs)
    if start is None:
        start = loss.best_constant(y, weight)
    return Training(prepared, y, weight, loss, float(start))


def training_of(
    fitted: Any, X: Any, y: Any, sample_weight: Any, loss: Loss | None, n_jobs: int
) -> tuple[Training, Path | None, Vector | None, Vector | None]:
    """(training, path or scores, training losses if known) of an outcome of `boost` or an
    estimator."""
    found = getattr(fitted, "loss_", loss)
    if found is not None and found.outputs > 1:
        raise ValueError(
            "certificates are for models with one score a row; this one has more than two classes."
        )
    if hasattr(fitted, "edits_"):
        raise ValueError(
            "certificates say what boosting can still gain, and this model was edited; ask for "
            "that of the model before the edits."
        )
    model = getattr(fitted, "model_", getattr(fitted, "model", None))
    if getattr(getattr(model, "wide", None), "pairs", None) is not None:
        raise ValueError(
            "certificates are bounds against all combinations of stumps, and this model has pairs "
            "of features; fit it with interactions=0."
        )
    if isinstance(fitted, Boosted):
        loss = getattr(fitted, "loss", None) if loss is None else loss
        if loss is None:
            raise ValueError(
                "loss is missing: an outcome of boost does not know it; pass loss=... as to boost."
            )
        y, weight, _ = checked_rows(y, sample_weight)
        loss.check_labels(y)
        trace = fitted.trace
        training = Training(fitted.prepared, y, weight, loss, float(fitted.model.intercept))
        return training, trace.path(), None, trace.train_loss
    if isinstance(fitted, BaseRGBM):
        rows = fitted._check_rows(X)
        if getattr(fitted, "has_offset_", False):
            raise ValueError(
                "the model was fitted with an offset, which is not known here; use the callback "
                "RecordCertificates in fit."
            )
        ways = fitted.plan_.ways or fitted.plan(X, y, sample_weight).ways  # none in a file
        family = fitted._family(ways[0]).unconstrained
        if hasattr(fitted, "classes_"):
            y = np.where(np.asarray(y) == fitted.classes_[1], 1.0, -1.0)
        start = float(fitted.intercept_)
        training = prepare(rows, y, sample_weight, fitted.loss_, family, start, n_jobs)
        score = fitted.model_.score(rows, n_jobs)
        if sample_weight is not None:
            score = score[np.asarray(sample_weight) > 0]
        trace = fitted.trace_
        end = trace.place(fitted.best_iteration_) + 1
        losses = None if trace.n_runs > 1 else trace.train_loss[:end]
        return training, None, score, losses
    raise TypeError(
        f"a certificate needs an outcome of rgboost.boost or a fitted estimator, got "
        f"{type(fitted).__name__}; a bare model does not know all of its weak-learners."
    )


def checked_rows(
    y: Any, sample_weight: Any
) -> tuple[Vector, Vector | None, NDArray[np.bool_] | None]:
    """(y, weights, rows that were kept): rows without weight are not there."""
    y = np.asarray(y, dtype=np.float64)
    if sample_weight is None:
        return y, None, None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != y.shape or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(
            f"sample_weight has shape {weight.shape}, y {y.shape}; give one finite weight of 0 or "
            "more for each row."
        )
    if (weight > 0).all():
        return y, weight, None
    kept = weight > 0
    return y[kept], weight[kept], kept
