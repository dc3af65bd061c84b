"""A model as source text: a Python file, a JavaScript function."""

from __future__ import annotations

import json
import re
from importlib.resources import files

from .tables import tables_of
from .terms import Terms, refuse

_TAKEN = """
arguments await break case catch class const continue debugger default delete do else enum eval
export extends false finally for function if implements import in instanceof interface let new null
package private protected public return static super switch this throw true try typeof var void
while with yield undefined NaN Infinity module exports require
Array JSON Map Math Number Object TypeError
"""
"""Words that a script keeps for itself, and those that the function needs."""


def write_python(terms: Terms, written_by: str) -> str:
    """The text of ``estimator.to_python()``."""
    return _filled("predict.py.txt", model=repr(tables_of(terms)), written_by=written_by)


def write_javascript(terms: Terms, written_by: str, name: str) -> str:
    """The text of ``estimator.to_javascript()``; it can stand in the script element of a page."""
    if not re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name):
        refuse(f"name={name!r} is no name of a function; use letters, digits and _.")
    if name in _TAKEN.split():
        refuse(f"name={name!r} is a word of JavaScript itself; use another one.")
    model = json.dumps(tables_of(terms), separators=(",", ":"), allow_nan=False)
    model = model.replace("<", "\\u003c")
    return _filled("predict.js", model=model, written_by=written_by, name=name)


def _filled(template: str, **words: str) -> str:
    """A template with its words in place; what is put in is not looked at again."""
    text = files("rgboost.export").joinpath(template).read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], text)
