"""What people changed in a model after it was fitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._core.stored import require
from .class_model import ClassStumpModel
from .coverage import Coverage
from .stump_model import StumpModel


@dataclass(frozen=True)
class History:
    """The edits of a model, in their order, and the model before the first of them.

    Attributes
    ----------
    edits : list of dict, as in a file of edits (see `rgboost.editing.document`), each with
        ``before``: the checksum of the model that it was made to.
    model, coverage : tables of the model before the first edit, and where its training rows lie.
    """

    edits: list[dict[str, Any]]
    model: StumpModel | ClassStumpModel
    coverage: Coverage

    def __len__(self) -> int:
        return len(self.edits)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.edits)

    def __repr__(self) -> str:
        return f"History({len(self)} edits)"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """A line for each edit: what was done to which term, and why."""
        return [
            f"{told(edit)}: {edit['reason']} (model {edit['before'][:12]})" for edit in self.edits
        ]

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`."""
        require(isinstance(self.edits, list) and self.edits, "edits_.edits")
        for edit in self.edits:
            require(isinstance(edit, dict), "edits_.edits")
            texts = all(isinstance(edit.get(key), str) for key in ("do", "reason", "before"))
            require(texts and isinstance(edit.get("term", []), list), "edits_.edits")
        require(isinstance(self.model, type(fitted["model_"])), "edits_.model")
        self.model.check_stored(fitted)
        require(isinstance(self.coverage, Coverage), "edits_.coverage")
        self.coverage.check_stored({**fitted, "model_": self.model})


def told(edit: Mapping[str, Any]) -> str:
    """An edit in a few words."""
    where = " x ".join(map(str, edit.get("term") or ()))
    what = f"{edit['do']} {where}".strip()
    bins = edit.get("bins")
    words = [] if bins is None else [f"bins {bins}"]
    for key in ("class", "value", "low", "high", "width", "direction", "along", "what", "keep"):
        if edit.get(key) is not None:
            text = str(edit[key])
            words.append(f"{key} {text if len(text) <= 40 else text[:39] + '…'}")
    return what + (f" ({', '.join(words)})" if words else "")
