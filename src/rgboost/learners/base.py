"""The Python side of a weak-learner family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..data.mixed_bins import MixedCuts
from ..model import Coverage, Path
from ..selection import Layout, SelectionRule


def sums_obstacle(
    *, stumps: bool = True, sparse: bool = False, mixed: bool = False, held_missing: bool = False
) -> str | None:
    """Why sums over bins of features do not say all that boosting needs of the rows; None if they
    do.

    ``stumps``: whether weak-learners are stumps without constraints. ``mixed``: whether training
    rows have missing values or categories. ``held_missing``: whether validation rows have missing
    values.
    """
    if not stumps:
        return "it needs stumps without monotone constraints"
    if sparse and mixed:
        return "it needs dense rows where there are missing values or categories, not sparse ones"
    if held_missing and not mixed:
        return "it needs validation rows without missing values where training rows have none"
    return None


class Additive(Protocol):
    """A fitted model: a score for every row, without walking the path. Stages and storage are for
    those who have them."""

    @property
    def intercept(self) -> Any: ...

    def score(self, X: Any, n_jobs: int = 1) -> NDArray[np.float64]: ...

    def staged_score(self, X: Any, n_jobs: int = 1) -> Any: ...

    def without_path(self) -> Additive:
        """The same scores without stages, to be stored."""
        ...


class Prepared(ABC):
    """A family prepared on the training rows: arrays for compiled code and the way back."""

    arrays: Any
    layout: Layout
    cells: float
    """Entries of the data that a look at all columns reads: the unit of work of the engine."""

    free_leaves: bool = False
    """Whether a weak-learner has two sides whose values, one or one for each class, can be set at
    will."""

    sums_by_rows: bool = False
    """Whether `kernels.accumulate` does something."""

    sparse: bool = False
    """Whether ``arrays`` hold the stored entries of sparse rows only."""

    numeric_bins: bool = False
    """Whether weak-learners are splits of the bins of single features, without missing values and
    categories: the entries of `coefficients` are then those of `rgboost.model.path`."""

    dense_numbers: bool = False
    """Whether ``arrays`` are bins of numbers, all of them stored, without missing values."""

    most_bins: int = 0
    """Bins of the feature that has most of them, those of missing values included."""

    additive: bool = True
    """Whether models are sums of functions that can be shown, of one or two features each."""

    set_bytes: int = 0
    """Bytes that `kernels.note_set` writes."""

    by_leaves: bool = False
    """Whether weak-learners part the rows into leaves (`searcher`, `leaves_of`), and are searched
    by an object in place of `rgboost.learners.kernels`."""

    step_fields: tuple[str, ...] = ("left",)
    """Fields of a choice that are proportional to the step: in the mean of k runs, a k-th."""

    def choice_type(self, n_classes: int | None) -> np.dtype[Any]:
        """The dtype of a choice: what of a `rgboost.engines.base.Record` says what was added.

        ``learner`` is -1 where there was nothing to choose from. ``left`` is the step along the
        normalised weak-learner.
        """
        step, norm = ("left", np.float64), ("gradient_norm", np.float64)
        return np.dtype([("learner", np.int64), step, norm])

    def weighed(self, bins: NDArray[np.float64], total: float) -> Prepared:
        """The same weak-learners, of rows with these weights of the bins of every feature (those of
        missing values last; NaN where they are not known) and in all: where bins were chosen by a
        sample of the rows."""
        raise NotImplementedError(f"{type(self).__name__} has no bins")

    @abstractmethod
    def arrays_for(self, X: Any, n_jobs: int = 1) -> Any:
        """The same weak-learners on other rows, for a validation set."""

    def lasting(self, arrays: Any) -> Any:
        """The part of ``arrays`` (the own ones, or some of `arrays_for`) that no iteration changes:
        it tells these weak-learners on these rows from others."""
        return arrays

    def statistics_obstacle(self, held: Any) -> str | None:
        """Why sums over bins do not say all that boosting needs of the rows, and of validation rows
        with the weak-learners ``held`` on them; None if they do."""
        return sums_obstacle(stumps=False)

    def selection_obstacle(self, selection: SelectionRule) -> str | None:
        """Why subsets J cannot be drawn by this rule; None if they can."""
        return None

    def on_some_rows(
        self, rows: NDArray[np.int64], weight: NDArray[np.float64] | None, others: NDArray[np.int64]
    ) -> tuple[Any, Any]:
        """The weak-learners of a run on some of the training rows, with the weights of these; and
        the same on the others. Cross-validation and means of several runs need it."""
        raise NotImplementedError(
            f"{type(self).__name__} knows no folds; give a number of iterations."
        )

    def searcher(self, arrays: Any, n_outputs: int, seed: int) -> Any:
        """What finds the best weak-learner in J on these rows: a function of the weighted residuals
        (outputs, rows), the subsets, the number of the iteration and a thread team. It gives a
        choice with ``learner`` (-1: none), ``sets`` for the record, ``leaves`` (see
        `rgboost.learners.leaves`) and ``everywhere(values)``, values by the codes of
        `leaves_of`. ``seed`` is for what it draws besides J; ``done``, how many searches there
        were, is all that it remembers."""
        raise NotImplementedError(f"{type(self).__name__} has no leaves")

    search_rows: int | None = None
    """Rows that a search of `searcher` looks at, the next ones every time; None: all. Rows are then
    in a random order."""

    def leaves_of(self, arrays: Any, choice: Any, team: Any) -> NDArray[np.uint8]:
        """The leaf of every row of ``arrays``."""
        raise NotImplementedError(f"{type(self).__name__} has no leaves")

    def lines_on(self, arrays: Any, choice: Any) -> Any:
        """The linear functions in the leaves of a choice on the rows of ``arrays``; None if leaves
        have a value each."""
        return None

    def in_own_norm(
        self, arrays: Any, learner: NDArray[np.int64], steps: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Steps along weak-learners of `on_some_rows`, as steps along those of all rows."""
        return steps

    def bins(self) -> MixedCuts | None:
        """The bins that weak-learners split; None: they are of another kind."""
        return None

    def bins_of_rows(self) -> NDArray[np.unsignedinteger] | None:
        """The number of the bin of every feature and training row, padded at will; None: the bins
        of rows are not kept, or not like this."""
        return None

    @abstractmethod
    def model(self, path: Path, intercept: Any) -> Additive:
        """Collapse a path of weak-learners into a fitted model."""

    def columns(self, n_rows: int) -> Any:
        """An explicit matrix whose columns are the weak-learners, not normalised; None: none."""
        return None

    def coefficients(self, path: Path) -> NDArray[np.float64]:
        """What a path adds up to: the factors of `columns`, or tables of all features."""
        raise NotImplementedError(f"{type(self).__name__} defines no coefficients")

    def coverage(self, model: Any, path: Path) -> Coverage | None:
        """Where the training rows lie on the features of a model; None for other models."""
        return None


class LearnerFamily(ABC):
    """A set of weak-learners before it has seen data.

    `prepare` does all that needs to be done once: bins, norms, layout.

    Examples
    --------
    >>> from rgboost.learners import LearnerFamily, Stumps
    >>> isinstance(Stumps(), LearnerFamily)
    True
    """

    accepts_missing: ClassVar[bool] = False
    """Whether NaN may stand for missing values in X."""

    free_leaves: bool = False
    """Whether weak-learners have two sides whose values can be set at will."""

    by_statistics: ClassVar[bool] = False
    """Whether sums over bins of features are all that boosting needs of the rows."""

    on_cards: ClassVar[bool] = False
    """Whether there are kernels that search for the weak-learners on a card."""

    knows_folds: ClassVar[bool] = False
    """Whether `Prepared.on_some_rows` is there: for cross-validation and means of several runs."""

    additive: ClassVar[bool] = True
    """Whether the model is a sum of functions that can be shown, of one or two features each."""

    keeps_order: ClassVar[bool] = False
    """Whether monotone constraints hold whatever values a step rule gives to leaves."""

    @abstractmethod
    def prepare(
        self,
        X: Any,
        weight: NDArray[np.float64] | None = None,
        *,
        groups: Any = None,
        names: Any = None,
        n_jobs: int = 1,
    ) -> Prepared:
        """Prepare the family on the rows of X with positive weights."""

    @property
    def unconstrained(self) -> LearnerFamily:
        """The family without constraints on what may be chosen."""
        return self

    def restricted_to(self, rows: NDArray[np.bool_]) -> LearnerFamily:
        """The family for some of the training rows (those with positive weight)."""
        return self

    def with_missing(self) -> LearnerFamily:
        """The family for validation rows that have missing values, where training rows may have
        none: prepared such that statistics of both can be had, if the family has any."""
        return self

    def with_categorical(self, features: tuple[int, ...]) -> LearnerFamily:
        """The family with some features taken as categorical."""
        raise ValueError(
            f"categorical features need stumps, and the learner is {type(self).__name__}; use "
            "learner='stumps', or encode the categories as numbers."
        )

    def constrained(self, constraints: Any) -> LearnerFamily:
        """The family under monotone constraints."""
        raise ValueError(
            f"monotone_constraints need stumps, pairs or trees, and the learner is {self!r}; use "
            "learner='stumps' or monotone_constraints=None."
        )

    @property
    def open_leaves(self) -> bool:
        """Whether a plan tells what leaves say: `with_leaves`."""
        return False

    def with_leaves(self, leaves: Any) -> LearnerFamily:
        """The family with leaves of another kind, where it knows several."""
        return self

    def acting_together(self, sets: Any) -> LearnerFamily:
        """The family of functions of features that one of these sets has all of."""
        raise ValueError(
            f"interaction_constraints need pairs, or learners of single features, and the learner "
            f"is {self!r}; use a family that knows them, such as Pairs or Trees of "
            "rgboost.learners, or interaction_constraints=None."
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> LearnerFamily:
        return self  # families do not change, and a dictionary may be large


def with_sets(family: Any, sets: Any) -> Any:
    """A family that has ``interaction_constraints`` of its own, under those of an estimator."""
    if family.interaction_constraints is not None:
        raise ValueError(
            "interaction_constraints are given twice, to the estimator and to "
            f"{type(family).__name__}; leave out one of them."
        )
    return replace(family, interaction_constraints=sets)
