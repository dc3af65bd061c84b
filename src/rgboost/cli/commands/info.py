"""``rgboost info``."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys

from ..show.output import AsJson, print_json, print_lines

NEEDED = ("rgboost", "numpy", "scipy", "scikit-learn", "numba", "narwhals", "safetensors")
OPTIONAL = ("pandas", "pyarrow", "polars", "matplotlib", "pooch")


def info(as_json: AsJson = False) -> None:
    """Versions and settings, for a bug report."""
    from ...data.cache import cache_dir

    facts = {
        "Python": f"{platform.python_version()} on {platform.platform()}",
        "interpreter": sys.executable,
        "cores": str(_cores()),
        **{name: _version(name) for name in (*NEEDED, *OPTIONAL)},
        "data sets": os.environ.get("RGBOOST_DATA") or str(cache_dir()),
        "compiled code": os.environ.get("NUMBA_CACHE_DIR") or "beside the sources",
    }
    if as_json:
        print_json(facts)
    else:
        width = max(map(len, facts))
        print_lines(f"{name.ljust(width)}  {fact}" for name, fact in facts.items())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
