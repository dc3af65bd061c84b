"""What the features contribute to the scores of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .global_explanation import GlobalExplanation


@dataclass(frozen=True)
class LocalExplanation:
    """score_i = intercept + contributions[i, 0] + contributions[i, 1] + ...

    Added from left to right (as `score` does) this is the raw score of a dense row, bit by bit;
    any other order, and the raw score of sparse rows, which starts from the score of a row of
    zeros, differ by rounding.

    Attributes
    ----------
    intercept : the score that boosting started from.
    contributions : array (rows, used features): the values of the shape functions.
    values : array (rows, used features): the values of the features.
    features, names : indices and names of the used features, the columns of these arrays.
    means : the mean contribution of each over the training rows.
    """

    intercept: float
    contributions: NDArray[np.float64]
    values: NDArray[np.floating]
    features: NDArray[np.int64]
    names: Sequence[str]
    means: NDArray[np.float64]

    @classmethod
    def of(cls, explanation: GlobalExplanation, X: Any) -> LocalExplanation:
        """The values of shape functions at checked rows."""
        functions = explanation.functions
        features = np.array([shape.feature for shape in functions], np.int64)
        values = X[:, features]
        values = values.toarray() if scipy.sparse.issparse(X) else np.asarray(values)
        contributions = np.empty(values.shape)
        for k, shape in enumerate(functions):
            contributions[:, k] = shape.at(values[:, k])
        return cls(
            intercept=explanation.intercept,
            contributions=contributions,
            values=values,
            features=features,
            names=[shape.name for shape in functions],
            means=np.array([shape.mean for shape in functions]),
        )

    def score(self) -> NDArray[np.float64]:
        """The raw score of every row, added from left to right."""
        score = np.full(len(self.contributions), self.intercept)
        for column in self.contributions.T:
            score += column
        return score

    def centered(self) -> LocalExplanation:
        """Contributions less their means, which go to the intercept: the mean raw score."""
        return LocalExplanation(
            intercept=self.intercept + float(self.means.sum()),
            contributions=self.contributions - self.means,
            values=self.values,
            features=self.features,
            names=self.names,
            means=np.zeros_like(self.means),
        )

    def to_shap(self) -> Any:
        """A `shap.Explanation`, for the plots of the shap package.

        Its values are the SHAP values with the training rows as background, which for an additive
        model are the centered contributions, exactly; its base value is the mean raw score.
        """
        try:
            from shap import Explanation
        except ImportError as error:
            raise ImportError("to_shap needs the package shap: pip install shap") from error
        centered = self.centered()
        return Explanation(
            values=centered.contributions,
            base_values=np.full(len(self.values), centered.intercept),
            data=self.values,
            feature_names=list(self.names),
        )
