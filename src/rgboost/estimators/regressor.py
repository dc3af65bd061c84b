"""Regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from .._core.on_card import is_on_card
from .._core.validation import check_not_negative
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
from ..training import Validation
from .base import BaseRGBM
from .chunked.labels import NumberLabels
from .documents import ATTRIBUTES, parameters
from .habits import names_ours
from .held_out import TrainingRows
from .rows import check_groups, check_training_rows, refuse_std


def _named(rows: TrainingRows) -> dict[str, Callable[[], Loss]]:
    """Losses by name, for the labels of these rows."""
    return {
        "squared": Squared,
        "huber": lambda: Huber(spread_of(rows)),
        "log-cosh": lambda: LogCosh(spread_of(rows)),
        "absolute": AbsoluteError,
        "quantile": lambda: Quantile(0.5),
        "poisson": Poisson,
        "gamma": Gamma,
        "tweedie": lambda: Tweedie(1.5),
    }


_LOSSES = """``"squared"`` for means; ``"huber"``, ``"log-cosh"`` or
        ``"absolute"`` where labels have outliers; ``"quantile"`` (`Quantile(0.9)` for others than
        the median); ``"poisson"`` for counts, ``"gamma"`` for positive amounts, ``"tweedie"`` for
        amounts with zeros;"""


class RGBMRegressor(RegressorMixin, BaseRGBM):
    __doc__ = f"""Randomized Gradient Boosting Machine for regression.

    An additive model of step functions, fitted by Algorithm 2 of Lu and Mazumder: each iteration
    looks at a random subset of the weak-learners and adds the best of them.

    The defaults need no tuning. ``plan(X, y)`` says, before a fit, what every setting will be on
    these rows and by which rule; ``plan_`` says it after a fit.

    Parameters
    ----------{parameters(_LOSSES)}
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

    @names_ours
    def __init__(
        self,
        *,
        loss: str | Loss = "squared",
        learner: Any = "stumps",
        selection: Any = "auto",
        subset_size: Any = "auto",
        groups: Any = None,
        feature_weights: Any = None,
        always_features: Any = None,
        monotone_constraints: Any = None,
        interactions: Any = "auto",
        interaction_constraints: Any = None,
        step: Any = "auto",
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        cv: Any = 5,
        ensemble: bool = True,
        bags: int = 0,
        early_stopping: str | bool = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int | str = "auto",
        tol: float = 1e-5,
        max_bins: Any = "auto",
        binning: str = "quantile",
        categorical_features: Any = "from_dtype",
        min_weight_fraction_leaf: float | str = "auto",
        init: str = "best",
        ridge: float = 0.0,
        engine: str = "auto",
        gram_memory: int | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        device_memory: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        callbacks: Any = None,
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
            interactions=interactions,
            interaction_constraints=interaction_constraints,
            step=step,
            learning_rate=learning_rate,
            max_iter=max_iter,
            cv=cv,
            ensemble=ensemble,
            bags=bags,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            max_bins=max_bins,
            binning=binning,
            categorical_features=categorical_features,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            init=init,
            ridge=ridge,
            engine=engine,
            gram_memory=gram_memory,
            n_jobs=n_jobs,
            device=device,
            device_memory=device_memory,
            random_state=random_state,
            warm_start=warm_start,
            callbacks=callbacks,
            verbose=verbose,
        )

    def _resolve_loss(self, sample: TrainingRows) -> Loss:
        loss = check_loss(self.loss, _named(sample))
        ridge = check_not_negative(self.ridge, "ridge")
        return Ridged(loss, ridge) if ridge and loss is not self.loss else loss  # type: ignore[arg-type]

    def _why_loss(self) -> str:
        if not isinstance(self.loss, str) or self.loss not in ("huber", "log-cosh"):
            return ""
        return (
            f"{self.loss!r} with the spread of y as scale: 1.4826 MAD, the median of "
            "|y - median(y)|; or the standard deviation where that is 0"
        )

    def _labels_of_chunks(self) -> NumberLabels:
        return NumberLabels()

    def _rows_in_memory(self, X: Any, y: Any, sample_weight: Any, given: Any) -> TrainingRows:
        X, y, weight = check_training_rows(self, X, y, sample_weight, y_numeric=True)
        offset = self._check_offset(given.offset, len(y))
        held = self._given_validation(given, offset is not None)
        validation = None
        if held is not None:
            validation = Validation(held[0], held[1].astype(np.float64), *held[2:])
        labels, parts = y.astype(np.float64), check_groups(given.groups, len(y))
        return TrainingRows(X, labels, weight, validation, offset, parts)

    def predict(self, X: Any, offset: Any = None, return_std: bool = False) -> Any:
        """Predicted responses.

        Without an offset they are those of an offset of 0: with the logarithm of an exposure as
        offset, predictions for an exposure of 1.

        Parameters
        ----------
        X : data frame, array, sparse matrix or Chunks
            Rows with the columns that the model was fitted to. Those of an array on a graphics
            card (CuPy, torch) are predicted there, by an array of the same kind.
        offset : array-like, optional
            A known part of the score of every row; without it, 0.
        return_std : bool
            Of a model with ``bags``: also the standard deviations over the bags. They tell how sure
            the mean response is, not how far single responses lie from it.

        Returns
        -------
        ndarray of shape (rows,), or two of them

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> model.predict(X[:3]).shape
        (3,)
        """
        if is_on_card(X):
            refuse_std(return_std)
            return self._on_card(X, offset).responses(self.loss_)
        predicted = self._predicted(self._score(X, offset))
        if not return_std:
            return predicted
        return predicted, self.loss_.inverse_link(self._bag_scores(X, offset)).std(axis=0, ddof=1)

    def _predicted(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.loss_.inverse_link(score)
        return found

    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[NDArray[np.float64]]:
        """Predictions after 1, 2, ..., best_iteration_ iterations.

        Parameters
        ----------
        X : data frame, array, sparse matrix or Chunks
            Rows with the columns that the model was fitted to.
        offset : array-like, optional
            A known part of the score of every row; without it, 0.

        Yields
        ------
        ndarray of shape (rows,)

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> stages = list(model.staged_predict(X))
        >>> len(stages), bool(abs(stages[-1] - model.predict(X)).max() < 1e-9)
        (20, True)
        """
        for score in self._staged_score(X, offset):
            yield self.loss_.inverse_link(score)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> float:
        """R² of the predictions, 1 at best.

        Parameters
        ----------
        X : data frame, array, sparse matrix or Chunks
            Rows with the columns that the model was fitted to.
        y : array-like, optional
            Their labels. A `rgboost.Chunks` has its own.
        sample_weight : array-like, optional
            Weights of the rows.
        offset : array-like, optional
            A known part of the score of every row; without it, 0.

        Returns
        -------
        float

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> bool(0 < model.score(X, y) <= 1)
        True
        """
        labels, predicted, weight = self._compared(X, y, sample_weight, offset)
        return float(r2_score(labels, predicted, sample_weight=weight))


def spread_of(rows: TrainingRows) -> float:
    """1.4826 times the (weighted) median of |y - median|, the standard deviation of normal labels;
    where more than half of the labels are the same, their standard deviation, or 1."""
    y = rows.y if rows.offset is None else rows.y - rows.offset
    y, weight = y[rows.present], None if rows.weight is None else rows.weight[rows.present]
    middle = AbsoluteError()
    off = y - middle.best_constant(y, weight)
    spread = 1.4826 * middle.best_constant(np.abs(off), weight)
    if spread > 0.0:
        return spread
    mean = np.average(off, weights=weight)
    return float(np.sqrt(np.average((off - mean) ** 2, weights=weight))) or 1.0
