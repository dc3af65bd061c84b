"""Estimators to files and back.

A file has the parameters and the fitted attributes of an estimator. A key that is not listed here
is an error, in a file and in a model that is to be stored: nothing gets lost without a word. What
later releases add goes in as an optional entry, so that the files of today stay readable.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from .._core.stored import StorageError, require
from ..data.cuts import MOST_BINS
from ..data.input import InputSchema
from ..losses import Loss
from ..model import ClassStumpModel, Coverage, StumpModel, TreesModel
from ..model.bands import Bands
from ..model.history import History
from ..training import Trace
from ..training.plan import Plan
from .container import read_container, write_container
from .values import NOT_STORED, NotStorable, Tensors, decode, encode

VERSION = 2
MOST_BYTES = 4 << 30
"""Size of the largest file that is read without being told to."""

MOST_OF_A_FEATURE = 2 * MOST_BINS
"""Weak-learners: a split between any two bins, with missing values on either side."""
MOST_RUNS = 1 << 16
"""Runs of a mean, one for each fold."""

_DOCUMENT = {"version", "written_by", "estimator", "parameters", "fitted"}


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_score(value: Any) -> bool:
    """A number, or one for each of several classes; the model says of how many."""
    return type(value) is float or is_losses(value)


def is_losses(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1


def is_labels(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and len(value) >= 2


def is_usable_loss(value: Any) -> bool:
    """A loss whose arguments fit together: also one loss inside another is a loss."""
    try:
        return isinstance(value, Loss) and value.terms is not None and value.strong_convexity >= 0
    except Exception:
        return False


def is_pair_scores(value: Any) -> bool:
    """The strength of pairs, by the names of both features."""
    return isinstance(value, dict) and all(
        type(pair) is tuple and [type(name) for name in pair] == [str, str] and type(score) is float
        for pair, score in value.items()
    )


def are_models(value: Any) -> bool:
    """Models of bags."""
    kinds = (StumpModel, ClassStumpModel, TreesModel)
    return isinstance(value, list) and len(value) > 1 and all(isinstance(m, kinds) for m in value)


def is_a(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


@dataclass(frozen=True)
class Fitted:
    """A fitted attribute."""

    is_valid: Callable[[Any], bool]
    optional: bool = False


FITTED: dict[str, Fitted] = {
    "n_features_in_": Fitted(is_count),
    "n_iter_": Fitted(is_count),
    "best_iteration_": Fitted(is_count, optional=True),
    "n_learners_": Fitted(is_count),
    "subset_size_": Fitted(is_count),
    "intercept_": Fitted(is_score),
    "loss_": Fitted(is_usable_loss),
    "classes_": Fitted(is_labels, optional=True),
    "has_offset_": Fitted(is_flag, optional=True),
    "zero_based_": Fitted(is_flag, optional=True),  # of the LIBSVM file that it was fitted to
    "input_": Fitted(is_a(InputSchema)),
    "model_": Fitted(is_a(StumpModel, ClassStumpModel, TreesModel)),
    "trace_": Fitted(is_a(Trace)),
    "coverage_": Fitted(is_a(Coverage, type(None))),  # None of trees
    "cv_loss_": Fitted(is_losses, optional=True),
    "plan_": Fitted(is_a(Plan), optional=True),
    "pair_scores_": Fitted(is_pair_scores, optional=True),
    "pair_trace_": Fitted(is_a(Trace), optional=True),
    "edits_": Fitted(is_a(History), optional=True),
    "bands_": Fitted(is_a(Bands), optional=True),
    "bags_": Fitted(are_models, optional=True),
}


def write_model(
    estimator: Any, attributes: Mapping[str, Any], path: str | os.PathLike[str], written_by: str
) -> None:
    """Store a fitted estimator: parameters, fitted values, model, trace. No pickle.

    ``estimator.save(path)`` calls it.

    Parameters
    ----------
    estimator
        A fitted RGBMRegressor or RGBMClassifier.
    attributes : dict
        Those of the estimator, or some of them smaller.
    path : str or path-like
        The file. One that is there is replaced when the new one is whole.
    written_by : str
        Kept in the file, for people.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.storage import read_model, write_model
    >>> model = RGBMRegressor(max_iter=20, interactions=0).fit(*load_diabetes(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.rgb")
    ...     write_model(model, model.__getstate__(), path, "an example")
    ...     same = read_model(path, [RGBMRegressor], most_bytes=10**6)
    >>> same.n_iter_
    20
    """
    _check_kind(estimator)
    fitted = {n: v for n, v in attributes.items() if n.endswith("_") and n[0] != "_"}
    fitted.pop("feature_names_in_", None)  # those of the input
    for name in sorted(set(fitted) - set(FITTED)):
        raise StorageError(
            f"{name} of this {type(estimator).__name__} has no place in version {VERSION} of the "
            "format: delete it, or use pickle or skops."
        )
    _check_fitted(fitted)
    if "plan_" in fitted:
        fitted["plan_"] = fitted["plan_"].to_dict()
    parameters = estimator.get_params(deep=False).items()
    tensors: Tensors = {}
    document = {
        "version": VERSION,
        "written_by": written_by,
        "estimator": type(estimator).__name__,
        "parameters": {
            name: _encode(name, value, tensors, f"parameters.{name}")
            for name, value in parameters
            if name not in NOT_STORED
        },
        "fitted": {name: _encode(name, value, tensors, name) for name, value in fitted.items()},
    }
    write_container(path, document, tensors)


def read_model(path: str | os.PathLike[str], kinds: Iterable[type], most_bytes: int) -> Any:
    """The estimator in a file; `StorageError` if there is none of the given classes.

    `rgboost.load` calls it.

    Parameters
    ----------
    path : str or path-like
    kinds : iterable of classes
        What may be in the file.
    most_bytes : int
        The size of the largest file that is accepted.

    Returns
    -------
    A fitted estimator.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.storage import read_model
    >>> model = RGBMRegressor(max_iter=20, interactions=0).fit(*load_diabetes(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.rgb")
    ...     model.save(path)
    ...     same = read_model(path, [RGBMRegressor], most_bytes=10**6)
    >>> same.n_iter_
    20
    """
    try:
        document, tensors = read_container(path, most_bytes)
        return _read(document, tensors, {kind.__name__: kind for kind in kinds})
    except StorageError as error:
        raise StorageError(f"{os.fspath(path)} cannot be loaded. {error}") from error


def _read(document: dict[str, Any], tensors: Tensors, kinds: Mapping[str, type]) -> Any:
    version = document.get("version")
    if version != VERSION:
        remedy = "install a newer rgboost" if is_count(version) and version else "it is damaged"
        raise StorageError(
            f"It has the version {version!r:.40} of the format and this rgboost reads version "
            f"{VERSION}; {remedy}."
        )
    _check_keys(document, _DOCUMENT, set(), "document")
    require(isinstance(document["written_by"], str), "written_by")
    kind: Any = {name: kind for name, kind in kinds.items() if name == document["estimator"]}
    if not kind:
        raise StorageError("Its estimator is not one of " + ", ".join(kinds) + ".")
    (kind,) = kind.values()
    _check_keys(document["parameters"], set(), set(kind().get_params(deep=False)), "parameters")
    parameters = {n: decode(value, tensors) for n, value in document["parameters"].items()}
    required = {name for name, spec in FITTED.items() if not spec.optional}
    _check_keys(document["fitted"], required, set(FITTED), "fitted")
    fitted = {name: decode(value, tensors) for name, value in document["fitted"].items()}
    for name in sorted(tensors):
        raise StorageError(f"It has the unknown tensor {name[:60]!r}.")
    if "plan_" in fitted:
        fitted["plan_"] = _plan(fitted["plan_"])
    return assemble(kind, parameters, fitted)


def assemble(kind: Any, parameters: Mapping[str, Any], fitted: dict[str, Any]) -> Any:
    """The estimator of these parameters and fitted attributes; `StorageError` if they do not fit
    together."""
    estimator = kind(**parameters)
    require(is_classifier(estimator) == ("classes_" in fitted), "fitted.classes_")
    _check_fitted(fitted)
    if fitted["input_"].names is not None:
        fitted["feature_names_in_"] = fitted["input_"].names
    vars(estimator).update(fitted)
    return estimator


def _plan(values: Any) -> Plan:
    try:
        return Plan.from_dict(values)
    except Exception as error:  # of types that no check expected
        raise StorageError(f"Its value fitted.plan_ is not valid: {error}") from error


def _check_fitted(fitted: Mapping[str, Any]) -> None:
    """Whether the attributes are what they should be, and fit together."""
    for name, value in fitted.items():
        require(FITTED[name].is_valid(value), f"fitted.{name}")
    none = isinstance(fitted["model_"], TreesModel)
    require((fitted["coverage_"] is None) == none, "fitted.coverage_")
    parts = ("input_", "model_", "trace_", "coverage_", "pair_trace_", "edits_", "bands_")
    own = [(name, fitted.get(name)) for name in parts]  # each relies on those before it
    for name, part in [*own, *(("bags_", bag) for bag in fitted.get("bags_", ()))]:
        try:
            if part is not None:
                part.check_stored(_about(name, fitted))
        except StorageError:
            raise
        except Exception as error:  # of types that no check expected
            raise StorageError(f"Its value fitted.{name} is not valid: {error}") from error
    alike = all(type(bag) is type(fitted["model_"]) for bag in fitted.get("bags_", ()))
    require(alike, "fitted.bags_")
    _check_sizes(fitted)


def _check_sizes(fitted: Mapping[str, Any]) -> None:
    """Numbers that no array of a thin model has the length of: they follow from others, or cannot
    be larger than these allow."""
    trace, features = fitted["trace_"], fitted["n_features_in_"]
    n_iter, n_learners = fitted["n_iter_"], fitted["n_learners_"]
    require(n_iter == len(trace), "n_iter_", f"is {n_iter:,} with a trace of {len(trace):,}")
    require(fitted.get("best_iteration_", 0) <= n_iter, "best_iteration_")
    require(n_learners <= features * MOST_OF_A_FEATURE, "n_learners_", f"is {n_learners:,}")
    require(fitted["subset_size_"] <= max(1, n_learners, features), "subset_size_")
    n_runs = trace.n_runs
    require(n_runs <= MOST_RUNS, "trace_.n_runs", f"is {n_runs:,}")
    if "plan_" in fitted:
        told = [entry.value for entry in fitted["plan_"].entries if entry.name == "n_runs"]
        require(told in ([], [n_runs]), "trace_.n_runs", f"is {n_runs:,}, and not as in the plan")
    if "pair_trace_" in fitted:
        require(fitted["pair_trace_"].n_runs == n_runs, "pair_trace_.n_runs")


def _about(name: str, fitted: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an attribute is checked with; the rounds of pairs have an end of their own."""
    if name != "pair_trace_":
        return fitted
    return {**fitted, "best_iteration_": len(fitted[name])}


def _check_keys(values: Any, required: set[str], known: set[str], what: str) -> None:
    require(isinstance(values, dict), what)
    for name in sorted(required - set(values)):
        require(False, f"{what}.{name}", "is missing")
    for name in sorted(set(values) - required - known):
        require(False, f"{what}.{name[:60]}", "is not known to this version of rgboost")


def _check_kind(estimator: Any) -> None:
    if not _is_storable(estimator.loss_):
        raise StorageError(
            f"loss={estimator.loss!r} is a loss of your own, and a stored model holds no code; use "
            "a loss of rgboost.losses, or store with pickle or joblib, which import your class."
        )
    if not FITTED["model_"].is_valid(estimator.model_):
        raise StorageError(
            f"learner={type(estimator.learner).__name__} makes a {type(estimator.model_).__name__}"
            ", whose weak-learners may be functions or rows of the training data, and a stored "
            "model holds neither; use stumps, or store with pickle or joblib (with functions that "
            "can be imported)."
        )


def _is_storable(value: Any) -> bool:
    try:
        encode(value, {}, "")
    except NotStorable:
        return False
    return True


def _encode(name: str, value: Any, tensors: Tensors, place: str) -> Any:
    try:
        return encode(value, tensors, place)
    except NotStorable as error:
        raise StorageError(
            f"{name} holds {error.args[0]!r}, which cannot be stored: a stored model holds numbers "
            f"and text. Call set_params({name}=...) with its default before saving if you do not "
            "need it any more, or use pickle or joblib."
        ) from error
