"""The bytes of a stored model: a safetensors file with a document and a checksum.

The library of https://github.com/huggingface/safetensors writes and reads the file: it compares
every type, shape and place in the header with the bytes that are there. Two tensors are ours:
``rgboost.document`` is JSON in UTF-8, and ``rgboost.sha256`` the checksum of all others. Reading
takes as much memory as the file has bytes, twice, whatever the file says.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from .._core.atomic import write_atomically
from .._core.stored import StorageError

DOCUMENT = "rgboost.document"
CHECKSUM = "rgboost.sha256"


def write_container(
    path: str | os.PathLike[str], document: dict[str, Any], tensors: Mapping[str, NDArray]
) -> None:
    """Write a file, whole or not at all. The same content gives the same bytes."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    arrays = {DOCUMENT: np.frombuffer(text, np.uint8), **tensors}
    write_atomically(path, [save({**arrays, CHECKSUM: checksum(arrays)})])


def read_container(
    path: str | os.PathLike[str], most_bytes: int
) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Document and tensors of a file whose checksum is right."""
    data = _read_bytes(path, most_bytes)
    try:
        tensors = load(data)
    except (SafetensorError, LookupError, ValueError) as error:  # the last two: types, dimensions
        raise StorageError(
            f"It is not readable ({str(error)[:200]}): it is no stored model of rgboost, was cut "
            "off, something was appended, or it is damaged."
        ) from error
    if not {DOCUMENT, CHECKSUM} <= set(tensors):
        raise StorageError(f"It is not a stored model of rgboost: it has no tensor {DOCUMENT!r}.")
    if not np.array_equal(tensors.pop(CHECKSUM), checksum(tensors)):
        raise StorageError("Its checksum is wrong: the file is damaged; restore it from a copy.")
    return _parse(tensors.pop(DOCUMENT).tobytes()), tensors


def checksum(tensors: Mapping[str, NDArray]) -> NDArray[np.uint8]:
    """SHA-256 of names, types, shapes and data, in the order of the names."""
    digest = hashlib.sha256()
    for name, array in sorted(tensors.items()):
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return np.frombuffer(digest.digest(), np.uint8)


def _read_bytes(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """The file, if its size is right and the length of its header can be."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise StorageError("It is not a file; give the path of a stored model.")
        size = status.st_size
        if size > most_bytes:
            raise StorageError(
                f"It has {size:,} bytes and {most_bytes:,} are allowed; pass a larger max_bytes if "
                "you trust it."
            )
        length = int.from_bytes(file.read(8), "little")
        if 8 + length > size:  # seen before all of a large file that is something else is read
            raise StorageError(
                f"Its header claims {length:,} bytes and the file has {size:,}: it is no stored "
                "model of rgboost, was cut off, or is damaged."
            )
        file.seek(0)
        return file.read(size)


def _open_without_waiting(path: str, flags: int) -> int:
    """A pipe is to be refused, not to be waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _parse(text: bytes) -> dict[str, Any]:
    """A JSON object, without repeated keys and without NaN."""
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"Its document is not readable ({error}).") from error
    if not isinstance(value, dict):
        raise StorageError(f"Its document is {type(value).__name__} instead of an object.")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")
