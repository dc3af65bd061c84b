"""What can be done with a fitted model besides predicting: store it, explain it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import deepcopy
from importlib.metadata import version
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..explain import GlobalExplanation, LocalExplanation, Scale
from ..explain.pictures import model_pictures
from ..explain.trees import explain_trees
from ..model import TreesModel
from ..model.path import not_stored
from ..storage import write_model


class FittedModelMixin:
    """Methods of both estimators; the work is done in `rgboost.storage` and `rgboost.explain`."""

    model_: Any
    coverage_: Any
    loss_: Any
    trace_: Any
    input_: Any
    n_features_in_: int

    warm_start: bool

    def save(self, path: str | os.PathLike[str], *, full: bool = False) -> None:
        """Store the fitted model in a safetensors file; `rgboost.load` reads it.

        No pickle is involved: the file holds numbers and text, and loading one that somebody else
        made runs no code of theirs. Parameters, classes, names and tables are stored, and the
        losses of some hundred iterations (see `rgboost.Trace.thinned`): the loaded model predicts
        and explains the same bits. A loss or a dictionary of your own cannot be stored; callbacks,
        certificates in the trace and what ``warm_start`` goes on from are left out.

        Parameters
        ----------
        path : str or path-like
            The file. One that is there is replaced when the new one is whole.
        full : bool
            Whether to store the path, the whole trace and ``cv_loss_``, too, for staged
            predictions. They take many times the room.

        Examples
        --------
        >>> import os, tempfile
        >>> import rgboost
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "model.rgb")
        ...     model.save(path)
        ...     same = rgboost.load(path)
        >>> bool((same.predict(X) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        fitted = vars(self) if full else without_path(vars(self))
        if full and self.trace_.choices is None:
            raise not_stored("files by full=True")
        write_model(self, fitted, path, f"rgboost {version('rgboost')}")

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: as `save`, but with ``warm_start`` all that there is."""
        state: Any = super().__getstate__()
        return state if self.warm_start else without_path(state)

    def __copy__(self) -> Self:
        return self._with(vars(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._with(deepcopy(vars(self), memo))

    def _with(self, attributes: dict[str, Any]) -> Self:
        """A copy is not stored: it has the path."""
        other = type(self).__new__(type(self))
        vars(other).update(attributes)
        return other

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each feature moves the score; the entries add up to 1.

        The importance of feature g is the (weighted) standard deviation, over the training rows,
        of its step function, divided by the sum over all terms:

            sd_g / sum_k sd_k,    sd_g^2 = sum_i w_i (table_g(x_ig) - mean_g)^2 / sum_i w_i.

        A pair of features is a term of its own, and counts half for each of the two. With more than
        two classes, sd_g^2 is the sum of that over the classes. Missing values and categories count
        like other values. A feature that the model does not use has importance 0. If it uses none,
        all are 0.

        Trees are no sum of such functions: with them it is the share of the feature in all that
        splits gained when they were chosen.
        """
        check_is_fitted(self)
        out = np.zeros(self.n_features_in_)
        for g, share in self._importance_of_used().items():
            out[g] = share
        return out

    def _importance_of_used(self) -> dict[int, float]:
        """The importances of the features that the model uses, by their indices."""
        own = getattr(self.model_, "importances", None)
        if own is None:
            return self._terms().importance_of_used
        return dict(enumerate(own().tolist()))

    @property
    def term_importances_(self) -> NDArray[np.float64]:
        """How much each term moves the score: its standard deviation over the training rows divided
        by the sum over all terms; see ``feature_importances_``."""
        return self._terms().term_importances

    @property
    def term_names_(self) -> list[str]:
        """Names of the terms, the columns of ``explain_local``: features (categorical ones first),
        then pairs, such as ``latitude x longitude``."""
        return [term.name for term in self._terms().terms]

    @property
    def term_features_(self) -> list[tuple[int, ...]]:
        """Indices of the features of each term: one, or both of a pair."""
        return [term.features for term in self._terms().terms]

    def _terms(self) -> GlobalExplanation:
        try:
            return self.explain_global()
        except TypeError as error:  # of a dictionary: to `hasattr` and `dir` there are none
            raise AttributeError(str(error)) from error

    def explain_global(self) -> GlobalExplanation:
        """The model as a sum of functions: one of each feature, and one of each pair if it has any.

        A function has edges, values, weights and names. Numeric features have step functions,
        categorical ones a value for each category; missing values have a value of their own. With
        more than two classes there is a function for each.

        Returns
        -------
        GlobalExplanation

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> curve = model.explain_global()["bmi"]
        >>> bool(curve.values[0] < curve.values[-1])
        True
        """
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        return GlobalExplanation.of(
            self.model_,
            self.coverage_,
            self._feature_names(),
            self.input_.labels,
            classes,
            Scale.of(self.loss_, classes),
            getattr(self, "bands_", None),
        )

    def explain_local(self, X: Any) -> LocalExplanation:
        """What each feature, and each pair, contributes to the score of every row of X.

        Intercept and contributions, added from the first column to the last, are the raw score;
        with more than two classes contributions are (rows, terms, classes). An ``offset`` is no
        part of the model, nor of this score.

        Trees are no sum of functions of features: of these, contributions are SHAP values by the
        tree explainer of the package shap, where it knows such trees (numbers, a value in each
        leaf), and their sum is the raw score but for rounding.

        Parameters
        ----------
        X : data frame, array or sparse matrix
            Rows with the columns that the model was fitted to.

        Returns
        -------
        LocalExplanation

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=20, interactions=0, random_state=0).fit(X, y)
        >>> reasons = model.explain_local(X[:3])
        >>> bool((reasons.score() == model.predict(X[:3])).all())
        True
        """
        rows = self._check_rows(X)
        if isinstance(self.model_, TreesModel):
            classes = getattr(self, "classes_", None)
            scale = Scale.of(self.loss_, classes)
            return explain_trees(self.model_, rows, self._feature_names(), classes, scale)
        return LocalExplanation.of(self.explain_global(), rows)

    def _html_repr(self) -> str:
        """What scikit-learn shows in a notebook, and below it the fitted model."""
        shown = super()._html_repr()  # type: ignore[misc]
        return shown + model_pictures(self) if hasattr(self, "model_") else shown

    def _check_rows(self, X: Any) -> Any:
        raise NotImplementedError

    def _feature_names(self) -> Sequence[str]:
        """Names of the features for people; those of a LIBSVM file go by its own numbers."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        zero_based = getattr(self, "zero_based_", None)
        name, first = ("x", 0) if zero_based is None else ("feature ", 0 if zero_based else 1)
        return NumberedNames(name, range(first, first + self.n_features_in_))


def without_path(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an estimator without what takes the room of the iterations."""
    if "model_" not in attributes:
        return attributes
    left_out = {"cv_loss_", "_run_state"}
    thin = {name: value for name, value in attributes.items() if name not in left_out}
    model = attributes["model_"]
    thin["model_"] = model.without_path() if hasattr(model, "without_path") else model
    trace = attributes["trace_"]
    thin["trace_"] = trace.thinned(attributes.get("best_iteration_", len(trace)))
    return thin


class NumberedNames(Sequence[str]):
    """x0, x1, ..., or after another word: made when they are read, for there may be very many."""

    def __init__(self, word: str, numbers: range) -> None:
        self._word = word
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, g: Any) -> Any:
        found = self._numbers[g]
        if isinstance(found, range):
            return [f"{self._word}{k}" for k in found]
        return f"{self._word}{found}"
