"""Bands of curves: from the runs of a mean, and from bags of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..._core.team import check_n_jobs
from ..._core.validation import check_count
from ...engines.problem import with_offset
from ...model.bands import Bands, spread_of
from ...training import Boosted
from ..chunked import pieces_of

Vector = NDArray[np.float64]

_OF_THE_INPUT = ("input_", "n_features_in_", "feature_names_in_", "classes_")


def bands_of_runs(boosted: Boosted, pairs: Any, coverage: Any) -> Bands | None:
    """How far the runs of a mean are apart; None where there was one run, or are no curves."""
    if boosted.trace.n_runs < 2 or coverage is None:
        return None
    runs = [[model] for model in boosted.run_models()]
    if pairs is None or pairs.model is None:
        return spread_of("runs", boosted.model, coverage, runs)
    both = [[*curves, more] for curves, more in zip(runs, pairs.runs, strict=True)]
    return spread_of("runs", pairs.model, pairs.coverage, both)


def check_bags(bags: Any) -> int:
    """The number of bags, 0 for none."""
    bags = check_count(bags, "bags")
    if bags == 1:
        raise ValueError("bags=1 has no spread; give 2 or more (20 say), or 0 for none.")
    return bags


class BagsMixin:
    """The fit of bags, and what they say of predictions."""

    bags: int
    n_jobs: Any
    model_: Any
    coverage_: Any
    loss_: Any
    bands_: Any
    plan_: Any
    bags_: list[Any]
    _seeds: Any

    def _fit_bags(self, rows: Any, loss: Any) -> bool:
        """Fit the model again to rows whose weights are drawn anew, ``bags`` times.

        The Bayesian bootstrap (Rubin 1981): weights of rows, or of groups of rows, are multiplied
        by independent exponential numbers with the mean 1. No row is left out, so every bag has
        the plan, and the pairs, of the model itself. Returns whether Ctrl-C ended it: then there
        are no bags.
        """
        try:
            self.bags_ = list(self._bag_models(rows, loss))
        except KeyboardInterrupt:
            self.plan_.events.append("bags were interrupted: there are none")
            return True
        if self.coverage_ is not None:
            each = [[model] for model in self.bags_]
            self.bands_ = spread_of("bags", self.model_, self.coverage_, each)
        return False

    def _bag_models(self, rows: Any, loss: Any) -> Iterator[Any]:
        found = getattr(self.model_, "wide", None)
        pairs = [] if found is None or found.pairs is None else found.pairs.features.tolist()
        weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        unit = np.arange(len(weight)) if rows.groups is None else rows.groups
        rng = np.random.default_rng(self._seeds)
        for _ in range(self.bags):
            bag = clone(self).set_params(
                bags=0, callbacks=None, warm_start=False, verbose=0,
                random_state=int(rng.integers(2**31 - 1)),
            )  # fmt: skip
            if found is not None:
                bag.set_params(interactions=[tuple(pair) for pair in pairs] or 0)
            for name in _OF_THE_INPUT:
                if hasattr(self, name):
                    setattr(bag, name, getattr(self, name))
            drawn = weight * rng.exponential(size=int(unit.max()) + 1)[unit]
            drawn *= weight.sum() / drawn.sum()
            if bag._fit_score(replace(rows, weight=drawn), loss, None):
                raise KeyboardInterrupt
            model = bag.model_
            yield model.without_path() if hasattr(model, "without_path") else model

    def _bag_scores(self, X: Any, offset: Any) -> Vector:
        """The scores of every bag: (bags, rows), with several classes one axis more."""
        if not hasattr(self, "bags_"):
            why = "was edited, and its bags were not" if hasattr(self, "edits_") else "has no bags"
            raise ValueError(
                f"return_std=True needs the tables of bags, and this model {why}; set bags=20, "
                "say, and fit (again)."
            )
        found = []
        for piece in pieces_of(X, offset):
            rows = self._check_rows(piece.X)  # type: ignore[attr-defined]
            known = self._check_offset(piece.offset, rows.shape[0])  # type: ignore[attr-defined]
            n_jobs = check_n_jobs(self.n_jobs)
            scores = [with_offset(model.score(rows, n_jobs), known) for model in self.bags_]
            found.append(np.stack(scores))
        return np.concatenate(found, axis=1)
