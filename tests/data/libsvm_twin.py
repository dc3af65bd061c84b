"""LIBSVM text read by the book: slow, with regular expressions. Twin of the compiled parser."""

from __future__ import annotations

import math
import re

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INDEX = re.compile(r"\d+", re.ASCII)


class Refused(Exception):
    """The twin does not accept the text."""


def number(token):
    if not NUMBER.fullmatch(token) or not math.isfinite(float(token)):
        raise Refused(token)
    return float(token)


def naive_libsvm(content: bytes):
    """Rows of (label, qid or None, {index as written: value}), or `Refused`."""
    if b"\x00" in content[:512]:
        raise Refused("binary")
    text = content.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    rows = []
    for line in text.split("\n"):
        tokens = re.split(r"[ \t\r]+", line.partition("#")[0].strip(" \t\r"))
        if tokens == [""]:
            continue
        label = number(tokens.pop(0))
        query = None
        if tokens and tokens[0].startswith("qid:"):
            digits = tokens.pop(0)[4:]
            if not INDEX.fullmatch(digits) or int(digits) > 9 * 10**17:
                raise Refused(digits)
            query = int(digits)
        features = {}
        for token in tokens:
            index, colon, value = token.partition(":")
            if not colon or not INDEX.fullmatch(index) or int(index) > 2**31 - 1:
                raise Refused(token)
            if features and int(index) <= max(features):
                raise Refused(token)
            features[int(index)] = number(value)
        rows.append((label, query, features))
    if not rows or len({query is None for _, query, _ in rows}) > 1:
        raise Refused("no rows, or a qid on some of them")
    return rows


def dense_rows(rows):
    """(rows of values, whether indices start at 0, width)."""
    indices = [index for _, _, features in rows for index in features]
    zero_based = 0 in indices
    width = max(indices, default=-1) + zero_based if indices else 0
    shift = 0 if zero_based else 1
    values = [[0.0] * width for _ in rows]
    for row, (_, _, features) in zip(values, rows, strict=True):
        for index, value in features.items():
            row[index - shift] = value
    return values, zero_based, width
