"""Parameters that a plan reads, checked: names that are known, numbers in their ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._core.validation import check_count, check_not_negative, check_option, check_positive
from ..._core.validation import check_real as check_number
from ...learners import LearnerFamily


def check_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same parameters; an error names the first that is wrong."""
    p = dict(given)
    check_option(p["init"], "init", ["zero", "best"])
    check_option(p["engine"], "engine", ["auto", "direct", "gram", "quadratic"])
    check_option(p["ensemble"], "ensemble", [True, False])
    check_option(p["early_stopping"], "early_stopping", ["auto", True, False])
    if not isinstance(p["learner"], LearnerFamily):
        check_option(p["learner"], "learner", ["stumps"])
    if not 0.0 < check_number(p["validation_fraction"], "validation_fraction") < 1.0:
        raise ValueError(
            f"validation_fraction={p['validation_fraction']} must lie between 0 and 1: "
            "it is the share of the training rows that is held out."
        )
    check_not_negative(p["tol"], "tol")
    if type(p["n_iter_no_change"]) is str:
        check_option(p["n_iter_no_change"], "n_iter_no_change", ["auto"])
    else:
        check_count(p["n_iter_no_change"], "n_iter_no_change", at_least=1)
    _check_word(p, "learning_rate", "a number above 0 or 'auto'", ("auto",))
    if type(p["learning_rate"]) is not str:
        p["learning_rate"] = check_positive(p["learning_rate"], "learning_rate")
    _check_word(p, "min_weight_fraction_leaf", "a share from 0 to 0.5 or 'auto'", ("auto",))
    _check_word(p, "max_iter", "a number, 'auto' or 'cv'", ("auto", "cv"))
    if type(p["max_iter"]) is not str:
        p["max_iter"] = check_count(p["max_iter"], "max_iter", at_least=1)
    if p["gram_memory"] is not None:
        check_count(p["gram_memory"], "gram_memory")
    return p


def _check_word(p: Mapping[str, Any], name: str, remedy: str, known: tuple[str, ...]) -> None:
    if type(p[name]) is str and p[name] not in known:
        raise ValueError(f"{name}={p[name]!r} is not known; use {remedy}.")
