"""The number of iterations by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.gram.folds import FoldRuns, make_folds
from ..engines.problem import Validation, rows_of
from .boost import Boosted, boost
from .stopping import EarlyStopping

FIRST_ROUND = 256
"""Iterations after which k fits are first looked at; then twice as many, and so on."""


def cross_validate(
    X: Any,
    y: NDArray[np.float64],
    fold: NDArray[np.int64],
    *,
    n_iter: int,
    rule: EarlyStopping,
    weight: NDArray[np.float64] | None = None,
    offset: NDArray[np.float64] | None = None,
    random_state: int = 0,
    **settings: Any,
) -> tuple[NDArray[np.float64], bool]:
    """Mean losses of held-out rows after 0, 1, ... iterations, at most ``n_iter``; and whether they
    come from statistics.

    ``fold`` has the number 0, 1, ..., k - 1 of each row's fold. The curve ends where ``rule``
    holds for it. ``settings`` are those of `boost`; the seed of a run is (``random_state``, fold).
    With the squared loss and stumps the k folds cost one pass over the data, and bins come from all
    rows, wherever `make_folds` can do it. Otherwise there are k fits, which make their own bins.
    """
    try:
        runs = make_folds(
            X, y, fold, n_iter=n_iter, weight=weight, offset=offset, random_state=random_state,
            callbacks=(), **settings,
        )  # fmt: skip
        if runs is not None:
            with runs:
                losses = _losses_of_runs(runs, n_iter, rule)
            if losses is not None:
                return losses, True
    except MemoryError:  # k fits on the rows take less
        pass
    fits = [
        _FoldFit(X, y, weight, offset, fold == k, {**settings, "random_state": [random_state, k]})
        for k in range(int(fold.max()) + 1)
    ]
    return _losses_of_fits(fits, n_iter, rule), False


def _losses_of_runs(runs: FoldRuns, n_iter: int, rule: EarlyStopping) -> NDArray[np.float64] | None:
    """From statistics; None if Gram rows do not fit into memory."""
    losses = [sum(one.held_loss for one in runs.folds) / runs.held_mass]
    with rule:
        rule.observe(losses)
        while len(losses) <= n_iter and rule.stop_at is None:
            records = runs.go_on(min(rule.next_block(runs.chunk), n_iter + 1 - len(losses)))
            if records is None:
                return None
            held = np.sum([record.held_loss[1:] for record in records], axis=0) / runs.held_mass
            losses += held.tolist()
            rule.observe(held.tolist())
    return np.array(losses if rule.stop_at is None else losses[: rule.stop_at + 1])


@dataclass
class _FoldFit:
    """A fit without the rows of a fold, that can go on."""

    X: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    offset: NDArray[np.float64] | None
    held: NDArray[np.bool_]
    settings: dict[str, Any]
    boosted: Boosted | None = None

    def losses(self, n_iter: int) -> NDArray[np.float64]:
        """Sums of losses of the held-out rows after 0, 1, ..., n_iter iterations."""
        kept, held, learner = ~self.held, self.held, self.settings["learner"]
        weight, offset = self.weight, self.offset
        settings = {**self.settings, "learner": learner.restricted_to(kept)}
        self.boosted = boost(
            self.X[kept],
            self.y[kept],
            n_iter=n_iter,
            weight=rows_of(weight, kept),
            offset=rows_of(offset, kept),
            validation=Validation(
                self.X[held], self.y[held], rows_of(weight, held), rows_of(offset, held)
            ),
            resume=None if self.boosted is None else self.boosted.state,
            keep_state=True,
            **settings,
        )
        if self.boosted.interrupted:
            raise KeyboardInterrupt
        found = self.boosted.trace.validation_loss
        assert found is not None
        # An engine that came to an end by itself stays where it is.
        return np.append(found, np.full(n_iter + 1 - len(found), found[-1])) * self.weight_held

    @property
    def weight_held(self) -> float:
        return float(self.held.sum() if self.weight is None else self.weight[self.held].sum())


def _losses_of_fits(fits: list[_FoldFit], n_iter: int, rule: EarlyStopping) -> NDArray[np.float64]:
    total = sum(fit.weight_held for fit in fits)
    n = FIRST_ROUND
    while True:
        n = min(n, n_iter)
        losses = np.sum([fit.losses(n) for fit in fits], axis=0) / total
        with rule:
            if rule.observe(losses.tolist()):
                return losses[: rule.stop_at + 1]  # type: ignore[operator]
        if n == n_iter:
            return losses
        n *= 2
