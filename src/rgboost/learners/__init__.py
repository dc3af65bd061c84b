"""Families of weak-learners: what boosting chooses from."""

from .._core.validation import check_option
from .base import LearnerFamily
from .dictionary import Dictionary
from .pairs import Pairs
from .stumps import Monotone, Stumps, constrained
from .trees import Trees

NAMED: dict[str, LearnerFamily] = {"stumps": Stumps(), "trees": Trees(leaves="auto")}
"""Families that a parameter may name; the estimators set their bins."""


def family_of(learner: str | LearnerFamily) -> LearnerFamily:
    """The family of that name, or the family itself.

    Parameters
    ----------
    learner : "stumps", "trees" or LearnerFamily

    Returns
    -------
    LearnerFamily

    Examples
    --------
    >>> from rgboost.learners import family_of
    >>> family_of("trees").max_leaf_nodes
    31
    """
    if isinstance(learner, LearnerFamily):
        return learner
    check_option(learner, "learner", list(NAMED))
    return NAMED[learner]


__all__ = [
    "NAMED",
    "Dictionary",
    "LearnerFamily",
    "Monotone",
    "Pairs",
    "Stumps",
    "Trees",
    "constrained",
    "family_of",
]
