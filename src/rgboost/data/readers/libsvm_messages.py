"""Words for the faults that the LIBSVM parser finds."""

from __future__ import annotations

import math
import re

from . import libsvm_kernels as k
from .errors import shorten

_TOKEN = re.compile(rb"[^ \t\r\n#]*")


def token_at(text: memoryview, at: int) -> str:
    """The token that begins at ``text[at]``."""
    match = _TOKEN.match(text, at)
    return match.group().decode("utf-8", "replace") if match else ""


def describe(status: int, token: str, rules: k.Rules, n_features: int | None) -> str:
    """What is wrong with a token, and what to do."""
    quoted = shorten(token)
    index = shorten(token.partition(":")[0]).strip("'")
    match status:
        case k.BAD_LABEL:
            return _bad_label(token)
        case k.BAD_FEATURE:
            return _bad_feature(token)
        case k.INDEX_BELOW:
            return (
                f"feature index {index} in a file whose indices start at 1, "
                "read it with zero_based=True"
            )
        case k.INDEX_ABOVE if n_features is None:
            return (
                f"feature index {index} is above the largest that is supported "
                f"({rules.most_index}), renumber the features"
            )
        case k.INDEX_ABOVE:
            return index_above(index, n_features)
        case k.UNSORTED:
            return (
                f"feature index {index} comes after a larger one, "
                "sort the features of each line by index"
            )
        case k.REPEATED:
            return f"feature index {index} is repeated, keep one value per feature on each line"
        case k.BAD_VALUE:
            return _bad_value(quoted, token)
        case k.LABEL_TOO_LARGE:
            return f"the label {quoted} is out of range, rescale the labels"
        case k.VALUE_TOO_LARGE:
            return f"the value {quoted} is out of range, rescale the feature"
        case k.BAD_QUERY:
            return f"{quoted} is not a query id, write qid: and a whole number below 9e17"
        case k.QUERY_MISSING:
            return "this line has no qid, but the ones before have, give all lines a qid or none"
        case k.QUERY_UNEXPECTED:
            return (
                "this line has a qid, but the ones before have none, give all lines a qid or none"
            )
    raise AssertionError(f"status {status}")


def index_above(index: str | int, n_features: int | None) -> str:
    return (
        f"feature index {index} does not fit n_features={n_features}, "
        "raise n_features, or check whether indices start at 0 or at 1 (zero_based)"
    )


def _bad_label(token: str) -> str:
    quoted = shorten(token)
    if re.fullmatch(r"(\d+|qid):.*", token):
        return f"the line begins with {quoted} and has no label, begin each line with its label"
    if _is_not_finite(token):
        return f"the label {quoted} is not finite, remove lines without a label"
    if "," in token:
        return (
            f"the label {quoted} is not a number, write one label per line "
            "with a decimal point (several labels are not supported)"
        )
    return f"the label {quoted} is not a number, begin each line with its label"


def _bad_feature(token: str) -> str:
    quoted = shorten(token)
    if token.startswith("qid:"):
        return f"{quoted} is not the second word of its line, write qid right after the label"
    index, colon, _ = token.partition(":")
    if not colon:
        return f"{quoted} has no colon, write features as index:value"
    if re.fullmatch(r"-\d+", index):
        return f"feature index {index} is negative, number the features from 0 or 1"
    return f"{shorten(index)} is not a feature index, write features as index:value"


def _bad_value(quoted: str, token: str) -> str:
    if not token:
        return "the value after the colon is missing, write features as index:value without blanks"
    if _is_not_finite(token):
        return f"the value {quoted} is not finite, leave the feature out or write a number"
    return f"the value {quoted} is not a number, write features as index:value"


def _is_not_finite(token: str) -> bool:
    try:
        return not math.isfinite(float(token))
    except ValueError:
        return False
