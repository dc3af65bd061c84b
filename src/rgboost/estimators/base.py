"""What the regressor and the classifier share."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._core.team import check_n_jobs
from .._core.validation import check_count, check_option, check_positive
from ..data.input import InputSchema
from ..engines.problem import with_offset
from ..engines.quadratic.runs import loss_obstacle
from ..learners import LearnerFamily, Monotone, Stumps
from ..learners.base import Additive
from ..losses import Loss
from ..selection import RandomThresholds, SelectionRule, check_selection
from ..steps import NewtonStep, StepRule, check_step, default_step
from ..training import Boosted, LogProgress, ProgressBar, RunState, Trace, boost
from ..training.budget import gram_budget
from ..training.callbacks import in_joblib
from ..training.means import bins_of_thresholds, can_be_dense, can_be_plain
from ..training.stopping import best_iteration
from .empty_columns import among_all, columns_to_fit
from .fitted_model import FittedModelMixin
from .folds import FoldPlan
from .habits import explain_unknown
from .holdout import ROWS_OF_MEAN, StoppingPlan, TrainingRows
from .routing import RoutesGroupsMixin
from .rows import accepts_missing, check_held_rows, check_labels, check_offset, check_rows

SHORT_STEPS = 0.2
"""``learning_rate="auto"``, where longer steps would follow the noise."""
LONG_STEPS = 0.5
"""The same for means of several runs from `ROWS_OF_MEAN` rows on."""
SHORT_STEPS_OF_CLASSES, LONG_STEPS_OF_CLASSES = 0.4, 1.0
"""The same for several classes, below `ROWS_OF_MEAN` rows and from there on."""
STEPS_OF_THRESHOLDS = 0.05
"""The same with ``selection="thresholds"`` and the squared loss: steps that are chosen from few
splits are many and cheap."""
LEAST_ROWS = 5
"""``min_weight_fraction_leaf="auto"``, as rows of a side, with the squared loss from `ROWS_OF_MEAN`
rows on."""


LEAST_ROWS_OF_CATEGORY, MOST_CATEGORIES = 5, 255
"""Rows of a category that has a level of its own, and how many of a feature have one."""


class BaseRGBM(FittedModelMixin, RoutesGroupsMixin, BaseEstimator):
    """Parameters, the fit of a score, and the score of new rows."""

    input_: InputSchema
    _long_steps, _many_rows = SHORT_STEPS, 0
    """``learning_rate="auto"`` of a single run from so many rows on."""

    def __init__(
        self,
        *,
        loss: str | Loss,
        learner: str | LearnerFamily = "stumps",
        selection: Any = "auto",
        subset_size: Any = "auto",
        groups: Any = None,
        feature_weights: Any = None,
        always_features: Any = None,
        monotone_constraints: Any = None,
        step: Any = "auto",
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        cv: Any = 5,
        ensemble: bool = True,
        early_stopping: str | bool = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int | str = "auto",
        tol: float = 1e-5,
        max_bins: Any = "auto",
        binning: str = "quantile",
        categorical_features: Any = "from_dtype",
        min_weight_fraction_leaf: float | str = "auto",
        init: str = "best",
        ridge: float = 0.0,
        engine: str = "auto",
        gram_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.learner = learner
        self.selection = selection
        self.subset_size = subset_size
        self.groups = groups
        self.feature_weights = feature_weights
        self.always_features = always_features
        self.monotone_constraints = monotone_constraints
        self.step = step
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.cv = cv
        self.ensemble = ensemble
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.max_bins = max_bins
        self.binning = binning
        self.categorical_features = categorical_features
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.init = init
        self.ridge = ridge
        self.engine = engine
        self.gram_memory = gram_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose

    def set_params(self, **parameters: Any) -> Self:
        """As in scikit-learn; what other libraries call otherwise raises with our name."""
        explain_unknown(type(self), parameters.keys() - self.get_params().keys(), "set_params")
        return super().set_params(**parameters)

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """The settings of the paper's experiments; ``parameters`` override them.

        Start from zero, the constant step, learning rate 1, 100 percentiles above 10,000 rows and
        every value below, groups are features, a ridge of 0.0001 for the logistic loss, and 500
        iterations without early stopping.
        """
        preset: dict[str, Any] = {
            "init": "zero",
            "step": "constant",
            "learning_rate": 1.0,
            "max_bins": "paper",
            "binning": "quantile",
            "min_weight_fraction_leaf": 0.0,
            "selection": "groups",
            "max_iter": 500,
            "early_stopping": False,
            **cls._paper_extras(),
        }
        return cls(**{**preset, **parameters})

    @classmethod
    def _paper_extras(cls) -> dict[str, Any]:
        return {}

    def _resolve_loss(self, rows: TrainingRows) -> Loss:
        raise NotImplementedError

    def _learner_family(self, loss: Loss, n_rows: int) -> LearnerFamily:
        family = self._plain_family(loss, n_rows)
        categorical = np.flatnonzero(self.input_.categorical)
        return family.with_categorical(tuple(categorical.tolist())) if len(categorical) else family

    def _plain_family(self, loss: Loss, n_rows: int) -> LearnerFamily:
        if isinstance(self.learner, LearnerFamily):
            return self.learner
        check_option(self.learner, "learner", ["stumps"])
        return Stumps(
            max_bins=self.max_bins,
            binning=self.binning,  # type: ignore[arg-type]
            min_weight_fraction_leaf=self._least_share(loss, n_rows),
            smooth=True,
            min_frequency=LEAST_ROWS_OF_CATEGORY,
            max_categories=MOST_CATEGORIES,
        )

    def _least_share(self, loss: Loss, n_rows: int) -> float:
        """The least share of the weight on a side of a split."""
        least = self.min_weight_fraction_leaf
        if not isinstance(least, str):
            return least
        if least != "auto":
            raise ValueError(
                f"min_weight_fraction_leaf={least!r} is not known; use a share from 0 to 0.5 or "
                "'auto'."
            )
        if not loss.quadratic or n_rows < ROWS_OF_MEAN:
            return 0.0
        return (LEAST_ROWS - 0.5) / n_rows  # shares of whole rows are rounded

    def _constrained_family(self, loss: Loss, n_rows: int) -> LearnerFamily:
        """The weak-learners that boosting chooses from: those that the constraints allow."""
        family: Any = self._learner_family(loss, n_rows)
        if self.monotone_constraints is None:
            return family
        if not family.monotone:
            raise ValueError(
                f"monotone_constraints need stumps, and learner is {family!r}; "
                "use learner='stumps' or monotone_constraints=None."
            )
        return Monotone(family, self.monotone_constraints)

    def _selection_rule(self, rows: TrainingRows, *, spread: bool = False) -> SelectionRule:
        """The rule of a run; with ``spread``, "auto" are random thresholds where rows are few."""
        return check_selection(
            self.selection, self.subset_size, self.feature_weights, self.always_features,
            shape=(len(rows.present), rows.X.shape[1]), spread=spread,
        )  # fmt: skip

    def _ways_to_a_mean(self, rows: TrainingRows, learner: Any, loss: Loss) -> list[dict[str, Any]]:
        """Settings of the means of several runs that are fitted. Whether few random thresholds are
        better differs much between sets with categories or missing values: there both are tried."""
        rules = [self._selection_rule(rows)]
        if learner.by_statistics and can_be_dense(rows.X):
            spread = self._selection_rule(rows, spread=True)
            if can_be_plain(rows.X, learner):
                rules = [spread]
            elif spread != rules[0]:
                rules = [spread, *rules]
        return [
            {
                "selection": rule,
                "learning_rate": self._rate_of_mean(len(rows.present), rule, loss),
                "learner": bins_of_thresholds(learner, rule, rows.X),
            }
            for rule in rules
        ]

    def _step_rule(self, loss: Loss) -> StepRule:
        if self.step != "auto":
            return check_step(self.step)
        learner = self.learner
        free = not isinstance(learner, LearnerFamily) or learner.free_leaves
        return default_step(loss, free and self.monotone_constraints is None)

    def _rate(self, n_rows: int, loss: Loss) -> float:
        """The learning rate of a single run."""
        if loss.outputs > 1:
            many = n_rows >= ROWS_OF_MEAN
            return self._given_rate(LONG_STEPS_OF_CLASSES if many else SHORT_STEPS_OF_CLASSES)
        long = n_rows >= self._many_rows and not isinstance(self._step_rule(loss), NewtonStep)
        return self._given_rate(self._long_steps if long else SHORT_STEPS)

    def _rate_of_mean(self, n_rows: int, selection: SelectionRule, loss: Loss) -> float:
        """The learning rate of the mean of several runs."""
        if isinstance(selection, RandomThresholds) and loss.quadratic:
            return self._given_rate(STEPS_OF_THRESHOLDS)
        why = loss_obstacle(loss, self._step_rule(loss), SHORT_STEPS)
        if self.engine != "auto" or why is not None or not loss.newton:
            return self._rate(n_rows, loss)  # steps are those of a single run
        return self._given_rate(LONG_STEPS if n_rows >= ROWS_OF_MEAN else SHORT_STEPS)

    def _given_rate(self, auto: float) -> float:
        if type(self.learning_rate) is str:
            if self.learning_rate != "auto":
                raise ValueError(
                    f"learning_rate={self.learning_rate!r} is not known; use a number above 0 or "
                    "'auto'."
                )
            return auto
        return check_positive(self.learning_rate, "learning_rate")

    def _fit_score(
        self, rows: TrainingRows, loss: Loss, *, stratified: bool = False, resume: Any = None
    ) -> bool:
        """Boost on checked input and store what was fitted; whether Ctrl-C ended it."""
        check_option(self.init, "init", ["zero", "best"])
        check_option(self.engine, "engine", ["auto", "direct", "gram", "quadratic"])
        check_labels(loss, rows)
        n_features, columns = rows.X.shape[1], columns_to_fit(self, rows.X, resume)
        if columns is not None:
            rows = rows.of_columns(columns)
        learner = self._constrained_family(loss, len(rows.present))
        selection = self._selection_rule(rows)
        state = self._state_to_resume(resume)
        keeps_seeds = self.warm_start and not isinstance(self.random_state, numbers.Integral)
        seeds = getattr(self, "_seeds", None) if keeps_seeds else None
        if seeds is None:
            seeds = check_random_state(self.random_state).randint(2**31 - 1, size=2).tolist()
        plan = StoppingPlan(
            self.early_stopping, self.validation_fraction, self.n_iter_no_change, self.tol
        )
        settings: dict[str, Any] = dict(
            loss=loss,
            learner=learner,
            selection=selection,
            step=self._step_rule(loss),
            learning_rate=self._rate(len(rows.present), loss),
            start_score=0.0 if self.init == "zero" else None,
            groups=self.groups,
            names=getattr(self, "feature_names_in_", None),
            random_state=seeds[0],
            n_jobs=check_n_jobs(self.n_jobs),
            engine=self.engine,
            gram_memory=gram_budget(rows.X, frugal=type(self.max_iter) is str)
            if self.gram_memory is None
            else check_count(self.gram_memory, "gram_memory"),
        )
        listeners = self._listeners()
        self.__dict__.pop("cv_loss_", None)
        check_option(self.ensemble, "ensemble", [True, False])
        folds = FoldPlan(self.max_iter, self.cv, stratified, plan, seeds[1])
        boosted = None
        one_run = any(getattr(listener, "needs_one_run", False) for listener in listeners)
        goes_on = self.warm_start or state is not None or one_run
        if self.ensemble and not goes_on and folds.want_mean(rows):
            ways = self._ways_to_a_mean(rows, learner, loss)
            best = folds.best_mean(rows, [{**settings, **way} for way in ways], listeners)
            if best is not None:
                boosted, self.cv_loss_, selection = best
        if boosted is None:
            boosted = self._boost_once(rows, folds, settings, listeners, state)
        self._run_state, self._seeds = boosted.state, seeds
        self.has_offset_ = rows.offset is not None
        self.coverage_ = boosted.prepared.coverage(
            boosted.model, boosted.trace.path(boosted.best_iteration)
        )
        found: tuple[Additive, Trace] = among_all(boosted, columns, n_features)
        self.model_, self.trace_ = found
        self.n_iter_ = len(boosted.trace)
        self.best_iteration_ = boosted.best_iteration
        self.loss_ = loss
        self.intercept_ = boosted.model.intercept
        self.n_learners_ = boosted.prepared.layout.n_learners
        self.subset_size_ = selection.size(boosted.prepared.layout)[0]
        return boosted.interrupted

    def _boost_once(
        self,
        rows: TrainingRows,
        folds: FoldPlan,
        settings: dict[str, Any],
        listeners: list[Any],
        state: RunState | None,
    ) -> Boosted:
        """One run: on all rows but those that are held out to stop it early."""
        n_iter = folds.n_iter(rows)
        if folds.hold_out(rows):
            rows = folds.stopping.split(rows, folds.stratified, folds.seed)
        if rows.kept is not None:
            settings = {**settings, "learner": settings["learner"].restricted_to(rows.kept)}
        if n_iter is None:
            self.cv_loss_, from_statistics = folds.losses(rows, settings)
            if from_statistics:  # the same iterates, and no other engine to compile
                settings = {**settings, "engine": "gram"}
            n_iter = max(1, best_iteration(self.cv_loss_))
        # The seed of the run before, unless one is given: a generator has moved on since.
        if state is not None and not isinstance(self.random_state, numbers.Integral):
            settings = {**settings, "random_state": None}
        return boost(
            rows.X,
            rows.y,
            n_iter=n_iter,
            weight=rows.weight,
            offset=rows.offset,
            validation=rows.validation,
            early_stopping=folds.stopping.rule(rows, settings["learning_rate"]),
            callbacks=listeners,
            resume=state,
            **settings,
            keep_state=bool(self.warm_start),
        )

    def _state_to_resume(self, path: Any) -> RunState | None:
        """The state of a checkpoint, or of the fit before if ``warm_start`` is set."""
        if path is not None:
            return RunState.load(path)
        if not self.warm_start:
            return None
        state: RunState | None = getattr(self, "_run_state", None)
        if state is None and hasattr(self, "model_"):
            warnings.warn(
                "warm_start=True finds nothing to go on from, and this fit begins anew: the model "
                "was fitted with warm_start=False, interrupted, or loaded from a file of save(). "
                "Set warm_start=True before the first fit, and store the model by pickle.",
                stacklevel=4,
            )
        return state

    def _listeners(self) -> list[Any]:
        """The callbacks, and what ``verbose`` asks for."""
        verbose = check_count(int(self.verbose), "verbose")
        shown: list[Any] = []
        if verbose and not in_joblib():
            shown = [ProgressBar() if verbose == 1 else LogProgress(always=True)]
        listeners = list(self.callbacks or [])
        for callback in listeners:
            if not callable(callback):
                raise TypeError(
                    f"callbacks has {callback!r}, which cannot be called; give functions of a "
                    "Progress, or objects of rgboost.callbacks."
                )
        return listeners + shown

    def _given_validation(
        self, X_val: Any, y_val: Any, sample_weight_val: Any, offset_val: Any, has_offset: bool
    ) -> tuple[Any, Any, NDArray[np.float64] | None, NDArray[np.float64] | None] | None:
        """Validation rows as arrays; None if there are none."""
        given = {"sample_weight_val": sample_weight_val, "offset_val": offset_val}
        if X_val is None and y_val is None:
            for name, value in given.items():
                if value is not None:
                    raise ValueError(f"{name} is given without X_val and y_val.")
            return None
        if X_val is None or y_val is None:
            missing = "X_val" if X_val is None else "y_val"
            raise ValueError(f"{missing} is missing: validation rows need both X_val and y_val.")
        if (offset_val is not None) != has_offset:
            first, second = ("offset", "offset_val") if has_offset else ("offset_val", "offset")
            raise ValueError(f"{first} is given without {second}: rows of both kinds need one.")
        X_val, y_val, weight = check_held_rows(self, X_val, y_val, sample_weight_val)
        return X_val, y_val, weight, self._check_offset(offset_val, len(y_val), "offset_val")

    def _check_offset(
        self, given: Any, n_rows: int, name: str = "offset"
    ) -> NDArray[np.float64] | None:
        """Offsets as an array; those of several classes sum to 0, as the scores of a row do."""
        n_classes = len(getattr(self, "classes_", ()))
        offset = check_offset(given, n_rows, n_classes if n_classes > 2 else None, name)
        if offset is None or offset.ndim == 1:
            return offset
        return offset - offset.mean(axis=1, keepdims=True)

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_rows(self, X)

    def _score(self, X: Any, offset: Any = None) -> NDArray[np.float64]:
        rows = self._check_rows(X)
        known = self._check_offset(offset, rows.shape[0])
        return with_offset(self.model_.score(rows, check_n_jobs(self.n_jobs)), known)

    def _staged_score(self, X: Any, offset: Any = None) -> Iterator[NDArray[np.float64]]:
        rows = self._check_rows(X)
        known = self._check_offset(offset, rows.shape[0])
        stages = self.model_.staged_score(rows, check_n_jobs(self.n_jobs))
        n_runs = self.trace_.n_runs
        return (with_offset(one, known) for one in islice(stages, n_runs - 1, None, n_runs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = accepts_missing(self.learner)
        return tags


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Leave the estimator as it was if fitting fails or is interrupted."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
