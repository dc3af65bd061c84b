"""The bytes of a stored model: a safetensors file that carries a text and a checksum.

    8 bytes      length of the header, little-endian
    header       JSON: every tensor's type, shape and place; ``__metadata__`` with the strings
                 format, version, document, sha256; spaces up to a multiple of 8 bytes
    data         the tensors one after the other, without holes

The checksum covers version, document, the header's entries and the data. Reading believes
nothing: lengths and places are compared with the size of the file, and the checksum with the
bytes, before memory is taken for a tensor. The format is that of
https://github.com/huggingface/safetensors, and its library reads these files.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .._core.atomic import write_atomically
from .errors import StorageError

FORMAT = "rgboost model"
HEADER_MOST = 2 << 20
"""Bytes of a header: room for long lists in the document, and not much memory to parse."""

DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_METADATA = {"format", "version", "document", "sha256"}
_ENTRY = {"dtype", "shape", "data_offsets"}
_TENSORS_MOST = 1000
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class Entry:
    """Type and shape of a tensor, and where it starts in the data."""

    dtype: str
    shape: tuple[int, ...]
    start: int

    @classmethod
    def of(cls, array: NDArray, start: int = 0) -> Entry:
        return cls(_NAMES[array.dtype], array.shape, start)

    @property
    def size(self) -> int:
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize

    def as_json(self) -> dict[str, Any]:
        place = [self.start, self.start + self.size]
        return {"dtype": self.dtype, "shape": list(self.shape), "data_offsets": place}


def write_container(
    path: str | os.PathLike[str], version: int, document: str, tensors: Mapping[str, NDArray]
) -> None:
    """Write a file, whole or not at all. The same content gives the same bytes."""
    arrays = {name: _plain(array) for name, array in tensors.items()}
    entries, start = {}, 0
    for name in sorted(arrays, key=lambda name: (-arrays[name].itemsize, name)):  # keeps alignment
        entries[name] = Entry.of(arrays[name], start)
        start += arrays[name].nbytes
    data = [arrays[name].reshape(-1).view(np.uint8).data for name in entries]
    digest = _digest(version, document, entries)
    for piece in data:
        digest.update(piece)
    metadata = {
        "format": FORMAT,
        "version": str(version),
        "document": document,
        "sha256": digest.hexdigest(),
    }
    listed = {name: entry.as_json() for name, entry in entries.items()}
    header = json.dumps({"__metadata__": metadata, **listed}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > HEADER_MOST:
        raise StorageError(
            f"The parameters of this model take {len(header):,} bytes as text and a stored model "
            f"has room for {HEADER_MOST:,}; shorten the longest of them (groups?) by set_params "
            "before saving: they are not needed to predict."
        )
    write_atomically(path, [len(header).to_bytes(8, "little"), header, *data])


def _plain(array: NDArray) -> NDArray:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


class Container:
    """An open file whose header and checksum were found to be right."""

    def __init__(
        self, file: IO[bytes], document: str, entries: dict[str, Entry], data_start: int
    ) -> None:
        self.document = document
        self.entries = entries
        self._file = file
        self._data_start = data_start

    def read(self) -> dict[str, NDArray]:
        """The tensors, in memory of their own."""
        tensors = {}
        for name, entry in self.entries.items():
            array = np.empty(entry.shape, DTYPES[entry.dtype])
            self._file.seek(self._data_start + entry.start)
            if self._file.readinto(array.reshape(-1).view(np.uint8).data) != entry.size:  # type: ignore[attr-defined]
                raise StorageError("The file became shorter while it was read; try again.")
            tensors[name] = array
        return tensors


def open_container(file: IO[bytes], version: int, most_bytes: int) -> Container:
    """Check the header and the checksum of an open file. Takes no more than a few megabytes."""
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise StorageError("It is not a file; give the path of a stored model.")
    size = status.st_size
    if size > most_bytes:
        raise StorageError(
            f"It has {size:,} bytes and {most_bytes:,} are allowed; pass a larger max_bytes if "
            "you trust it."
        )
    if size < 8:
        raise StorageError(f"It has {size} bytes: it is empty or was cut off.")
    length = int.from_bytes(file.read(8), "little")
    if length > HEADER_MOST:
        raise StorageError(
            f"Its header claims {length:,} bytes and {HEADER_MOST:,} are allowed: it is no stored "
            "model of rgboost, or it is damaged."
        )
    if 8 + length > size:
        raise StorageError(
            f"Its header claims {length:,} bytes and the file has {size:,}: it was cut off or is "
            "damaged."
        )
    header = parse_json(file.read(length), "header")
    metadata = _check_metadata(header.pop("__metadata__", None), version)
    entries = _check_entries(header, size - 8 - length)
    digest = _digest(version, metadata["document"], entries)
    for block in _blocks(file):
        digest.update(block)
    if digest.hexdigest() != metadata["sha256"]:
        raise StorageError("Its checksum is wrong: the file is damaged; restore it from a copy.")
    return Container(file, metadata["document"], entries, 8 + length)


def parse_json(text: bytes | str, what: str) -> dict[str, Any]:
    """A JSON object, without repeated keys and without NaN."""
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise StorageError(
            f"Its {what} is not readable ({error}): it is no stored model of rgboost, or it is "
            "damaged."
        ) from error
    if not isinstance(value, dict):
        raise StorageError(f"Its {what} is {type(value).__name__} instead of an object.")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _check_metadata(metadata: Any, version: int) -> dict[str, str]:
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise StorageError(
            "It is not a stored model of rgboost: the metadata of its header have no "
            f"format={FORMAT!r}."
        )
    found = metadata.get("version")
    if found != str(version):
        newer = isinstance(found, str) and re.fullmatch(r"[1-9][0-9]{0,8}", found)
        remedy = "install a newer rgboost" if newer else "it is damaged"
        raise StorageError(
            f"It has the version {_short(found)} of the format and this rgboost reads version "
            f"{version}; {remedy}."
        )
    if set(metadata) != _METADATA or not all(isinstance(v, str) for v in metadata.values()):
        raise StorageError(
            f"The metadata of its header must have the keys {', '.join(sorted(_METADATA))} and no "
            f"other, got {_short(sorted(metadata))}."
        )
    return metadata


def _check_entries(header: dict[str, Any], data_size: int) -> dict[str, Entry]:
    """The tensors in the order of their places, which must fill the data without holes."""
    if len(header) > _TENSORS_MOST:
        raise StorageError(f"It has {len(header):,} tensors and {_TENSORS_MOST:,} are allowed.")
    entries, places = {}, []
    for name, value in header.items():
        entry, stop = _check_entry(name, value)
        entries[name] = entry
        places.append((entry.start, stop, name))
    places.sort()
    reached = 0
    for start, stop, name in places:
        if start != reached or stop - start != entries[name].size:
            raise StorageError(f"Shape and place of its tensor {_short(name)} do not agree.")
        reached = stop
    if reached != data_size:
        raise StorageError(
            f"Its tensors take {reached:,} bytes and the file has {data_size:,} for them: it was "
            "cut off, something was appended, or it is damaged."
        )
    return {name: entries[name] for _, _, name in places}


def _check_entry(name: str, value: Any) -> tuple[Entry, int]:
    good = isinstance(value, dict) and set(value) == _ENTRY
    good = good and isinstance(value["dtype"], str) and value["dtype"] in DTYPES
    good = good and _are_counts(value["shape"]) and len(value["shape"]) <= 3
    good = good and _are_counts(value["data_offsets"]) and len(value["data_offsets"]) == 2
    if not good:
        raise StorageError(f"Its tensor {_short(name)} is not described as it should be.")
    start, stop = value["data_offsets"]
    return Entry(value["dtype"], tuple(value["shape"]), start), stop


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 1 << 62 for v in values)


def _digest(version: int, document: str, entries: Mapping[str, Entry]) -> Any:
    """The checksum of all but the data, to be updated with these."""
    listed = {name: entry.as_json() for name, entry in entries.items()}
    return hashlib.sha256(json.dumps([version, document, listed], sort_keys=True).encode())


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(_BLOCK_BYTES):
        yield block


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
