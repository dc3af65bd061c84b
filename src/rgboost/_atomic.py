"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any


def write_atomically(path: str | os.PathLike[str], pieces: Iterable[Any]) -> None:
    """Write pieces of bytes one after the other to a file, in place of the one that is there.

    They go to a new file in the same folder, which is flushed to the disk and then takes the
    name. Whenever this ends, by an error or by a crash, the name has the old file or the new one.
    """
    target = Path(os.path.realpath(path))  # through a symbolic link to the file itself
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        # Not a file of `tempfile`, which only its owner may read.
        with open(draft, "xb") as file:
            for piece in pieces:
                file.write(piece)
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
