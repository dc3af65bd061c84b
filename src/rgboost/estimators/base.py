"""What the regressor and the classifier share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._team import check_n_jobs
from .._validation import check_count, check_option, check_positive
from ..boosting import Boosted, LogProgress, ProgressBar, RunState, Trace, boost
from ..boosting.callbacks import in_joblib
from ..boosting.stopping import best_iteration
from ..data.input import InputSchema
from ..learners import LearnerFamily, Monotone, Stumps
from ..learners.base import Additive
from ..losses import Loss
from ..selection import check_selection
from ..steps import StepRule, check_step, default_step
from .fitted_model import FittedModelMixin
from .folds import FoldPlan
from .holdout import StoppingPlan, TrainingRows
from .rows import accepts_missing, check_held_rows, check_rows

PARAMETERS = """
    loss : str or Loss
        {losses}
        or an object of `rgboost.losses`, also one of your own.
    learner : "stumps" or LearnerFamily
        ``"stumps"`` are `Stumps` with free leaves, ``max_bins`` and ``binning``; or a family
        object of `rgboost.learners`, to which these two do not apply.
    selection : {{"all", "learners", "group", "groups"}} or SelectionRule
        Types 0 to 3: which weak-learners an iteration looks at. ``"all"``: every one (the
        Gradient Boosting Machine). ``"learners"``: ``subset_size`` of them. ``"group"``: those
        of one group. ``"groups"``: those of ``subset_size`` groups. Or a rule object of
        `rgboost.selection`, which brings its own t.
    subset_size : int, float, "sqrt" or "all"
        t: a count; a fraction, rounded to the nearest integer, at least 1; the integer part of
        the square root; or all. Smaller is faster per iteration and regularises.
    groups : list of lists of features, optional
        A partition of the features by index or name. Default: every feature is a group.
    feature_weights : dict or array-like, optional
        Weights with which features are drawn: by name or index (1 for the others), or one for
        each feature. The ``subset_size`` groups are drawn one after the other without
        replacement, each time with probabilities proportional to the weights of the groups that
        are left; a group's weight is the sum of those of its features; 0 is never drawn. For
        ``selection`` ``"group"`` and ``"groups"``. Default: the uniform draws of the paper.
    always_features : list of features, optional
        Features, by name or index, that are in every subset: with ``selection="learners"`` all
        their weak-learners, with ``"group"`` and ``"groups"`` their groups; ``subset_size`` of the
        others are drawn besides.
    monotone_constraints : dict or array-like of {{-1, 0, 1}}, optional
        By name or index, or one for each feature. 1: the function of the feature may not fall;
        -1: it may not rise; 0: no constraint. The value of missing entries is free; a categorical
        feature cannot be constrained. With constant steps or line search; not for more than two
        classes.
    step : {{"auto", "constant", "line-search", "leaf-search", "newton"}} or StepRule
        ``"constant"``: 1/sigma, sigma the smoothness of the loss. ``"line-search"``: the best
        step along the weak-learner. ``"leaf-search"``: the best value for each side of a stump.
        ``"newton"``: sum of residuals over sum of curvatures on each side, as tree libraries do.
        ``"auto"``: constant if the loss is smooth, else Newton if it has a Newton step, else leaf
        search (line search if the learner is not stumps with free leaves).
    learning_rate : float
        Multiplies the step. Defaults: 0.2 for regression; 1 for classification, where the step
        1/sigma is small already.
    max_iter : int, "auto" or "cv"
        Number of iterations, at most. ``"cv"``: as many as have the smallest loss in
        cross-validation with ``cv`` folds, at most 20,000; see ``ensemble`` for what follows. With
        the squared loss and stumps the folds cost one pass over the data, and bins come from all
        rows; with other losses, ``cv`` fits. Rows are not held out besides; ``n_iter_no_change``
        and ``tol`` end the search. ``"auto"``: ``"cv"`` below 2,000 rows, and up to 100,000 rows
        where it takes one pass; else up to 20,000 until early stopping ends the fit; and 100 if
        there are fewer than 30 rows.
    cv : int, splitter or list of (train, test) rows
        The folds of ``max_iter="cv"``: their number, for folds at random (of each class the same
        share); or folds of yours that hold out every row once, as scikit-learn's GroupKFold does.
    ensemble : bool
        What follows cross-validation where the folds cost one pass. True: the model is the mean of
        the ``cv`` models, each of the rows outside a fold, which predicts better than one of them
        and needs no further fit. The mean of additive models is an additive model like others.
        False, and in all other cases (other losses, ``warm_start``, ``resume``): a fit to all rows.
    early_stopping : {{"auto", True, False}}
        Stop when the loss of validation rows no longer falls. ``"auto"``: if ``fit`` is given
        ``X_val, y_val``, or if ``max_iter="auto"`` says so. With validation rows of either kind
        the fitted model is the one of the best iteration, whether the fit stopped early or not.
    validation_fraction : float
        The share of the training rows that is held out, if no validation rows are given.
    n_iter_no_change : int
        How many iterations to wait for the validation loss to fall.
    tol : float
        The smallest relative fall of the validation loss that counts.
    max_bins : int, None, "auto" or "paper"
        Bins per feature. ``"auto"``: one for 20 rows, at least 32 and at most 255. None: every
        distinct value is a split. ``"paper"``: 100 above 10,000 rows, None below.
    binning : {{"quantile", "hybrid"}}
        Thresholds at quantiles; or half of them there and half evenly spaced.
    categorical_features : "from_dtype", None, or list of names, indices or booleans
        Features that are split into sets of categories. ``"from_dtype"``: the columns of a data
        frame that hold categories or strings. A category that was not there at fit time counts as
        a missing value. Missing values (NaN, None, null) need no preparation: each split learns
        which side they take; a feature that had none at fit time adds its average where one is
        missing.
    min_weight_fraction_leaf : float
        The least share of the weight of all rows on either side of a split.
    init : {{"zero", "best"}}
        Start from the score 0, or from the constant with the smallest loss.
    ridge : float
        ridge/2 f^2 is added to a loss given by name.
    engine : {{"auto", "direct", "gram", "surrogate"}}
        How the iterations are computed. ``"direct"``: on the rows. ``"gram"``: on statistics of
        the rows (squared loss, stumps); the same iterates at a cost that does not depend on the
        number of rows. ``"auto"``: the one of these two that is expected to be faster.
        ``"surrogate"``: blocks of iterations on quadratic models of a smooth loss; the fastest
        way to the optimum, by other iterates.
    gram_memory : int or None
        Bytes that the statistics of the Gram and surrogate engines may take. None: a quarter of
        the machine's memory. If it is used up, the direct engine goes on.
    n_jobs : int or None
        Threads. None: as many as the process may use. Results do not depend on it.
    random_state : int, RandomState or None
        Seed of the random subsets.
    warm_start : bool
        Go on with the fit before, with the same data, until ``max_iter`` iterations are done in
        all: bit for bit the model of one longer fit with the engine that it began with. The scores
        of the rows are kept in the estimator for that.
    callbacks : list of callables, optional
        Called while fitting; see `rgboost.callbacks`.
    verbose : int
        0: quiet. 1: a progress bar with the losses. 2: a log message every second instead (see
        `rgboost.callbacks.LogProgress`). Quiet inside joblib.
"""

ATTRIBUTES = """
    model_ : the fitted additive model: tables per feature, and the path of weak-learners.
    coverage_ : where the training rows lie on the features that the model uses; None for a
        dictionary.
    feature_importances_ : see the property.
    trace_ : Trace. ``trace_.train_loss`` has ``n_iter_ + 1`` entries.
    n_iter_ : number of iterations done; with ``ensemble``, of all ``cv`` runs in turn, and the
        losses of ``trace_`` are means over the runs.
    cv_loss_ : after cross-validation, the mean loss of held-out rows after 0, 1, ... iterations.
    best_iteration_ : the iteration that the model is of: where the validation loss was smallest,
        or ``n_iter_`` if there were no validation rows. Stages end there.
    loss_ : the loss that was minimised.
    intercept_ : the score that the iterations started from.
    n_learners_ : K, the number of weak-learners.
    subset_size_ : t as a number.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    input_ : names of the features and labels of their categories.
"""


FIT = """Fit the model to the rows of X and their {labels} y, optionally with weights.

        ``X_val, y_val`` (and ``sample_weight_val``) are validation rows for early stopping; none
        of the training rows is held out then. ``resume`` is the file of a checkpoint
        (`rgboost.callbacks.Checkpoint`) of a fit to the same data: it goes on from there.

        Ctrl-C ends the fit after the iterations that are under way: the estimator is left fitted
        with what was done until then, and KeyboardInterrupt is raised. If nothing was done yet, or
        if the fit fails, the estimator is left as it was.
        """


class BaseRGBM(FittedModelMixin, BaseEstimator):
    """Parameters, the fit of a score, and the score of new rows."""

    input_: InputSchema

    def __init__(
        self,
        *,
        loss: str | Loss,
        learner: str | LearnerFamily = "stumps",
        selection: Any = "learners",
        subset_size: Any = "sqrt",
        groups: Any = None,
        feature_weights: Any = None,
        always_features: Any = None,
        monotone_constraints: Any = None,
        step: Any = "auto",
        learning_rate: float = 0.2,
        max_iter: int | str = "auto",
        cv: Any = 5,
        ensemble: bool = True,
        early_stopping: str | bool = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 200,
        tol: float = 1e-5,
        max_bins: Any = "auto",
        binning: str = "quantile",
        categorical_features: Any = "from_dtype",
        min_weight_fraction_leaf: float = 0.0,
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

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """The settings of the paper's experiments; ``parameters`` override them.

        Start from zero, learning rate 1, 100 percentiles above 10,000 rows and every value below,
        groups are features, a ridge of 0.0001 for the logistic loss, and 500 iterations without
        early stopping.
        """
        preset: dict[str, Any] = {
            "init": "zero",
            "learning_rate": 1.0,
            "max_bins": "paper",
            "binning": "quantile",
            "selection": "groups",
            "max_iter": 500,
            "early_stopping": False,
            **cls._paper_extras(),
        }
        return cls(**{**preset, **parameters})

    @classmethod
    def _paper_extras(cls) -> dict[str, Any]:
        return {}

    def _resolve_loss(self) -> Loss:
        raise NotImplementedError

    def _learner_family(self) -> LearnerFamily:
        family = self._plain_family()
        categorical = np.flatnonzero(self.input_.categorical)
        return family.with_categorical(tuple(categorical.tolist())) if len(categorical) else family

    def _plain_family(self) -> LearnerFamily:
        if isinstance(self.learner, LearnerFamily):
            return self.learner
        check_option(self.learner, "learner", ["stumps"])
        return Stumps(
            max_bins=self.max_bins,
            binning=self.binning,  # type: ignore[arg-type]
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
        )

    def _constrained_family(self) -> LearnerFamily:
        """The weak-learners that boosting chooses from: those that the constraints allow."""
        family = self._learner_family()
        if self.monotone_constraints is None:
            return family
        if not isinstance(family, Stumps):
            raise ValueError(
                f"monotone_constraints need stumps, and learner is {family!r}; "
                "use learner='stumps' or monotone_constraints=None."
            )
        return Monotone(family, self.monotone_constraints)

    def _step_rule(self, loss: Loss) -> StepRule:
        if self.step != "auto":
            return check_step(self.step)
        family = self._constrained_family()
        return default_step(loss, isinstance(family, Stumps) and family.leaves == "free")

    def _fit_score(
        self, rows: TrainingRows, loss: Loss, *, stratified: bool = False, resume: Any = None
    ) -> bool:
        """Boost on checked input and store what was fitted; whether Ctrl-C ended it."""
        check_option(self.init, "init", ["zero", "best"])
        check_option(self.engine, "engine", ["auto", "direct", "gram", "surrogate"])
        selection = check_selection(
            self.selection, self.subset_size, self.feature_weights, self.always_features
        )
        learner = self._constrained_family()
        state = self._state_to_resume(resume)
        seeds = getattr(self, "_seeds", None) if self.warm_start else None
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
            learning_rate=check_positive(self.learning_rate, "learning_rate"),
            start_score=0.0 if self.init == "zero" else None,
            groups=self.groups,
            names=getattr(self, "feature_names_in_", None),
            random_state=seeds[0],
            n_jobs=check_n_jobs(self.n_jobs),
            engine=self.engine,
            gram_memory=None
            if self.gram_memory is None
            else check_count(self.gram_memory, "gram_memory"),
        )
        listeners = self._listeners()
        self.__dict__.pop("cv_loss_", None)
        check_option(self.ensemble, "ensemble", [True, False])
        folds = FoldPlan(self.max_iter, self.cv, stratified, plan, seeds[1])
        boosted = None
        if self.ensemble and not self.warm_start and state is None and folds.want_mean(rows):
            mean = folds.mean(rows, settings, listeners)
            if mean is not None:
                boosted, self.cv_loss_ = mean
        if boosted is None:
            boosted = self._boost_once(rows, folds, settings, listeners, state)
        self._run_state, self._seeds = boosted.state, seeds
        self.model_: Additive = boosted.model
        self.coverage_ = boosted.prepared.coverage(boosted.model, boosted.trace.learner)
        self.trace_: Trace = boosted.trace
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
        return boost(
            rows.X,
            rows.y,
            n_iter=n_iter,
            weight=rows.weight,
            validation=rows.validation,
            early_stopping=folds.stopping.rule(rows),
            callbacks=listeners,
            resume=state,
            **settings,
            keep_state=bool(self.warm_start),
        )

    def _state_to_resume(self, path: Any) -> RunState | None:
        """The state of a checkpoint, or of the fit before if ``warm_start`` is set."""
        if path is not None:
            return RunState.load(path)
        return getattr(self, "_run_state", None) if self.warm_start else None

    def _listeners(self) -> list[Any]:
        """The callbacks, and what ``verbose`` asks for."""
        verbose = check_count(int(self.verbose), "verbose")
        shown: list[Any] = []
        if verbose and not in_joblib():
            shown = [ProgressBar() if verbose == 1 else LogProgress()]
        listeners = list(self.callbacks or [])
        for callback in listeners:
            if not callable(callback):
                raise TypeError(
                    f"callbacks has {callback!r}, which cannot be called; give functions of a "
                    "Progress, or objects of rgboost.callbacks."
                )
        return listeners + shown

    def _given_validation(
        self, X_val: Any, y_val: Any, sample_weight_val: Any
    ) -> tuple[Any, Any, NDArray[np.float64] | None] | None:
        """Validation rows as arrays; None if there are none."""
        if X_val is None and y_val is None:
            if sample_weight_val is not None:
                raise ValueError("sample_weight_val is given without X_val and y_val.")
            return None
        if X_val is None or y_val is None:
            missing = "X_val" if X_val is None else "y_val"
            raise ValueError(f"{missing} is missing: validation rows need both X_val and y_val.")
        return check_held_rows(self, X_val, y_val, sample_weight_val)

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_rows(self, X)

    def _score(self, X: Any) -> NDArray[np.float64]:
        rows = self._check_rows(X)
        return self.model_.score(rows, check_n_jobs(self.n_jobs))

    def _staged_score(self, X: Any) -> Iterator[NDArray[np.float64]]:
        rows = self._check_rows(X)
        return self.model_.staged_score(rows, check_n_jobs(self.n_jobs))

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
