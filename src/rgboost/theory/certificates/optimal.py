"""The best loss that any combination of weak-learners can reach."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.one_line import one_line
from ..._core.team import check_n_jobs
from ..._core.validation import check_count, check_real
from ...learners import LearnerFamily, Stumps
from ...losses import Loss
from ..dual.ground import Effort
from ..dual.search import Searcher
from ..dual.span import Vector
from .certificate import Certificate, report
from .training import one_blas_thread, prepare


@one_line
@dataclass(frozen=True, eq=False)
class Optimum:
    """The smallest loss over f_0 + Range(B).

    Attributes
    ----------
    loss
        Mean (weighted) loss that was reached.
    certificate
        How far it can be from the infimum.
    score
        The scores of the rows (those with positive weight) that reach it.
    iterations
        Newton's steps.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.losses import Squared
    >>> from rgboost.theory import optimal_loss
    >>> X = np.arange(4.0)[:, None]
    >>> best = optimal_loss(X, np.array([0.0, 1.0, 0.0, 1.0]), Squared())
    >>> bool(best.loss < 1e-9)
    True
    """

    loss: float
    certificate: Certificate
    score: Vector
    iterations: int


def optimal_loss(
    X: Any,
    y: Any,
    loss: Loss,
    learner: LearnerFamily | None = None,
    sample_weight: Any = None,
    start: float | None = 0.0,
    *,
    tol: float = 1e-11,
    exact: bool | None = None,
    max_steps: int = 200,
    n_jobs: int | None = None,
) -> Optimum:
    r"""The infimum of the mean loss over all combinations of weak-learners, and its certificate.

    .. math:: \frac1W \inf_{d \in \mathrm{Range}(B)} \sum_i w_i\, l(y_i, c_0 + d_i)

    by Newton's method in Range(B), each step by a Cholesky factor of the Gram matrix or by
    conjugate gradients (see `theory.dual.projection`), until the duality gap is below ``tol`` of
    the loss. Where the infimum is not attained (a logistic loss without a ridge on rows that can be
    separated) scores grow, and the certificate tells how far the loss has come.

    Parameters
    ----------
    X, y, sample_weight
        Rows, labels that suit the loss, weights.
    loss
        Squared, Huber, Logistic, or one of them in Ridged.
    learner
        Family of weak-learners; default `Stumps()`.
    start
        The constant score c_0 of the null model; None for the loss's best constant. It matters only
        where constants are not among the combinations: signed stumps, dictionaries.
    tol
        Relative duality gap to stop at.
    exact, n_jobs
        As in `rgboost.theory.certificate`.
    max_steps
        Newton's steps at most.

    Returns
    -------
    Optimum

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.learners import Stumps
    >>> from rgboost.losses import Squared
    >>> from rgboost.theory import optimal_loss
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> best = optimal_loss(X, np.sign(X[:, 0]), Squared(), Stumps(max_bins=8))
    >>> bool(best.certificate.gap < 1e-9)
    True
    """
    begun = time.perf_counter()
    threads = check_n_jobs(n_jobs)
    check_real(tol, "tol", above=0.0, remedy="use a positive number")
    check_count(max_steps, "max_steps", at_least=1)
    family = Stumps() if learner is None else learner
    training = prepare(X, y, sample_weight, loss, family, start, threads)
    effort = Effort(tightness=1.0, enough=tol, steps=max_steps, products=math.inf)
    with training.team(threads) as team, one_blas_thread():
        ground = training.ground(training.span(team), exact)
        score = np.full(len(training.y), training.start)
        found = Searcher(ground, score, effort, math.inf).run()
        proof = report(ground, found, found.loss, found.final_gap, 0.0, begun)
    return Optimum(proof.loss, proof, found.score, found.steps)
