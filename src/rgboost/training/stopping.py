"""Early stopping: when the loss of validation rows no longer falls."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from .._core.validation import check_count, check_not_negative
from .trace import Progress

SHORTEST_BLOCK = 16
"""Iterations of several runs at once; beside fewer of them, it takes long to begin and to end."""


class EarlyStopping:
    """A rule that stops when the validation loss did not fall in ``n_iter_no_change`` iterations.

    An iteration counts as a fall if its loss is below ``best - tol * |best|``, ``best`` being the
    loss of the last iteration that counted. So many small falls count as one, and the rule does
    not depend on the unit of the labels.

    The rule is looked at between blocks of iterations, whose length depends on the clock, but it is
    a function of the losses: ``stop_at`` is the iteration at which it first holds, and what was
    done beyond is dropped by `rgboost.boost`. Results do not depend on the clock.

    Parameters
    ----------
    n_iter_no_change : int
        How many iterations to wait.
    tol : float
        The smallest relative fall that counts.

    Attributes
    ----------
    stop_at
        The iteration at which the rule held; None if it did not.

    Examples
    --------
    >>> from rgboost.callbacks import EarlyStopping
    >>> rule = EarlyStopping(n_iter_no_change=2, tol=0.0)
    >>> rule.observe([3.0, 2.0, 2.5, 2.1]), rule.stop_at
    (True, 3)
    """

    needs_one_run = True
    """Not the mean of several runs."""

    def __init__(self, n_iter_no_change: int = 100, tol: float = 1e-4) -> None:
        self.n_iter_no_change = check_count(n_iter_no_change, "n_iter_no_change", at_least=1)
        self.tol = check_not_negative(tol, "tol")
        self._forget()

    def _forget(self) -> None:
        self.stop_at: int | None = None
        self._seen = 0
        self._last_fall = 0
        self._to_beat = math.inf

    def __enter__(self) -> EarlyStopping:
        self._forget()
        return self

    def __exit__(self, *exc_info: object) -> None:
        return

    def __call__(self, progress: Progress) -> bool:
        return self.observe(progress.validation_losses(self._seen).tolist())

    def next_block(self, longest: int) -> int:
        """How many iterations to do before the rule is asked again.

        At most ``longest``, and no more than it takes until the rule can hold, because those beyond
        would be dropped; but not so few that asking takes longer than they do.
        """
        least_wait = self._last_fall + self.n_iter_no_change + 1 - self._seen
        return min(longest, max(SHORTEST_BLOCK, least_wait))

    def observe(self, losses: Iterable[float]) -> bool:
        """Look at the losses of the next iterations; whether the rule holds at one of them."""
        for loss in losses:
            if loss < self._to_beat:
                self._to_beat = loss - self.tol * abs(loss)
                self._last_fall = self._seen
            elif self._seen - self._last_fall >= self.n_iter_no_change:
                self.stop_at = self._seen
                return True
            self._seen += 1
        return False


def best_iteration(losses: np.ndarray) -> int:
    """The first iteration with the smallest loss; a loss that is not a number is never it."""
    return int(np.argmin(np.where(np.isnan(losses), np.inf, losses)))
