"""Binary classification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._validation import check_not_negative
from ..boosting import Validation
from ..losses import Exponential, Logistic, Loss, Ridged
from ..losses.base import check_loss
from .base import ATTRIBUTES, FIT, PARAMETERS, BaseRGBM, all_or_nothing, check_training_rows
from .holdout import TrainingRows


class RGBMClassifier(ClassifierMixin, BaseRGBM):
    __doc__ = f"""Randomized Gradient Boosting Machine for two classes.

    An additive model of step functions for the log-odds, fitted by Algorithm 2 of Lu and
    Mazumder: each iteration looks at a random subset of the weak-learners and adds the best.

    Parameters
    ----------{PARAMETERS.format(losses='``"logistic"``, ``"exponential"`` (needs line search),')}
    Attributes
    ----------
    classes_ : the two labels; scores are positive for the second.{ATTRIBUTES}
    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rgboost import RGBMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RGBMClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    """

    def __init__(
        self,
        *,
        loss: str | Loss = "logistic",
        learner: Any = "stumps",
        selection: Any = "learners",
        subset_size: Any = "sqrt",
        groups: Any = None,
        step: Any = "constant",
        learning_rate: float = 1.0,
        max_iter: int | str = "auto",
        cv: Any = 5,
        early_stopping: str | bool = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 200,
        tol: float = 1e-5,
        max_bins: Any = 255,
        binning: str = "quantile",
        init: str = "best",
        ridge: float = 1e-4,
        engine: str = "auto",
        gram_memory: int | None = None,
        n_jobs: int | None = None,
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
            step=step,
            learning_rate=learning_rate,
            max_iter=max_iter,
            cv=cv,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            max_bins=max_bins,
            binning=binning,
            init=init,
            ridge=ridge,
            engine=engine,
            gram_memory=gram_memory,
            n_jobs=n_jobs,
            random_state=random_state,
            warm_start=warm_start,
            callbacks=callbacks,
            verbose=verbose,
        )

    @classmethod
    def _paper_extras(cls) -> dict[str, Any]:
        return {"ridge": 1e-4}

    def _resolve_loss(self) -> Loss:
        ridge = check_not_negative(self.ridge, "ridge")
        exponential = Ridged(Exponential(), ridge) if ridge else Exponential()
        return check_loss(self.loss, {"logistic": Logistic(ridge), "exponential": exponential})

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        resume: Any = None,
    ) -> Self:
        with all_or_nothing(self):
            X, y, weight = check_training_rows(self, X, y, sample_weight)
            check_classification_targets(y)
            self.classes_ = check_two_classes(y, weight)
            held = self._given_validation(X_val, y_val, sample_weight_val)
            validation = None
            if held is not None:
                check_known_classes(held[1], self.classes_)
                validation = Validation(held[0], self._signs(held[1]), held[2])
            rows = TrainingRows(X, self._signs(y), weight, validation)
            interrupted = self._fit_score(
                rows, self._resolve_loss(), stratified=True, resume=resume
            )
        if interrupted:
            raise KeyboardInterrupt
        return self

    fit.__doc__ = FIT.format(labels="labels")

    def _signs(self, y: NDArray) -> NDArray[np.float64]:
        return np.where(y == self.classes_[1], 1.0, -1.0)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The additive score of every row, positive for ``classes_[1]``."""
        return self._score(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the two classes."""
        return self._probabilities(self._score(X))

    def predict(self, X: Any) -> NDArray:
        """The more probable class of every row."""
        return self._labels(self._score(X))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Scores after 1, 2, ..., n_iter_ iterations."""
        yield from self._staged_score(X)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Probabilities after 1, 2, ..., n_iter_ iterations."""
        for score in self._staged_score(X):
            yield self._probabilities(score)

    def staged_predict(self, X: Any) -> Iterator[NDArray]:
        """Predicted classes after 1, 2, ..., n_iter_ iterations."""
        for score in self._staged_score(X):
            yield self._labels(score)

    def _probabilities(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        positive = self.loss_.inverse_link(score)
        return np.column_stack([1.0 - positive, positive])

    def _labels(self, score: NDArray[np.float64]) -> NDArray:
        return self.classes_[(score > 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def check_two_classes(y: NDArray, weight: NDArray[np.float64] | None) -> NDArray:
    """The two labels, or an error. Rows without weight are not there."""
    classes = np.unique(y if weight is None else y[weight > 0])
    if len(classes) == 1:
        raise ValueError(
            f"y has only one class, {classes[0]!r}, among the rows with positive weight; "
            "a classifier needs two classes."
        )
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}: y has {len(classes)} classes."
        )
    return classes


def check_known_classes(y_val: NDArray, classes: NDArray) -> None:
    unknown = np.setdiff1d(y_val, classes)
    if len(unknown):
        raise ValueError(
            f"y_val has the class {unknown[0]!r}, which is not in y; "
            "leave out its rows, or add rows of it to the training data."
        )
