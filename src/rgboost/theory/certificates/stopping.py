"""Stop boosting when the loss is certified to be near its optimum."""

from __future__ import annotations

import math

from ..._core.validation import check_count, check_positive
from ...training import Progress
from .certificate import Certificate
from .recording import Certifier


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
        As in `rgboost.theory.certificate`.

    Attributes
    ----------
    iterations
        The iterations at which certificates were made.
    certificates
        Those certificates; ``trace.train_loss[iterations]`` are their losses. They are in
        ``trace.certificates``, too.
    stopped
        Whether the gap was reached.
    lower_bound
        The best lower bound so far that holds for every combination of weak-learners.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import Stumps, boost
    >>> from rgboost.losses import Squared
    >>> from rgboost.selection import AllLearners
    >>> from rgboost.steps import ConstantStep
    >>> from rgboost.theory import StopAtGap
    >>> X, y = load_diabetes(return_X_y=True)
    >>> enough = StopAtGap(0.05, relative=True)
    >>> boosted = boost(
    ...     X, y, loss=Squared(), learner=Stumps(max_bins=8), selection=AllLearners(),
    ...     step=ConstantStep(), n_iter=100_000, callbacks=[enough],
    ... )
    >>> enough.stopped, len(boosted.trace) < 100_000
    (True, True)
    """

    needs_one_run = True
    """Not the mean of several runs."""

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
        self.certifier = Certifier(
            radius=radius, exact=exact, max_products=max_products, n_jobs=n_jobs
        )
        self._forget()

    def _forget(self) -> None:
        self.iterations: list[int] = []
        self.certificates: list[Certificate] = []
        self.stopped = False
        self.lower_bound = -math.inf

    def __call__(self, progress: Progress) -> bool:
        if not progress.settled:
            return False
        snapshot = progress.snapshot()
        if self.certifier.begins(snapshot):  # what was known is of another run
            self._forget()
        goal = self.tol_gap * abs(progress.train_loss) if self.relative else self.tol_gap
        if progress.train_loss - self.lower_bound <= goal:
            self.stopped = True
        elif not self.iterations or progress.iteration >= self.iterations[-1] + self.every:
            found = self.certifier(snapshot, progress.iteration, goal)
            self.iterations.append(progress.iteration)
            self.certificates.append(found)
            progress.keep_certificate(progress.iteration, found)
            if math.isinf(found.radius):
                self.lower_bound = max(self.lower_bound, found.lower_bound)
            self.stopped = found.gap <= goal
        return self.stopped
