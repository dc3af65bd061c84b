"""What README, documents and docstrings show, runs."""

import doctest
import importlib
import inspect
import json
import pkgutil
import re
import shlex
from pathlib import Path

import matplotlib.pyplot
import numpy as np
import pytest

import rgboost
from rgboost.cli import app
from rgboost.cli import main as program

matplotlib.use("Agg")
ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(rgboost.__path__, "rgboost.")
    if not name.endswith(("__main__", ".demo"))
]


def blocks(path, language):
    found = BLOCK.findall(path.read_text(encoding="utf-8"))
    return [text for kind, text in found if kind == language]


def test_readme_has_examples():
    readme = DOCUMENTS[0]
    assert len(blocks(readme, "python")) >= 1
    assert len(blocks(readme, "sh")) >= 2
    kinds = {kind for kind, _ in BLOCK.findall(readme.read_text(encoding="utf-8"))}
    assert kinds == {"python", "sh"}  # the others would not be run


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_runs(path, tmp_path, monkeypatch):
    """All blocks of a document, one after the other."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in blocks(path, "python"):
        exec(compile(block, path.name, "exec"), namespace)
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_run(path, tmp_path, monkeypatch):
    """The program's commands, on files with the names that the document uses."""
    monkeypatch.chdir(tmp_path)
    write_files()
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    for line in "".join(blocks(path, "sh")).splitlines():
        command, *arguments = shlex.split(line)
        if command == "make":
            assert arguments[0] in targets
        elif command == "rgboost":
            run(arguments)
        else:
            raise AssertionError(f"do not know how to check {line!r}")


def write_files():
    """Rows with columns a, b, y and key."""
    import pandas as pd

    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=100), "b": rng.random(100)})
    # Without noise fits go on for very long.
    rows = rows.assign(y=rows.a + rows.b + rng.normal(size=100))
    rows.to_csv("train.csv", index=False)
    rows.to_parquet("valid.parquet")
    rows.drop(columns="y").assign(key=range(100)).to_csv("new.csv", index=False)


def run(arguments):
    if arguments[0] in ("reproduce", "warm-up"):  # have tests of their own, and take their time
        assert arguments[0] in {command.name for command in app.registered_commands}
        arguments = [arguments[0], "--help"]
    with pytest.raises(SystemExit) as end:
        program(arguments)
    assert end.value.code == 0, arguments
    if "--out" in arguments:
        assert Path(arguments[arguments.index("--out") + 1]).exists()


NOT_RUN = {
    ("compare.md", ""),  # what the block above it prints, with its seconds
    ("install.md", "dockerfile"),
    ("start.md", ""),  # how to install the package
    ("editing.md", "json"),
}


def test_compare_prints_what_its_page_shows(capsys):
    """The models and their losses; seconds and sizes are others elsewhere."""
    page = ROOT / "docs" / "compare.md"
    exec(compile(blocks(page, "python")[0], page.name, "exec"), {})
    row = re.compile(r"^(\S.*?)  +(\d\.\d{4})  ", flags=re.MULTILINE)
    shown, printed = (
        dict(row.findall(text)) for text in (blocks(page, "")[0], capsys.readouterr().out)
    )
    assert list(shown) == list(printed) == ["constant", "curves", "1 pair", "3 pairs", "trees"]
    for name, loss in shown.items():
        assert float(loss) == pytest.approx(float(printed[name]), rel=0.02), name


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_all_code_is_in_blocks_that_run(path):
    text = path.read_text(encoding="utf-8")
    kinds = {kind for kind, _ in BLOCK.findall(text) if not kind.startswith("{")}  # directives
    assert {(path.name, kind) for kind in kinds - {"python", "sh"}} <= NOT_RUN
    assert not re.search(r"^ +```", text, flags=re.MULTILINE)  # in a list, where nobody looks
    assert not re.search(r"^ {4}(rgboost|make|pip|python) ", text, flags=re.MULTILINE)
    for document in blocks(path, "json"):
        json.loads(document)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!http)([^)#]+)", text) + re.findall(r'src="([^"]+)"', text):
        assert (path.parent / link).exists(), link


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


REFERENCE = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
NOT_CLASSES = {
    *("NAMED", "Callback", "SubsetSize"),  # a table and two unions of types: told in words
    *("FORMAT", "VERSION"),  # of the file of edits
    *("counterfactual", "reason_codes", "to_scorecard"),  # as methods of the estimators
}
PUBLIC = [
    "", ".callbacks", ".decisions", ".editing", ".explain", ".learners", ".losses", ".plot",
    ".report", ".selection", ".theory",
]  # fmt: skip


def listed():
    """(module, name) of everything in the reference."""
    module = ""
    for line in REFERENCE.splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            yield module, line.strip()


def test_the_reference_has_everything_public():
    names = {name for _, name in listed()}
    for module in PUBLIC:
        public = importlib.import_module(f"rgboost{module}").__all__
        assert set(public) - names <= NOT_CLASSES, module


def public():
    """Everything in the reference, and what the estimators can do."""
    for module, name in listed():
        found = getattr(importlib.import_module(module), name)
        yield pytest.param(found, id=f"{module}.{name}")
        if name in ("RGBMRegressor", "RGBMClassifier"):
            yield from (
                pytest.param(getattr(found, method), id=f"{name}.{method}")
                for method in dir(found)
                if method[0] != "_" and method not in OF_SCIKIT_LEARN
                if inspect.isroutine(getattr(found, method))
            )


OF_SCIKIT_LEARN = {"get_params", "get_metadata_routing"} | {
    f"set_{name}_request"
    for name in ("fit", "partial_fit", "predict", "predict_proba", "decision_function", "score")
}


def methods():
    """Of what explains, edits and decides."""
    for module, name in listed():
        found = getattr(importlib.import_module(module), name)
        if module in ("rgboost.decisions", "rgboost.editing", "rgboost.explain"):
            yield from (
                pytest.param(getattr(found, method), id=f"{name}.{method}")
                for method in (dir(found) if isinstance(found, type) else ())
                if method[0] != "_" and inspect.isroutine(getattr(found, method))
                if method not in dir(tuple)  # of named ones
            )


@pytest.mark.parametrize("found", [*public(), *methods()])
def test_everything_public_has_an_example(found):
    text = inspect.getdoc(found)
    assert re.search("^Examples\n-{8}$", text, flags=re.MULTILINE)
    lines = re.findall(r"^\s*>>> (.*)", text.split("Examples\n--------")[1], flags=re.MULTILINE)
    assert any("+SKIP" not in line and "import" not in line for line in lines)  # that runs


def makers():
    """What makes displays: people call these, not the classes."""
    for module, name in listed():
        found = getattr(importlib.import_module(module), name)
        if hasattr(found, "from_estimator"):
            yield pytest.param(found.from_estimator, id=f"{name}.from_estimator")


@pytest.mark.parametrize("found", [*public(), *makers(), *methods()])
def test_everything_public_has_its_arguments_explained(found):
    """In a section of parameters; fields of results are attributes."""
    text = inspect.getdoc(found)
    if isinstance(found, type):
        if "Parameters\n" not in text:
            return
        text = "\n".join(inspect.getdoc(base) or "" for base in found.__mro__[:-1])
    names = {name for name in inspect.signature(found).parameters if name != "self"}
    lines = re.findall(r"^([\w*, ]+?)(?: : .*)?$", text, flags=re.MULTILINE)
    assert names <= set(re.findall(r"\w+", " ".join(lines)))


THEORY = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/[\w/]+\.py)::", THEORY))))
def test_the_theory_names_tests_that_exist(path):
    source = (ROOT / path).read_text(encoding="utf-8")
    for name in re.findall(rf"`{re.escape(path)}::(\w+)`", THEORY):
        assert f"def {name}(" in source, name


def test_the_theory_names_functions_that_exist():
    names = re.findall(r"\{py:\w+\}`~?([\w.]+)`", THEORY)
    assert len(names) > 25
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_machines_find_all_pages():
    """llms.txt links to pages of the site, but for lists of links."""
    docs = ROOT / "docs"
    found = set(re.findall(r"\]\((.+?)\.html\)", (docs / "llms.txt").read_text("utf-8")))
    written = {str(path.relative_to(docs).with_suffix("")) for path in docs.rglob("*.md")}
    assert found <= written | {"api/index", "gallery/index"}  # the gallery is made of examples/
    assert written - found <= {"index", "guide", "inside/index", "CONTRIBUTING"}
