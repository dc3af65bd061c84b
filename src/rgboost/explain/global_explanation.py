"""A model as a sum of functions of one feature each, and of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import brief
from .._core.svg import row_of
from ..model import Coverage
from ..model.bands import Bands
from .band import Deviation
from .frames import make_frame
from .pair_function import PairFunction, pair_functions
from .pictures import global_pictures
from .scale import SCORE, Scale
from .shape_function import ShapeFunction, labels_of

Term = ShapeFunction | PairFunction


@dataclass(frozen=True)
class GlobalExplanation:
    """score(x) = intercept + sum of the shape functions + sum of the pairs.

    ``functions`` has those of the features that the model uses: categorical features first, then
    the others, each in the order of the features. ``explanation["name"]`` or
    ``explanation[index]`` gives that of any feature (of an unused one: zero). ``pairs`` has those
    of two features, the strongest first; ``explanation["name", "other name"]`` gives one of them.
    ``importances`` has an entry per feature, see ``feature_importances_``. With more than two
    classes there is a score for each: ``intercept`` and the values of functions have an entry for
    each of ``classes``. ``scale`` says in words what the score is, such as "log-odds of class yes".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=200, random_state=0).fit(X, y)
    >>> shape = model.explain_global()["sex"]
    >>> shape.edges.round(3), shape.weights
    (array([ -inf, 0.003,   inf]), array([235., 207.]))
    """

    intercept: Any
    functions: tuple[ShapeFunction, ...]
    names: Sequence[str]
    total_weight: float
    classes: NDArray | None = None
    scale: Scale = SCORE
    pairs: tuple[PairFunction, ...] = ()

    @classmethod
    def of(
        cls,
        model: Any,
        coverage: Coverage | None,
        names: Sequence[str],
        labels: Mapping[int, NDArray] | None = None,
        classes: NDArray | None = None,
        scale: Scale = SCORE,
        bands: Bands | None = None,
    ) -> GlobalExplanation:
        """From the tables of a fitted model; ``explain_global`` of the estimators calls it.

        Parameters
        ----------
        model, coverage
            The tables, and the training rows on them.
        names
            Names of all features.
        labels
            ``labels[g]`` are those of feature g's categories.
        classes, scale
            The classes, and what the score is.
        bands
            How far runs or bags are apart.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> found = model.explain_global()  # rather than by hand
        >>> found.names[0], float(found.total_weight)
        ('x0', 4.0)
        """
        if coverage is None:
            why = getattr(model, "no_functions", f"this one is of {type(model).__name__}.")
            raise TypeError(f"Only models of stumps have shape functions; {why}")
        classes = classes if np.ndim(model.intercept) else None
        functions = tuple(
            ShapeFunction(
                feature=term.feature,
                name=str(names[term.feature]),
                cuts=term.cuts,
                values=term.values,
                weights=term.weights,
                density_edges=term.edges,
                density=term.density,
                missing=term.missing,
                missing_weight=term.missing_weight,
                categories=labels_of(term.codes, (labels or {}).get(term.feature)),
                codes=term.codes,
                classes=classes,
                scale=scale,
            )
            for term in coverage.terms(model)
        )
        tables = model.wide.pairs
        pairs = tuple(pair_functions(tables, functions, names, labels or {}, classes, scale))
        found = cls(model.intercept, functions, names, coverage.total, classes, scale, pairs)
        return found if bands is None else found._with_bands(bands, model.wide)

    def _with_bands(self, bands: Bands, wide: Any) -> GlobalExplanation:
        """The same functions, and how far runs or bags are apart."""
        found: list[Any] = []
        for term, values in zip(self.terms, bands.by_term(wide), strict=True):
            shape = values.shape
            if isinstance(term, PairFunction):
                shape = term.values.shape
            deviation = Deviation(bands.of, bands.n, values.reshape(shape))
            known = not np.isnan(values).any()
            found.append(replace(term, deviation=deviation if known else None))
        n = len(self.functions)
        return replace(self, functions=tuple(found[:n]), pairs=tuple(found[n:]))

    @property
    def terms(self) -> tuple[Term, ...]:
        """Functions of one feature, then pairs: in the order in which they are added."""
        return (*self.functions, *self.pairs)

    @property
    def importances(self) -> NDArray[np.float64]:
        """Of all features: that of its function, and half of that of each of its pairs."""
        found = np.zeros(len(self.names))
        for g, share in self.importance_of_used.items():
            found[g] = share
        return found

    @property
    def importance_of_used(self) -> dict[int, float]:
        """The importances of the features that the model uses, by their indices: of millions of
        features they are few."""
        found: dict[int, float] = {}
        for term, share in zip(self.terms, self.term_importances.tolist(), strict=True):
            for g in term.features:
                found[g] = found.get(g, 0.0) + share / len(term.features)
        return found

    @property
    def term_importances(self) -> NDArray[np.float64]:
        """Standard deviations of all terms over the training rows, divided by their sum."""
        spread = np.array([term.spread for term in self.terms], np.float64)
        total = spread.sum()
        return spread / total if total > 0 else spread

    def by_importance(self) -> list[ShapeFunction]:
        """The functions of one feature, the most important one first.

        Ties are in the order of the features.

        Returns
        -------
        list of ShapeFunction
            The functions.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> model.explain_global().by_importance()
        [ShapeFunction('x0', 4 steps, from -1.75 to 2.25)]
        """
        return sorted(self.functions, key=lambda shape: -shape.spread)

    def terms_by_importance(self) -> list[Term]:
        """Functions and pairs, the most important one first; ties in the order of `terms`.

        Returns
        -------
        list of ShapeFunction and PairFunction
            The terms.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> len(explanation.terms_by_importance()) == len(explanation.terms)
        True
        """
        return sorted(self.terms, key=lambda term: -term.spread)

    def to_frame(self, backend: str = "pandas") -> Any:
        """The functions of one feature as one data frame, one below the other.

        Columns are those of `ShapeFunction.to_frame`. Pairs have frames of their own:
        `PairFunction.to_frame`.

        Parameters
        ----------
        backend
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``.

        Returns
        -------
        data frame
            A row for each step or category.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> model.explain_global().to_frame()["weight"].tolist()  # missing values last
        [1.0, 1.0, 1.0, 1.0, 0.0]
        """
        none = self[0].to_columns()
        tables = [shape.to_columns() for shape in self.functions]
        found = {name: [v for table in tables for v in table[name]] for name in none}
        return make_frame(found, backend)

    def together(self, first: str | int, second: str | int) -> PairFunction:
        """What two features say in all: their pair with both of their curves added.

        Parameters
        ----------
        first, second
            Names or indices of the features.

        Returns
        -------
        PairFunction
            The sum, with ``whole`` True.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> explanation.together(0, 1).whole
        True
        """
        pair = self[first, second]
        return pair.with_curves(*(self[g] for g in pair.features))

    def centered(self) -> GlobalExplanation:
        """The same model with functions of mean zero; their means go to the intercept.

        Returns
        -------
        GlobalExplanation
            The model, whose intercept is the mean score.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> round(float(model.explain_global().centered().intercept), 2)
        1.75
        """
        means: Any = sum(term.mean for term in self.terms)
        return replace(
            self,
            intercept=self.intercept + means,
            functions=tuple(shape.centered() for shape in self.functions),
            pairs=tuple(pair.centered() for pair in self.pairs),
        )

    def __repr__(self) -> str:
        several = "" if self.classes is None else f", {len(self.classes)} classes"
        pairs = f", {len(self.pairs)} pairs" if self.pairs else ""
        return (
            f"GlobalExplanation({len(self)} shape functions of {len(self.names)} features{pairs}"
            f"{several}, intercept={brief(self.intercept)}, total_weight={self.total_weight:.6g})"
        )

    def _repr_html_(self) -> str:
        return row_of(*global_pictures(self))

    def of_class(self, label: Any) -> GlobalExplanation:
        """The model of a class's score; of the first of two, with signs turned.

        Parameters
        ----------
        label
            One of the classes.

        Returns
        -------
        GlobalExplanation
            The model of one score.

        Examples
        --------
        >>> from rgboost import RGBMClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> model = RGBMClassifier(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> explanation = model.explain_global()
        >>> str(explanation.of_class("no").scale)
        'log-odds of class no'
        """
        scale, take = self.scale.choose(label, self.classes)
        return replace(
            self,
            intercept=float(take(self.intercept)),
            functions=tuple(shape.of_class(label) for shape in self.functions),
            pairs=tuple(pair.of_class(label) for pair in self.pairs),
            classes=None,
            scale=scale,
        )

    def __len__(self) -> int:
        return len(self.functions)

    def __iter__(self) -> Iterator[ShapeFunction]:
        return iter(self.functions)

    @overload
    def __getitem__(self, feature: str | int) -> ShapeFunction: ...

    @overload
    def __getitem__(self, feature: tuple[str | int, str | int]) -> PairFunction: ...

    def __getitem__(self, feature: Any) -> Term:
        if isinstance(feature, tuple):
            return self._pair(feature)
        g = self._index(feature)
        for shape in self.functions:
            if shape.feature == g:
                return shape
        none, zero = np.empty(0), np.zeros(np.shape(self.intercept))
        rows = np.array([self.total_weight])
        missing = zero if zero.ndim else 0.0
        name = str(self.names[g])
        return ShapeFunction(
            g,
            name,
            none,
            zero[None],
            rows,
            none,
            rows,
            missing,
            classes=self.classes,
            scale=self.scale,
        )

    def _pair(self, features: tuple[str | int, ...]) -> PairFunction:
        wanted = {self._index(feature) for feature in features}
        for pair in self.pairs:
            if len(features) == 2 and set(pair.features) == wanted:
                return pair
        some = ", ".join(pair.name for pair in self.pairs[:5]) or "none"
        more = f" and {len(self.pairs) - 5} more" if len(self.pairs) > 5 else ""
        asked = " x ".join(str(feature) for feature in features)
        raise KeyError(f"the model has no pair {asked}; its pairs are {some}{more}")

    def _index(self, feature: str | int) -> int:
        if isinstance(feature, str):
            found = [g for g, name in enumerate(self.names) if name == feature]
            if found:
                return found[0]
            some = ", ".join(repr(name) for name in self.names[:5])
            raise KeyError(f"no feature has the name {feature!r}; the first of them are {some}")
        if not 0 <= feature < len(self.names):
            raise IndexError(f"feature {feature} does not exist; use 0 to {len(self.names) - 1}")
        return int(feature)
