"""What boosting added, iteration by iteration, and what that adds to every bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.one_line import one_line


@one_line
@dataclass(frozen=True)
class Path:
    """The weak-learners that were added, one entry an iteration.

    ``choices`` has a dtype that the family of weak-learners declares, and only the family knows
    what its fields mean (`rgboost.learners.base.Prepared.choice_type`). They are read as
    attributes: ``path.learner``.
    """

    choices: NDArray

    @classmethod
    def of(cls, **fields: Any) -> Path:
        """A path from arrays by name; None is no field."""
        arrays = {name: np.asarray(values) for name, values in fields.items() if values is not None}
        kinds = [(name, values.dtype, values.shape[1:]) for name, values in arrays.items()]
        choices = np.empty(len(next(iter(arrays.values()))), kinds)
        for name, values in arrays.items():
            choices[name] = values
        return cls(choices)

    def __len__(self) -> int:
        return len(self.choices)

    def __getattr__(self, name: str) -> NDArray:
        return field_of(self.__dict__.get("choices"), name)

    def has(self, name: str) -> bool:
        """Whether the choices have such a field."""
        return name in (self.choices.dtype.names or ())

    def part(self, start: int, stop: int) -> Path:
        """The iterations from ``start`` on, before ``stop``."""
        return Path(self.choices[start:stop])


def field_of(choices: NDArray | None, name: str) -> NDArray:
    """A field of choices, as an array by itself."""
    names = () if choices is None else choices.dtype.names or ()
    if choices is None or name not in names:
        raise AttributeError(f"there is no {name!r}; the fields of the choices are {list(names)}.")
    return np.ascontiguousarray(choices[name])


def not_stored(what: str) -> AttributeError:
    """The error of somebody who asks for what only the path can tell."""
    return AttributeError(
        f"{what} need the path of the model, and it was stored without; store it by "
        "save(path, full=True), or pickle it with warm_start=True."
    )


def no_stages() -> AttributeError:
    """The error of somebody who asks a model with pairs for its stages."""
    return AttributeError(
        "a model with pairs of features has no stages: what its pairs share with single features "
        "was moved to the curves of these; fit with interactions=0 for staged predictions."
    )


def bits_of(sets: NDArray[np.uint8], n: int) -> NDArray[np.bool_]:
    """The first n bits of each row."""
    return np.unpackbits(sets, axis=1, count=n, bitorder="little").astype(bool)


def path_tables(
    offsets: NDArray[np.int64],
    learner: NDArray[np.int64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The tables of some iterations, bin by bin; see `rgboost.statistics.memory`."""
    tables = np.zeros(int(offsets[-1]) + len(offsets) - 1)
    add_path(offsets, learner, left, right, tables)
    return tables


@kernel()
def add_path(offsets, learner, left, right, tables):
    """Jumps of all stumps where they are, then their running sums."""
    for m in range(learner.shape[0]):
        if learner[m] >= 0:
            g = np.searchsorted(offsets, learner[m], side="right") - 1
            tables[offsets[g] + g] += left[m]
            tables[learner[m] + g + 1] += right[m] - left[m]
    for g in range(offsets.shape[0] - 1):
        for k in range(offsets[g] + g, offsets[g + 1] + g):
            tables[k + 1] += tables[k]


@kernel()
def add_mixed_path(splits, columns, learner, left, right, sets, tables):
    """What each step adds to the bins of its feature; see `mixed_splits.bin_values`."""
    for i in range(learner.shape[0]):
        if learner[i] < 0:
            continue
        g = np.searchsorted(splits.offsets, learner[i], side="right") - 1
        split, m, start = learner[i] - splits.offsets[g], columns.n_values[g], columns.bin_start[g]
        last_left = split - m if split >= m else split
        left_weight = 0.0
        for b in range(columns.n_bins[g]):
            if columns.categorical[g]:
                on_left = sets[i, b // 8] >> (b % 8) & 1 == 1
            else:
                on_left = split >= m if b == m else b <= last_left
            tables[start + b] += left[i] if on_left else right[i]
            left_weight += columns.bin_weight[start + b] if on_left else 0.0
        if columns.n_bins[g] == m:  # nothing was missing
            share = left_weight / splits.total_weight
            tables[start + m] += share * left[i] + (1.0 - share) * right[i]
