"""The table of docs/architecture.md has the files that a default fit visits, and no other."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rgboost
from tests.conftest import JIT

ROOT = Path(rgboost.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"

VISIT = """
import json, os, sys, threading, warnings

import numpy as np

from rgboost import RGBMRegressor

root = sys.argv[1] + os.sep
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(30_000, 10))
y = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + rng.normal(size=len(X))


def visited(**parameters):
    files = set()

    def look(frame, event, arg):
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(root):
            files.add(code.co_filename)

    model = RGBMRegressor(random_state=0, n_jobs=2, **parameters)
    model.fit(X, y)  # kernels are loaded
    threading.setprofile(look)
    sys.setprofile(look)
    model.fit(X, y)
    sys.setprofile(None)
    threading.setprofile(None)
    return sorted(os.path.relpath(file, root)[: -len(".py")] for file in files)


print(json.dumps([visited(interactions=0), visited()]))
"""
"""Two fits of 30,000 rows of ten numbers, at the defaults: of curves, and with pairs."""


@pytest.fixture(scope="module")
def visited():
    """The files of the curves, and those that pairs add."""
    command = [sys.executable, "-c", VISIT, str(ROOT)]
    paths = os.pathsep.join([str(ROOT.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}
    )
    assert done.returncode == 0, done.stderr
    curves, both = (set(files) for files in json.loads(done.stdout))
    return curves, both - curves


def section():
    return PAGE.read_text().split("### The files that it visits")[1].split("\n## ")[0]


def told():
    """The files of both columns of the table."""
    columns = set(), set()
    text = section().replace("\\_", "_")  # else __init__ would be a bold init
    for folder, *cells in re.findall(r"^\| `([a-z_/]*)/` \| (.*) \| (.*) \|$", text, re.M):
        for column, cell in zip(columns, cells, strict=True):
            column |= {
                f"{folder}/{name}".removeprefix("rgboost/") for name in cell.split(", ") if name
            }
    return columns


@pytest.mark.skipif(not JIT, reason="kernels that are not compiled are visited, too")
@pytest.mark.parametrize("column", [0, 1], ids=["curves", "pairs"])
def test_the_table_has_the_files_that_a_fit_visits(visited, column):
    found, known = visited[column], told()[column]
    assert not found - known, f"visited, and not in the table: {sorted(found - known)}"
    assert not known - found, f"in the table, and not visited: {sorted(known - found)}"


def test_the_table_has_files_that_there_are():
    curves, pairs = told()
    assert curves
    assert pairs
    assert not curves & pairs
    gone = [name for name in sorted(curves | pairs) if not (ROOT / f"{name}.py").exists()]
    assert not gone


def test_the_text_counts_them():
    curves, pairs = told()
    assert f"functions of {len(curves)} files" in section()
    assert f"take {len(pairs)} more" in section()
