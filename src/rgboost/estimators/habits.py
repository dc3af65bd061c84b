"""Parameters that people know from other libraries: an error that names ours."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_STUMPS = (
    "leave it out: the weak-learners are stumps, trees with two leaves; larger ones are "
    "learner=Trees(...) of rgboost.learners"
)
_VALIDATION = "use X_val and y_val of fit"

_REMEDIES: dict[str, tuple[str, ...]] = {
    "use max_iter": ("n_estimators", "num_iterations", "num_boost_round", "iterations", "n_iter"),
    "use learning_rate": ("eta", "shrinkage"),
    "use loss": ("objective", "loss_function", "criterion"),
    "use n_iter_no_change of the estimator, and early_stopping=True": (
        "early_stopping_rounds", "early_stopping_round", "od_wait",
    ),
    _STUMPS: ("max_depth", "num_leaves", "max_leaves", "max_leaf_nodes", "grow_policy", "depth"),
    "use min_weight_fraction_leaf": (
        "min_samples_leaf", "min_child_samples", "min_data_in_leaf", "min_child_weight",
        "min_samples_split",
    ),
    "use subset_size, the number of groups of weak-learners that an iteration looks at": (
        "colsample_bytree", "colsample_bynode", "colsample_bylevel", "feature_fraction", "rsm",
        "max_features",
    ),
    "leave it out: every iteration sees all rows, and chance lies in subset_size": (
        "subsample", "bagging_fraction", "bagging_freq", "subsample_freq",
    ),
    "use ridge": ("reg_lambda", "lambda_l2", "l2_regularization", "l2_leaf_reg", "reg_alpha"),
    "use max_bins": ("max_bin", "border_count", "n_bins"),
    "use categorical_features of the estimator": (
        "categorical_feature", "cat_features", "enable_categorical",
    ),
    "use monotone_constraints": ("monotonic_cst",),
    "use interaction_constraints": ("interaction_cst",),
    "use class_weight of RGBMClassifier": ("scale_pos_weight", "is_unbalance"),
    "use n_jobs": ("nthread", "num_threads", "thread_count"),
    "use random_state": ("seed", "random_seed"),
    "use verbose": ("silent", "verbosity", "verbose_eval", "logging_level"),
    _VALIDATION: ("eval_set", "eval_data", "validation_data", "valid_sets"),
    "use sample_weight_val of fit": ("eval_sample_weight", "sample_weight_eval_set"),
    "leave it out: the loss of the validation rows is what is watched": ("eval_metric", "metric"),
    "use offset, and offset_val for validation rows": (
        "init_score", "base_margin", "baseline", "eval_init_score", "base_margin_eval_set",
    ),
    "give a data frame: its columns are the names": ("feature_name", "feature_names"),
    "use resume of fit, or warm_start=True": ("init_model", "xgb_model"),
    "use groups of fit": ("group",),
}  # fmt: skip
_REMEDY = {name: remedy for remedy, names in _REMEDIES.items() for name in names}


def names_ours(method: Callable[P, R]) -> Callable[P, R]:
    """For ``__init__`` and ``fit``: a parameter that is not ours, or one of the other method,
    raises with the name of ours. The signature stays what it is."""
    known = inspect.signature(method).parameters

    @functools.wraps(method)
    def checked(*args: P.args, **given: P.kwargs) -> R:
        if not given.keys() <= known.keys():
            explain_unknown(type(args[0]), given.keys() - known.keys(), method.__name__)
        return method(*args, **given)

    return checked


def explain_unknown(kind: Any, names: Iterable[str], method: str) -> None:
    """Raise if somebody may have meant one of our parameters; otherwise Python says it."""
    of_fit = method == "fit"
    others = inspect.signature(kind.__init__ if of_fit else kind.fit).parameters
    for name in sorted(names):
        remedy = _REMEDY.get(name)
        if name in others:
            place = f"{kind.__name__}({name}=...)" if of_fit else f"fit(X, y, {name}=...)"
            remedy = f"it is one of {place}"
        if remedy is not None:
            who = f"{kind.__name__}.fit" if of_fit else kind.__name__
            raise TypeError(f"{who} has no parameter {name!r}; {remedy}.")
