"""The state of a run: what it takes to go on as if it had not stopped, to the last bit.

Scores and sums are kept as they are, not computed anew: additions in another order would differ in
the last digits. What is a function of the data alone (bins, Gram rows) is not kept, but the order
in which Gram rows were made is.

A file of a state is a line that names the format, a digest of the rest, and a NumPy archive without
pickled objects.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._core.atomic import atomic_file
from .._core.one_line import one_line, shortened

FORMAT = b"rgboost run state 4\n"
Arrays = dict[str, NDArray]


@one_line
@dataclass(frozen=True)
class RunState:
    """A run between two blocks of iterations.

    ``engine`` is what goes on: "direct", "gram" or "quadratic"; ``begun`` the one that the run
    began with; ``label`` what the trace says to people. ``finished`` tells that the engine itself
    came to an end. ``rng`` is the state of the generator of subsets, ``rows`` the engine's sums and
    scores, ``trace`` what was recorded. ``fingerprint`` stands for the data, the loss and the
    weak-learners; ``settings`` are the parameters that its iterations follow, as text (see
    `settings_of`).

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import Stumps, boost
    >>> from rgboost.losses import Squared
    >>> from rgboost.selection import RandomGroups
    >>> from rgboost.steps import ConstantStep
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1]
    >>> rules = dict(learner=Stumps(max_bins=16), selection=RandomGroups(1), step=ConstantStep())
    >>> first = boost(X, y, loss=Squared(), n_iter=50, random_state=0, keep_state=True, **rules)
    >>> longer = boost(X, y, loss=Squared(), n_iter=80, random_state=0, resume=first.state, **rules)
    >>> first.state.done, len(longer.trace)
    (50, 80)
    """

    engine: str
    begun: str
    label: str
    finished: bool
    fingerprint: str
    settings: dict[str, str]
    rng: dict[str, Any]
    rows: Arrays
    trace: Arrays

    @property
    def done(self) -> int:
        """The number of iterations done."""
        return len(self.trace["choices"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file in one step: a crash leaves the file that was there before."""
        about = {name: value for name, value in vars(self).items() if name not in _PARTS}
        arrays = {
            f"{part}.{name}": value
            for part in _PARTS
            for name, value in getattr(self, part).items()
        }
        with atomic_file(path) as file:
            file.write(FORMAT + bytes(_DIGEST_BYTES))
            np.savez(file, about=np.array(json.dumps(about)), **arrays)
            file.flush()
            with open(file.name, "rb") as written:
                written.seek(_BEGINNING)
                digest = _digest_of(written)
            file.seek(len(FORMAT))
            file.write(digest)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RunState:
        """Read a file that `save` wrote; ValueError if what is there is not one."""
        if Path(path).exists() and not Path(path).is_file():  # a pipe would be waited for
            raise _not_whole(path, "it is not a file")
        with open(path, "rb") as file:
            head = file.read(_BEGINNING)
            if head[: len(FORMAT)] != FORMAT:
                raise _not_whole(path, "it does not begin like one")
            if head[len(FORMAT) :] != _digest_of(file):
                raise _not_whole(path, "its digest is wrong: it is damaged or was cut off")
            file.seek(_BEGINNING)
            try:
                return cls(**_read(file))
            except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as fault:
                raise _not_whole(path, str(fault)) from fault


_PARTS = ("rows", "trace")
"""Fields of a state that are arrays by name."""
_DIGEST_BYTES = 32
_BEGINNING = len(FORMAT) + _DIGEST_BYTES
"""Where the archive begins."""


def _read(file: BinaryIO) -> dict[str, Any]:
    """The fields of a state."""
    with np.load(file, allow_pickle=False) as archive:
        fields = dict(json.loads(str(archive["about"])))
        fields |= {part: {} for part in _PARTS}
        for name in archive.files:
            part, _, key = name.partition(".")
            if key:
                fields[part][key] = archive[name]
    return fields


def _digest_of(file: BinaryIO) -> bytes:
    """A digest of what is left of a file."""
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.digest()


def _not_whole(path: str | os.PathLike[str], why: str) -> ValueError:
    return ValueError(
        f"{os.fspath(path)} is not a whole checkpoint of this version of rgboost: {why}."
    )


def settings_of(**settings: Any) -> dict[str, str]:
    """Parameters as text that can be compared. A seed that nobody can name is left out."""
    seed = settings.get("random_state")
    if seed is None or isinstance(seed, np.random.Generator):
        settings.pop("random_state", None)
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return {name: repr(value) for name, value in settings.items()}


def check_settings(state: RunState, settings: dict[str, str]) -> None:
    """Raise if the run of a state had others of these parameters."""
    others = []
    for name, now in settings.items():
        then = state.settings.get(name, now)
        if then != now and name == "random_state":  # what an estimator makes of its own is no help
            others.append("another random_state")
        elif then != now:
            others.append(f"{name}={shortened(then, 60)}, not {shortened(now, 60)}")
    if others:
        raise ValueError(
            f"The run to go on with had {' and '.join(others)}; give what that run had, or begin "
            "anew."
        )


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
