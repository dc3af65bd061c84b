"""How far the loss of a fitted model is from the best that its weak-learners can do."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.team import check_n_jobs
from ..._core.validation import check_real
from ...losses import Loss
from ..dual.ground import Effort, Ground, Search
from ..dual.search import Searcher
from ..dual.span import Vector
from .training import one_blas_thread, training_of

_SAME_LOSS = 1e-6
"""Relative difference from the training loss in the trace that tells other rows from the same."""

MOST_PRODUCTS = 20.0
MOST_PRODUCTS_TO_ROUNDING = 300.0


@dataclass(frozen=True)
class Certificate:
    r"""A bound of the gap: the mean loss of a model less the best mean loss there is.

    With V the range of the weak-learners and f_0 the model's start score,

    .. math:: \frac1W \Big( L(f) - \inf_{d \in V} L(f_0 + d) \Big) \le \mathrm{gap},

    up to rounding (1e-13 of the loss, if scores change by about what the labels vary). The proof,
    and what rounding can do, are in `theory.dual.ground`.

    Attributes
    ----------
    loss
        Mean (weighted) training loss of the model.
    gap
        Upper bound of how much smaller the mean loss of a combination of weak-learners can be.
    lower_bound
        loss - gap.
    relative_gap
        gap / loss.
    decrease
        Lower bound of the gap: the mean loss of other scores in the range was seen to be smaller by
        this much. ``gap / decrease`` tells how tight the certificate is.
    radius
        Inf, or the bound holds against all models whose functions differ from this one's by at most
        ``radius`` in all: the sum over the features of the root mean squares of the changes (in
        units of the score; for a dictionary, the sum over its columns).
    residual_projection_error
        How far the dual vector is from orthogonal: the largest root mean square of its projection
        onto a feature. At rounding level the radius is inf.
    method
        "factor" (Gram matrix), "conjugate gradients", or "nothing to add".
    steps
        Newton's steps.
    products
        Products with the weak-learners and their transpose, in pairs.
    seconds
        Time that it took.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.theory import certificate
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RGBMRegressor(max_bins=8, max_iter=500, random_state=0).fit(X, y)
    >>> found = certificate(model, X, y)
    >>> bool(found.lower_bound <= found.loss), bool(found.relative_gap < 0.05)
    (True, True)
    """

    loss: float
    gap: float
    lower_bound: float
    relative_gap: float
    decrease: float
    radius: float
    residual_projection_error: float
    method: str
    steps: int
    products: float
    seconds: float

    def __str__(self) -> str:
        text = f"loss {self.loss:.6g}, at most {self.gap:.3g} above the optimum"
        if self.decrease > 0:
            text += f" and at least {self.decrease:.3g}"
        if math.isfinite(self.radius):
            text += f" (within a radius of {self.radius:.3g})"
        return text


def certificate(
    fitted: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    loss: Loss | None = None,
    radius: float | None = None,
    exact: bool | None = None,
    tightness: float = 3.0,
    tolerance: float | None = None,
    max_products: float | None = None,
    n_jobs: int | None = None,
) -> Certificate:
    """A rigorous upper bound on the loss that is left to gain.

    Parameters
    ----------
    fitted
        Outcome of `rgboost.boost`, or a fitted RGBMRegressor or RGBMClassifier.
    X, y, sample_weight
        The training rows. An outcome of `boost` has its own bins: X is not read.
    loss
        The loss, for an outcome of `boost`.
    radius : float, optional
        See `Certificate`. Smaller is cheaper; ``math.inf`` asks for a bound against every
        combination of weak-learners. Default: that, if it is within ``max_products``, and
        otherwise 1,000 standard deviations of the scores. It does not matter where the Gram
        matrix is factorised: there the bound holds for all.
    exact : bool, optional
        Whether to factorise the Gram matrix of the weak-learners, or to use conjugate gradients.
        Default: factorise if that is cheap (few learners, or few rows).
    tightness : float
        Stop when the bound is at most this multiple of a gap that is known to be there.
    tolerance : float, optional
        Stop as soon as the gap is known to be below this; go on until it is known to be above.
    max_products : float, optional
        Budget of conjugate gradients, in passes over the data there and back. Default: 20, or 300
        if the radius is inf.
    n_jobs
        Threads; None for all that the process may use.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.theory import certificate
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RGBMRegressor(max_bins=8, max_iter=2000, random_state=0).fit(X, y)
    >>> found = certificate(model, X, y)
    >>> bool(0 <= found.gap < 0.05 * found.loss)
    True
    """
    begun = time.perf_counter()
    threads = check_n_jobs(n_jobs)
    effort = make_effort(tightness, tolerance, radius, max_products)
    training, path, score, losses = training_of(fitted, X, y, sample_weight, loss, threads)
    with training.team(threads) as team, one_blas_thread():
        span = training.span(team)
        ground = training.ground(span, exact)
        if path is not None:
            score = training.score(span, path)
        assert score is not None
        mean = ground.value(score) / ground.total_weight
        if losses is not None and (
            abs(mean - losses[-1]) > _SAME_LOSS * abs(losses[-1]) + 1e-12 * abs(losses[0])
        ):
            raise ValueError(
                f"the loss on these rows is {mean:g}, and was {losses[-1]:g} at the end of "
                "training; pass the X, y and sample_weight that the model was fitted to. "
                "A fit with offsets has its certificates from RecordCertificates."
            )
        return certify(ground, score, effort, radius, begun)


def make_effort(
    tightness: float, tolerance: float | None, radius: float | None, max_products: float | None
) -> Effort:
    check_real(tightness, "tightness", at_least=1.0, remedy="use a number of 1 or more")
    if tolerance is not None:
        check_real(tolerance, "tolerance", at_least=0.0, remedy="use a number of 0 or more")
    if radius is not None and not radius >= 0.0:
        raise ValueError(f"radius={radius!r} is impossible; use a number of 0 or more, or inf.")
    if max_products is None:
        max_products = MOST_PRODUCTS_TO_ROUNDING if radius == math.inf else MOST_PRODUCTS
    return Effort(tightness=tightness, tolerance=tolerance, products=float(max_products))


def certify(
    ground: Ground, score: Vector, effort: Effort, radius: float | None, begun: float
) -> Certificate:
    """The certificate of given scores."""
    found = Searcher(ground, score, effort, radius).run()
    return report(ground, found, found.start_loss, found.gap, found.decrease, begun)


def report(
    ground: Ground, found: Search, loss: float, gap: float, decrease: float, begun: float
) -> Certificate:
    """Sums become means."""
    mean, mean_gap = (float(sum_ / ground.total_weight) for sum_ in (loss, gap))
    method = "factor" if ground.exact else "conjugate gradients"
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = float(np.float64(mean_gap) / abs(mean)) if mean_gap > 0.0 else 0.0
    return Certificate(
        loss=mean,
        gap=mean_gap,
        lower_bound=mean - mean_gap,
        relative_gap=relative,
        decrease=decrease / ground.total_weight,
        radius=found.radius,
        residual_projection_error=found.projection_error,
        method=method if ground.span.n_coordinates else "nothing to add",
        steps=found.steps,
        products=found.products,
        seconds=time.perf_counter() - begun,
    )
