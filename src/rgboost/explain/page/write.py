"""A page as one HTML file that needs nothing else, neither files nor a network."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..._core.atomic import write_atomically

SCRIPTS = ("draw", "curves", "maps", "page")
"""The scripts of every page, in their order."""

PLACES = ("before", "between", "above", "after")
"""Where sections can be put in: before and after the importances, above the functions, and last."""


def write_html(
    path: str | os.PathLike[str],
    title: str,
    data: Mapping[str, Any],
    more: Mapping[str, str] | None = None,
) -> None:
    """Put a page together and write it.

    ``more`` has texts for pages that show more than the model: rules of ``style``, ``scripts``,
    which come last, and sections for `PLACES`.
    """
    more = more or {}
    parts = {
        "style": read_asset(__package__, "style.css") + more.get("style", ""),
        **{place: more.get(place, "") for place in PLACES},
        "scripts": "\n".join(read_asset(__package__, f"{name}.js") for name in SCRIPTS)
        + more.get("scripts", ""),
        "title": html.escape(title),
        "data": script_json(data),
    }
    template = read_asset(__package__, "page.html")
    # In one go: a title or a name of a feature may look like a placeholder.
    text = re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)
    write_atomically(path, [text.encode(errors="replace")])


def read_asset(package: str, name: str) -> str:
    """A file of a package's folder ``assets``."""
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")


def script_json(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element which holds it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
