"""Finished cells on disk, so that an interrupted command goes on where it was."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from .._core.atomic import write_atomically


class Store:
    """One JSON file per cell, written all or nothing, found by everything that decides a result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str, key: dict[str, Any]) -> Any:
        """The result that was stored under this key; None if there is none that can be read."""
        try:
            stored = json.loads(self._path(name, key).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        fits = isinstance(stored, dict) and stored.get("key") == _plain(key)
        return stored.get("result") if fits else None

    def put(self, name: str, key: dict[str, Any], result: Any) -> None:
        write_json(self._path(name, key), {"key": _plain(key), "result": result})

    def _path(self, name: str, key: dict[str, Any]) -> Path:
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
        return self.folder / f"{name}-{digest[:12]}.json"


def write_json(path: Path, content: Any, indent: int | None = None) -> None:
    """Write a JSON file all or nothing."""
    write_text(path, json.dumps(content, allow_nan=False, indent=indent))


def write_text(path: Path, text: str) -> None:
    """Write a text file all or nothing: readers see the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, [text.encode()])


def _plain(key: dict[str, Any]) -> Any:
    """The key as it comes back from JSON."""
    return json.loads(json.dumps(key))
