"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO


def write_atomically(path: str | os.PathLike[str], pieces: Iterable[Any]) -> None:
    """Write pieces of bytes one after the other to a file, in place of the one that is there."""
    with atomic_file(path) as file:
        for piece in pieces:
            file.write(piece)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write, in place of the one that is there.

    What is written goes to a new file in the same folder, which is flushed to the disk and takes
    the name when the block ends well. Whenever this ends, by an error or by a crash, the name has
    the old file or the new one. What is not a file (a pipe, a device) is written directly.
    """
    target = Path(os.path.realpath(path))  # through a symbolic link to the file itself
    if target.exists() and not target.is_file() and not target.is_dir():
        with open(target, "wb") as file:
            yield file
        return
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        # Not a file of `tempfile`, which only its owner may read.
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _flush_folder(folder: Path) -> None:
    """Make the new name last; where folders cannot be opened (Windows) the system sees to it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
