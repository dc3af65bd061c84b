"""What the features contribute to the scores of rows by trees: SHAP values, from the shap package.

Its tree explainer finds them in polynomial time, with the rows of each leaf as background
("path-dependent"; Lundberg and others, "From local explanations to global understanding with
explainable AI for trees", 2020). It knows trees of numbers whose leaves have a value each; others
are refused, not approximated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.trees import TreesModel
from .local_explanation import LocalExplanation, columns_of
from .scale import SCORE, Scale


def explain_trees(
    model: TreesModel,
    X: Any,
    names: Sequence[str],
    classes: NDArray | None = None,
    scale: Scale = SCORE,
) -> LocalExplanation:
    """SHAP values of checked rows; of the features that trees split."""
    check_known_to_shap(model)
    used = np.unique(model.feature)
    values = columns_of(X, used).astype(np.float64)
    tail = np.shape(model.intercept)
    contributions, base = np.zeros((len(values), len(used), *tail)), np.zeros(tail)
    trees = list(_shap_trees(model, used))
    for tree in trees:
        base = base + tree["value"][0].reshape(tail)
    grown = [tree for tree in trees if len(tree["feature"]) > 1]
    if grown and len(values):
        contributions[:] = _shap_values(grown, values).reshape(contributions.shape)
    return LocalExplanation(
        intercept=np.asarray(model.intercept + base) if tail else float(model.intercept + base),
        contributions=contributions,
        values=values,
        features=used,
        names=[str(names[g]) for g in used],
        means=np.zeros((len(used), *tail)),
        labels=[None] * len(used),
        classes=classes if tail else None,
        scale=scale,
        terms=[(k,) for k in range(len(used))],
    )


def check_known_to_shap(model: TreesModel) -> None:
    """Raise if the tree explainer of shap has no words for these trees."""
    if model.lines is not None:
        raise TypeError(
            "explain_local of trees comes from shap, whose trees have one value in a leaf, and "
            "these have linear functions; fit with learner=Trees(leaves='constant')."
        )
    if (model.which_set >= 0).any():
        raise TypeError(
            "explain_local of trees comes from shap, whose trees split numbers, and these split "
            "sets of categories; encode the categories as numbers, or use learner='stumps'."
        )


def _shap_trees(model: TreesModel, used: NDArray[np.int64]) -> Any:
    """Each tree as shap takes it: splits first, then leaves; the value of a split is the mean of
    the rows below it, and missing values go the way of ``children_default``."""
    place = np.searchsorted(used, model.feature)
    values = model.values.reshape(len(model.values), -1)
    for t in range(model.n_trees):
        a, n = int(model.starts[t]), int(model.starts[t + 1] - model.starts[t])
        leaves = slice(a + t, a + t + n + 1)
        children = np.full((2 * n + 1, 2), -1)
        below = model.children[a : a + n]
        children[:n] = np.where(below >= 0, below, n + ~below)
        weight, value = np.zeros(2 * n + 1), np.zeros((2 * n + 1, values.shape[1]))
        weight[n:], value[n:] = model.weight[leaves], values[leaves]
        for k in range(n - 1, -1, -1):
            weight[k] = weight[children[k]].sum()
            value[k] = weight[children[k]] @ value[children[k]] / weight[k]
        left, right = children.T
        default = left.copy()
        default[:n] = np.where(model.missing_left[a : a + n] == 1, left[:n], right[:n])
        yield {
            "children_left": left, "children_right": right, "children_default": default,
            "feature": np.append(place[a : a + n], np.full(n + 1, -2)),
            "threshold": np.append(model.threshold[a : a + n], np.full(n + 1, -2.0)),
            "value": value, "node_sample_weight": weight,
        }  # fmt: skip


def _shap_values(trees: list[dict[str, Any]], values: NDArray[np.float64]) -> NDArray[np.float64]:
    try:
        from shap import TreeExplainer
    except ImportError as error:
        raise ImportError(
            "explain_local of trees needs the package shap: pip install shap"
        ) from error
    known = {"trees": trees, "internal_dtype": np.float64, "input_dtype": np.float64}
    explainer = TreeExplainer(known, feature_perturbation="tree_path_dependent")
    return np.asarray(explainer.shap_values(values, check_additivity=False), np.float64)
