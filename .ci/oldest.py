"""Print the oldest versions of what the package needs, as arguments for pip.

The lower bounds of pyproject.toml, pinned. They have wheels for Python 3.11 and 3.12.
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
needed = [*project["dependencies"], *project["optional-dependencies"]["test"]]
wanted = {"numpy", "scipy", "scikit-learn", "numba", "narwhals", "safetensors", "pandas"}
tools = {"pytest", "pytest-xdist", "hypothesis"}
bounds = dict(re.fullmatch(r"([\w-]+)(?:\[.*\])?(?:>=([\w.]+))?", one).groups() for one in needed)
for name in sorted(wanted | tools):
    print(f"{name}=={bounds[name]}")
