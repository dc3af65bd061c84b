"""A file for what a fit keeps of rows that do not fit into memory. It has no name where the system
knows such files: whatever ends the process, nothing is left."""

from __future__ import annotations

import errno
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Stored(NamedTuple):
    """Where an array is in the file."""

    first_byte: int
    shape: tuple[int, ...]
    dtype: Any


class WorkFile:
    """Arrays that are written once, and mapped into memory to be read."""

    def __init__(self, folder: Path, needed: int) -> None:
        """``needed``: how many bytes are going to be written, at least."""
        self.folder = folder
        self.needed = needed
        self.size = 0
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise self._full(f"{free:,} bytes are free")
        self._file: Any = tempfile.TemporaryFile(dir=folder, prefix="rgboost-")  # noqa: SIM115

    def _full(self, what: str) -> OSError:
        return OSError(
            errno.ENOSPC,
            f"{what} in the folder {str(self.folder)!r}, and the bins and labels of the rows take "
            f"{self.needed:,}: make room, or give Chunks a work_dir that has it",
        )

    def write(self, array: NDArray) -> Stored:
        """Append an array; an error says if the disk is full."""
        where = Stored(self.size, array.shape, array.dtype)
        try:
            self._file.write(np.ascontiguousarray(array).data)
            self._file.write(b"\0" * (-array.nbytes % 8))  # words are read at multiples of 8 bytes
            self._file.flush()
        except OSError as fault:
            with suppress(OSError):  # what waits to be written does not fit, either
                self.close()
            if fault.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._full(f"only {self.size:,} bytes could be written") from fault
            raise
        self.size += array.nbytes + -array.nbytes % 8
        return where

    def read(self, stored: Stored) -> NDArray:
        """An array of the file. To write to it changes memory, not the file."""
        first, shape, dtype = stored
        if 0 in shape:
            return np.empty(shape, dtype)
        mapped = np.memmap(self._file, dtype, "c", first, shape)
        return mapped.view(np.ndarray)

    def close(self) -> None:
        """The file is gone; what was read of it is still there."""
        self._file.close()
