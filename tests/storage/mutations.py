"""Damaged and hostile variants of a stored model, for the tests and for the fuzzer.

The damaging ones change bytes and leave the checksum as it was: such a file must be refused,
unless nothing that is read has changed. The hostile ones are made by somebody who knows the format
and sets the checksum right: such a file must be refused, or be a model that can be used.
"""

import hashlib
import json
import math
import random
import struct
from contextlib import suppress

import numpy as np

from rgboost.storage.container import CHECKSUM, DOCUMENT

DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "U8": "u1", "BOOL": "?"}

HOSTILE = [
    0, 1, -1, 2, 7, 1 << 31, 1 << 61, 1 << 63, 1 << 64, 10**400, -(1 << 63), 1.5, 1e308, True, None,
    "", "x", "F64", "I32", "__class__", "../../etc/passwd", "\ud800", [], [0], [[]], [1 << 40] * 3,
    {}, {"object": "Squared", "arguments": {}}, {"object": "eval", "arguments": {"s": "1"}},
    {"object": "Ridged", "arguments": {"inner": 1, "ridge": 1.0}}, {"tuple": 1}, {"float": "nan"},
    {"dict": [[[], 1]]}, {"dict": [1]}, {"objects": [[1], [2, 3]]}, {"objects": [1, "a"]},
    {"array": "model_.cuts"}, {"array": "classes_", "dtype": "<U99999999"}, {"array": []},
    {"array": "input_.categorical", "dtype": "|O"}, {"array": "trace_.seconds", "dtype": "<M8[s]"},
    {"array": "rgboost.sha256"}, {"array": "model_.cuts", "dtype": [["a", "<f8", [1 << 40]]]},
    {"object": "InputSchema", "arguments": {"names": None, "categorical": None, "labels": {}}},
    {"object": "StumpModel", "arguments": {}}, 10**8,
]  # fmt: skip


def split(data):
    """(header, tensors) of a good file."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def join(header, tensors):
    """A file with this header, its checksum set right."""
    tensors = bytearray(tensors)
    with suppress(KeyError, TypeError, ValueError, OverflowError, AttributeError):
        start, stop = header[CHECKSUM]["data_offsets"]  # a header that is none gets no checksum
        digest = hashlib.sha256()
        for name in sorted(set(header) - {CHECKSUM, "__metadata__"}):
            entry = header[name]
            dtype = np.dtype(DTYPES[entry["dtype"]]).str
            digest.update(json.dumps([name, dtype, entry["shape"]]).encode())
            digest.update(tensors[slice(*entry["data_offsets"])])
        if stop - start == 32:
            tensors[start:stop] = digest.digest()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + bytes(tensors)


def put_bytes(header, tensors, name, content):
    """Other bytes in a tensor, perhaps more or less of them: the places of all are set right."""
    start, stop = header[name]["data_offsets"]
    more = len(content) - (stop - start)
    for other in header.values():
        place = other.get("data_offsets")
        if place and place[0] >= stop and other is not header[name]:
            other["data_offsets"] = [place[0] + more, place[1] + more]
    header[name]["data_offsets"] = [start, stop + more]
    return tensors[:start] + content + tensors[stop:]


def bytes_of(header, tensors, name):
    return tensors[slice(*header[name]["data_offsets"])]


def with_document(data, change):
    """A file whose document was changed, by a function that is given it."""
    header, tensors = split(data)
    document = json.loads(bytes_of(header, tensors, DOCUMENT))
    change(document)
    return with_document_text(data, json.dumps(document).encode())


def with_document_text(data, text):
    header, tensors = split(data)
    header[DOCUMENT]["shape"] = [len(text)]
    return join(header, put_bytes(header, tensors, DOCUMENT, text))


def truncate(data, rng):
    return data[: rng.randrange(len(data))]


def flip_bits(data, rng):
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def flip_header_bits(data, rng):
    return flip_bits(data[:1500], rng) + data[1500:]


def overwrite(data, rng):
    start, n = rng.randrange(len(data)), rng.choice([1, 4, 8, 64, 1024])
    filler = rng.choice([bytes(n), b"\xff" * n, rng.randbytes(n), b"[" * n])
    return data[:start] + filler + data[start + n :]


def insert(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.choice([1, 8, 500])) + data[at:]


def delete(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice([1, 8, 500]) :]


def append(data, rng):
    return data + rng.choice([b"\0", b"\n", rng.randbytes(8), data])


def swap(data, rng):
    n = len(data) // 4
    a, b = rng.randrange(n), 2 * n + rng.randrange(n)
    return data[:a] + data[b : b + n] + data[a + n : b] + data[a : a + n] + data[b + n :]


def header_length(data, rng):
    length = rng.choice([0, 1, 8, 1 << 20, 1 << 31, 1 << 62, (1 << 64) - 1, rng.randrange(9999)])
    return struct.pack("<Q", length) + data[8:]


def nested_header(data, rng):
    text = rng.choice([b"[", b'{"a":', b'{"__metadata__":{"document":"']) * rng.choice(
        [10, 200_000]
    )
    return len(text).to_bytes(8, "little") + text + data[-1000:]


DAMAGING = [truncate, flip_bits, flip_header_bits, overwrite, insert, delete, append, swap,
            header_length, nested_header]  # fmt: skip


def change_node(node, rng):
    """Replace, remove, add or repeat something somewhere in a JSON value."""
    places = list(_places(node))
    parent, key = rng.choice(places)
    action = rng.randrange(4)
    if action == 0 and isinstance(parent, dict):
        del parent[key]
    elif action == 1 and isinstance(parent, dict):
        parent[rng.choice(["extra", "n_iter_", "classes_", ""])] = rng.choice(HOSTILE)
    elif action == 1:
        parent.append(rng.choice(HOSTILE))
    else:
        parent[key] = rng.choice(HOSTILE)


def _places(node):
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in pairs:
        yield node, key
        if isinstance(value, dict | list):
            yield from _places(value)


def change_header(data, rng):
    header, tensors = split(data)
    change_node(header, rng)
    return join(header, tensors)


def change_document(data, rng):
    def change(document):
        for _ in range(rng.choice([1, 1, 1, 3])):
            change_node(document, rng)

    return with_document(data, change)


def change_tensor(data, rng):
    """Other numbers in a tensor: those that indices must not have."""
    header, tensors = split(data)
    name = rng.choice([name for name in header if name != "__metadata__"])
    start, stop = header[name]["data_offsets"]
    out = bytearray(tensors)
    for _ in range(rng.choice([1, 1, 4])):
        if stop - start >= 8:
            at = start + 8 * rng.randrange((stop - start) // 8)
            value = rng.choice([-1, 0, 1, 5, 1 << 40, (1 << 63) - 1, -(1 << 63)])
            word = struct.pack("<q", value) if rng.random() < 0.7 else struct.pack(
                "<d", rng.choice([float("nan"), float("inf"), -1e308, 1e-320, 0.5]))  # fmt: skip
            out[at : at + 8] = word
        elif stop > start:
            out[rng.randrange(start, stop)] = rng.randrange(256)
    return join(header, bytes(out))


def change_shape(data, rng):
    """A tensor that is longer or shorter, with the places of all tensors set right."""
    header, tensors = split(data)
    name = rng.choice([name for name in header if name != "__metadata__"])
    entry, content = header[name], bytes_of(header, tensors, name)
    size = np.dtype(DTYPES[entry["dtype"]]).itemsize * math.prod(entry["shape"][1:])
    more = rng.choice([-1, 1, 3])
    if entry["shape"][0] + more < 0:
        return truncate(data, rng)
    entry["shape"][0] += more
    content = content[: len(content) + min(more, 0) * size] + bytes(max(more, 0) * size)
    return join(header, put_bytes(header, tensors, name, content))


def rename_tensor(data, rng):
    header, tensors = split(data)
    names = [name for name in header if name != "__metadata__"]
    a, b = rng.choice(names), rng.choice([*names, "extra", "model_.extra"])
    header[a], header[b] = header.get(b, header[a]), header.pop(a)
    return join(header, tensors)


HOSTILE_CHANGES = [change_header, change_document, change_tensor, change_shape, rename_tensor]


def mutants(files, n, seed):
    """(hostile or not, which file, its name, bytes) of n changed files."""
    rng = random.Random(seed)
    for k in range(n):
        changes = DAMAGING if k % 2 else HOSTILE_CHANGES
        change = changes[k // 2 % len(changes)]
        which = rng.randrange(len(files))
        yield changes is HOSTILE_CHANGES, which, change.__name__, change(files[which], rng)
