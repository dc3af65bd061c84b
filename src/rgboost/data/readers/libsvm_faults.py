"""Where a LIBSVM file is wrong, and why: looked for only when it is."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

from .compressed import limited_lines, open_binary
from .errors import DataError, shorten

_WORD = re.compile(rb"[^\s#]+|#.*", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def find_fault(
    path: Path, first_line: int, least_index: int, most_index: int, n_features: int | None
) -> DataError:
    """The first fault at or after a line; indices must be between the two given."""
    with open_binary(path) as stream:
        lines = enumerate(limited_lines(stream, path), 1)
        for number, line in itertools.islice(lines, first_line - 1, None):
            if number == 1 and line.startswith(b"\xef\xbb\xbf"):
                line = b"   " + line[3:]
            if found := _check_line(line, least_index, most_index, n_features):
                at, what = found
                return DataError(what, path=path, line=number, column=at + 1)
    return DataError(
        "this line or a later one cannot be read, write lines as: label index:value ...",
        path=path,
        line=first_line,
    )


def _check_line(
    line: bytes, least_index: int, most_index: int, n_features: int | None
) -> tuple[int, str] | None:
    """Place and description of what is wrong with a line."""
    matches = [match for match in _WORD.finditer(line) if not match.group().startswith(b"#")]
    words = [(match.start(), match.group().decode("utf-8", "replace")) for match in matches]
    if not words:
        return None
    at, label = words.pop(0)
    if what := _check_label(label):
        return at, what
    if words and re.fullmatch(r"qid:\d+", words[0][1], re.ASCII):
        words.pop(0)
    before = -1
    for at, word in words:
        if what := _check_index(word, before, least_index, most_index, n_features):
            return at, what
        index, _, value = word.partition(":")
        if what := _check_value(value):
            return at + len(index) + 1, what
        before = int(index)
    return None


def _check_label(label: str) -> str | None:
    quoted = shorten(label)
    if _NUMBER.fullmatch(label):
        if math.isfinite(float(label)):
            return None
        return f"the label {quoted} is out of range, rescale the labels"
    if re.fullmatch(r"(\d+|qid):.*", label):
        return f"the line begins with {quoted} and has no label, begin each line with its label"
    if _is_not_finite(label):
        return f"the label {quoted} is not finite, remove lines without a label"
    if "," in label:
        return (
            f"the label {quoted} is not a number, write one label per line "
            "with a decimal point (several labels are not supported)"
        )
    return f"the label {quoted} is not a number, begin each line with its label"


def _check_index(
    word: str, before: int, least_index: int, most_index: int, n_features: int | None
) -> str | None:
    index, colon, _ = word.partition(":")
    if index == "qid":
        return f"{shorten(word)} is not a query id, write qid:NUMBER right after the label"
    if not colon:
        return f"{shorten(word)} has no colon, write features as index:value"
    if re.fullmatch(r"-\d+", index):
        return f"feature index {index} is negative, number the features from 0 or 1"
    if not re.fullmatch(r"\d+", index, re.ASCII):
        return f"{shorten(index)} is not a feature index, write features as index:value"
    shown = shorten(index).strip("'")
    number = int(index) if len(index) < 100 else most_index + 1
    if number < least_index:
        return (
            f"feature index {shown} in a file whose indices start at 1, "
            "read it with zero_based=True"
        )
    if number > most_index and n_features is None:
        return (
            f"feature index {shown} is above the largest that is supported "
            f"({most_index}), renumber the features"
        )
    if number > most_index:
        return (
            f"feature index {shown} does not fit n_features={n_features}, "
            "raise n_features, or check whether indices start at 0 or at 1 (zero_based=True)"
        )
    if number < before:
        return (
            f"feature index {shown} comes after a larger one, "
            "sort the features of each line by index"
        )
    if number == before:
        return f"feature index {shown} is repeated, keep one value per feature on each line"
    return None


def _check_value(value: str) -> str | None:
    quoted = shorten(value)
    if not value:
        return "the value after the colon is missing, write features as index:value without blanks"
    if _NUMBER.fullmatch(value):
        if math.isfinite(float(value)):
            return None
        return f"the value {quoted} is out of range, rescale the feature"
    if _is_not_finite(value):
        return f"the value {quoted} is not finite, leave the feature out or write a number"
    return f"the value {quoted} is not a number, write features as index:value"


def _is_not_finite(word: str) -> bool:
    try:
        return not math.isfinite(float(word))
    except ValueError:
        return False
