"""Sparse rows without the columns that store nothing: these have no weak-learner, and there can be
millions of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..data.sparse_columns import filled_columns
from ..training import Boosted, Trace

_BY_COLUMN = (
    "groups",
    "feature_weights",
    "always_features",
    "monotone_constraints",
    "interaction_constraints",
)


def columns_to_fit(estimator: Any, X: Any, resume: Any) -> NDArray[np.int64] | None:
    """The columns that store something, if they are at most half; None: all are to be fitted.

    So it is where parameters, rules, certificates or a run to go on with know columns by their
    number. Other callbacks must not change the model.
    """
    if not scipy.sparse.issparse(X) or resume is not None or estimator.warm_start:
        return None
    if any(getattr(estimator, name) is not None for name in _BY_COLUMN):
        return None
    if any(getattr(one, "needs_one_run", False) for one in estimator.callbacks or ()):
        return None
    if not (isinstance(estimator.learner, str) and isinstance(estimator.selection, str)):
        return None
    if not isinstance(estimator.interactions, str | int):  # a list of pairs
        return None
    if not isinstance(estimator.subset_size, str | float) or estimator.input_.categorical.any():
        return None
    columns = filled_columns(X)
    return columns if 0 < 2 * len(columns) <= X.shape[1] else None


def among_all(
    boosted: Boosted, columns: NDArray[np.int64] | None, n_features: int
) -> tuple[Any, Trace]:
    """The model and the trace of a fit to some columns, with features numbered among all."""
    model, trace = boosted.model, boosted.trace
    if columns is None:
        return model, trace
    assert trace.feature is not None
    feature = np.where(trace.feature >= 0, columns[trace.feature], -1)
    return model.among(columns, n_features), replace(trace, feature=feature)  # type: ignore[attr-defined]
