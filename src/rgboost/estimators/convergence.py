"""Warnings of fits that chose their own number of iterations, and ended where they should not."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..training.stopping import best_iteration


def warn_if_unfinished(estimator: Any) -> None:
    """Raise a `ConvergenceWarning` if a fit ended at the limit of its iterations, or learnt
    nothing."""
    held = getattr(estimator, "cv_loss_", estimator.trace_.validation_loss)
    if held is None or held[0] == 0.0:  # nothing to judge by, or nothing to learn
        return
    by_itself = estimator.plan_["iterations by"].by_itself
    pairs = getattr(getattr(estimator.model_, "wide", None), "pairs", None)
    if best_iteration(held) == 0 and pairs is None:
        _warn(
            "No iteration lowered the loss of the rows that were held out: the model is a constant "
            f"or close to it. With loss={estimator.loss_!r} and labels of this size, the features "
            "may say nothing of y; otherwise look at the loss, its scale, and learning_rate."
        )
    elif by_itself and len(held) - 1 == estimator.plan_.ways[0].n_iter:
        _warn(
            f"The fit ended at its limit of {len(held) - 1:,} iterations, before the loss of the "
            "rows that were held out had settled: a longer one may be better. Use a larger "
            f"learning_rate, give max_iter as a number, or, if loss={estimator.loss_!r} has a "
            "scale, one that suits the labels."
        )
    elif _pairs_ended_at_their_limit(estimator):
        _warn(
            f"Pairs ended at their limit of {estimator.plan_.pairs.n_iter:,} rounds, before the "
            "loss of the rows that were held out had settled. interactions=0 is the fit without "
            "them."
        )


def _pairs_ended_at_their_limit(estimator: Any) -> bool:
    planned, rounds = estimator.plan_.pairs, getattr(estimator, "pair_trace_", ())
    return planned is not None and len(rounds) == planned.n_iter


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=5)
