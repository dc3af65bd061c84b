"""What a comparison found: one entry for every model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ComparedModel:
    """One of the models of a comparison.

    Attributes
    ----------
    name
        Such as ``"10 pairs"``.
    loss
        Mean loss of the rows that were held out.
    difference
        How much more that is than the loss of the best model.
    standard_error
        Of the difference, from the paired differences of the rows.
    curves, heat_maps
        What there is to look at: functions of a feature, and of a pair.
    trees
        How many trees there are, which nobody looks through; 0 of sums of curves and pairs.
    seconds
        Of one fit, without those that code was compiled in.
    bytes
        Of the stored model.
    is_peer
        Whether it is somebody else's.
    estimator
        Not fitted, with these settings; None of the constant.

    Examples
    --------
    >>> from rgboost.comparison import ComparedModel
    >>> curves = ComparedModel("curves", 0.25, 0.01, 0.02, 8, 0, 0, seconds=0.1, bytes=9000.0)
    >>> curves.readable, curves.things
    (True, 8)
    """

    name: str
    loss: float
    difference: float
    standard_error: float
    curves: int
    heat_maps: int
    trees: int
    seconds: float
    bytes: float
    is_peer: bool = False
    estimator: Any = field(default=None, repr=False, compare=False)

    @property
    def readable(self) -> bool:
        """Whether it can be looked through."""
        return self.trees == 0

    @property
    def things(self) -> int | None:
        """How many curves and heat maps there are to look at; None of trees."""
        return self.curves + self.heat_maps if self.readable else None

    @property
    def size(self) -> tuple[bool, int, float]:
        """Models are ordered by it: by what there is to look at, then by bytes; those that nobody
        can look through come last."""
        stored = math.inf if math.isnan(self.bytes) else self.bytes
        return not self.readable, self.things or 0, stored

    def record(self) -> dict[str, Any]:
        """The entry as plain values."""
        names = ("loss", "difference", "standard_error", "curves", "heat_maps", "trees")
        found = {"model": self.name, **{name: getattr(self, name) for name in names}}
        return found | {"things": self.things, "seconds": self.seconds, "bytes": self.bytes}


@dataclass(frozen=True)
class Compared:
    """The models in the order of their size, and what they were compared on."""

    models: tuple[ComparedModel, ...]
    errors: tuple[tuple[float, ...], ...]
    """Standard errors of the differences between the losses of every two."""
    measure: str
    """What the loss is called, such as ``1 - R²``."""
    n_rows: int
    n_features: int
    n_held_out: int
    n_fits: int
    """How often each was fitted: once for every fold."""
    target: str = ""
    left_out: dict[str, str] = field(default_factory=dict)
    """Models that cannot be had on these rows, and why."""

    @property
    def best(self) -> ComparedModel:
        """The model with the smallest loss."""
        return min(self.models, key=lambda one: one.loss)

    @property
    def smallest(self) -> ComparedModel:
        """The smallest model whose loss is within one standard error of the best; or one that is
        smaller still, and whose loss is not larger than that model's."""
        return self.no_worse(self.smallest_close(self.models), self.models)

    @property
    def smallest_readable(self) -> ComparedModel:
        """The same among the models that can be looked through."""
        readable = [one for one in self.models if one.readable]
        return self.no_worse(self.smallest_close(readable), readable)

    def smallest_close(self, models: Sequence[ComparedModel]) -> ComparedModel:
        """Of some models, the smallest whose loss is within one standard error of their best."""
        best = min(models, key=lambda one: one.loss)
        close = [one for one in models if one.loss - best.loss <= self.error(one, best)]
        return min(close, key=lambda one: one.size)

    def no_worse(self, chosen: ComparedModel, models: Sequence[ComparedModel]) -> ComparedModel:
        """The smallest that is no worse than the chosen one."""
        return min((one for one in models if one.loss <= chosen.loss), key=lambda one: one.size)

    def error(self, one: ComparedModel, other: ComparedModel) -> float:
        """The standard error of the difference between the losses of two models."""
        names = [model.name for model in self.models]
        return self.errors[names.index(one.name)][names.index(other.name)]

    @property
    def table(self) -> list[dict[str, Any]]:
        """An entry for each model, the smallest first."""
        return [one.record() for one in self.models]

    def __getitem__(self, name: str) -> ComparedModel:
        for one in self.models:
            if one.name == name:
                return one
        names = ", ".join(repr(one.name) for one in self.models)
        raise KeyError(f"there is no model {name!r}; there are {names}")

    def to_frame(self) -> Any:
        """The table as a pandas data frame, with the names of the models as index."""
        import pandas

        frame = pandas.DataFrame(self.table).set_index("model")
        return frame.astype({"things": "Int64"})
