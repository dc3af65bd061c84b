"""Version 1 of the schema: what a stored model consists of.

A model has fitted values (in the document) and parts (dataclasses, whose arrays are tensors named
``part.field``). A key or tensor that is not listed here is an error, in a file and in a model that
is to be stored: nothing gets lost without a word. What later releases add goes in as an entry
with ``optional=True``, so that the files of today stay readable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..boosting import Trace
from ..losses import Loss
from ..model import Coverage, StumpModel
from .container import Entry
from .errors import StorageError

FEATURES_MOST = 1 << 31


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def is_number(value: Any) -> bool:
    return type(value) is float


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_labels(value: Any) -> bool:
    return isinstance(value, np.ndarray) and len(value) >= 2


def is_usable_loss(value: Any) -> bool:
    """A loss whose arguments fit together: it evaluates."""
    if not isinstance(value, Loss):
        return False
    try:
        one = np.ones(1)
        value.value(one, value.inverse_link(one))
    except Exception:
        return False
    return True


@dataclass(frozen=True)
class Value:
    """A value of the document."""

    is_valid: Callable[[Any], bool]
    optional: bool = False


@dataclass(frozen=True)
class Tensor:
    """An array: its type, and its shape in terms of sizes that a part's tensors share."""

    dtype: str
    shape: tuple[str, ...]
    optional: bool = False


@dataclass(frozen=True)
class Part:
    """A dataclass that is an attribute of the estimator."""

    attribute: str
    kind: type
    values: Mapping[str, Value]
    tensors: Mapping[str, Tensor]
    check: Callable[[Any, Mapping[str, Any]], None]
    optional: bool = field(default=False)


NOT_STORED = {"callbacks"}
"""Parameters that are functions and only matter while fitting: a loaded model has the defaults."""

FITTED: dict[str, Value] = {
    "n_features_in_": Value(lambda value: is_count(value) and 0 < value < FEATURES_MOST),
    "n_iter_": Value(is_count),
    "best_iteration_": Value(is_count, optional=True),
    "n_learners_": Value(is_count),
    "subset_size_": Value(is_count),
    "intercept_": Value(is_number),
    "loss_": Value(is_usable_loss),
    "classes_": Value(is_labels, optional=True),
    "zero_based_": Value(is_flag, optional=True),  # of the LIBSVM file that it was fitted to
}


def check_stumps(model: StumpModel, fitted: Mapping[str, Any]) -> None:
    """Compiled code reads through these indices without looking."""
    n_features = fitted["n_features_in_"]
    require(model.n_features == n_features, "model.n_features")
    require(_ascends(model.features) and _within(model.features, 0, n_features), "model.features")
    require(_are_starts(model.starts, len(model.cuts)), "model.starts")
    require(all(_ascends(model.cuts[a:b]) for a, b in pairwise(model.starts)), "model.cuts")
    require(not np.isnan(model.cuts).any(), "model.cuts")
    require(_within(model.feature, -1, n_features), "model.feature")


def check_trace(trace: Trace, fitted: Mapping[str, Any]) -> None:
    require(_within(trace.learner, -1, fitted["n_learners_"]), "trace.learner")
    require(_within(trace.feature, -1, fitted["n_features_in_"]), "trace.feature")
    require(_within(trace.split, -1, max(1, fitted["n_learners_"])), "trace.split")


def check_coverage(coverage: Coverage, fitted: Mapping[str, Any]) -> None:
    model = fitted["model_"]
    require(_are_starts(coverage.starts, len(coverage.edges)), "coverage.starts")
    for a, b in pairwise(model.starts + np.arange(len(model.starts))):
        require(_are_weights(coverage.weights[a:b]), "coverage.weights")
    for a, b in pairwise(coverage.starts + np.arange(len(coverage.starts))):
        require(_are_weights(coverage.density[a:b]), "coverage.density")
    require(np.isfinite(coverage.edges).all(), "coverage.edges")


PARTS: dict[str, Part] = {
    "model": Part(
        "model_",
        StumpModel,
        {"n_features": Value(is_count), "intercept": Value(is_number)},
        {
            "features": Tensor("I64", ("used",)),
            "starts": Tensor("I64", ("used+1",)),
            "cuts": Tensor("F64", ("cuts",)),
            "tables": Tensor("F64", ("cuts+used",)),
            "feature": Tensor("I64", ("path",)),
            "threshold": Tensor("F64", ("path",)),
            "left": Tensor("F64", ("path",)),
            "right": Tensor("F64", ("path",)),
        },
        check_stumps,
    ),
    "trace": Part(
        "trace_",
        Trace,
        {"engine": Value(is_text)},
        {
            "learner": Tensor("I64", ("iterations",)),
            "feature": Tensor("I64", ("iterations",)),
            "split": Tensor("I64", ("iterations",)),
            "left": Tensor("F64", ("iterations",)),
            "right": Tensor("F64", ("iterations",)),
            "gradient_norm": Tensor("F64", ("iterations",)),
            "train_loss": Tensor("F64", ("iterations+1",)),
            "validation_loss": Tensor("F64", ("iterations+1",), optional=True),
            "seconds": Tensor("F64", ("iterations+1",)),
        },
        check_trace,
    ),
    "coverage": Part(
        "coverage_",
        Coverage,
        {"total": Value(is_number)},
        {
            "weights": Tensor("F64", ("cuts+used",)),
            "starts": Tensor("I64", ("used+1",)),
            "edges": Tensor("F64", ("edges",)),
            "density": Tensor("F64", ("edges+used",)),
        },
        check_coverage,
    ),
}

NAMES: dict[str, Tensor] = {
    "names.ends": Tensor("I64", ("features",), optional=True),
    "names.text": Tensor("U8", ("bytes",), optional=True),
}
"""Names of the features: where each ends in one UTF-8 text."""


def tensor_specs() -> dict[str, Tensor]:
    """All tensors of a file, by name."""
    specs = {f"{p}.{name}": t for p, part in PARTS.items() for name, t in part.tensors.items()}
    return {**specs, **NAMES}


def check_entries(entries: Mapping[str, Entry], n_features: int) -> None:
    """Compare names, types and shapes of a file's tensors with the schema."""
    specs = tensor_specs()
    unknown = sorted(set(entries) - set(specs))
    if unknown:
        raise StorageError(f"It has the unknown tensor {unknown[0][:60]!r}.")
    sizes = {"features": n_features}
    for name, spec in specs.items():
        if name not in entries:
            require(spec.optional, name, "is missing")
            continue
        entry = entries[name]
        require(entry.dtype == spec.dtype and len(entry.shape) == len(spec.shape), name)
        for text, size in zip(spec.shape, entry.shape, strict=True):
            require(_size_of(text, sizes, size) == size, name)


def _size_of(text: str, sizes: dict[str, int], found: int) -> int:
    """A size such as "cuts+used"; the first time that a size is met, it is what was found."""
    if re.fullmatch("[a-z]+", text):
        return sizes.setdefault(text, found)
    total = 0
    for term in text.split("+"):
        total += int(term) if term.isdigit() else sizes[term]
    return total


def require(condition: Any, name: str, what: str = "is not valid") -> None:
    if not condition:
        raise StorageError(f"Its value {name} {what}.")


def _ascends(values: NDArray) -> bool:
    return bool((values[1:] > values[:-1]).all())


def _within(values: NDArray[np.int64], low: int, end: int) -> bool:
    return not len(values) or (int(values.min()) >= low and int(values.max()) < end)


def _are_weights(values: NDArray[np.float64]) -> bool:
    """A mean with these weights exists."""
    return bool((values >= 0).all()) and 0 < float(values.sum()) < np.inf


def _are_starts(starts: NDArray[np.int64], total: int) -> bool:
    increasing = bool((starts[1:] >= starts[:-1]).all())
    return int(starts[0]) == 0 and int(starts[-1]) == total and increasing
