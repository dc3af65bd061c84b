"""Regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from .._validation import check_not_negative
from ..losses import (
    AbsoluteError,
    Gamma,
    Huber,
    LogCosh,
    Loss,
    Poisson,
    Quantile,
    Ridged,
    Squared,
    Tweedie,
)
from ..losses.base import check_loss
from .base import ATTRIBUTES, PARAMETERS, BaseRGBM, all_or_nothing, check_training_rows

_NAMED: dict[str, Loss] = {
    "squared": Squared(),
    "huber": Huber(1.0),
    "log-cosh": LogCosh(),
    "absolute": AbsoluteError(),
    "quantile": Quantile(0.5),
    "poisson": Poisson(),
    "gamma": Gamma(),
    "tweedie": Tweedie(1.5),
}

_LOSSES = """``"squared"``, ``"huber"`` (delta 1), ``"log-cosh"``, ``"absolute"``, ``"quantile"``
        (the median; ``Quantile(0.9)`` for others); ``"poisson"``, ``"gamma"``, ``"tweedie"``
        (power 1.5), whose predictions are exp(score);"""


class RGBMRegressor(RegressorMixin, BaseRGBM):
    __doc__ = f"""Randomized Gradient Boosting Machine for regression.

    An additive model of step functions, fitted by Algorithm 2 of Lu and Mazumder: each iteration
    looks at a random subset of the weak-learners and adds the best of them.

    Parameters
    ----------{PARAMETERS.format(losses=_LOSSES)}
    Attributes
    ----------{ATTRIBUTES}
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RGBMRegressor(max_iter=100, random_state=0).fit(X, y)
    >>> len(model.trace_.train_loss)
    101
    """

    def __init__(
        self,
        *,
        loss: str | Loss = "squared",
        learner: Any = "stumps",
        selection: Any = "groups",
        subset_size: Any = "sqrt",
        groups: Any = None,
        feature_weights: Any = None,
        always_features: Any = None,
        monotone_constraints: Any = None,
        step: Any = "auto",
        learning_rate: float = 0.3,
        max_iter: int = 500,
        max_bins: Any = 255,
        binning: str = "quantile",
        min_weight_fraction_leaf: float = 0.0,
        init: str = "best",
        ridge: float = 0.0,
        engine: str = "auto",
        gram_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            loss=loss,
            learner=learner,
            selection=selection,
            subset_size=subset_size,
            groups=groups,
            feature_weights=feature_weights,
            always_features=always_features,
            monotone_constraints=monotone_constraints,
            step=step,
            learning_rate=learning_rate,
            max_iter=max_iter,
            max_bins=max_bins,
            binning=binning,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            init=init,
            ridge=ridge,
            engine=engine,
            gram_memory=gram_memory,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )

    def _resolve_loss(self) -> Loss:
        loss = check_loss(self.loss, _NAMED)
        ridge = check_not_negative(self.ridge, "ridge")
        return Ridged(loss, ridge) if ridge and loss is not self.loss else loss  # type: ignore[arg-type]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows of X and their responses y, optionally with weights."""
        with all_or_nothing(self):
            X, y, weight = check_training_rows(self, X, y, sample_weight, y_numeric=True)
            self._fit_score(X, y.astype(np.float64), weight, self._resolve_loss())
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predicted responses."""
        score = self._score(X)
        return self.loss_.inverse_link(score)

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Predictions after 1, 2, ..., n_iter_ iterations."""
        for score in self._staged_score(X):
            yield self.loss_.inverse_link(score)
