"""Scores of rows that a fitted model is given, in memory or piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._core.on_card import is_on_card, to_host
from .._core.team import check_n_jobs
from ..engines.problem import with_offset
from .chunked import in_pieces, pieces_of
from .chunked.labels import as_column
from .rows import check_rows, check_rows_on_card


class NewRowsMixin:
    """What both estimators do with rows to predict; they say how a score becomes a prediction."""

    n_jobs: int | None
    model_: Any
    trace_: Any

    def predict(self, X: Any, offset: Any = None) -> NDArray:
        raise NotImplementedError

    def _check_offset(self, given: Any, n_rows: int) -> NDArray[np.float64] | None:
        raise NotImplementedError

    def _predicted(self, score: NDArray[np.float64]) -> NDArray:
        """Predictions that belong to scores."""
        raise NotImplementedError

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_rows(self, X)

    def _on_card(self, X: Any, offset: Any) -> Any:
        """The scores of rows that are on a card (`rgboost.cuda.predict.CardScores`)."""
        check_is_fitted(self)
        from ..cuda.predict import CardScores  # not before there is an array on a card

        rows = check_rows_on_card(self, X)
        known = self._check_offset(to_host(offset), rows.shape[0])
        return CardScores(self.model_, rows, known, X)

    def _score(self, X: Any, offset: Any = None) -> NDArray[np.float64]:
        check_is_fitted(self)
        n_jobs, found = check_n_jobs(self.n_jobs), []
        for piece in pieces_of(X, offset):
            rows = self._check_rows(piece.X)
            known = self._check_offset(piece.offset, rows.shape[0])
            found.append(with_offset(self.model_.score(rows, n_jobs), known))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _compared(self, X: Any, y: Any, weight: Any, offset: Any) -> tuple[Any, Any, Any]:
        """Labels, predictions and weights of all rows, for a score."""
        if is_on_card(X):
            predicted = self._predicted(self._on_card(X, offset).to_host())
            return to_host(y), predicted, to_host(weight)
        if not in_pieces(X):
            return to_host(y), self.predict(X, offset), to_host(weight)
        parts = []
        for piece in pieces_of(X, offset, y, weight):
            predicted = self.predict(piece.X, piece.offset)
            weights = np.ones(len(predicted)) if piece.weight is None else piece.weight
            parts.append((as_column(piece.y, len(predicted)), predicted, np.asarray(weights)))
        labels, predictions, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        return labels, predictions, weights

    def _staged_score(self, X: Any, offset: Any = None) -> Iterator[NDArray[np.float64]]:
        rows = self._check_rows(X)
        if hasattr(self, "edits_"):
            raise AttributeError(
                "an edited model has no stages: boosting did not make it. The model before the "
                "edits has them."
            )
        known = self._check_offset(offset, rows.shape[0])
        stages = self.model_.staged_score(rows, check_n_jobs(self.n_jobs))
        n_runs = self.trace_.n_runs
        return (with_offset(one, known) for one in islice(stages, n_runs - 1, None, n_runs))
