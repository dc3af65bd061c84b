"""From a fitted estimator to `Terms`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..data.input.labels import are_strings
from ..data.mixed_bins import OTHERS
from ..losses import Link
from .terms import Axis, Curve, Feature, Kind, Pair, Terms, Vector, refuse

Labels = Mapping[int, NDArray]


def extract(estimator: Any) -> Terms:
    """The curves, pairs and link of a fitted estimator; `ExportError` if it has none.

    Parameters
    ----------
    estimator : RGBMRegressor or RGBMClassifier
        Fitted.

    Returns
    -------
    Terms

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.export import extract
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
    >>> terms = extract(model)
    >>> len(terms.features), terms.link.name
    (10, 'identity')
    """
    check_is_fitted(estimator)
    link, coverage = _link(estimator.loss_), estimator.coverage_
    if coverage is None:
        _refuse_model(estimator)
    wide, schema = estimator.model_.wide, estimator.input_
    if np.ndim(wide.intercept) and not hasattr(estimator, "classes_"):
        refuse(f"a regression with {estimator.loss_!r} has no export; use RGBMClassifier.")
    found = Terms(
        features=_features(estimator),
        intercept=np.atleast_1d(np.asarray(wide.intercept, np.float64)),
        curves=tuple(_curve(term, schema.labels) for term in coverage.terms(estimator.model_)),
        pairs=() if wide.pairs is None else tuple(_pairs(wide.pairs, schema.labels)),
        link=link,
        classes=_plain(estimator.classes_) if hasattr(estimator, "classes_") else None,
        total_weight=float(coverage.total),
    )
    _check_finite(found)
    return found


def _link(loss: Any) -> Link:
    link: Link | None = loss.exported_link
    if link is None:
        refuse(
            f"{loss!r} makes predictions by an inverse_link of its own, which is code and cannot "
            "be exported. If it is one of those that are known, say so in its class, as in "
            "`exported_link = Link('log')` (rgboost.losses.Link: identity, log, logistic); or "
            "store the model with pickle or joblib, which import your class."
        )
    return link


def _refuse_model(estimator: Any) -> None:
    kind = type(estimator.model_).__name__
    if hasattr(estimator.model_, "n_trees"):
        refuse(
            "Exports are sums of curves and pairs, and this is a model of trees. Fit with "
            "learner='stumps', which has both; or store the trees with save(), and predict where "
            "rgboost is installed."
        )
    refuse(
        f"Exports are sums of curves and pairs, and this is a {kind}, whose weak-learners may be "
        "functions or rows of the training data. Fit with learner='stumps', or store it with "
        "pickle or joblib."
    )


def _features(estimator: Any) -> tuple[Feature, ...]:
    schema, names = estimator.input_, estimator._feature_names()
    found = []
    for g, name in enumerate(names):
        labels = schema.labels.get(g)
        text = labels is not None and are_strings(labels)
        kind: Kind = "text" if text else "code" if schema.categorical[g] else "number"
        found.append(Feature(str(name), kind))
    return tuple(found)


def _curve(term: Any, labels: Labels) -> Curve:
    values = np.concatenate([term.values, np.asarray(term.missing, np.float64)[None]])
    return Curve(
        axis=_axis(term.feature, term.cuts, term.codes, labels),
        values=values.reshape(len(values), -1),
        weights=np.append(term.weights, term.missing_weight),
        density_edges=term.edges,
        density=term.density,
    )


def _pairs(tables: Any, labels: Labels) -> list[Pair]:
    found = []
    for j, both in enumerate(tables.features.tolist()):
        first, second = (
            _axis(g, edges, edges if tables.categorical[j, i] else None, labels)
            for i, (g, edges) in enumerate((g, tables.edges_of(j, i)) for i, g in enumerate(both))
        )
        values = tables.table(j).reshape(*tables.shape(j), -1)
        found.append(Pair((first, second), values, tables.weights_of(j)))
    return found


def _axis(g: int, cuts: Vector, codes: Vector | None, labels: Labels) -> Axis:
    if codes is None:
        return Axis(g, cuts)
    other = bool(codes[-1] == OTHERS)
    alone = codes[:-1] if other else codes
    own = labels.get(g)
    categories = alone if own is None else own[alone.astype(np.intp)]
    return Axis(g, np.empty(0), _plain(categories), other)


def _plain(labels: NDArray) -> tuple[Any, ...]:
    """Labels as values of Python, also where an array of objects has NumPy's."""
    found = (label.item() if isinstance(label, np.generic) else label for label in labels.tolist())
    return tuple("".join((label,)) if isinstance(label, str) else label for label in found)


def _check_finite(terms: Terms) -> None:
    named = [(name, term.values) for name, term in zip(terms.term_names, terms.terms, strict=True)]
    for name, values in [("the intercept", terms.intercept), *named]:
        if not np.isfinite(values).all():
            refuse(f"{name} has a value that is not finite, which no export can hold; scale y.")
