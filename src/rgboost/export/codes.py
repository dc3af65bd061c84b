"""One code for each value of a feature, whatever terms it is in: their bins follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .terms import Axis, Curve, Pair, Vector


@dataclass(frozen=True)
class Codes:
    """The union of the bins of some axes of a feature.

    With K edges or categories there are the codes 0 to K + 1. Of numbers: how many edges are below
    the value, and K + 1 if it is missing. Of categories: its place, K if it is not known, and K + 1
    if it is missing.
    """

    edges: Vector
    categories: tuple[Any, ...] | None = None

    @classmethod
    def of(cls, axes: Sequence[Axis]) -> Codes:
        """Of axes of the same feature."""
        if axes[0].categories is None:
            return cls(np.unique(np.concatenate([axis.edges for axis in axes])))
        known = {label for axis in axes for label in axis.categories or ()}
        return cls(np.empty(0), tuple(sorted(known)))

    @property
    def unknown(self) -> int:
        """The code of numbers above all edges, or of other categories."""
        return len(self.edges) if self.categories is None else len(self.categories)

    @property
    def missing(self) -> int:
        return self.unknown + 1

    def bins(self, axis: Axis) -> NDArray[np.int64]:
        """The bin of an axis for every code."""
        if self.categories is None:
            found = np.searchsorted(axis.edges, np.append(self.edges, np.inf))
            return np.append(found, axis.missing)
        place = {label: k for k, label in enumerate(axis.categories or ())}
        known = [place.get(label, axis.unknown) for label in self.categories]
        return np.array([*known, axis.unknown, axis.missing], np.int64)


def codes_of(terms: Sequence[Curve | Pair]) -> dict[int, Codes]:
    """The codes of the features that are in some terms."""
    axes: dict[int, list[Axis]] = {}
    for term in terms:
        for axis in term.axes:
            axes.setdefault(axis.feature, []).append(axis)
    return {g: Codes.of(axes[g]) for g in sorted(axes)}
