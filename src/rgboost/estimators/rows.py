"""Rows that users give: read, checked, and turned into a matrix of numbers."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    column_or_1d,
    validate_data,
)

from .._core.on_card import LIBRARIES, is_on_card
from .._core.team import sums_are_finite
from ..data.chunks import Chunks
from ..data.elsewhere import MatrixElsewhere
from ..data.input import (
    InputSchema,
    learn_input,
    plain_schema,
    read_input,
    read_labels,
)
from ..data.input.names import check_same_number
from ..data.sparse_columns import clean_sparse, filled_columns
from ..learners import LearnerFamily
from ..selection import SelectionRule
from ..training import Boosted, Trace

_RULES: dict[str, Any] = {
    "accept_sparse": ("csr", "csc"),
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": False,  # see `check_finite`, which names the column
}

_BY_COLUMN = (
    "groups",
    "feature_weights",
    "always_features",
    "monotone_constraints",
    "interaction_constraints",
)


def accepts_missing(learner: Any) -> bool:
    """Whether NaN may stand for missing values: stumps have a bin for them."""
    return learner.accepts_missing if isinstance(learner, LearnerFamily) else True


def check_training_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, **rules: Any
) -> tuple[Any, NDArray, NDArray[np.float64] | None]:
    """X, y and weights as arrays, or an error that says what is wrong with them.

    Names and categories are stored in the estimator.
    """
    if is_on_card(X):
        return _training_rows_on_card(estimator, X, y, sample_weight, **rules)
    matrix, schema = learn_input(X, estimator.categorical_features)
    X, y = validate_data(estimator, matrix, read_labels(y, "y"), **_RULES, **rules)
    if scipy.sparse.issparse(X):
        X = clean_sparse(X, "X")
    if schema is None:
        schema = plain_schema(X.shape[1], estimator.categorical_features)
    estimator.input_ = schema
    check_finite(estimator, X, "X")
    if schema.names is not None:
        estimator.feature_names_in_ = schema.names
    return X, y, check_weight(sample_weight, len(y), "sample_weight")


def _training_rows_on_card(
    estimator: Any, X: Any, y: Any, sample_weight: Any, **rules: Any
) -> tuple[Any, NDArray, NDArray[np.float64] | None]:
    """`check_training_rows` of rows that are on the card of the fit, and stay there."""
    from ..cuda.card import Card
    from ..cuda.matrix import matrix_on

    rows = matrix_on(Card(estimator.device, estimator.device_memory), X)
    like = np.broadcast_to(np.zeros(1), rows.shape)  # takes no room, and fails as rows would
    _, y = validate_data(estimator, like, read_labels(y, "y"), **_RULES, **rules)
    estimator.input_ = plain_schema(rows.shape[1], estimator.categorical_features)
    check_finite(estimator, rows, "X")
    return rows, y, check_weight(sample_weight, len(y), "sample_weight")


def check_rows_on_card(estimator: Any, X: Any, name: str = "X", card: Any = None) -> Any:
    """`check_rows` of rows that are on a card: that of a fit, or any one."""
    from ..cuda.card import Card
    from ..cuda.matrix import matrix_on, number_of

    rows = matrix_on(Card(f"cuda:{number_of(X)}") if card is None else card, X, name)
    check_rows(estimator, np.zeros((min(1, rows.shape[0]), rows.shape[1])), name)
    check_finite(estimator, rows, name)
    return rows


def refuse_std(return_std: bool) -> None:
    """Raise if rows on a card are to have standard deviations."""
    if return_std:
        raise TypeError(
            "return_std=True needs the tables of all bags, which are not on a card: leave it out, "
            f"or bring X to the host ({LIBRARIES})."
        )


def check_held_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, suffix: str = "_val", card: Any = None
) -> tuple[Any, NDArray, NDArray[np.float64] | None]:
    """Rows like those of fit, such as validation rows, their labels and weights; ``suffix`` ends
    the names of the arguments. With a ``card`` they may be there."""
    name_x, name_y = f"X{suffix}", f"y{suffix}"
    if card is not None and is_on_card(X):
        rows = check_rows_on_card(estimator, X, name_x, card)
    else:
        rows = check_rows(estimator, X, name_x)
    labels = column_or_1d(read_labels(y, name_y), warn=True)
    labels = check_array(labels, ensure_2d=False, dtype=None, input_name=name_y)
    if rows.shape[0] != len(labels):
        raise ValueError(
            f"{name_x} has {rows.shape[0]} rows and {name_y} {len(labels)} labels; give one label "
            "for each row."
        )
    return rows, labels, check_weight(sample_weight, len(labels), f"sample_weight{suffix}")


def check_rows(estimator: Any, X: Any, name: str = "X") -> Any:
    """Rows for a fitted estimator as a matrix; their columns must be those of fit."""
    if isinstance(X, Chunks):
        raise TypeError(
            f"{name} is Chunks, and this takes rows in memory: hand it those of one piece after "
            "the other (for piece in chunks: ... piece.X)."
        )
    if is_on_card(X):
        raise TypeError(
            f"{name} is on a graphics card; of a fitted model, predict, decision_function, "
            "predict_proba and score take it there, and a fit with device='cuda' does. Bring it to "
            f"the host for this: {LIBRARIES}."
        )
    schema: InputSchema = estimator.input_
    who = type(estimator).__name__
    matrix = read_input(X, schema, who)
    rows = check_array(matrix, input_name=name, estimator=estimator, **_RULES)
    check_same_number(schema.n_features, rows.shape[1], who)
    if scipy.sparse.issparse(rows):
        rows = clean_sparse(rows, name)
    check_finite(estimator, rows, name)
    return rows


def check_finite(estimator: Any, X: Any, name: str) -> None:
    """Raise for infinity, and for NaN if the weak-learners cannot take it; the error names the
    column."""
    if isinstance(X, np.ndarray) and sums_are_finite(X):
        return
    allowed = accepts_missing(estimator.learner)
    found = _elsewhere(X) if isinstance(X, MatrixElsewhere) else _in_memory(X, allowed)
    what, row, g = found
    if not what or (what == "NaN" and allowed):
        return
    remedy = "replace it" + ", by NaN where it means a missing value" * allowed
    if what == "NaN":
        remedy = f"fill it in, or use stumps: {estimator.learner!r} takes no missing values"
    names = estimator.input_.names
    column = g if names is None else repr(names[g])
    raise ValueError(
        f"Input {name} contains {what} in column {column}, first in row {row}; {remedy}."
    )


def _in_memory(X: Any, allow_nan: bool) -> tuple[str, int, int]:
    """(what, row, column) of the first entry that is infinite, or else missing; "": none."""
    try:
        assert_all_finite(X, allow_nan=allow_nan)
        return "", -1, -1
    except ValueError:
        pass
    entries = scipy.sparse.coo_array(X) if scipy.sparse.issparse(X) else None
    values = X if entries is None else entries.data
    what, wrong = "infinity", np.isinf(values)
    if not wrong.any():
        what, wrong = "NaN", np.isnan(values)
    place = np.argwhere(wrong)[0]
    row, g = place if entries is None else (entries.row[place[0]], entries.col[place[0]])
    return what, int(row), int(g)


def _elsewhere(X: MatrixElsewhere) -> tuple[str, int, int]:
    """`_in_memory` of rows that are elsewhere."""
    for what, first in zip(("infinity", "NaN"), X.first_bad(), strict=True):
        columns = np.flatnonzero(first >= 0)
        if len(columns):
            g = columns[np.argmin(first[columns])]
            return what, int(first[g]), int(g)
    return "", -1, -1


def check_offset(
    given: Any, n_rows: int, n_classes: int | None, name: str
) -> NDArray[np.float64] | None:
    """One finite number a row, or None; with several classes one for each of them."""
    if given is None:
        return None
    offset = np.asarray(given, dtype=np.float64)
    shape = (n_rows,) if n_classes is None else (n_rows, n_classes)
    if offset.shape != shape:
        what = "number per row" if n_classes is None else "number per row and class"
        raise ValueError(f"{name} has shape {offset.shape}, expected {shape}: one {what}.")
    if not np.isfinite(offset).all():
        raise ValueError(
            f"{name} has NaN or infinite entries; give finite numbers (log(0) is none: leave out "
            "rows without exposure)."
        )
    return offset


def check_groups(given: Any, n_rows: int) -> NDArray[np.int64] | None:
    """The number of every row's group, or None."""
    if given is None:
        return None
    groups = np.asarray(given)
    if groups.shape != (n_rows,):
        raise ValueError(
            f"groups has shape {groups.shape}, expected ({n_rows},): the group of every row. "
            "(Groups of features are a parameter of the estimator.)"
        )
    try:
        return np.unique(groups, return_inverse=True)[1].astype(np.int64)
    except TypeError as fault:
        raise ValueError(
            f"groups cannot be put in order ({fault}); give numbers or strings, none missing."
        ) from fault


def check_weight(
    given: Any, n_rows: int, name: str, some: bool = True
) -> NDArray[np.float64] | None:
    """One weight a row, or None; ``some`` of them positive."""
    if given is None:
        return None
    weight = np.asarray(given, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {weight.shape}, expected ({n_rows},): one weight per row."
        )
    if not np.isfinite(weight).all():
        raise ValueError(f"{name} has NaN or infinite entries; give finite weights.")
    if (weight < 0).any():
        raise ValueError(
            f"{name} has the negative entry {weight.min():g}; weights must be 0 or greater."
        )
    if some and not (weight > 0).any():
        raise ValueError(f"{name} is zero for every row; give some row a positive weight.")
    return weight


def columns_to_fit(estimator: Any, X: Any, resume: Any) -> NDArray[np.int64] | None:
    """The columns of sparse rows that store something, if they are at most half; None: all are to
    be fitted. The others have no weak-learner, and there can be millions of them.

    So it is where parameters, rules, certificates or a run to go on with know columns by their
    number. Other callbacks must not change the model.
    """
    if not scipy.sparse.issparse(X) or resume is not None or estimator.warm_start:
        return None
    if any(getattr(estimator, name) is not None for name in _BY_COLUMN):
        return None
    if any(getattr(one, "needs_one_run", False) for one in estimator.callbacks or ()):
        return None
    if isinstance(estimator.learner, LearnerFamily):
        return None
    if isinstance(estimator.selection, SelectionRule):
        return None
    if not np.isscalar(estimator.interactions):  # a list of pairs
        return None
    if isinstance(estimator.subset_size, Integral) or estimator.input_.categorical.any():
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
