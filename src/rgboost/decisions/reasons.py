"""Which terms cost a row most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.validation import check_count
from ..explain import GlobalExplanation, LocalExplanation, PairFunction, Scale

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class ReasonCodes:
    """The terms that cost every row most, the worst first.

    Attributes
    ----------
    names
        Array (rows, k): names of terms; None where fewer terms cost a row anything.
    costs : array (rows, k): how much less than the reference the term adds to the score, 0 or more;
        NaN where there is none.
    values
        Array (rows, k): the value of the feature, of a pair the tuple of both.
    reference
        Array (terms,): what the terms of ``terms`` add at the reference.
    terms
        Names of all terms.
    scale
        What the score is, in words.
    compared_with
        What the reference is, in words.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rgboost import RGBMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RGBMClassifier(max_iter=50, interactions=0, random_state=0).fit(X, y)
    >>> reasons = model.reason_codes(X[:2], k=3, label=1)
    >>> len(reasons), reasons.names.shape
    (2, (2, 3))
    """

    names: NDArray[np.object_]
    costs: Vector
    values: NDArray[np.object_]
    reference: Vector
    terms: list[str]
    scale: Scale
    compared_with: str

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        lines = [f"What lowers the {self.scale} most, compared with {self.compared_with}:"]
        for i, (names, costs) in enumerate(zip(self.names, self.costs, strict=True)):
            known = [
                f"{name} = {value} ({-cost:.4g})"
                for name, cost, value in zip(names, costs, self.values[i], strict=True)
                if name is not None
            ]
            lines.append(f"  row {i}: {', '.join(known) or 'nothing'}")
        return "\n".join(lines)


def reason_codes(
    model: Any, X: Any, k: int = 3, *, reference: Any = "mean", label: Any = None
) -> ReasonCodes:
    """See `rgboost.RGBMClassifier.reason_codes`."""
    k = check_count(k, "k", 1)
    explanation = of_one_score(model.explain_global(), label)
    local = LocalExplanation.of(explanation, model._check_rows(X))
    at, words = _reference(model, explanation, local, reference)
    cost = at - local.contributions
    order = np.argsort(-cost, axis=1, kind="stable")[:, :k]
    costs = np.take_along_axis(cost, order, axis=1)
    none = costs <= 0.0
    names = np.array(local.names, object)[order]
    names[none] = None
    values = np.empty(order.shape, object)
    shown = local.shown_values()
    for i, j in np.ndindex(*order.shape):
        values[i, j] = None if none[i, j] else shown[i, order[i, j]]
    return ReasonCodes(
        names=names,
        costs=np.where(none, np.nan, costs),
        values=values,
        reference=at,
        terms=list(local.names),
        scale=explanation.scale,
        compared_with=words,
    )


def of_one_score(explanation: GlobalExplanation, label: Any) -> GlobalExplanation:
    """The explanation of one score: that of a class, if there are several."""
    if label is not None:
        return explanation.of_class(label)
    if explanation.classes is not None:
        raise ValueError(
            f"label is missing: the model has a score for each of {explanation.classes.tolist()}; "
            "say whose."
        )
    return explanation


def _reference(
    model: Any, explanation: GlobalExplanation, local: LocalExplanation, given: Any
) -> tuple[Vector, str]:
    """What the terms add at the reference, and what that is in words."""
    if isinstance(given, str):
        if given == "mean":
            return local.means, "the mean of the training rows"
        if given == "best":
            best = [_best(term) for term in explanation.terms]
            return np.array(best, np.float64), "the best that training rows have"
        raise ValueError(
            f"reference={given!r} is not known; use 'mean', 'best', or rows to compare with."
        )
    rows = LocalExplanation.of(explanation, model._check_rows(given))
    if not len(rows.values):
        raise ValueError("reference has no rows; give one at least.")
    return rows.contributions.mean(axis=0), f"the mean of {len(rows.values):,} rows"


def _best(term: Any) -> float:
    """The largest value among bins with training rows."""
    if isinstance(term, PairFunction):
        return float(term.values[term.weights > 0].max())
    values, weights = term._with_missing()
    return float(values[weights > 0].max())
