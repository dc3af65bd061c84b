"""A linear combination of the columns of a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import one_line
from .path import not_stored


@one_line
@dataclass(frozen=True)
class DictionaryModel:
    """score(x) = intercept + sum_j coef_j h_j(x), h_j the columns as given (not normalised).

    Iteration m added ``added[m]`` times column ``column[m]`` (-1 where nothing was added). Both are
    None in a model that was stored without its path.
    """

    matrix: Callable[[Any], Any]
    intercept: float
    coef: NDArray[np.float64]
    column: NDArray[np.int64] | None
    added: NDArray[np.float64] | None

    no_functions = "this one is a combination of a dictionary's columns, see model_.coef."

    @classmethod
    def collapse(
        cls,
        matrix: Callable[[Any], Any],
        n_columns: int,
        column: NDArray[np.int64],
        added: NDArray[np.float64],
        intercept: float,
    ) -> DictionaryModel:
        chosen = column >= 0
        coef = np.zeros(n_columns)
        np.add.at(coef, column[chosen], added[chosen])
        return cls(matrix, float(intercept), coef, column, added)

    def without_path(self) -> DictionaryModel:
        """The coefficients alone: the same scores, but no stages."""
        return replace(self, column=None, added=None)

    def score(self, X: Any, n_jobs: int = 1) -> NDArray[np.float64]:
        """The score of every row."""
        return np.asarray(self.matrix(X) @ self.coef) + self.intercept

    def staged_score(self, X: Any, n_jobs: int = 1) -> Iterator[NDArray[np.float64]]:
        """The score after each iteration, a new array every time."""
        if self.column is None or self.added is None:
            raise not_stored("staged predictions")
        B = self.matrix(X)
        score = np.full(X.shape[0], self.intercept)
        for j, added in zip(self.column, self.added, strict=True):
            if j >= 0:
                column = B[:, [j]]
                column = column.toarray() if hasattr(column, "toarray") else column
                score += added * column.ravel()
            yield score.copy()
