"""What the regressor and the classifier share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._team import check_n_jobs
from .._validation import check_count, check_option, check_positive
from ..boosting import ProgressBar, Trace, boost
from ..learners import LearnerFamily, Stumps
from ..learners.base import Additive
from ..losses import Loss
from ..selection import check_selection
from ..steps import check_step
from .fitted_model import FittedModelMixin

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
    step : {{"constant", "line-search"}} or StepRule
        The constant step 1/sigma, sigma the smoothness of the loss; or a line search.
    learning_rate : float
        Multiplies the step.
    max_iter : int
        Number of iterations.
    max_bins : int, None or "paper"
        Bins per feature. None: every distinct value is a split. ``"paper"``: 100 above 10,000
        rows, None below.
    binning : {{"quantile", "hybrid"}}
        Thresholds at quantiles; or half of them there and half evenly spaced.
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
    verbose : int
        1 shows a progress bar.
"""

ATTRIBUTES = """
    model_ : the fitted additive model: tables per feature, and the path of weak-learners.
    coverage_ : where the training rows lie on the features that the model uses; None for a
        dictionary.
    feature_importances_ : see the property.
    trace_ : Trace. ``trace_.train_loss`` has ``n_iter_ + 1`` entries.
    n_iter_ : number of iterations done.
    loss_ : the loss that was minimised.
    intercept_ : the score that the iterations started from.
    n_learners_ : K, the number of weak-learners.
    subset_size_ : t as a number.
    n_features_in_, feature_names_in_ : as in scikit-learn.
"""


class BaseRGBM(FittedModelMixin, BaseEstimator):
    """Parameters, the fit of a score, and the score of new rows."""

    def __init__(
        self,
        *,
        loss: str | Loss,
        learner: str | LearnerFamily = "stumps",
        selection: Any = "groups",
        subset_size: Any = "sqrt",
        groups: Any = None,
        step: Any = "constant",
        learning_rate: float = 0.3,
        max_iter: int = 500,
        max_bins: Any = 255,
        binning: str = "quantile",
        init: str = "best",
        ridge: float = 0.0,
        engine: str = "auto",
        gram_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.learner = learner
        self.selection = selection
        self.subset_size = subset_size
        self.groups = groups
        self.step = step
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_bins = max_bins
        self.binning = binning
        self.init = init
        self.ridge = ridge
        self.engine = engine
        self.gram_memory = gram_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """The settings of the paper's experiments; ``parameters`` override them.

        Start from zero, learning rate 1, 100 percentiles above 10,000 rows and every value below,
        groups are features, and a ridge of 0.0001 for the logistic loss.
        """
        preset: dict[str, Any] = {
            "init": "zero",
            "learning_rate": 1.0,
            "max_bins": "paper",
            "binning": "quantile",
            "selection": "groups",
            **cls._paper_extras(),
        }
        return cls(**{**preset, **parameters})

    @classmethod
    def _paper_extras(cls) -> dict[str, Any]:
        return {}

    def _resolve_loss(self) -> Loss:
        raise NotImplementedError

    def _learner_family(self) -> LearnerFamily:
        if isinstance(self.learner, LearnerFamily):
            return self.learner
        check_option(self.learner, "learner", ["stumps"])
        return Stumps(max_bins=self.max_bins, binning=self.binning)  # type: ignore[arg-type]

    def _fit_score(
        self, X: Any, y: NDArray[np.float64], weight: NDArray[np.float64] | None, loss: Loss
    ) -> None:
        """Boost on checked input and store what was fitted."""
        check_option(self.init, "init", ["zero", "best"])
        check_option(self.engine, "engine", ["auto", "direct", "gram", "surrogate"])
        n_iter = check_count(self.max_iter, "max_iter", at_least=1)
        selection = check_selection(self.selection, self.subset_size)
        with ProgressBar() if self.verbose else nullcontext() as bar:
            boosted = boost(
                X,
                y,
                loss=loss,
                learner=self._learner_family(),
                selection=selection,
                step=check_step(self.step),
                n_iter=n_iter,
                learning_rate=check_positive(self.learning_rate, "learning_rate"),
                start_score=0.0 if self.init == "zero" else None,
                groups=self.groups,
                names=getattr(self, "feature_names_in_", None),
                weight=weight,
                random_state=check_random_state(self.random_state).randint(2**31 - 1),
                n_jobs=check_n_jobs(self.n_jobs),
                callbacks=[bar] if bar is not None else [],
                engine=self.engine,  # type: ignore[arg-type]
                gram_memory=None
                if self.gram_memory is None
                else check_count(self.gram_memory, "gram_memory"),
            )
        self.model_: Additive = boosted.model
        self.coverage_ = boosted.prepared.coverage(boosted.model, boosted.trace.learner)
        self.trace_: Trace = boosted.trace
        self.n_iter_ = len(boosted.trace)
        self.loss_ = loss
        self.intercept_ = boosted.model.intercept
        self.n_learners_ = boosted.prepared.layout.n_learners
        self.subset_size_ = selection.size(boosted.prepared.layout)[0]

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **_X_RULES)

    def _score(self, X: Any) -> NDArray[np.float64]:
        rows = self._check_rows(X)
        return self.model_.score(rows, check_n_jobs(self.n_jobs))

    def _staged_score(self, X: Any) -> Iterator[NDArray[np.float64]]:
        rows = self._check_rows(X)
        return self.model_.staged_score(rows, check_n_jobs(self.n_jobs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


_X_RULES: dict[str, Any] = {"accept_sparse": ("csr", "csc"), "dtype": (np.float64, np.float32)}


def check_training_rows(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, **rules: Any
) -> tuple[Any, NDArray, NDArray[np.float64] | None]:
    """X, y and weights as arrays, or an error that says what is wrong with them."""
    X, y = validate_data(estimator, X, y, **_X_RULES, **rules)
    if sample_weight is None:
        return X, y, None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(len(y), float(weight))
    if weight.shape != (len(y),):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, expected ({len(y)},): one weight per row."
        )
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight has NaN or infinite entries; give finite weights.")
    if (weight < 0).any():
        raise ValueError(
            f"sample_weight has the negative entry {weight.min():g}; weights must be 0 or greater."
        )
    if not (weight > 0).any():
        raise ValueError("sample_weight is zero for every row; give some row a positive weight.")
    return X, y, weight


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
