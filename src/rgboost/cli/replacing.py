"""Output files that appear when they are whole."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write. It takes its name when the block ends well; if not, nothing has changed.

    What is not a file (a pipe, a device) is written directly.
    """
    if path.exists() and not path.is_file():
        with open(path, "wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with open(draft, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # a full disk shows here at the latest
        os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
