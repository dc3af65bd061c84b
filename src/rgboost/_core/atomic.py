"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows, which does not remove a file that somebody has open
    fcntl = None  # type: ignore[assignment]


def write_atomically(path: str | os.PathLike[str], pieces: Iterable[Any]) -> None:
    """Write pieces of bytes one after the other to a file, in place of the one that is there."""
    with atomic_file(path) as file:
        for piece in pieces:
            file.write(piece)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write, in place of the one that is there.

    What is written goes to a draft, a new file in the same folder, which is flushed to the disk and
    takes the name when the block ends well. Whenever this ends, by an error or by a crash, the name
    has the old file or the new one; a draft that a crash left is removed the next time. Several
    writers have drafts of their own, and the last one to end has the name. What is not a file (a
    pipe, a device) is written directly.
    """
    target = Path(os.path.realpath(path))  # through a symbolic link to the file itself
    if target.exists() and not target.is_file() and not target.is_dir():
        with open(target, "wb") as pipe:
            yield pipe
        return
    for left in target.parent.glob(f".{escape(target.name)}.{'?' * 16}.part"):
        _remove_abandoned(left)
    draft, file = _open_draft(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:  # an open file keeps its name there; elsewhere it stays locked
                file.close()
            os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _open_draft(target: Path) -> tuple[Path, BinaryIO]:
    """A new file that is locked as long as it is open, also by a process that is killed."""
    while True:
        draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
        file = open(draft, "xb")  # noqa: SIM115  # not `tempfile`: only its owner may read those
        with suppress(OSError):  # a file system without locks
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
        if draft.exists():
            return draft, file
        file.close()  # somebody took it for abandoned before it was locked


def _remove_abandoned(draft: Path) -> None:
    """Remove a draft that nobody has open."""
    with suppress(OSError):
        if fcntl is None:
            draft.unlink()
        else:
            with open(draft, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()


def _flush_folder(folder: Path) -> None:
    """Make the new name last; where folders cannot be opened (Windows) the system sees to it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
