"""Stop boosting when the loss is certified to be near its optimum."""

from __future__ import annotations

import math
import time
from typing import Any

from .._team import check_n_jobs
from .._validation import check_count, check_positive
from ..boosting import Progress
from .certificate import Certificate, certify, make_effort
from .dual import Ground
from .span import Span
from .training import Snapshot, Training, one_blas_thread


class StopAtGap:
    """A callback that stops when the gap to the best loss is at most ``tol_gap``.

    Parameters
    ----------
    tol_gap : float
        The gap to stop at, in units of the mean loss; with ``relative``, a share of the loss.
    every : int
        Iterations between certificates, at least: callbacks are called between blocks of
        iterations. In between, a lower bound that holds for all combinations of weak-learners is
        compared with the loss of the moment, which costs nothing.
    relative : bool
        Whether ``tol_gap`` is relative.
    radius, exact, max_products, n_jobs
        As in `rgboost.theory.certificate.certificate`.

    Attributes
    ----------
    iterations : the iterations at which certificates were made.
    certificates : those certificates; ``trace.train_loss[iterations]`` are their losses.
    stopped : whether the gap was reached.
    lower_bound : the best lower bound so far that holds for every combination of weak-learners.

    Examples
    --------
    ::

        stop = StopAtGap(1e-3)
        boosted = boost(X, y, ..., n_iter=100_000, callbacks=[stop])
        plot(stop.iterations, [found.gap for found in stop.certificates])
    """

    def __init__(
        self,
        tol_gap: float,
        *,
        every: int = 100,
        relative: bool = False,
        radius: float | None = None,
        exact: bool | None = None,
        max_products: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.tol_gap = check_positive(tol_gap, "tol_gap")
        self.every = check_count(every, "every", at_least=1)
        self.relative = relative
        self.radius = radius
        self.exact = exact
        self.max_products = max_products
        self.n_jobs = n_jobs
        make_effort(3.0, None, radius, max_products)  # impossible values raise here
        self._forget()

    def _forget(self) -> None:
        self.iterations: list[int] = []
        self.certificates: list[Certificate] = []
        self.stopped = False
        self.lower_bound = -math.inf
        self._prepared: Any = None
        self._ground: Ground | None = None
        self._span: Span | None = None

    def __call__(self, progress: Progress) -> bool:
        if self.iterations and progress.iteration <= self.iterations[-1]:
            self._forget()  # another run began
        goal = self.tol_gap * abs(progress.train_loss) if self.relative else self.tol_gap
        if progress.train_loss - self.lower_bound <= goal:
            self.stopped = True
        elif not self.iterations or progress.iteration >= self.iterations[-1] + self.every:
            found = self._certify(progress.snapshot(), goal)
            self.iterations.append(progress.iteration)
            self.certificates.append(found)
            if math.isinf(found.radius):
                self.lower_bound = max(self.lower_bound, found.lower_bound)
            self.stopped = found.gap <= goal
        return self.stopped

    def _certify(self, now: Snapshot, goal: float) -> Certificate:
        begun = time.perf_counter()
        training = Training(now.prepared, now.y, now.weight, now.loss, now.start)
        effort = make_effort(3.0, goal, self.radius, self.max_products)
        with training.team(check_n_jobs(self.n_jobs)) as team, one_blas_thread():
            if now.prepared is not self._prepared or self._ground is None or self._span is None:
                self._forget()
                self._prepared = now.prepared
                self._span = training.span(team)
                self._ground = training.ground(self._span, self.exact)
            self._span.use(team)
            score = training.score(self._span, now.path)
            return certify(self._ground, score, effort, self.radius, begun)
