"""A model as source text: a Python file, a JavaScript function."""

from __future__ import annotations

import json
import re
from importlib.resources import files

from .tables import tables_of
from .terms import Terms, refuse


def write_python(terms: Terms, written_by: str) -> str:
    """The text of ``estimator.to_python()``."""
    return _filled("predict.py.txt", model=repr(tables_of(terms)), written_by=written_by)


def write_javascript(terms: Terms, written_by: str, name: str) -> str:
    """The text of ``estimator.to_javascript()``; it can stand in the script element of a page."""
    if not re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name):
        refuse(f"name={name!r} is no name of a function; use letters, digits and _.")
    model = json.dumps(tables_of(terms), separators=(",", ":"), allow_nan=False)
    model = model.replace("<", "\\u003c")
    return _filled("predict.js", model=model, written_by=written_by, name=name)


def _filled(template: str, **words: str) -> str:
    """A template with its words in place; what is put in is not looked at again."""
    text = files("rgboost.export").joinpath(template).read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], text)
