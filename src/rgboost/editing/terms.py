"""A model taken apart into its terms, each an array over its bins, and put together again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..model import ClassStumpModel, Coverage, PairTables, StumpModel
from ..model.bands import Bands
from ..model.category_tables import CategoryTables

Vector = NDArray[np.float64]
Array = NDArray[np.float64]
Features = tuple[int, ...]


@dataclass(frozen=True)
class Term:
    """What one feature or two add: ``values`` has an axis of bins for each feature, that of missing
    values last, and then one of scores (one, or one for each class). ``weights`` are those of the
    training rows in the bins. ``edges`` are thresholds or, where ``categorical``, the numbers of
    categories. ``density`` has edges and weights on finer cells, of a numeric curve."""

    features: Features
    categorical: tuple[bool, ...]
    edges: tuple[Vector, ...]
    values: Array
    weights: Array
    density: tuple[Vector, Vector] = (np.empty(0), np.empty(0))
    deviation: Array | None = None
    """As ``values``: how far the runs, or bags, are apart; None where that is not known."""

    @property
    def mean(self) -> Vector:
        """Over the training rows, of each score."""
        flat = self.values.reshape(self.weights.size, -1)
        return np.asarray(np.average(flat, axis=0, weights=self.weights.ravel()))

    def with_values(self, values: Array) -> Term:
        """Other values, of which no run tells how far they are apart."""
        return replace(self, values=values, deviation=None)

    def shifted(self, by: Vector) -> Term:
        """Other values that differ from these by a constant."""
        return replace(self, values=self.values + by)


@dataclass(frozen=True)
class Parts:
    """intercept + the sum of terms; ``intercept`` has an entry for each score."""

    n_features: int
    intercept: Vector
    terms: Mapping[Features, Term]
    total: float
    """The weight of the training rows."""
    classes: bool
    """Whether there is a score for each class."""
    bands: Bands | None = None
    """Of what the deviations of terms are."""

    @classmethod
    def of(
        cls, model: StumpModel | ClassStumpModel, coverage: Coverage, bands: Bands | None = None
    ) -> Parts:
        """From a model, where the training rows lie on it, and how far its runs are apart."""
        wide = model.wide
        terms: dict[Features, Term] = {}
        for one in coverage.terms(model):
            by_set = one.codes is not None
            edges = one.codes if one.codes is not None else one.cuts
            values = np.concatenate([one.values, np.asarray(one.missing, np.float64)[None]])
            terms[one.feature,] = Term(
                (one.feature,), (by_set,), (edges,), values.reshape(len(values), -1),
                np.append(one.weights, one.missing_weight), (one.edges, one.density),
            )  # fmt: skip
        pairs = wide.pairs
        for j in range(0 if pairs is None else len(pairs)):
            assert pairs is not None
            g, h = (int(g) for g in pairs.features[j])
            by_sets = bool(pairs.categorical[j, 0]), bool(pairs.categorical[j, 1])
            values = pairs.table(j).reshape(*pairs.shape(j), -1)
            both = pairs.edges_of(j, 0), pairs.edges_of(j, 1)
            terms[g, h] = Term((g, h), by_sets, both, values, pairs.weights_of(j))
        several = isinstance(model, ClassStumpModel)
        intercept = np.atleast_1d(np.asarray(wide.intercept, np.float64))
        if bands is not None:
            for key, deviation in zip(terms, bands.by_term(wide), strict=True):
                deviation = deviation.reshape(terms[key].values.shape)
                known = None if np.isnan(deviation).any() else deviation
                terms[key] = replace(terms[key], deviation=known)
        return cls(wide.n_features, intercept, terms, coverage.total, several, bands)

    def with_term(self, term: Term) -> Parts:
        """With this term, in the place of the one of the same features if there is one."""
        return replace(self, terms={**self.terms, term.features: term})

    def without(self, features: Features) -> Parts:
        kept = {other: term for other, term in self.terms.items() if other != features}
        return replace(self, terms=kept)

    def model(self) -> tuple[StumpModel | ClassStumpModel, Coverage]:
        """The model, without a path, and where the training rows lie on it."""
        curves = [self.terms[key] for key in sorted(self.terms) if len(key) == 1]
        numeric = [term for term in curves if not term.categorical[0]]
        by_set = [term for term in curves if term.categorical[0]]
        pairs = [term for key, term in self.terms.items() if len(key) == 2]
        shape = () if not self.classes else (len(self.intercept),)
        cuts = [term.edges[0] for term in numeric]
        wide = StumpModel(
            n_features=self.n_features,
            intercept=self.intercept.copy() if self.classes else float(self.intercept[0]),  # type: ignore[arg-type]
            features=np.array([term.features[0] for term in numeric], np.int64),
            starts=_starts(cuts),
            cuts=_join(cuts),
            tables=_join([term.values[:-1] for term in numeric], shape),
            missing=_join([term.values[-1:] for term in numeric], shape),
            feature=None, threshold=None, left=None, right=None, when_missing=None,
            categories=_categories(by_set, shape),
            pairs=_pairs(pairs, shape),
        )  # fmt: skip
        density = [term.density for term in numeric]
        coverage = Coverage(
            total=self.total,
            weights=_join([term.weights[:-1] for term in numeric]),
            missing=_join([term.weights[-1:] for term in numeric]),
            starts=_starts([edges for edges, _ in density]),
            edges=_join([edges for edges, _ in density]),
            density=_join([weights for _, weights in density]),
            category_weights=_join([term.weights[:-1] for term in by_set]),
            category_missing=_join([term.weights[-1:] for term in by_set]),
        )
        return (ClassStumpModel(wide) if self.classes else wide), coverage

    def made_bands(self) -> Bands | None:
        """How far the runs are apart, for the model that `model` makes."""
        if self.bands is None:
            return None
        shape = () if not self.classes else (len(self.intercept),)
        curves = [self.terms[key] for key in sorted(self.terms) if len(key) == 1]
        pairs = [term for key, term in self.terms.items() if len(key) == 2]
        own = {False: [], True: []}  # type: ignore[var-annotated]
        for term in curves:
            own[term.categorical[0]].append(_deviation(term))
        both = [_deviation(term).reshape(term.weights.size, -1) for term in pairs]
        found = [
            *(_join([d[part] for d in own[kind]], shape) for kind in (False, True)
              for part in (slice(-1), slice(-1, None))),
            _join(both, shape),
        ]  # fmt: skip
        return Bands.made(self.bands.of, self.bands.n, found)


def _deviation(term: Term) -> Array:
    return np.full(term.values.shape, np.nan) if term.deviation is None else term.deviation


def _categories(terms: list[Term], shape: tuple[int, ...]) -> CategoryTables | None:
    if not terms:
        return None
    return CategoryTables(
        features=np.array([term.features[0] for term in terms], np.int64),
        starts=_starts([term.edges[0] for term in terms]),
        values=_join([term.edges[0] for term in terms]),
        tables=_join([term.values[:-1] for term in terms], shape),
        missing=_join([term.values[-1:] for term in terms], shape),
        iteration=None,
        sets=None,
        feature=None,
    )


def _pairs(terms: list[Term], shape: tuple[int, ...]) -> PairTables | None:
    if not terms:
        return None
    edges = [some for term in terms for some in term.edges]
    return PairTables(
        features=np.array([term.features for term in terms], np.int64),
        categorical=np.array([term.categorical for term in terms], np.bool_),
        edge_starts=_starts(edges),
        edges=_join(edges),
        tables=_join([term.values.reshape(term.weights.size, -1) for term in terms], shape),
        weights=_join([term.weights.ravel() for term in terms]),
    )


def _starts(parts: list[Vector]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def _join(parts: list[Array], shape: tuple[int, ...] = ()) -> Array:
    """Arrays one after the other, with the axis of several classes or none."""
    flat = [part.reshape(len(part), *shape) for part in parts]
    return np.concatenate([*flat, np.empty((0, *shape))])
