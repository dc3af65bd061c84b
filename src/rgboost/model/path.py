"""What boosting added, iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
