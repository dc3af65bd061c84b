"""Who takes part in the quality table, each at the defaults of its library.

Everybody is told which columns are categories, in the way that the library wants it. Libraries are
imported when they are used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from rgboost.training.plan.pair_rules import MOST_FEATURES

from .data import QualitySet

clock = time.perf_counter
Fitted = tuple[Any, NDArray, float]
"""A model, its scores of the test rows, and the seconds of the fit."""
MOST_CATEGORIES = 255
"""Of a feature, for HistGradientBoosting."""
MOST_DENSE_BYTES = 2e9
"""Of sparse rows that are made dense for ChimeraBoost."""
TEN = 10
"""Pairs that a person can look through."""


def fit_rgboost(data: QualitySet, threads: int, **more: Any) -> Fitted:
    import rgboost

    kind = rgboost.RGBMRegressor if data.task == "squared" else rgboost.RGBMClassifier
    categories = list(data.categorical) or None
    model = kind(n_jobs=threads, random_state=0, categorical_features=categories, **more)
    start = clock()
    model.fit(data.X, data.y)
    seconds = clock() - start
    return model, scores_of(model, data), seconds


def scores_of(model: Any, data: QualitySet) -> NDArray:
    """Of the test rows: predictions, log-odds, or of several classes logarithms of their shares."""
    if data.task == "squared":
        return model.predict(data.X_test)
    if data.task == "logistic" and hasattr(model, "decision_function"):
        return model.decision_function(data.X_test)
    share = np.log(np.maximum(model.predict_proba(data.X_test), 1e-15))
    return share[:, 1] - share[:, 0] if data.task == "logistic" else share


def fit_ebm(data: QualitySet, threads: int, **more: Any) -> Fitted:
    from interpret import glassbox

    kind = "Regressor" if data.task == "squared" else "Classifier"
    types = ["nominal" if k in data.categorical else "continuous" for k in range(data.X.shape[1])]
    made = getattr(glassbox, f"ExplainableBoosting{kind}")
    model = made(n_jobs=threads, feature_types=types, **more)
    start = clock()
    model.fit(data.X, data.y)
    seconds = clock() - start
    return model, scores_of(model, data), seconds


def fit_lightgbm(data: QualitySet, threads: int, **more: Any) -> Fitted:
    import lightgbm

    kind = lightgbm.LGBMRegressor if data.task == "squared" else lightgbm.LGBMClassifier
    model = kind(n_jobs=threads, verbose=-1, random_state=0, **more)
    options = {"categorical_feature": list(data.categorical)} if data.categorical else {}
    start = clock()
    model.fit(data.X, data.y, **options)
    seconds = clock() - start
    if data.task == "classes":
        return model, scores_of(model, data), seconds
    return model, model.booster_.predict(data.X_test, raw_score=True), seconds


def few_categories(data: QualitySet) -> QualitySet:
    """The most frequent 254 categories of a feature and the rest as one, which is what
    HistGradientBoosting takes, and scikit-learn's OrdinalEncoder makes."""
    X, X_test = data.X, data.X_test
    for g in data.categorical:
        values, counts = np.unique(X[:, g], return_counts=True)
        if len(values) <= MOST_CATEGORIES:
            continue
        X, X_test = X.copy(), X_test.copy()
        kept = np.sort(values[np.argsort(-counts, kind="stable")[: MOST_CATEGORIES - 1]])
        for matrix in (X, X_test):
            place = np.minimum(np.searchsorted(kept, matrix[:, g]), len(kept) - 1)
            matrix[:, g] = np.where(kept[place] == matrix[:, g], place, len(kept))
    return replace(data, X=X, X_test=X_test)


def fit_hist(data: QualitySet, threads: int, **more: Any) -> Fitted:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    from ..peers import openmp_threads

    data = few_categories(data.dense())
    squared = data.task == "squared"
    kind = HistGradientBoostingRegressor if squared else HistGradientBoostingClassifier
    model = kind(categorical_features=list(data.categorical) or None, random_state=0, **more)
    with openmp_threads(threads):
        start = clock()
        model.fit(data.X, data.y)
        seconds = clock() - start
        return model, scores_of(model, data), seconds


def integer_categories(data: QualitySet) -> QualitySet:
    """Frames whose columns of categories are integers, which is what CatBoost takes; and of sparse
    rows matrices, because it does not know arrays."""
    import pandas

    if scipy.sparse.issparse(data.X):
        matrices = map(scipy.sparse.csr_matrix, (data.X, data.X_test))
        return replace(data, **dict(zip(("X", "X_test"), matrices, strict=True)))
    if not data.categorical:
        return data
    frames = [pandas.DataFrame(X) for X in (data.X, data.X_test)]
    kinds = dict.fromkeys(data.categorical, np.int64)
    return replace(data, X=frames[0].astype(kinds), X_test=frames[1].astype(kinds))


def fit_catboost(data: QualitySet, threads: int, **more: Any) -> Fitted:
    import catboost

    data = integer_categories(data)
    kind = catboost.CatBoostRegressor if data.task == "squared" else catboost.CatBoostClassifier
    model = kind(
        thread_count=threads, random_seed=0, cat_features=list(data.categorical) or None,
        verbose=False, allow_writing_files=False, **more,
    )  # fmt: skip
    start = clock()
    model.fit(data.X, data.y)
    seconds = clock() - start
    if data.task == "logistic":
        return model, model.predict(data.X_test, prediction_type="RawFormulaVal"), seconds
    return model, scores_of(model, data), seconds


def fit_chimera(data: QualitySet, threads: int, **more: Any) -> Fitted:
    """Categories are codes in columns that are named to it; it has no use for sparse rows."""
    import chimeraboost

    if scipy.sparse.issparse(data.X) and 8.0 * np.prod(data.X.shape) > MOST_DENSE_BYTES:
        raise ValueError("takes dense rows only, and these are too many")
    data = data.dense()
    squared = data.task == "squared"
    kind = chimeraboost.ChimeraBoostRegressor if squared else chimeraboost.ChimeraBoostClassifier
    model = kind(thread_count=threads, random_state=0, **more)
    start = clock()
    model.fit(data.X, data.y, cat_features=list(data.categorical) or None)
    seconds = clock() - start
    return model, scores_of(model, data), seconds


@dataclass(frozen=True)
class Contestant:
    """``settings`` are what differs from the defaults of the library. ``one_split``: it is judged
    on the set's own split and not on folds. ``warm_rows``: to load compiled code with; None: all,
    because the code depends on their number."""

    fit: Callable[..., Fitted]
    settings: dict[str, Any] = field(default_factory=dict)
    one_split: bool = False
    warm_rows: int | None = 300
    warm_settings: dict[str, Any] = field(default_factory=dict)


def _ours(one_split: bool = False, **settings: Any) -> Contestant:
    return Contestant(fit_rgboost, settings, one_split, warm_rows=None)


_ONE_BAG = {"outer_bags": 1}
ADDITIVE, FEW_PAIRS, ONE_SPLIT = "rgboost, additive", "rgboost, 10 pairs", "rgboost, one split"
TREES = "rgboost trees"

CONTESTANTS: dict[str, Contestant] = {
    "rgboost": _ours(),
    FEW_PAIRS: _ours(interactions=TEN),
    TREES: _ours(learner="trees"),
    "LightGBM": Contestant(fit_lightgbm),
    "HistGB": Contestant(fit_hist),
    "CatBoost": Contestant(fit_catboost),
    "ChimeraBoost": Contestant(fit_chimera, warm_rows=3000),
    ADDITIVE: _ours(interactions=0),
    "EBM, additive": Contestant(fit_ebm, {"interactions": 0}, warm_settings=_ONE_BAG),
    "LightGBM stumps": Contestant(fit_lightgbm, {"num_leaves": 2}),
    "HistGB stumps": Contestant(fit_hist, {"max_leaf_nodes": 2}),
    ONE_SPLIT: _ours(one_split=True),
    "EBM": Contestant(fit_ebm, one_split=True, warm_settings=_ONE_BAG),
}

RIVALS = {"rgboost": ADDITIVE, ADDITIVE: "EBM, additive", ONE_SPLIT: "EBM"}
"""Whose losses of the same test rows ours are compared with."""


def is_ours(name: str) -> bool:
    return name.startswith("rgboost")


def takes_part(name: str, n_features: int) -> bool:
    """Ten pairs are those of five features, and more than enough of very many."""
    return name != FEW_PAIRS or 5 <= n_features <= MOST_FEATURES


def same_as(name: str, n_features: int, n_parts: int) -> str | None:
    """The contestant whose fits are the same: the defaults fit no pairs of very many features, and
    a set without folds is judged on its own split anyway."""
    if name == ONE_SPLIT and n_parts == 1:
        return "rgboost"
    return ADDITIVE if name == "rgboost" and n_features > MOST_FEATURES else None


def count_pairs(model: Any) -> int | None:
    """Pairs of features in a model; None where it does not tell."""
    terms = getattr(model, "term_features_", None)
    return None if terms is None else sum(len(features) == 2 for features in terms)
