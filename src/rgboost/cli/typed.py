"""What the library says in Python, as it is typed for the program.

Messages name settings as ``decimal=','`` or ``engine='direct'``; with the program these are
``--read decimal=,`` and ``--engine direct``. Texts stand as they are, all else as JSON, and what a
shell would take apart is quoted: whoever copies a remedy from a message can run it.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import json
import re
import shlex
from typing import Any

_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_WORD = re.compile(r"[^\s,;:)\]}'\"]+")
_PARTS = re.compile(rf"(?<![\w.{{-])(?:{_TEXT.pattern}|(?P<call>[A-Z]\w*)\(|(?P<name>[a-z]\w*)=)")
"""What is looked at in a message: quoted texts and calls, which stay as they are, and settings."""
_ELSEWHERE = {"X_val and y_val": "--valid", "X_val, y_val": "--valid"}


def read_option(name: str, value: Any) -> str:
    """A setting of a reader, as an option."""
    return f"--read {_quoted(f'{name}={_typed(value)}')}"


def parameter_option(name: str, value: Any) -> str:
    """A parameter of an estimator, as an option."""
    return f"--{name.replace('_', '-')} {_quoted(_typed(value))}"


def _quoted(word: str) -> str:
    """As a shell reads it, also before a comma or at the end of a sentence."""
    return f"'{word}'" if word.endswith((",", ".", ":")) and "'" not in word else shlex.quote(word)


def as_typed(message: str) -> str:
    """The message with its settings as options of the program."""
    for words, option in _ELSEWHERE.items():
        message = message.replace(words, option)
    found, at, done = [], 0, 0
    while part := _PARTS.search(message, at):
        at = part.end()
        if part["call"]:
            at = _end_of_value(message, at - 1)
        elif part["name"]:
            end = _end_of_value(message, at)
            option_of, text = _option_of(part["name"]), message[at:end]
            typed_already = message[: part.start()].endswith("--read ")
            if option_of is not None and _is_literal(text) and not typed_already:
                option = option_of(part["name"], ast.literal_eval(text))
                found += [message[done : part.start()], option]
                done = end
            at = max(at, end)
    return "".join([*found, message[done:]])


def _is_literal(text: str) -> bool:
    try:
        return ast.literal_eval(text) is not ...
    except (SyntaxError, ValueError):
        return False


def _typed(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "none"
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError:  # a loss, a rule: as in Python
        return str(value)


def _end_of_value(message: str, begin: int) -> int:
    """Where a literal ends: a text, what stands in brackets, or a word."""
    if found := _TEXT.match(message, begin):
        return found.end()
    if message[begin : begin + 1] not in ("[", "{", "("):
        word = _WORD.match(message, begin)
        if word is not None and "(" in word[0]:  # a call
            return _end_of_value(message, begin + word[0].index("("))
        return begin if word is None else begin + len(word[0].rstrip("."))
    depth, at = 0, begin
    while at < len(message):
        if text := _TEXT.match(message, at):
            at = text.end()
            continue
        depth += (message[at] in "[{(") - (message[at] in "]})")
        at += 1
        if depth == 0:
            return at
    return len(message)


def _option_of(name: str) -> Any:
    """How a setting of this name is typed; None: the program has none."""
    if name in _reader_settings():
        return read_option
    return parameter_option if name in _parameters() else None


@functools.cache
def _reader_settings() -> set[str]:
    from ..data.readers import CsvOptions, LibsvmOptions

    return {
        field.name for kind in (CsvOptions, LibsvmOptions) for field in dataclasses.fields(kind)
    }


@functools.cache
def _parameters() -> set[str]:
    from ..estimators import RGBMClassifier, RGBMRegressor

    kinds = RGBMClassifier, RGBMRegressor
    return {name for kind in kinds for name in inspect.signature(kind).parameters}
