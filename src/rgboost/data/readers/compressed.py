"""Open a file of bytes, compressed or not, and read its lines."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import itertools
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from .errors import DataError

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""Compression of one stream, by the end of the file's name."""

ENDINGS = (*OPENERS, ".zip")
"""What can be read."""

_SIGNATURES = {
    b"\x1f\x8b": "gzip: give it a name that ends in .gz",
    b"BZh": "bzip2: give it a name that ends in .bz2",
    b"\xfd7zXZ\x00": "xz: give it a name that ends in .xz",
    b"PK\x03\x04": "zip: give it a name that ends in .zip",
    b"\x28\xb5\x2f\xfd": "zstd: unpack it first",
}
_DAMAGES = (
    EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile, NotImplementedError,
)  # fmt: skip
"""What the unpackers raise; the last one by zip files of a method that Python does not know."""

LONGEST_LINE = 1 << 24
"""Characters; a million columns fit."""


def split_compression(path: Path) -> tuple[str, str]:
    """The file's name without the ending of its compression, and that ending (or '')."""
    ending = path.suffix.lower()
    return (path.name[: -len(ending)], ending) if ending in ENDINGS else (path.name, "")


@contextlib.contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """The unpacked bytes of a file. Faults of the file, also while reading, become `DataError`."""
    ending = split_compression(path)[1]
    try:
        if not ending:
            _check_signature(path)
        if ending == ".zip":
            with zipfile.ZipFile(path) as archive, archive.open(_only_file(archive, path)) as one:
                yield one  # type: ignore[misc]
            return
        with OPENERS.get(ending, open)(path, "rb") as stream:
            yield stream
    except _DAMAGES as error:
        raise _damaged(path, ending, error) from error
    except OSError as error:
        if error.errno is None:  # bz2 reports damage so
            raise _damaged(path, ending, error) from error
        raise DataError(
            f"cannot be read ({os.strerror(error.errno)}), check the path", path=path
        ) from error


def _only_file(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    """The one file of an archive; what programs add for themselves does not count."""
    files = [one for one in archive.infolist() if not one.is_dir()]
    files = [one for one in files if not one.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        names = ", ".join(repr(one.filename) for one in files[:5])
        raise DataError(
            f"the archive has {len(files)} files ({names}), one is needed, unpack it", path=path
        )
    if files[0].flag_bits & 1:
        raise DataError("the archive is locked by a password, unpack it", path=path)
    return files[0]


def _check_signature(path: Path) -> None:
    with open(path, "rb") as stream:
        head = stream.read(8)
    for signature, remedy in _SIGNATURES.items():
        if head.startswith(signature):
            raise DataError(f"the content is compressed with {remedy}", path=path)


def _damaged(path: Path, ending: str, error: Exception) -> DataError:
    return DataError(
        f"the {ending} data is damaged, incomplete or of another kind ({error}), "
        "get the file again or unpack it by hand",
        path=path,
    )


def limited_lines(stream: Any, path: Path) -> Iterator[Any]:
    """The lines of a stream of bytes or text; none may fill the memory."""
    for number in itertools.count(1):
        line = stream.readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise DataError(
                f"this line is longer than {LONGEST_LINE:,} characters, check that this is the "
                "right file",
                path=path,
                line=number,
            )
        if not line:
            return
        yield line


def refuse_binary(path: Path, line: int) -> DataError:
    return DataError(
        "there is a NUL byte: the content is binary, not text, check that this is the right file",
        path=path,
        line=line,
    )
