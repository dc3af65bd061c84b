"""LIBSVM text read by the book: slow, with regular expressions. Twin of the reader."""

from __future__ import annotations

import math
import re

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DIGITS = re.compile(rb"\d+")


class Refused(Exception):
    """The twin does not accept the text."""


def number(token):
    if not NUMBER.fullmatch(token) or not math.isfinite(float(token)):
        raise Refused(token)
    return float(token)


def index_of(token):
    """Whole numbers, also those that are written as +4 or -0."""
    if not re.fullmatch(r"[+-]?\d+", token, re.ASCII) or not 0 <= int(token) <= 2**31 - 1:
        raise Refused(token)
    return int(token)


def naive_libsvm(content: bytes):
    """Rows of (label, {index as written: value}), or `Refused`."""
    if b"\x00" in content:
        raise Refused("binary")
    rows = []
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        tokens = line.partition(b"#")[0].split()
        if not tokens:
            continue
        label = number(tokens.pop(0).decode("latin-1"))
        if tokens and tokens[0].startswith(b"qid:") and DIGITS.fullmatch(tokens[0][4:]):
            del tokens[0]
        features = {}
        for token in tokens:
            index, colon, value = token.decode("latin-1").partition(":")
            if not colon or (features and index_of(index) <= max(features)):
                raise Refused(token)
            features[index_of(index)] = number(value)
        rows.append((label, features))
    if not rows:
        raise Refused("no rows")
    return rows


def dense_rows(rows):
    """(rows of values, whether indices start at 0, width)."""
    indices = [index for _, features in rows for index in features]
    zero_based = 0 in indices
    width = max(indices, default=-1) + zero_based if indices else 0
    shift = 0 if zero_based else 1
    values = [[0.0] * width for _ in rows]
    for row, (_, features) in zip(values, rows, strict=True):
        for index, value in features.items():
            row[index - shift] = value
    return values, zero_based, width
