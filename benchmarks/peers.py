"""The peers with stumps, each set up the way its own documentation advises.

A peer bins rows (`bin`), boosts on them (`boost`), does both (`fit`), and gives the additive score
of rows (`score`). `boost` appends the time after each stump to ``ticks``, where it is given.
Where the library cannot bin by itself, `bin` hands the rows on and ``bins_apart`` is False. Labels
are -1 and +1 for the logistic loss.

What is switched off everywhere, so that all minimise the same loss over the same stumps: ridge
and smallest size of a leaf. Libraries are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Task = Literal["squared", "logistic"]
Ticks = list[float]


@dataclass(frozen=True)
class Spec:
    """What is asked of every contestant. ``t`` features per stump, None: all of them."""

    task: Task = "squared"
    n_features: int = 1
    t: int | None = None
    max_bins: int = 100
    learning_rate: float = 1.0
    threads: int = 2
    seed: int = 0

    @property
    def fraction(self) -> float:
        return 1.0 if self.t is None else self.t / self.n_features


class Peer:
    """One library."""

    name: ClassVar[str]
    documentation: ClassVar[str]
    bins_apart: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    def settings(self, spec: Spec) -> dict[str, Any]:
        """The parameters that this peer is given."""
        raise NotImplementedError

    def bin(self, X: Any, y: NDArray, spec: Spec) -> Any:
        return X, y

    def boost(self, binned: Any, spec: Spec, n_iter: int, ticks: Ticks | None = None) -> Any:
        raise NotImplementedError

    def stump_seconds(self, binned: Any, spec: Spec, n_iter: int) -> dict[str, float]:
        """Seconds of one stump, without what a library does before the first and after the last."""
        ticks: Ticks = []
        self.boost(binned, spec, n_iter, ticks)
        return {"seconds": (ticks[-1] - ticks[0]) / (len(ticks) - 1)}

    def fit(self, X: Any, y: NDArray, spec: Spec, n_iter: int) -> Any:
        return self.boost(self.bin(X, y, spec), spec, n_iter)

    def score(self, model: Any, X: Any, spec: Spec) -> NDArray:
        raise NotImplementedError

    def losses(self, binned: Any, spec: Spec, n_iter: int) -> NDArray:
        """The mean training loss after 1, ..., n_iter stumps (not timed)."""
        raise NotImplementedError(f"{self.name} does not record training losses")


def zero_one(y: NDArray, spec: Spec) -> NDArray:
    return (y > 0).astype(np.float64) if spec.task == "logistic" else y


def sparse_matrix(X: Any) -> Any:
    """XGBoost and CatBoost know SciPy's matrices, not its arrays. No entry is copied."""
    return scipy.sparse.csr_matrix(X) if scipy.sparse.issparse(X) else X


class LightGBM(Peer):
    """Two leaves. Docs on `force_col_wise`: set it to spare the test of both layouts; col-wise was
    the faster one on the made data."""

    name = "LightGBM"
    documentation = "https://lightgbm.readthedocs.io/en/stable/Parameters.html"

    def settings(self, spec: Spec) -> dict[str, Any]:
        return {
            "objective": "binary" if spec.task == "logistic" else "regression",
            "num_leaves": 2,
            "max_bin": spec.max_bins,
            "learning_rate": spec.learning_rate,
            "feature_fraction": spec.fraction,
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 0.0,
            "force_col_wise": True,
            "num_threads": spec.threads,
            "seed": spec.seed,
            "verbose": -1,
        }

    def bin(self, X: Any, y: NDArray, spec: Spec) -> Any:
        import lightgbm

        data = lightgbm.Dataset(X, zero_one(y, spec), params=self.settings(spec))
        return data.construct()

    def boost(self, binned: Any, spec: Spec, n_iter: int, ticks: Ticks | None = None) -> Any:
        import lightgbm

        calls = None if ticks is None else [lambda environment: ticks.append(perf_counter())]
        return lightgbm.train(self.settings(spec), binned, n_iter, callbacks=calls)

    def score(self, model: Any, X: Any, spec: Spec) -> NDArray:
        return model.predict(X, raw_score=True, num_threads=spec.threads)

    def losses(self, binned: Any, spec: Spec, n_iter: int) -> NDArray:
        import lightgbm

        seen: dict[str, Any] = {}
        lightgbm.train(
            self.settings(spec), binned, n_iter, valid_sets=[binned], valid_names=["rows"],
            callbacks=[lightgbm.record_evaluation(seen)],
        )  # fmt: skip
        if spec.task == "logistic":
            return np.array(seen["rows"]["binary_logloss"])
        return 0.5 * np.array(seen["rows"]["l2"])


class XGBoost(Peer):
    """Depth 1, histograms, `QuantileDMatrix` and in-place prediction, as its docs advise."""

    name = "XGBoost"
    documentation = "https://xgboost.readthedocs.io/en/stable/parameter.html"

    def settings(self, spec: Spec) -> dict[str, Any]:
        return {
            "objective": "binary:logistic" if spec.task == "logistic" else "reg:squarederror",
            "max_depth": 1,
            "tree_method": "hist",
            "max_bin": spec.max_bins,
            "learning_rate": spec.learning_rate,
            "colsample_bytree": spec.fraction,
            "min_child_weight": 0.0,
            "reg_lambda": 0.0,
            "nthread": spec.threads,
            "seed": spec.seed,
        }

    def bin(self, X: Any, y: NDArray, spec: Spec) -> Any:
        import xgboost

        return xgboost.QuantileDMatrix(
            X, zero_one(y, spec), max_bin=spec.max_bins, nthread=spec.threads
        )

    def boost(self, binned: Any, spec: Spec, n_iter: int, ticks: Ticks | None = None) -> Any:
        import xgboost

        class Clock(xgboost.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                ticks.append(perf_counter())
                return False

        calls = None if ticks is None else [Clock()]
        return xgboost.train(self.settings(spec), binned, n_iter, callbacks=calls)

    def score(self, model: Any, X: Any, spec: Spec) -> NDArray:
        model.set_param({"nthread": spec.threads})
        return model.inplace_predict(sparse_matrix(X), predict_type="margin")

    def losses(self, binned: Any, spec: Spec, n_iter: int) -> NDArray:
        import xgboost

        seen: dict[str, Any] = {}
        xgboost.train(
            self.settings(spec), binned, n_iter, evals=[(binned, "rows")], evals_result=seen,
            verbose_eval=False,
        )  # fmt: skip
        if spec.task == "logistic":
            return np.array(seen["rows"]["logloss"])
        return 0.5 * np.array(seen["rows"]["rmse"]) ** 2


class CatBoost(Peer):
    """Depth 1; Plain boosting, one leaf estimation and rare metrics from "Speeding up the
    training"; no bootstrap and no random scores, so that the best stump is taken."""

    name = "CatBoost"
    documentation = "https://catboost.ai/docs/en/concepts/speed-up-training"

    def settings(self, spec: Spec) -> dict[str, Any]:
        return {
            "loss_function": "Logloss" if spec.task == "logistic" else "RMSE",
            "depth": 1,
            "border_count": spec.max_bins - 1,
            "learning_rate": spec.learning_rate,
            "rsm": spec.fraction,
            "boosting_type": "Plain",
            "bootstrap_type": "No",
            "random_strength": 0,
            "l2_leaf_reg": 0,
            "leaf_estimation_iterations": 1,
            "thread_count": spec.threads,
            "random_seed": spec.seed,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }

    def bin(self, X: Any, y: NDArray, spec: Spec) -> Any:
        import catboost

        pool = catboost.Pool(sparse_matrix(X), zero_one(y, spec), thread_count=spec.threads)
        pool.quantize(border_count=spec.max_bins - 1)
        return pool

    def boost(self, binned: Any, spec: Spec, n_iter: int, ticks: Ticks | None = None) -> Any:
        import catboost

        class Clock:
            def after_iteration(self, info: Any) -> bool:
                ticks.append(perf_counter())
                return True

        settings = {**self.settings(spec), "iterations": n_iter, "metric_period": n_iter}
        calls = None if ticks is None else [Clock()]
        return catboost.CatBoost(settings).fit(binned, callbacks=calls)

    def score(self, model: Any, X: Any, spec: Spec) -> NDArray:
        rows = sparse_matrix(X)
        return model.predict(rows, prediction_type="RawFormulaVal", thread_count=spec.threads)

    def losses(self, binned: Any, spec: Spec, n_iter: int) -> NDArray:
        import catboost

        model = catboost.CatBoost({**self.settings(spec), "iterations": n_iter}).fit(binned)
        seen = model.evals_result_["learn"]
        if spec.task == "logistic":
            return np.array(seen["Logloss"])
        return 0.5 * np.array(seen["RMSE"]) ** 2


class HistGradientBoosting(Peer):
    """scikit-learn. Two leaves."""

    name = "HistGradientBoosting"
    documentation = "https://scikit-learn.org/stable/modules/ensemble.html#hgbt"
    bins_apart = False
    takes_sparse = False

    def settings(self, spec: Spec) -> dict[str, Any]:
        return {
            "max_leaf_nodes": 2,
            "max_bins": spec.max_bins,
            "learning_rate": spec.learning_rate,
            "max_features": spec.fraction,
            "min_samples_leaf": 1,
            "early_stopping": False,
            "random_state": spec.seed,
        }

    def boost(self, binned: Any, spec: Spec, n_iter: int, ticks: Ticks | None = None) -> Any:
        from sklearn import ensemble

        kind = "Classifier" if spec.task == "logistic" else "Regressor"
        made = getattr(ensemble, f"HistGradientBoosting{kind}")
        with openmp_threads(spec.threads):
            return made(max_iter=n_iter, **self.settings(spec)).fit(*binned)

    def score(self, model: Any, X: Any, spec: Spec) -> NDArray:
        with openmp_threads(spec.threads):
            if spec.task == "logistic":
                return model.decision_function(X)
            return model.predict(X)


@contextmanager
def openmp_threads(threads: int) -> Iterator[None]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads, user_api="openmp"):
        yield


class EBM(Peer):
    """interpret's Explainable Boosting Machine, its own defaults but for interactions. It chooses
    bins, learning rate and the number of stumps itself."""

    name = "EBM"
    documentation = "https://interpret.ml/docs/hyperparameters.html"
    bins_apart = False
    takes_sparse = False

    def __init__(self, **more: Any) -> None:
        self.more = more

    def settings(self, spec: Spec) -> dict[str, Any]:
        return {"interactions": 0, "n_jobs": spec.threads, **self.more}

    def boost(self, binned: Any, spec: Spec, n_iter: int, ticks: Ticks | None = None) -> Any:
        from interpret import glassbox

        kind = "Classifier" if spec.task == "logistic" else "Regressor"
        made = getattr(glassbox, f"ExplainableBoosting{kind}")
        return made(**self.settings(spec)).fit(*binned)

    def score(self, model: Any, X: Any, spec: Spec) -> NDArray:
        return model.decision_function(X) if spec.task == "logistic" else model.predict(X)


ALL: dict[str, Peer] = {
    peer.name: peer for peer in (LightGBM(), XGBoost(), CatBoost(), HistGradientBoosting(), EBM())
}
