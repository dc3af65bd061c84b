"""Version 1 of the schema: what a stored model consists of.

A model has fitted values (in the document) and parts (dataclasses, whose arrays are tensors named
``part.field``). A key or tensor that is not listed here is an error, in a file and in a model that
is to be stored: nothing gets lost without a word. What later releases add goes in as an entry
with ``optional=True``, so that the files of today stay readable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.mixed_bins import OTHERS
from ..losses import Loss, Softmax
from ..model import Coverage, StumpModel
from ..model.category_tables import CategoryTables
from ..training import Trace
from .container import Entry
from .errors import StorageError

FEATURES_MOST = 1 << 31


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def is_runs(value: Any) -> bool:
    return is_count(value) and value > 0


def is_number(value: Any) -> bool:
    return type(value) is float


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_score(value: Any) -> bool:
    """A number, or one for each of several classes."""
    return is_number(value) or (
        isinstance(value, np.ndarray) and value.dtype == np.float64 and len(value) > 2
    )


def is_labels(value: Any) -> bool:
    return isinstance(value, np.ndarray) and len(value) >= 2


def is_usable_loss(value: Any) -> bool:
    """A loss whose arguments fit together: also one loss inside another is a loss."""
    if not isinstance(value, Loss):
        return False
    try:
        return value.terms is not None and value.strong_convexity >= 0.0
    except Exception:
        return False


@dataclass(frozen=True)
class Value:
    """A value of the document."""

    is_valid: Callable[[Any], bool]
    optional: bool = False


@dataclass(frozen=True)
class Tensor:
    """An array: its type, and its shape in terms of sizes that a part's tensors share.

    One that is ``per_class`` has a last axis more in a model of several classes.
    """

    dtype: str
    shape: tuple[str, ...]
    optional: bool = False
    per_class: bool = False


@dataclass(frozen=True)
class Part:
    """A dataclass of a fitted estimator. ``left_out`` are fields that are not stored, or in a part
    of their own."""

    kind: type
    values: Mapping[str, Value]
    tensors: Mapping[str, Tensor]
    check: Callable[[Any, Mapping[str, Any]], None]
    left_out: frozenset[str] = frozenset()
    optional: bool = False


NOT_STORED = {"callbacks"}
"""Parameters that are functions and only matter while fitting: a loaded model has the defaults."""

FITTED: dict[str, Value] = {
    "n_features_in_": Value(lambda value: is_count(value) and 0 < value < FEATURES_MOST),
    "n_iter_": Value(is_count),
    "best_iteration_": Value(is_count, optional=True),
    "n_learners_": Value(is_count),
    "subset_size_": Value(is_count),
    "intercept_": Value(is_score),
    "loss_": Value(is_usable_loss),
    "classes_": Value(is_labels, optional=True),
    "has_offset_": Value(is_flag, optional=True),
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
    _check_classes(model, fitted)
    if model.categories is not None:
        require(not np.isin(model.categories.features, model.features).any(), "categories.features")
    path = (model.feature, model.threshold, model.left, model.right, model.when_missing)
    if _all_or_none(path, "model.feature"):
        _check_path(model, n_features)
    elif model.categories is not None:
        require(model.categories.iteration is None, "categories.iteration")


def _check_path(model: StumpModel, n_features: int) -> None:
    assert model.feature is not None
    assert model.threshold is not None
    require(_within(model.feature, -1, n_features), "model.feature")
    by_set = np.flatnonzero((model.feature >= 0) & np.isnan(model.threshold))
    tables = model.categories
    if tables is None:
        require(not len(by_set), "model.threshold")
        return
    require(tables.iteration is not None, "categories.iteration", "is missing")
    require(np.array_equal(tables.iteration, by_set), "categories.iteration")  # type: ignore[arg-type]
    require(np.array_equal(tables.feature, model.feature[by_set]), "categories.feature")  # type: ignore[arg-type]


def _check_classes(model: StumpModel, fitted: Mapping[str, Any]) -> None:
    """Scores, classes and loss must be for the same number of classes."""
    n_classes = model.tables.shape[1] if model.tables.ndim == 2 else None
    loss = fitted["loss_"]
    require((n_classes is not None) == isinstance(loss, Softmax), "fitted.loss_")
    for start in (model.intercept, fitted["intercept_"]):
        require(np.shape(start) == (() if n_classes is None else (n_classes,)), "intercept")
    if n_classes is not None:
        require(n_classes > 2 and loss.n_classes == n_classes, "fitted.loss_")
    if "classes_" in fitted:
        require(len(fitted["classes_"]) == (n_classes or 2), "fitted.classes_")
    else:
        require(n_classes is None, "fitted.loss_")


def check_categories(tables: CategoryTables, fitted: Mapping[str, Any]) -> None:
    schema = fitted["input_"]
    inside = _within(tables.features, 0, fitted["n_features_in_"])
    require(len(tables.features) and _ascends(tables.features) and inside, "categories.features")
    require(_are_starts(tables.starts, len(tables.values)), "categories.starts")
    if _all_or_none((tables.iteration, tables.sets, tables.feature), "categories.iteration"):
        require(np.isin(tables.feature, tables.features).all(), "categories.feature")  # type: ignore[arg-type]
    for g, (a, b) in zip(tables.features, pairwise(tables.starts), strict=True):
        values, labels = tables.values[a:b], schema.labels.get(int(g))
        require(_ascends(values) and len(values), "categories.values")
        values = values[:-1] if values[-1] == OTHERS else values
        require(np.isfinite(values).all(), "categories.values")
        if labels is not None:  # a category is the number of its label
            whole = values == np.floor(values)
            known = (values >= 0) & (values < len(labels))
            require((whole & known).all(), "categories.values")


def check_trace(trace: Trace, fitted: Mapping[str, Any]) -> None:
    require(len(trace.train_loss), "trace.train_loss")
    if trace.kept is not None:
        require(_ascends(trace.kept) and trace.kept[0] == 0, "trace.kept")
        best = fitted.get("best_iteration_", len(trace))
        require(np.isin(best, trace.kept), "trace.kept", "lacks the best iteration")
    choices = (
        trace.learner, trace.feature, trace.split, trace.left, trace.right, trace.gradient_norm
    )  # fmt: skip
    if not _all_or_none(choices, "trace.learner"):
        require(trace.sets is None, "trace.sets")
        return
    require(trace.kept is None, "trace.kept")
    learner, feature, split, *_ = choices
    require(len(learner) == trace.n_runs * len(trace), "trace.n_runs")  # type: ignore[arg-type]
    require(_within(learner, -1, fitted["n_learners_"]), "trace.learner")  # type: ignore[arg-type]
    require(_within(feature, -1, fitted["n_features_in_"]), "trace.feature")  # type: ignore[arg-type]
    require(_within(split, -1, max(1, fitted["n_learners_"])), "trace.split")  # type: ignore[arg-type]


def check_coverage(coverage: Coverage, fitted: Mapping[str, Any]) -> None:
    model: StumpModel = fitted["model_"]
    require(_are_starts(coverage.starts, len(coverage.edges)), "coverage.starts")
    steps = pairwise(model.starts + np.arange(len(model.starts)))
    for gaps, (a, b) in zip(coverage.missing, steps, strict=True):
        require(_are_weights(np.append(coverage.weights[a:b], gaps)), "coverage.weights")
    for a, b in pairwise(coverage.starts + np.arange(len(coverage.starts))):
        require((coverage.density[a:b] >= 0).all(), "coverage.density")
    require(np.isfinite(coverage.edges).all(), "coverage.edges")
    require(np.isfinite(coverage.density).all(), "coverage.density")
    tables = model.categories
    n_tables, n_values = (0, 0) if tables is None else (len(tables.features), len(tables.values))
    require(len(coverage.category_missing) == n_tables, "coverage.category_missing")
    require(len(coverage.category_weights) == n_values, "coverage.category_weights")
    if tables is not None:
        for gaps, (a, b) in zip(coverage.category_missing, pairwise(tables.starts), strict=True):
            weights = np.append(coverage.category_weights[a:b], gaps)
            require(_are_weights(weights), "coverage.category_weights")


PARTS: dict[str, Part] = {
    "model": Part(
        StumpModel,
        {"n_features": Value(is_count), "intercept": Value(is_score)},
        {
            "features": Tensor("I64", ("used",)),
            "starts": Tensor("I64", ("used+1",)),
            "cuts": Tensor("F64", ("cuts",)),
            "tables": Tensor("F64", ("cuts+used",), per_class=True),
            "missing": Tensor("F64", ("used",), per_class=True),
            "feature": Tensor("I64", ("path",), optional=True),
            "threshold": Tensor("F64", ("path",), optional=True),
            "left": Tensor("F64", ("path",), per_class=True, optional=True),
            "right": Tensor("F64", ("path",), per_class=True, optional=True),
            "when_missing": Tensor("F64", ("path",), per_class=True, optional=True),
        },
        check_stumps,
        left_out=frozenset({"categories"}),
    ),
    "categories": Part(
        CategoryTables,
        {},
        {
            "features": Tensor("I64", ("categorical",)),
            "starts": Tensor("I64", ("categorical+1",)),
            "values": Tensor("F64", ("categories",)),
            "tables": Tensor("F64", ("categories",), per_class=True),
            "missing": Tensor("F64", ("categorical",), per_class=True),
            "iteration": Tensor("I64", ("sets",), optional=True),
            "sets": Tensor("U8", ("sets", "setbytes"), optional=True),
            "feature": Tensor("I64", ("sets",), optional=True),
        },
        check_categories,
        optional=True,
    ),
    "trace": Part(
        Trace,
        {"engine": Value(is_text), "n_runs": Value(is_runs, optional=True)},
        {
            "learner": Tensor("I64", ("choices",), optional=True),
            "feature": Tensor("I64", ("choices",), optional=True),
            "split": Tensor("I64", ("choices",), optional=True),
            "left": Tensor("F64", ("choices",), per_class=True, optional=True),
            "right": Tensor("F64", ("choices",), per_class=True, optional=True),
            "gradient_norm": Tensor("F64", ("choices",), optional=True),
            "kept": Tensor("I64", ("losses",), optional=True),
            "train_loss": Tensor("F64", ("losses",)),
            "validation_loss": Tensor("F64", ("losses",), optional=True),
            "seconds": Tensor("F64", ("losses",)),
            "sets": Tensor("U8", ("choices", "tracebytes"), optional=True),
        },
        check_trace,
        left_out=frozenset({"certificates"}),  # objects of rgboost.theory
    ),
    "coverage": Part(
        Coverage,
        {"total": Value(is_number)},
        {
            "weights": Tensor("F64", ("cuts+used",)),
            "missing": Tensor("F64", ("used",)),
            "starts": Tensor("I64", ("used+1",)),
            "edges": Tensor("F64", ("edges",)),
            "density": Tensor("F64", ("edges+used",)),
            "category_weights": Tensor("F64", ("weighed",)),
            "category_missing": Tensor("F64", ("weighedmissing",)),
        },
        check_coverage,
    ),
}

LOOSE: dict[str, Tensor] = {
    "names.ends": Tensor("I64", ("features",), optional=True),
    "names.text": Tensor("U8", ("bytes",), optional=True),
    "input.categorical": Tensor("U8", ("features",), optional=True),
    "labels.features": Tensor("I64", ("labelled",), optional=True),
    "labels.sizes": Tensor("I64", ("labelled",), optional=True),
    "labels.strings": Tensor("U8", ("labelled",), optional=True),
    "labels.numbers": Tensor("F64", ("numbers",), optional=True),
    "labels.ends": Tensor("I64", ("texts",), optional=True),
    "labels.text": Tensor("U8", ("letters",), optional=True),
    "cv.loss": Tensor("F64", ("stages",), optional=True),
}
"""Tensors outside of parts: names and labels (see `labels`), the attribute ``cv_loss_``."""


def tensor_specs(without: Collection[str] = ()) -> dict[str, Tensor]:
    """All tensors of a file, by name; of a file that lacks some parts."""
    specs = {
        f"{p}.{name}": t
        for p, part in PARTS.items()
        if p not in without
        for name, t in part.tensors.items()
    }
    return {**specs, **LOOSE}


def check_entries(entries: Mapping[str, Entry], n_features: int, parts: Collection[str]) -> None:
    """Compare names, types and shapes of a file's tensors with the schema."""
    specs = tensor_specs(without=set(PARTS) - set(parts))
    unknown = sorted(set(entries) - set(specs))
    if unknown:
        raise StorageError(f"It has the unknown tensor {unknown[0][:60]!r}.")
    sizes = {"features": n_features}
    several = "model.tables" in entries and len(entries["model.tables"].shape) == 2
    for name, spec in specs.items():
        if name not in entries:
            require(spec.optional, name, "is missing")
            continue
        entry = entries[name]
        shape = (*spec.shape, "classes") if spec.per_class and several else spec.shape
        require(entry.dtype == spec.dtype and len(entry.shape) == len(shape), name)
        for text, size in zip(shape, entry.shape, strict=True):
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


def _all_or_none(values: Iterable[Any], name: str) -> bool:
    """Whether all are there; it is an error if only some are."""
    found = [value is not None for value in values]
    require(all(found) or not any(found), name, "is there without the rest of the path, or missing")
    return all(found)


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
