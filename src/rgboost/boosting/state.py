"""The state of a run: what it takes to go on as if it had not stopped, to the last bit.

Scores and sums are kept as they are, not computed anew: additions in another order would differ in
the last digits. What is a function of the data alone (bins, Gram rows) is not kept, but the order
in which Gram rows were made is.

A file of a state is a NumPy archive without pickled objects.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._one_line import one_line

FORMAT = "rgboost run state 1"
Arrays = dict[str, NDArray]


@one_line
@dataclass(frozen=True)
class RunState:
    """A run between two blocks of iterations.

    ``engine`` is what goes on: "direct", "gram" or "surrogate"; ``label`` what the trace says of
    it. ``finished`` tells that the engine itself came to an end. ``rng`` is the state of the
    generator of subsets, ``rows`` the engine's sums and scores, ``trace`` what was recorded.
    ``fingerprint`` stands for the data, the loss and the weak-learners.
    """

    engine: str
    label: str
    finished: bool
    fingerprint: str
    rng: dict[str, Any]
    rows: Arrays
    trace: Arrays

    @property
    def done(self) -> int:
        """The number of iterations done."""
        return len(self.trace["learner"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file in one step: a crash leaves the file that was there before."""
        about = {
            "format": FORMAT,
            "engine": self.engine,
            "label": self.label,
            "finished": self.finished,
            "fingerprint": self.fingerprint,
            "rng": self.rng,
        }
        arrays = {f"rows.{name}": value for name, value in self.rows.items()}
        arrays |= {f"trace.{name}": value for name, value in self.trace.items()}
        path = Path(path)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            with unfinished.open("wb") as file:
                np.savez(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RunState:
        """Read a file that `save` wrote."""
        try:
            with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                if about.pop("format") != FORMAT:
                    raise KeyError("format")
                arrays = {name: file[name] for name in file.files if name != "about"}
            parts: dict[str, Any] = {"rows": {}, "trace": {}}
            for name, value in arrays.items():
                part, _, key = name.partition(".")
                parts[part][key] = value
            state = cls(**about, rows=parts["rows"], trace=parts["trace"])
            lengths = {len(state.trace[key]) for key in ("learner", "left", "right", "gradient")}
            lengths |= {len(state.trace[key]) - 1 for key in ("loss", "held_loss", "seconds")}
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as fault:
            raise ValueError(
                f"{os.fspath(path)} is not a whole checkpoint of this version of rgboost ({fault})."
            ) from fault
        if len(lengths) != 1:
            raise ValueError(f"{os.fspath(path)} is not a whole checkpoint: its parts disagree.")
        return state


def fingerprint(*parts: Any) -> str:
    """A digest of arrays, named tuples of them, and things whose ``repr`` says it all."""
    digest = hashlib.blake2b(digest_size=16)

    def add(part: Any) -> None:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)
        elif isinstance(part, tuple):
            for item in part:
                add(item)
        else:
            digest.update(repr(part).encode())

    add(parts)
    return digest.hexdigest()
