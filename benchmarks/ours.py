"""rgboost as a contestant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rgboost import RGBMClassifier, RGBMRegressor, Stumps, boost
from rgboost.learners import LearnerFamily
from rgboost.losses import Logistic, Squared
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep

from .peers import Peer, Spec, Ticks


class Binned(LearnerFamily):
    """Stumps that are prepared already, to time boosting without binning."""

    def __init__(self, prepared: Any) -> None:
        self.prepared = prepared

    def prepare(self, X: Any, weight: Any = None, **options: Any) -> Any:
        return self.prepared


class Rgboost(Peer):
    """`fit` and `score` are the estimators, additive as the stumps of the peers; `boost` on binned
    rows is the function below them."""

    name = "rgboost"
    documentation = "docstring of rgboost.RGBMRegressor"

    def __init__(self, engine: str = "auto", binning: str = "quantile") -> None:
        self.engine = engine
        self.binning = binning

    def settings(self, spec: Spec) -> dict[str, Any]:
        return {
            "selection": "all" if spec.t is None else "groups",
            "subset_size": "all" if spec.t is None else spec.t,
            "max_bins": spec.max_bins,
            "binning": self.binning,
            "learning_rate": spec.learning_rate,
            "early_stopping": False,
            "interactions": 0,
            "engine": self.engine,
            "n_jobs": spec.threads,
            "random_state": spec.seed,
        }

    def estimator(self, spec: Spec, n_iter: int) -> Any:
        made = RGBMClassifier if spec.task == "logistic" else RGBMRegressor
        return made(max_iter=n_iter, **self.settings(spec))

    def fit(self, X: Any, y: NDArray, spec: Spec, n_iter: int) -> Any:
        return self.estimator(spec, n_iter).fit(X, y)

    def score(self, model: Any, X: Any, spec: Spec) -> NDArray:
        model.n_jobs = spec.threads
        return model.decision_function(X) if spec.task == "logistic" else model.predict(X)

    def bin(self, X: Any, y: NDArray, spec: Spec) -> Any:
        stumps = Stumps(max_bins=spec.max_bins, binning=self.binning)  # type: ignore[arg-type]
        return Binned(stumps.prepare(X, n_jobs=spec.threads)), X, y

    def boost(self, binned: Any, spec: Spec, n_iter: int, ticks: Ticks | None = None) -> Any:
        learner, X, y = binned
        boosted = boost(
            X,
            y,
            loss=Logistic() if spec.task == "logistic" else Squared(),
            learner=learner,
            selection=AllLearners() if spec.t is None else RandomGroups(spec.t),
            step=ConstantStep(),
            n_iter=n_iter,
            learning_rate=spec.learning_rate,
            start_score=None,
            random_state=spec.seed,
            n_jobs=spec.threads,
            engine=self.engine,  # type: ignore[arg-type]
        )
        if ticks is not None:
            ticks.extend(boosted.trace.seconds[1:].tolist())
        return boosted

    def losses(self, binned: Any, spec: Spec, n_iter: int) -> NDArray:
        return self.boost(binned, spec, n_iter).trace.train_loss[1:]


def mean_log_loss(y: NDArray, score: NDArray) -> float:
    return float(np.mean(np.logaddexp(0.0, -y * score)))


def mean_half_square(y: NDArray, score: NDArray) -> float:
    return float(0.5 * np.mean((y - score) ** 2))
