"""A model of two classes as a table of points."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.validation import check_positive, check_real
from ..explain import (
    GlobalExplanation,
    LocalExplanation,
    PairAxis,
    PairFunction,
    Scale,
    ShapeFunction,
)

Vector = NDArray[np.float64]


class Entry(NamedTuple):
    """A line of the table."""

    term: str
    bin: str
    points: int
    exact: float
    """Points before they were rounded."""
    weight: float
    """The weight of the training rows in the bin."""


class Rounding(NamedTuple):
    """What rounding points does to rows: the largest and the mean difference in points, and the
    mean log-loss with exact and with rounded points (None without labels)."""

    most: float
    mean: float
    exact_loss: float | None = None
    rounded_loss: float | None = None


@dataclass(frozen=True)
class Scorecard:
    """Points of a row = ``base`` + the points of its bin in every term.

    With the log-odds s of class ``label``, points are

        points - pdo log2(odds) + (pdo / log 2) s

    so that ``points`` stand for ``odds`` to one, and ``pdo`` more points for twice the odds. Means
    of terms over the training rows are in ``base``: it is what an average row has.

    Attributes
    ----------
    base
        The points that every row begins with, a whole number.
    entries
        A line for each bin of each term.
    most_off
        How far the points of a row can be from the exact ones at the very most: the sum of the
        largest roundings of all terms.
    label
        The class that many points speak for.
    pdo, odds, points
        The scale.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rgboost import RGBMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RGBMClassifier(max_iter=50, interactions=0, random_state=0).fit(X, y)
    >>> card = model.to_scorecard(pdo=20, odds=50, points=600)
    >>> card.to_frame().shape[0] == len(card.entries)
    True
    """

    base: int
    entries: list[Entry]
    most_off: float
    label: Any
    pdo: float
    odds: float
    points: float
    _model: Any
    _exact: GlobalExplanation
    _rounded: GlobalExplanation

    def score(self, X: Any) -> NDArray[np.int64]:
        """The points of every row.

        Parameters
        ----------
        X
            Rows, as for ``predict``.

        Returns
        -------
        array (rows,)
            Whole numbers.

        Examples
        --------
        >>> from rgboost import RGBMClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> model = RGBMClassifier(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> card = model.to_scorecard(pdo=20, odds=50, points=600)
        >>> card.score(X)
        array([306, 358, 615, 673])
        """
        found = LocalExplanation.of(self._rounded, self._model._check_rows(X)).score()
        return np.rint(found).astype(np.int64)

    def exact_score(self, X: Any) -> Vector:
        """Points before they were rounded: the score of the model on the scale of points.

        Parameters
        ----------
        X
            Rows, as for ``predict``.

        Returns
        -------
        array (rows,)
            Points.

        Examples
        --------
        >>> from rgboost import RGBMClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> model = RGBMClassifier(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> card = model.to_scorecard(pdo=20, odds=50, points=600)
        >>> card.exact_score(X).round(1)
        array([306.1, 358.8, 614.9, 673.6])
        """
        return LocalExplanation.of(self._exact, self._model._check_rows(X)).score()

    def predict_proba(self, X: Any) -> Vector:
        """The probability of ``label`` that the points stand for.

        Parameters
        ----------
        X
            Rows, as for ``predict``.

        Returns
        -------
        array (rows,)
            Probabilities.

        Examples
        --------
        >>> from rgboost import RGBMClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> model = RGBMClassifier(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> card = model.to_scorecard(pdo=20, odds=50, points=600)
        >>> card.predict_proba(X).round(3)
        array([0.002, 0.011, 0.988, 0.998])
        """
        return self.probability(self.score(X))

    def probability(self, points: Any) -> Vector:
        """The probability of ``label`` that these points stand for.

        Parameters
        ----------
        points
            One number, or many.

        Returns
        -------
        array
            A probability for each of them.

        Examples
        --------
        >>> from rgboost import RGBMClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> model = RGBMClassifier(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> card = model.to_scorecard(pdo=20, odds=50, points=600)
        >>> card.probability([600, 620]).round(3)  # odds of 50 to 1, and of 100 to 1
        array([0.98, 0.99])
        """
        steps = (np.asarray(points, np.float64) - self.points) * (math.log(2.0) / self.pdo)
        return 1.0 / (1.0 + np.exp(-(steps + math.log(self.odds))))

    def rounding(self, X: Any, y: Any = None, sample_weight: Any = None) -> Rounding:
        """What rounding does to these rows.

        Parameters
        ----------
        X
            Rows, as for ``predict``.
        y
            Their labels, for the losses; None leaves these out.
        sample_weight
            Weights of the rows.

        Returns
        -------
        Rounding
            The largest and the mean difference in points, and both losses.

        Examples
        --------
        >>> from rgboost import RGBMClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> model = RGBMClassifier(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> card = model.to_scorecard(pdo=20, odds=50, points=600)
        >>> found = card.rounding(X, y)
        >>> round(found.most, 2), round(found.mean, 2)
        (0.83, 0.41)
        """
        exact, rounded = self.exact_score(X), self.score(X)
        off = np.abs(exact - rounded)
        most, mean = float(off.max()), float(np.average(off, weights=sample_weight))
        if y is None:
            return Rounding(most, mean)
        own = np.where(self._labels(y, len(off)) == self.label, 1.0, -1.0)
        losses = []
        for points in (exact, rounded):
            p = self.probability(points)
            right = np.maximum(np.where(own > 0, p, 1.0 - p), np.finfo(float).tiny)
            losses.append(float(np.average(-np.log(right), weights=sample_weight)))
        return Rounding(most, mean, *losses)

    def _labels(self, y: Any, n: int) -> NDArray:
        """Labels that are classes of the model, one for each of n rows."""
        labels, classes = np.asarray(y), self._model.classes_
        if labels.shape != (n,):
            raise ValueError(f"y has the shape {labels.shape}; give a label for each of {n} rows.")
        unknown = labels[~np.isin(labels, classes)]
        if len(unknown):
            raise ValueError(
                f"y has the class {unknown.tolist()[0]!r}, which is none of {classes.tolist()}."
            )
        return labels

    def to_frame(self) -> Any:
        """The table as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            A row for each bin, with the columns of `Entry`.

        Examples
        --------
        >>> from rgboost import RGBMClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> model = RGBMClassifier(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> card = model.to_scorecard(pdo=20, odds=50, points=600)
        >>> list(card.to_frame().columns)
        ['term', 'bin', 'points', 'exact', 'weight']
        """
        import pandas as pd

        return pd.DataFrame(self.entries, columns=list(Entry._fields))

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        terms = len({entry.term for entry in self.entries})
        return f"Scorecard({terms} terms, {len(self)} bins, base={self.base}, label={self.label!r})"

    def __str__(self) -> str:
        lines = [
            f"{self.points:g} points: odds of {self.odds:g} to 1 for {self.label}; twice the odds "
            f"for {self.pdo:g} points more",
            f"base  {self.base}",
        ]
        width = max((len(entry.bin) for entry in self.entries), default=0)
        before = None
        for entry in self.entries:
            if entry.term != before:
                lines.append(entry.term)
                before = entry.term
            lines.append(f"  {entry.bin.ljust(width)}  {entry.points:+d}")
        lines.append(f"rounding moves a row by at most {self.most_off:.2f} points")
        return "\n".join(lines)


def to_scorecard(
    model: Any, pdo: float = 20.0, odds: float = 50.0, points: float = 600.0, label: Any = None
) -> Scorecard:
    """See `rgboost.RGBMClassifier.to_scorecard`."""
    pdo, odds = check_positive(pdo, "pdo"), check_positive(odds, "odds")
    points = check_real(points, "points")
    explanation: GlobalExplanation = model.explain_global()
    if explanation.classes is not None or explanation.scale.name != "log-odds":
        raise ValueError(
            f"a scorecard is of the log-odds of two classes, and this model has the "
            f"{explanation.scale.name}"
            f"{' of several classes' if explanation.classes is not None else ''}; use "
            "RGBMClassifier(loss='logistic') with two classes."
        )
    if label is not None:
        explanation = explanation.of_class(label)
    label = explanation.scale.label
    factor = pdo / math.log(2.0)
    exact = _scaled(explanation.centered(), factor, points - pdo * math.log2(odds))
    base = int(np.rint(exact.intercept))
    rounded = replace(
        exact,
        intercept=float(base),
        functions=tuple(_rounded(term) for term in exact.functions),
        pairs=tuple(_rounded(term) for term in exact.pairs),
    )
    terms = zip(exact.terms, rounded.terms, strict=True)
    off = [float(np.abs(_values(a) - _values(b)).max()) for a, b in terms]
    return Scorecard(
        base=base,
        entries=list(_entries(exact, rounded)),
        most_off=abs(exact.intercept - base) + sum(off),
        label=label,
        pdo=pdo,
        odds=odds,
        points=points,
        _model=model,
        _exact=exact,
        _rounded=rounded,
    )


def _scaled(explanation: GlobalExplanation, factor: float, start: float) -> GlobalExplanation:
    """start + factor * score, term by term."""
    scale = Scale("points", explanation.scale.label, explanation.scale.other)
    return replace(
        explanation,
        intercept=start + factor * explanation.intercept,
        functions=tuple(
            replace(
                f, values=factor * f.values, missing=factor * f.missing, scale=scale, deviation=None
            )
            for f in explanation.functions
        ),
        pairs=tuple(
            replace(p, values=factor * p.values, scale=scale, deviation=None)
            for p in explanation.pairs
        ),
        scale=scale,
    )


def _rounded(term: Any) -> Any:
    if isinstance(term, PairFunction):
        return replace(term, values=np.rint(term.values))
    return replace(term, values=np.rint(term.values), missing=float(np.rint(term.missing)))


def _values(term: ShapeFunction | PairFunction) -> Vector:
    """All values, by bins, that of missing values last."""
    if isinstance(term, PairFunction):
        return term.values
    return np.append(term.values, term.missing)


def _entries(exact: GlobalExplanation, rounded: GlobalExplanation) -> Iterator[Entry]:
    for one, other in zip(exact.terms, rounded.terms, strict=True):
        values, points = _values(one), _values(other)
        if isinstance(one, PairFunction):
            first, second = (axis.texts() for axis in one.axes)
            for i, j in np.ndindex(*values.shape):
                text = f"{first[i]}, {second[j]}"
                cell = float(values[i, j]), float(one.weights[i, j])
                yield Entry(one.name, text, int(points[i, j]), *cell)
        else:
            weights = np.append(one.weights, one.missing_weight)
            for k, text in enumerate(bin_texts(one)):
                yield Entry(one.name, text, int(points[k]), float(values[k]), float(weights[k]))


def bin_texts(shape: ShapeFunction) -> list[str]:
    """The bins of a curve in words, that of missing values last."""
    weights = np.append(shape.weights, shape.missing_weight)
    none = np.empty(0)
    axis = PairAxis(shape.feature, shape.name, shape.cuts, weights, none, none, shape.categories)
    return axis.texts()
