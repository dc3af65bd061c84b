"""Other libraries at their defaults, where they are installed: LightGBM, and the explainable
boosting machines (EBM) of interpret.

They get the matrix of numbers that the rows are for us, with missing values as NaN, and are told
which columns are categories. Their loss is the one that models are judged by.
"""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.loading import working_seconds
from .._core.team import check_n_jobs
from ..engines.problem import rows_of
from ..losses import Loss
from .entrants import Fitted, Size
from .rows import Rows, Split

LIGHTGBM: dict[str, Callable[[Any], dict[str, Any]]] = {
    "Squared": lambda loss: {"objective": "regression"},
    "AbsoluteError": lambda loss: {"objective": "regression_l1"},
    "Huber": lambda loss: {"objective": "huber", "alpha": loss.delta},
    "Quantile": lambda loss: {"objective": "quantile", "alpha": loss.level},
    "Poisson": lambda loss: {"objective": "poisson"},
    "Gamma": lambda loss: {"objective": "gamma"},
    "Tweedie": lambda loss: {"objective": "tweedie", "tweedie_variance_power": loss.power},
    "Logistic": lambda loss: {"objective": "binary"},
    "Softmax": lambda loss: {"objective": "multiclass"},
}
EBM: dict[str, Callable[[Any], dict[str, Any]]] = {
    "Squared": lambda loss: {"objective": "rmse"},
    "Poisson": lambda loss: {"objective": "poisson_deviance"},
    "Gamma": lambda loss: {"objective": "gamma_deviance"},
    "Tweedie": lambda loss: {"objective": f"tweedie_deviance:variance_power={loss.power:g}"},
    "Logistic": lambda loss: {"objective": "log_loss"},
    "Softmax": lambda loss: {"objective": "log_loss"},
}
"""How a library calls our losses, by the names of their classes."""


@dataclass(frozen=True)
class LightGBM:
    """Gradient boosted trees."""

    estimator: Any
    name: str = "LightGBM"
    is_peer: bool = True

    @classmethod
    def of(cls, package: Any, rows: Rows, n_jobs: int, seed: int) -> LightGBM:
        kind = package.LGBMClassifier if rows.checked.stratified else package.LGBMRegressor
        objective = named("lightgbm", rows.loss, LIGHTGBM)
        return cls(kind(n_jobs=n_jobs, random_state=seed, verbose=-1, **objective))

    def fit(self, rows: Rows, split: Split) -> Fitted:
        from sklearn.base import clone

        train, held = split
        X, y, more = matrix_for(rows, train)
        model = clone(self.estimator)
        categorical = np.flatnonzero(rows.schema.categorical).tolist()
        began = working_seconds()
        model.fit(X, y, **more, **({"categorical_feature": categorical} if categorical else {}))
        seconds = working_seconds() - began
        booster = model.booster_
        scores = booster.predict(rows.checked.X[held], raw_score=True)
        size = Size(0, 0, booster.num_trees(), len(booster.model_to_string().encode()))
        return Fitted(beside(scores, rows, held), size, seconds)


@dataclass(frozen=True)
class Ebm:
    """Sums of curves and pairs by interpret."""

    estimator: Any
    name: str = "EBM"
    is_peer: bool = True

    @classmethod
    def of(cls, package: Any, rows: Rows, n_jobs: int, seed: int) -> Ebm:
        if scipy.sparse.issparse(rows.checked.X):
            raise ValueError("peers has 'ebm', which takes no sparse rows; leave it out.")
        glassbox = importlib.import_module(f"{package.__name__}.glassbox")
        kind = "Classifier" if rows.checked.stratified else "Regressor"
        types = ["nominal" if one else "continuous" for one in rows.schema.categorical]
        options = {"n_jobs": n_jobs, "random_state": seed, "feature_types": types}
        objective = named("ebm", rows.loss, EBM)
        made = getattr(glassbox, f"ExplainableBoosting{kind}")
        return cls(made(**options, **objective))

    def fit(self, rows: Rows, split: Split) -> Fitted:
        from sklearn.base import clone

        train, held = split
        X, y, more = matrix_for(rows, train)
        model = clone(self.estimator)
        began = working_seconds()
        model.fit(X, y, **more)
        seconds = working_seconds() - began
        unseen = rows.checked.X[held]
        if rows.checked.stratified:
            scores = np.asarray(model.decision_function(unseen))
        else:
            scores = np.asarray(rows.loss.link(model.predict(unseen)))
        terms = [len(term) for term in model.term_features_]
        size = Size(terms.count(1), terms.count(2), 0, len(pickle.dumps(model)))
        return Fitted(beside(scores, rows, held), size, seconds)


KNOWN: dict[str, tuple[str, Any]] = {"lightgbm": ("lightgbm", LightGBM), "ebm": ("interpret", Ebm)}
"""The package of every peer, and what fits it."""


def find_peers(
    names: str | Sequence[str] | None, rows: Rows, n_jobs: int | None, seed: int
) -> list[LightGBM | Ebm]:
    """The peers by their names, or what is wrong with them: before anything is fitted."""
    names = [names] if isinstance(names, str) else list(names or ())
    for name in names:
        if name not in KNOWN:
            raise ValueError(
                f"peers has {name!r}, which is not known; use {' or '.join(map(repr, KNOWN))}."
            )
    threads = check_n_jobs(n_jobs)
    found = []
    for name in dict.fromkeys(names):
        package, kind = KNOWN[name]
        try:
            module = importlib.import_module(package)
        except ImportError as error:
            raise ImportError(
                f"peers has {name!r}, and {package} is not installed: pip install {package}"
            ) from error
        found.append(kind.of(module, rows, threads, seed))
    return found


def named(peer: str, loss: Loss, names: dict[str, Callable[[Any], dict[str, Any]]]) -> Any:
    """The loss as the settings of a peer."""
    known = names.get(type(loss).__name__)
    if known is None:
        raise ValueError(f"peers has {peer!r}, which does not know {loss!r}; leave it out.")
    return known(loss)


def matrix_for(rows: Rows, train: NDArray[np.intp]) -> tuple[Any, Any, dict[str, Any]]:
    """Rows with a weight, labels 0, 1, ... of classes, and weights and offsets if there are any."""
    train = train[rows.weight[train] > 0]
    checked = rows.checked
    y: Any = checked.y[train]
    if checked.stratified:
        y = np.unique(y, return_inverse=True)[1]
    given = {"sample_weight": rows_of(checked.weight, train)}
    given["init_score"] = rows_of(checked.offset, train)
    return checked.X[train], y, {name: v for name, v in given.items() if v is not None}


def beside(scores: Any, rows: Rows, held: NDArray[np.intp]) -> NDArray[np.float64]:
    """Scores with the offsets of the rows."""
    scores = np.asarray(scores, dtype=np.float64)
    return scores if rows.checked.offset is None else scores + rows.checked.offset[held]
