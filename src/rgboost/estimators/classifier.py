"""Classification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from .._core.on_card import is_on_card
from .._core.validation import check_not_negative
from ..losses import Exponential, Logistic, Loss, Ridged
from ..losses.base import check_loss
from ..training import Validation
from .base import BaseRGBM
from .chunked.labels import ClassLabels
from .class_weight import apply_class_weight
from .documents import ATTRIBUTES, parameters
from .fitted import ScorecardMixin
from .habits import names_ours
from .held_out import TrainingRows
from .rows import check_groups, check_training_rows, refuse_std

_LOSSES = """``"logistic"`` (softmax if there are more than two
        classes), whose scores are log-odds; ``"exponential"`` (AdaBoost's, two classes);"""


class RGBMClassifier(ClassifierMixin, ScorecardMixin, BaseRGBM):
    __doc__ = f"""Randomized Gradient Boosting Machine for two or more classes.

    An additive model of step functions for the log-odds, fitted by Algorithm 2 of Lu and
    Mazumder: each iteration looks at a random subset of the weak-learners and adds the best.
    With more than two classes there is a score for each, the loss is the softmax loss (sigma is
    1/2), and the leaves of a stump hold a value for each class.

    The defaults need no tuning. ``plan(X, y)`` says, before a fit, what every setting will be on
    these rows and by which rule; ``plan_`` says it after a fit.

    Parameters
    ----------{parameters(_LOSSES)}
    class_weight : dict, "balanced" or None
        Multiplies the weights of the rows of a class. ``"balanced"``: the classes have the same
        weight in all. Labels that a dict leaves out have the weight 1.

    Attributes
    ----------
    classes_ : ndarray
        The labels; with two of them, scores are positive for the second.{ATTRIBUTES}
    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rgboost import RGBMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RGBMClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    """

    @names_ours
    def __init__(
        self,
        *,
        loss: str | Loss = "logistic",
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
        ridge: float = 1e-4,
        engine: str = "auto",
        gram_memory: int | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        device_memory: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        callbacks: Any = None,
        verbose: int = 0,
        class_weight: Any = None,
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
        self.class_weight = class_weight

    @classmethod
    def _paper_extras(cls) -> dict[str, Any]:
        return {"ridge": 1e-4}

    def _resolve_loss(self, sample: TrainingRows) -> Loss:
        ridge = check_not_negative(self.ridge, "ridge")
        exponential = Ridged(Exponential(), ridge) if ridge else Exponential()
        loss = check_loss(
            self.loss, {"logistic": lambda: Logistic(ridge), "exponential": lambda: exponential}
        )
        n_classes = len(self.classes_)
        found = loss if n_classes == 2 else loss.for_classes(n_classes)
        if found is not None:
            return found
        raise ValueError(
            f"loss={self.loss!r} is for two classes, and y has {n_classes}; use loss='logistic'."
        )

    def _class_codes(self, y: NDArray) -> NDArray[np.intp]:
        """The position of every label in ``classes_``; any for labels that are not there."""
        return np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)

    def _encode_labels(self, y: NDArray) -> NDArray[np.float64]:
        """-1 and +1 for two classes, 0, 1, ..., C - 1 for more."""
        return self._labels_of_codes(self._class_codes(y))

    def _labels_of_codes(self, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        labels = codes.astype(np.float64)
        return 2.0 * labels - 1.0 if len(self.classes_) == 2 else labels

    def _why_loss(self) -> str:
        n_classes = len(self.classes_)
        return f"that of {self.loss!r} for {n_classes} classes" if n_classes > 2 else ""

    def _labels_of_chunks(self) -> ClassLabels:
        return ClassLabels(self.class_weight)

    def _rows_in_memory(self, X: Any, y: Any, sample_weight: Any, given: Any) -> TrainingRows:
        X, y, weight = check_training_rows(self, X, y, sample_weight)
        with np.errstate(invalid="ignore"):  # it casts to integers, which 1e300 is not
            check_classification_targets(y)
        # Rows without weight are not there.
        self.classes_ = np.unique(y if weight is None else y[weight > 0])
        if len(self.classes_) == 1:
            raise ValueError(
                f"y has only one class, {self.classes_.tolist()[0]!r}, among the rows with "
                "positive weight; a classifier needs two classes."
            )
        codes = self._class_codes(y)
        weight = apply_class_weight(self.class_weight, self.classes_, codes, weight)
        offset = self._check_offset(given.offset, len(y))
        held = self._given_validation(given, offset is not None)
        validation = None
        if held is not None:
            check_known_classes(held[1], self.classes_)
            validation = Validation(held[0], self._encode_labels(held[1]), *held[2:])
        labels, parts = self._labels_of_codes(codes), check_groups(given.groups, len(y))
        return TrainingRows(X, labels, weight, validation, offset, parts, stratified=True)

    def decision_function(self, X: Any, offset: Any = None) -> NDArray[np.float64]:
        """The additive score of every row, positive for ``classes_[1]``.

        Parameters
        ----------
        X : data frame, array, sparse matrix or Chunks
            Rows with the columns that the model was fitted to. Those of an array on a graphics
            card (CuPy, torch) are predicted there, by an array of the same kind.
        offset : array-like, optional
            A known part of the score of every row; without it, 0.

        Returns
        -------
        ndarray of shape (rows,), or (rows, classes) with more than two classes

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rgboost import RGBMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = RGBMClassifier(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> bool(((model.decision_function(X) > 0) == (model.predict(X) == 1)).all())
        True
        """
        if is_on_card(X):
            return self._on_card(X, offset).scores()
        return self._score(X, offset)

    def predict_proba(self, X: Any, offset: Any = None, return_std: bool = False) -> Any:
        """Probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : data frame, array, sparse matrix or Chunks
            Rows with the columns that the model was fitted to. Those of an array on a graphics
            card (CuPy, torch) are predicted there, by an array of the same kind.
        offset : array-like, optional
            A known part of the score of every row; without it, 0.
        return_std : bool
            Of a model with ``bags``: also the standard deviations of probabilities over the bags.

        Returns
        -------
        ndarray of shape (rows, classes), or two of them

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rgboost import RGBMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = RGBMClassifier(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> model.predict_proba(X[:3]).shape
        (3, 2)
        """
        if is_on_card(X):
            refuse_std(return_std)
            return self._on_card(X, offset).probabilities(self.loss_)
        probabilities = self._probabilities(self._score(X, offset))
        if not return_std:
            return probabilities
        bags = [self._probabilities(score) for score in self._bag_scores(X, offset)]
        return probabilities, np.std(bags, axis=0, ddof=1)

    def predict(self, X: Any, offset: Any = None) -> NDArray:
        """The most probable class of every row.

        Parameters
        ----------
        X : data frame, array, sparse matrix or Chunks
            Rows with the columns that the model was fitted to. Those of an array on a graphics
            card (CuPy, torch) are predicted there, by an array of the same kind.
        offset : array-like, optional
            A known part of the score of every row; without it, 0.

        Returns
        -------
        ndarray of shape (rows,)

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rgboost import RGBMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = RGBMClassifier(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> model.predict(X[:3])
        array([0, 0, 0])
        """
        if is_on_card(X):
            return self._on_card(X, offset).labels(self.classes_)
        return self._labels(self._score(X, offset))

    def _predicted(self, score: NDArray[np.float64]) -> NDArray:
        return self._labels(score)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> float:
        """The share of rows whose class is predicted.

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
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rgboost import RGBMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = RGBMClassifier(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> bool(model.score(X, y) > 0.9)
        True
        """
        labels, predicted, weight = self._compared(X, y, sample_weight, offset)
        return float(accuracy_score(labels, predicted, sample_weight=weight))

    def staged_decision_function(self, X: Any, offset: Any = None) -> Iterator[NDArray[np.float64]]:
        """Scores after 1, 2, ..., best_iteration_ iterations.

        Parameters
        ----------
        X : data frame, array, sparse matrix or Chunks
            Rows with the columns that the model was fitted to.
        offset : array-like, optional
            A known part of the score of every row; without it, 0.

        Yields
        ------
        ndarray of shape (rows,), or (rows, classes) with more than two classes

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rgboost import RGBMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = RGBMClassifier(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> len(list(model.staged_decision_function(X)))
        20
        """
        yield from self._staged_score(X, offset)

    def staged_predict_proba(self, X: Any, offset: Any = None) -> Iterator[NDArray[np.float64]]:
        """Probabilities after 1, 2, ..., best_iteration_ iterations.

        Parameters
        ----------
        X : data frame, array, sparse matrix or Chunks
            Rows with the columns that the model was fitted to.
        offset : array-like, optional
            A known part of the score of every row; without it, 0.

        Yields
        ------
        ndarray of shape (rows, classes)

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rgboost import RGBMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = RGBMClassifier(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> len(list(model.staged_predict_proba(X)))
        20
        """
        for score in self._staged_score(X, offset):
            yield self._probabilities(score)

    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[NDArray]:
        """Predicted classes after 1, 2, ..., best_iteration_ iterations.

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
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rgboost import RGBMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = RGBMClassifier(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> len(list(model.staged_predict(X)))
        20
        """
        for score in self._staged_score(X, offset):
            yield self._labels(score)

    def _probabilities(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        found = self.loss_.inverse_link(score)
        return found if found.ndim == 2 else np.column_stack([1.0 - found, found])

    def _labels(self, score: NDArray[np.float64]) -> NDArray:
        best = (score > 0).astype(np.intp) if score.ndim == 1 else score.argmax(axis=1)
        return self.classes_[best]


def check_known_classes(y_val: NDArray, classes: NDArray) -> None:
    unknown = np.setdiff1d(y_val, classes)
    if len(unknown):
        raise ValueError(
            f"y_val has the class {unknown[0]!r}, which is not in y; "
            "leave out its rows, or add rows of it to the training data."
        )
