"""Certificates of chosen iterations of a run, in its trace."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..._core.team import check_n_jobs
from ..._core.validation import check_count
from ...engines.problem import with_offset
from ...training import Progress
from ...training.driver import Snapshot
from ..dual.ground import Ground
from ..dual.span import Span
from .certificate import Certificate, certify, make_effort
from .training import Training, one_blas_thread


@dataclass
class Certifier:
    """Certificates of snapshots of one run: what only depends on the rows is made once.

    The parameters are those of `rgboost.theory.certificate`.
    """

    tightness: float = 3.0
    radius: float | None = None
    exact: bool | None = None
    max_products: float | None = None
    n_jobs: int | None = None
    _prepared: Any = field(default=None, init=False, repr=False)
    _known: tuple[Span, Ground] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        make_effort(self.tightness, None, self.radius, self.max_products)  # may raise

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows, so that estimators with callbacks can be cloned and stored."""
        return {**self.__dict__, "_prepared": None, "_known": None}

    def begins(self, now: Snapshot) -> bool:
        """Whether this is another run than the one that was looked at last, which is forgotten."""
        if now.prepared is self._prepared:
            return False
        self._prepared, self._known = now.prepared, None
        return True

    def __call__(
        self, now: Snapshot, iteration: int, tolerance: float | None = None
    ) -> Certificate:
        """The certificate of the model after so many iterations, which may be fewer than all."""
        begun = time.perf_counter()
        start = with_offset(now.start, now.offset)
        training = Training(now.prepared, now.y, now.weight, now.loss, start)
        effort = make_effort(self.tightness, tolerance, self.radius, self.max_products)
        with training.team(check_n_jobs(self.n_jobs)) as team, one_blas_thread():
            if self.begins(now) or self._known is None:
                span = training.span(team)
                self._known = span, training.ground(span, self.exact)
            span, ground = self._known
            span.use(team)
            score = training.score(span, now.path.part(0, iteration))
            return certify(ground, score, effort, self.radius, begun)


class RecordCertificates:
    """A callback that puts certificates of chosen iterations into ``trace.certificates``.

    Callbacks are called between blocks of iterations; the model of every chosen iteration is made
    from the path, so that the certificates are of exactly these.

    Parameters
    ----------
    at : iterable of int, optional
        The iterations, counted from 1 (after the first); 0 is the null model.
    every : int, optional
        Or every so many iterations.
    tightness, radius, exact, max_products, n_jobs
        As in `rgboost.theory.certificate`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import Stumps, boost
    >>> from rgboost.losses import Squared
    >>> from rgboost.selection import AllLearners
    >>> from rgboost.steps import ConstantStep
    >>> from rgboost.theory import RecordCertificates
    >>> X, y = load_diabetes(return_X_y=True)
    >>> boosted = boost(
    ...     X, y, loss=Squared(), learner=Stumps(max_bins=8), selection=AllLearners(),
    ...     step=ConstantStep(), n_iter=100, callbacks=[RecordCertificates(at=[10, 100])],
    ... )
    >>> [m for m, found in boosted.trace.certificates]
    [10, 100]
    >>> gaps = [found.gap for m, found in boosted.trace.certificates]
    >>> bool(gaps[0] > gaps[1] > 0)
    True
    """

    needs_one_run = True
    """Not the mean of several runs."""

    def __init__(
        self,
        at: Iterable[int] | None = None,
        *,
        every: int | None = None,
        tightness: float = 3.0,
        radius: float | None = None,
        exact: bool | None = None,
        max_products: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        if (at is None) == (every is None):
            raise ValueError(
                f"at={at!r} and every={every!r}; give the iterations in at, or a distance in every."
            )
        self.at = None if at is None else sorted({check_count(m, "at", at_least=0) for m in at})
        self.every = None if every is None else check_count(every, "every", at_least=1)
        self.certifier = Certifier(tightness, radius, exact, max_products, n_jobs)
        self._done = -1

    def __call__(self, progress: Progress) -> None:
        if not progress.settled:
            return
        snapshot = progress.snapshot()
        if self.certifier.begins(snapshot):
            self._done = -1
        for m in self._between(self._done, progress.iteration):
            progress.keep_certificate(m, self.certifier(snapshot, m))
        self._done = progress.iteration

    def _between(self, low: int, high: int) -> list[int]:
        """Chosen iterations above ``low``, up to ``high``."""
        if self.every is not None:
            return list(range(max(low // self.every + 1, 1) * self.every, high + 1, self.every))
        return [m for m in self.at or [] if low < m <= high]
