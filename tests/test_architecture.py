"""Imports go one way: from the public face down to the kernels."""

import ast
from pathlib import Path

import pytest

import rgboost

ROOT = Path(rgboost.__file__).parent
ORDER = [
    "_core", "data", "losses", "selection", "model", "learners", "steps",
    "statistics", "engines", "training", "callbacks", "coordinate", "storage", "explain",
    "estimators", "warming", "plot", "theory", "experiments", "cli", "__main__",
]  # fmt: skip


def imported_parts(path):
    """The parts of rgboost that a file imports, by absolute or relative import."""
    package = ("rgboost", *path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            full = (*base, *(node.module.split(".") if node.module else ()))
            if full[0] != "rgboost":
                continue
            if len(full) > 1:
                yield full[1]
            else:
                yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("rgboost."))


FILES = [p for p in sorted(ROOT.rglob("*.py")) if p.parent != ROOT or p.stem in ORDER]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path):
    part = path.relative_to(ROOT).parts[0].removesuffix(".py")
    allowed = {*ORDER[: ORDER.index(part) + 1]}
    imported = {name for name in imported_parts(path) if name != "__version__"}
    if part == "engines":
        allowed |= {"training"}  # until the engines know of problems only
    assert imported <= allowed, f"{path} imports {sorted(imported - allowed)}"
