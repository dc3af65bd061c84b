"""Binary classification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._validation import check_not_negative
from ..losses import Exponential, Logistic, Loss, Ridged
from ..losses.base import check_loss
from .base import ATTRIBUTES, PARAMETERS, BaseRGBM, all_or_nothing
from .rows import check_training_rows


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
        selection: Any = "groups",
        subset_size: Any = "sqrt",
        groups: Any = None,
        step: Any = "constant",
        learning_rate: float = 0.3,
        max_iter: int = 500,
        max_bins: Any = 255,
        binning: str = "quantile",
        categorical_features: Any = "from_dtype",
        init: str = "best",
        ridge: float = 1e-4,
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
            step=step,
            learning_rate=learning_rate,
            max_iter=max_iter,
            max_bins=max_bins,
            binning=binning,
            categorical_features=categorical_features,
            init=init,
            ridge=ridge,
            engine=engine,
            gram_memory=gram_memory,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )

    @classmethod
    def _paper_extras(cls) -> dict[str, Any]:
        return {"ridge": 1e-4}

    def _resolve_loss(self) -> Loss:
        ridge = check_not_negative(self.ridge, "ridge")
        exponential = Ridged(Exponential(), ridge) if ridge else Exponential()
        return check_loss(self.loss, {"logistic": Logistic(ridge), "exponential": exponential})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows of X and their labels y, optionally with weights."""
        with all_or_nothing(self):
            X, y, weight = check_training_rows(self, X, y, sample_weight)
            with np.errstate(invalid="ignore"):  # it casts to integers, which 1e300 is not
                check_classification_targets(y)
            self.classes_ = check_two_classes(y, weight)
            signs = np.where(y == self.classes_[1], 1.0, -1.0)
            self._fit_score(X, signs, weight, self._resolve_loss())
        return self

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
