"""What README and docstrings show, runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import matplotlib
import pytest

import rgboost

matplotlib.use("Agg")
README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(rgboost.__path__, "rgboost.")
    if not name.endswith(("__main__", ".demo", ".cli"))
]


def test_readme_has_examples():
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: b.strip().splitlines()[-1][:40])
def test_readme_examples_run(block):
    namespace: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), namespace)
    assert "rgboost" in block


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
