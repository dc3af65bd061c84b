"""What the features contribute to the scores of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.one_line import brief
from .._core.svg import row_of
from ..data.mixed_bins import OTHERS
from ..data.sparse_columns import take_columns
from .global_explanation import GlobalExplanation, ShapeFunction
from .pictures import local_pictures
from .scale import SCORE, Scale


@dataclass(frozen=True)
class LocalExplanation:
    """score_i = intercept + contributions[i, 0] + contributions[i, 1] + ...

    Added from left to right (as `score` does) this is the raw score of a dense row, bit by bit;
    any other order, and the raw score of sparse rows, which starts from the score of a row of
    zeros, differ by rounding. With C > 2 classes there is a score for each.

    Attributes
    ----------
    intercept : the score that boosting started from; with several classes (C,).
    contributions : array (rows, used features): the values of the shape functions; with several
        classes (rows, used features, C).
    values : array (rows, used features): the values of the features; of categories their numbers,
        see `shown_values` for their labels.
    features, names : indices and names of the used features, the columns of these arrays:
        categorical features first, then the others.
    means : the mean contribution of each over the training rows; (used features, C).
    labels : for each used feature the labels of its categories by number, or None.
    classes : the labels of C > 2 classes, or None.
    scale : what the score is, in words: ``str(scale)`` is such as "log-odds of class yes".
    """

    intercept: Any
    contributions: NDArray[np.float64]
    values: NDArray[np.floating]
    features: NDArray[np.int64]
    names: Sequence[str]
    means: NDArray[np.float64]
    labels: Sequence[Mapping[float, Any] | None] = ()
    classes: NDArray | None = None
    scale: Scale = SCORE

    @classmethod
    def of(cls, explanation: GlobalExplanation, X: Any) -> LocalExplanation:
        """The values of shape functions at checked rows."""
        functions = explanation.functions
        features = np.array([shape.feature for shape in functions], np.int64)
        if scipy.sparse.issparse(X):
            order = np.argsort(features)
            values = np.empty((X.shape[0], len(features)), X.dtype)
            values[:, order] = take_columns(X, features[order]).toarray()
        else:
            values = np.asarray(X[:, features])
        tail = np.shape(explanation.intercept)
        contributions = np.empty((*values.shape, *tail))
        for k, shape in enumerate(functions):
            contributions[:, k] = shape.at(values[:, k])
        return cls(
            intercept=explanation.intercept,
            contributions=contributions,
            values=values,
            features=features,
            names=[shape.name for shape in functions],
            means=np.array([shape.mean for shape in functions]).reshape(len(functions), *tail),
            labels=[_labels(shape) for shape in functions],
            classes=explanation.classes,
            scale=explanation.scale,
        )

    def __repr__(self) -> str:
        several = "" if self.classes is None else f", {len(self.classes)} classes"
        return (
            f"LocalExplanation({len(self.values)} rows, {len(self.features)} used features"
            f"{several}, intercept={brief(self.intercept)})"
        )

    def _repr_html_(self) -> str:
        return row_of(*local_pictures(self))

    def score(self) -> NDArray[np.float64]:
        """The raw score of every row, added from left to right."""
        score = np.tile(np.asarray(self.intercept, np.float64), (len(self.values), 1))
        score = score if self.contributions.ndim == 3 else score[:, 0]
        for k in range(self.contributions.shape[1]):
            score += self.contributions[:, k]
        return score

    def centered(self) -> LocalExplanation:
        """Contributions less their means, which go to the intercept: the mean raw score."""
        means = self.means.sum(axis=0)
        return replace(
            self,
            intercept=self.intercept + (means if means.ndim else float(means)),
            contributions=self.contributions - self.means,
            means=np.zeros_like(self.means),
        )

    def of_class(self, label: Any) -> LocalExplanation:
        """The explanation of a class's score, by its label; of the first of two, with signs
        turned."""
        scale, take = self.scale.choose(label, self.classes)
        return replace(
            self,
            intercept=float(take(self.intercept)),
            contributions=take(self.contributions),
            means=take(self.means),
            classes=None,
            scale=scale,
        )

    def shown_values(self) -> NDArray[np.object_]:
        """``values`` with labels for the numbers of categories, and None where one is missing."""
        shown = self.values.astype(object)
        for k, labels in enumerate(self.labels):
            if labels is not None:
                known = ~np.isnan(self.values[:, k])
                others = labels.get(OTHERS)
                shown[~known, k] = None
                shown[known, k] = [labels.get(x, others) for x in self.values[known, k].tolist()]
        return shown

    def to_shap(self) -> Any:
        """A `shap.Explanation`, for the plots of the shap package.

        Its values are the SHAP values with the training rows as background, which for an additive
        model are the centered contributions, exactly; its base value is the mean raw score. With
        several classes values are (rows, features, classes), and base values (rows, classes).
        ``output_names`` are the labels of the classes, or what the one score is.
        """
        try:
            from shap import Explanation
        except ImportError as error:
            raise ImportError("to_shap needs the package shap: pip install shap") from error
        centered = self.centered()
        return Explanation(
            values=centered.contributions,
            base_values=np.full((len(self.values), *np.shape(self.intercept)), centered.intercept),
            data=self.values,
            display_data=self.shown_values(),
            feature_names=list(self.names),
            output_names=str(self.scale)
            if self.classes is None
            else [str(label) for label in self.classes],
        )


def _labels(shape: ShapeFunction) -> Mapping[float, Any] | None:
    if shape.codes is None or shape.categories is None:
        return None
    return dict(zip(shape.codes.tolist(), shape.categories.tolist(), strict=True))
