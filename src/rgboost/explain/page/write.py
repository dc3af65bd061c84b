"""A page as one HTML file that needs nothing else, neither files nor a network."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ..._core.atomic import write_atomically

DRAWING = ("draw", "curves", "maps", "page")
"""Scripts of every page, in their order."""


def write_html(
    path: str | os.PathLike[str],
    title: str,
    data: Mapping[str, Any],
    scripts: Sequence[str] = DRAWING,
    styles: Sequence[str] = ("style",),
    sections: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Put a page together from its assets, and write it.

    ``scripts``, ``styles`` and ``sections`` are names of files in ``assets``; sections by the place
    in ``page.html`` where they go.
    """
    text = _asset("page.html")
    for place in ("before", "between", "above"):
        found = [_asset(f"{name}.html") for name in (sections or {}).get(place, ())]
        text = text.replace(f"{{{{{place}}}}}\n", "".join(found))
    parts = {
        "style": "".join(_asset(f"{name}.css") for name in styles),
        "scripts": "\n".join(_asset(f"{name}.js") for name in scripts),
        "title": html.escape(title),
        "data": script_json(data),  # last: a name of a feature may look like a placeholder
    }
    for place, part in parts.items():
        text = text.replace(f"{{{{{place}}}}}", part)
    write_atomically(path, [text.encode(errors="replace")])


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def script_json(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element which holds it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
