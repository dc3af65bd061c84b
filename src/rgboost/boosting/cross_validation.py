"""The number of iterations by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cost import TYPICAL_ITERATIONS, choose_engine
from .engine import Boosted, boost
from .folds import fold_losses
from .gram import default_gram_memory, gram_obstacle
from .make_problem import make_problem
from .problem import Problem, Validation
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
    random_state: int = 0,
    **settings: Any,
) -> tuple[NDArray[np.float64], bool]:
    """Mean losses of held-out rows after 0, 1, ... iterations, at most ``n_iter``; and whether they
    come from statistics.

    ``fold`` has the number 0, 1, ..., k - 1 of each row's fold. The curve ends where ``rule``
    holds for it. ``settings`` are those of `boost`. With the squared loss and stumps the k folds
    cost one pass over the data (`rgboost.boosting.folds`), and bins come from all rows, wherever a
    fit would use the Gram engine. Otherwise there are k fits, which make their own bins: with
    other losses, where Gram rows do not fit into memory, and where there are so few rows and so
    many splits that passes over the rows are faster.
    """
    if settings.get("engine", "auto") in ("auto", "gram"):
        given = {**settings, "weight": weight, "random_state": random_state}
        given = {key: value for key, value in given.items() if key not in _NOT_OF_A_PROBLEM}
        problem = make_problem(X, y, n_iter=n_iter, validation=None, callbacks=(), **given)
        memory = settings.get("gram_memory")
        memory = default_gram_memory() if memory is None else memory
        if _takes_statistics(problem, settings, memory // (2 * (int(fold.max()) + 1))):
            best_start = settings.get("start_score", 0.0) is None
            losses = fold_losses(problem, X, fold, random_state, best_start, rule, memory)
            if losses is not None:
                return losses, True
    runs = [
        _FoldRun(X, y, weight, fold == k, {**settings, "random_state": random_state})
        for k in range(int(fold.max()) + 1)
    ]
    return _losses_of_fits(runs, n_iter, rule), False


_NOT_OF_A_PROBLEM = ("engine", "gram_memory", "tol")


def _takes_statistics(problem: Problem, settings: dict[str, Any], memory: int) -> bool:
    """Whether the folds come from statistics: where fits would use the Gram engine."""
    if settings.get("engine") == "gram":
        return gram_obstacle(problem) is None
    expected = min(problem.recorder.n_iter, TYPICAL_ITERATIONS)
    return choose_engine(problem, memory, expected) == "gram"


@dataclass
class _FoldRun:
    """A fit without the rows of a fold, that can go on."""

    X: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    held: NDArray[np.bool_]
    settings: dict[str, Any]
    boosted: Boosted | None = None

    def losses(self, n_iter: int) -> NDArray[np.float64]:
        """Sums of losses of the held-out rows after 0, 1, ..., n_iter iterations."""
        kept, held, weight, learner = ~self.held, self.held, self.weight, self.settings["learner"]
        held_weight = None if weight is None else weight[held]
        settings = {**self.settings, "learner": learner.restricted_to(kept)}
        self.boosted = boost(
            self.X[kept],
            self.y[kept],
            n_iter=n_iter,
            weight=None if weight is None else weight[kept],
            validation=Validation(self.X[held], self.y[held], held_weight),
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


def _losses_of_fits(runs: list[_FoldRun], n_iter: int, rule: EarlyStopping) -> NDArray[np.float64]:
    total = sum(run.weight_held for run in runs)
    n = FIRST_ROUND
    while True:
        n = min(n, n_iter)
        losses = np.sum([run.losses(n) for run in runs], axis=0) / total
        with rule:
            if rule.observe(losses.tolist()):
                return losses[: rule.stop_at + 1]  # type: ignore[operator]
        if n == n_iter:
            return losses
        n *= 2
