"""What the regressor and the classifier share."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .._core.on_card import LIBRARIES, card_number, is_on_card, to_host
from .._core.team import check_n_jobs
from .._core.validation import check_count
from ..data.input import InputSchema
from ..export import ExportsMixin
from ..learners import LearnerFamily, Stumps, Trees, constrained
from ..learners.base import Additive
from ..losses import Loss
from ..training import LogProgress, ProgressBar, RunState, Trace
from ..training.callbacks import in_joblib, in_parts
from ..training.plan import Plan, Way, resolve, wants_folds
from ..training.plan.rules import LEAST_ROWS_OF_CATEGORY, MOST_CATEGORIES
from .carry_out import Job, carry_out
from .chunked import chunked_rows, in_pieces, refuse_early
from .chunked.labels import Labels
from .convergence import warn_if_unfinished
from .documents import FIT
from .fitted import BagsMixin, DecisionsMixin, EditsMixin, bands_of_runs, check_bags
from .fitted_model import FittedModelMixin
from .habits import explain_unknown, names_ours
from .held_out import TrainingRows
from .new_rows import NewRowsMixin
from .pairs import PairFit, add_pairs
from .routing import RoutesGroupsMixin
from .rows import accepts_missing, among_all, check_held_rows, check_offset


class _Given(NamedTuple):
    """What else `fit` may be given of the rows."""

    offset: Any
    groups: Any
    X_val: Any
    y_val: Any
    sample_weight_val: Any
    offset_val: Any


class BaseRGBM(
    NewRowsMixin, FittedModelMixin, EditsMixin, DecisionsMixin, BagsMixin, ExportsMixin,
    RoutesGroupsMixin, BaseEstimator,
):  # fmt: skip
    """Parameters, the fit of a score, and the score of new rows."""

    input_: InputSchema
    plan_: Plan

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
        interactions: Any = "auto",
        interaction_constraints: Any = None,
        step: Any = "auto",
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        cv: Any = 5,
        ensemble: bool = True,
        bags: int = 0,
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
        device: str = "cpu",
        device_memory: int | None = None,
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
        self.interactions = interactions
        self.interaction_constraints = interaction_constraints
        self.step = step
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.cv = cv
        self.ensemble = ensemble
        self.bags = bags
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
        self.device = device
        self.device_memory = device_memory
        self.random_state = random_state
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters, as in scikit-learn.

        An error tells what a name of another library is called here.

        Parameters
        ----------
        **parameters
            New values by name.

        Returns
        -------
        The estimator itself.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> RGBMRegressor().set_params(max_iter=100)
        RGBMRegressor(max_iter=100)
        """
        explain_unknown(type(self), parameters.keys() - self.get_params().keys(), "set_params")
        return super().set_params(**parameters)

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """The settings of the paper's experiments.

        Start from zero, the constant step, learning rate 1, 100 percentiles above 10,000 rows and
        every value below, groups are features, a ridge of 0.0001 for the logistic loss, and 500
        iterations without early stopping.

        Parameters
        ----------
        **parameters
            Override those of the paper.

        Returns
        -------
        An estimator that is not fitted.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> RGBMRegressor.paper(max_iter=50).learning_rate
        1.0
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
            "interactions": 0,
            "early_stopping": False,
            **cls._paper_extras(),
        }
        return cls(**{**preset, **parameters})

    @classmethod
    def _paper_extras(cls) -> dict[str, Any]:
        return {}

    def _training_rows(self, X: Any, y: Any, sample_weight: Any, given: _Given, resume: Any) -> Any:
        """Checked rows; what they tell of the input is stored in the estimator."""
        if self.device_memory is not None:
            check_count(self.device_memory, "device_memory", at_least=1)
        on_card = card_number(self.device) is not None
        if on_card:
            from . import on_card as card  # not before a card is asked for

            card.refuse_early(self)
        elif is_on_card(X) or is_on_card(given.X_val):
            raise ValueError(
                f"{'X' if is_on_card(X) else 'X_val'} is on a graphics card, and device="
                f"{self.device!r} fits in memory: set device='cuda', or bring it to the host "
                f"({LIBRARIES})."
            )
        y, sample_weight = to_host(y), to_host(sample_weight)
        numbers = {k: to_host(v) for k, v in given._asdict().items() if k != "X_val"}
        given = given._replace(**numbers)
        if not in_pieces(X):
            rows = self._rows_in_memory(X, y, sample_weight, given)
            return card.rows_on_card(self, rows, resume) if on_card else rows
        beside = {"y": y, "sample_weight": sample_weight, **given._asdict(), "resume": resume}
        refuse_early(self, **beside)

        def read() -> Any:
            seed = self._seeds_of_fit()[1]
            return chunked_rows(self, X, self._labels_of_chunks(), given.X_val, seed)

        return card.chunks_on_card(self, read) if on_card else read()

    def _rows_in_memory(self, X: Any, y: Any, sample_weight: Any, given: _Given) -> TrainingRows:
        raise NotImplementedError

    def _labels_of_chunks(self) -> Labels:
        """What reads the labels of rows that come piece by piece."""
        raise NotImplementedError

    def _resolve_loss(self, sample: TrainingRows) -> Loss:
        """The loss, whose scale may follow from the labels of some rows."""
        raise NotImplementedError

    def _why_loss(self) -> str:
        """How the loss of the fit follows from the one that is given and from the rows."""
        return ""

    @names_ours
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        groups: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        offset_val: Any = None,
        resume: Any = None,
    ) -> Self:
        given = _Given(offset, groups, X_val, y_val, sample_weight_val, offset_val)
        with all_or_nothing(self):
            rows = self._training_rows(X, y, sample_weight, given, resume)
            loss = self._resolve_loss(rows.sample)
            interrupted = self._fit_score(rows, loss, resume)
            if self.bags and not interrupted:
                interrupted = self._fit_bags(rows, loss)
        if interrupted:
            raise KeyboardInterrupt
        warn_if_unfinished(self)
        return self

    fit.__doc__ = FIT

    def plan(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        groups: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        offset_val: Any = None,
        resume: Any = None,
    ) -> Plan:
        """What `fit` with the same arguments would do, without fitting.

        The value of every setting and why, and the engines that were considered. The estimator
        stays as it is.

        Parameters
        ----------
        X, y, sample_weight, offset, groups, X_val, y_val, sample_weight_val, offset_val, resume
            As in `fit`.

        Returns
        -------
        Plan
            Printed, it is a table: every setting, its value, and the rule behind it.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> plan = RGBMRegressor().plan(X, y)
        >>> plan["max_bins"].value
        255
        """
        given = _Given(offset, groups, X_val, y_val, sample_weight_val, offset_val)
        before = dict(self.__dict__)
        try:
            rows = self._training_rows(X, y, sample_weight, given, resume)
            return self._prepare(rows, self._resolve_loss(rows.sample), resume, [0, 0]).plan
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)

    def _prepare(self, rows: Any, loss: Loss, resume: Any, seeds: list[int] | None = None) -> Job:
        """Rows to be fitted and the plan for them."""
        check_bags(self.bags)
        rows.check_labels(loss)
        columns = rows.columns_to_fit(self, resume)
        if columns is not None:
            rows = rows.of_columns(columns)
        listeners, state = self._listeners(), self._state_to_resume(resume)
        categorical = self.input_.categorical
        facts = rows.facts(
            loss,
            categorical if columns is None else categorical[columns],
            has_offset=rows.has_offset,
            loss_why=self._why_loss(),
            goes_on=self._why_one_run(state, listeners),
            engine_before=None if state is None else state.engine,
            empty_columns=0 if columns is None else self.n_features_in_ - len(columns),
            names=getattr(self, "feature_names_in_", None),
        )
        parameters = self.get_params(deep=False)
        fold, seeds = None, seeds or self._seeds_of_fit()
        if wants_folds(parameters, facts):
            fold, facts = rows.shared_out(facts, self.cv, seeds[1])
        plan = resolve(parameters, facts)
        return Job(plan, parameters, facts, rows, columns, fold, seeds, in_parts(listeners), state)

    def _why_one_run(self, state: RunState | None, listeners: list[Any]) -> str | None:
        """Why the mean of several runs is out of the question; None if it is not."""
        if self.warm_start:
            return "warm_start=True goes on with one run"
        if state is not None:
            return "resume goes on with one run"
        needy = (one for one in listeners if getattr(one, "needs_one_run", False))
        found = next(needy, None)
        return None if found is None else f"the callback {type(found).__name__} looks at one run"

    def _seeds_of_fit(self) -> list[int]:
        """Of the subsets, and of folds and rows that are held out."""
        keeps = self.warm_start and not isinstance(self.random_state, numbers.Integral)
        seeds: list[int] | None = getattr(self, "_seeds", None) if keeps else None
        if seeds is None:
            seeds = check_random_state(self.random_state).randint(2**31 - 1, size=2).tolist()
        return seeds

    def _family(self, way: Way) -> LearnerFamily:
        """The weak-learners that boosting chooses from: those that the constraints allow."""
        family: Any = self.learner
        if not isinstance(family, LearnerFamily):
            shared: dict[str, Any] = dict(
                max_bins=way.max_bins,
                binning=self.binning,
                smooth=True,
                min_frequency=LEAST_ROWS_OF_CATEGORY,
                max_categories=MOST_CATEGORIES,
            )
            if self.learner == "trees":
                family = Trees(**shared)
            else:
                least = way.min_weight_fraction_leaf
                family = Stumps(**shared, min_weight_fraction_leaf=least)
        if way.leaves is not None:
            family = family.with_leaves(way.leaves)
        categorical = np.flatnonzero(self.input_.categorical)
        if len(categorical):
            family = family.with_categorical(tuple(categorical.tolist()))
        if self.interaction_constraints is not None:
            family = family.acting_together(self.interaction_constraints)
        if self.monotone_constraints is None:
            return family
        return constrained(family, self.monotone_constraints)

    def _settings(self, job: Job, way: Way) -> dict[str, Any]:
        """Arguments of `boost` that do not depend on the rows."""
        return dict(
            loss=job.facts.loss,
            learner=self._family(way),
            selection=way.selection,
            step=way.step,
            learning_rate=way.learning_rate,
            start_score=0.0 if self.init == "zero" else None,
            groups=self.groups,
            names=getattr(self, "feature_names_in_", None),
            random_state=job.seeds[0],
            n_jobs=check_n_jobs(self.n_jobs),
            gram_memory=job.plan.gram_memory,
        )

    def _fit_score(self, rows: Any, loss: Loss, resume: Any) -> bool:
        """Boost on checked input and store what was fitted; whether Ctrl-C ended it."""
        n_features = rows.n_features
        job = self._prepare(rows, loss, resume)
        seed_again = job.state is not None and not isinstance(self.random_state, numbers.Integral)
        try:
            done = carry_out(
                job, self._settings, keep_state=bool(self.warm_start), keeps_seed=not seed_again
            )
            pairs = None if job.plan.pairs is None else add_pairs(job, done, self._settings)
        finally:
            told = job.rows.close()
        job.plan.events += told
        boosted = done.boosted
        for name in ("cv_loss_", "pair_scores_", "pair_trace_", "edits_", "bands_", "bags_"):
            self.__dict__.pop(name, None)
        if done.cv_loss is not None:
            self.cv_loss_ = done.cv_loss
        self.plan_ = job.plan
        self._run_state, self._seeds = boosted.state, job.seeds
        self.has_offset_ = rows.has_offset
        self.coverage_ = boosted.prepared.coverage(
            boosted.model, boosted.trace.path(boosted.best_iteration)
        )
        bands = bands_of_runs(boosted, pairs, self.coverage_)
        if bands is not None:
            self.bands_ = bands
        found: tuple[Additive, Trace] = among_all(boosted, job.columns, n_features)
        self.model_, self.trace_ = found
        if pairs is not None:
            self._keep_pairs(pairs, job, n_features)
        self.n_iter_ = len(boosted.trace)
        self.best_iteration_ = boosted.best_iteration
        self.loss_ = loss
        self.intercept_ = self.model_.intercept
        self.n_learners_ = boosted.prepared.layout.n_learners
        self.subset_size_ = done.way.selection.size(boosted.prepared.layout)[0]
        return boosted.interrupted or (pairs is not None and pairs.interrupted)

    def _keep_pairs(self, pairs: PairFit, job: Job, n_features: int) -> None:
        """Store what came of pairs; the model, if some of them are in it."""
        columns = np.arange(n_features) if job.columns is None else job.columns
        names = self._feature_names()
        order = np.argsort(-pairs.strength, kind="stable")
        found = zip(columns[pairs.pairs[order]].tolist(), pairs.strength[order], strict=True)
        self.pair_scores_ = {(names[g], names[h]): float(score) for (g, h), score in found}
        if pairs.trace is not None:
            self.pair_trace_ = pairs.trace.thinned(len(pairs.trace))
        if pairs.model is not None:
            self.coverage_ = pairs.coverage
            model = pairs.model
            self.model_ = model if job.columns is None else model.among(columns, n_features)

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
                "was fitted with warm_start=False, interrupted, edited, or loaded from a file of "
                "save(). Set warm_start=True before the first fit, and store the model by pickle.",
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
        self, given: _Given, has_offset: bool
    ) -> tuple[Any, Any, NDArray[np.float64] | None, NDArray[np.float64] | None] | None:
        """Validation rows as arrays; None if there are none."""
        if given.X_val is None and given.y_val is None:
            for name in ("sample_weight_val", "offset_val"):
                if getattr(given, name) is not None:
                    raise ValueError(f"{name} is given without X_val and y_val.")
            return None
        if given.X_val is None or given.y_val is None:
            missing = "X_val" if given.X_val is None else "y_val"
            raise ValueError(f"{missing} is missing: validation rows need both X_val and y_val.")
        if (given.offset_val is not None) != has_offset:
            first, second = ("offset", "offset_val") if has_offset else ("offset_val", "offset")
            raise ValueError(f"{first} is given without {second}: rows of both kinds need one.")
        X_val, y_val, weight = check_held_rows(
            self, given.X_val, given.y_val, given.sample_weight_val, card=self._card_of(given.X_val)
        )
        return X_val, y_val, weight, self._check_offset(given.offset_val, len(y_val), "offset_val")

    def _card_of(self, X: Any) -> Any:
        """The card of the fit, if rows are on one; else None."""
        if not is_on_card(X):
            return None
        from ..cuda.card import Card

        return Card(self.device, self.device_memory)

    def _check_offset(
        self, given: Any, n_rows: int, name: str = "offset"
    ) -> NDArray[np.float64] | None:
        """Offsets as an array; those of several classes sum to 0, as the scores of a row do."""
        n_classes = len(getattr(self, "classes_", ()))
        offset = check_offset(given, n_rows, n_classes if n_classes > 2 else None, name)
        if offset is None or offset.ndim == 1:
            return offset
        return offset - offset.mean(axis=1, keepdims=True)

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
