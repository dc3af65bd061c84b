"""Imports go one way: from the public face down to the kernels, and so within every folder."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import rgboost

ROOT = Path(rgboost.__file__).parent

LAYERS = {
    "": """_core data losses selection model learners steps statistics engines cuda training
        callbacks coordinate storage explain export editing decisions estimators dask warming plot
        comparison theory experiments report cli __main__""",
    "_core": """atomic compiling lanes loading memory one_line stored validation linking svg cache
        jit math on_card team""",
    "cuda": """compiled card kernels gram_kernels gram search_kernels direct_kernels rows
        matrix direct source chunks predict""",
    "dask": "partitions cluster tasks statistics predictions rows estimators",
    "cli": "typed errors losses options files show commands app",
    "cli/commands": """bench compare edit explain export fit info predict report reproduce theory
        warm_up""",
    "comparison": """paired rows measure entrants peers compared words picture page result progress
        run""",
    "cli/files": "models numbers predictions task tables columns labelled training",
    "cli/show": "output progress passes summary",
    "data": """elsewhere input readers chunks cuts sorting sparse_columns binning mixed_bins
        coarse cache datasets""",
    "data/chunks": "piece files chunks sample levels",
    "data/input": "labels names schema task",
    "data/readers": """errors table compressed csv_file libsvm_faults libsvm_file parquet_file
        read""",
    "decisions": "scorecard reasons counterfactual",
    "editing": "document terms operations whole apply edits editor",
    "engines": "problem curvature base direct leaves gram quadratic",
    "engines/direct": """equal_rows line_search step_length leaf_search newton_leaves loop
        few_rows_loop python_loss softmax_step softmax_loop outputs runs""",
    "engines/leaves": "rows runs",
    "engines/gram": "search loop class_search class_loop family gram_rows runs",
    "engines/quadratic": "runs class_runs cell_runs",
    "estimators": """documents habits routing class_weight rows held_out carry_out pairs chunked
        on_card new_rows fitted_model fitted convergence base classifier regressor loading""",
    "estimators/chunked": "given refuse tally labels columns survey rows",
    "estimators/fitted": "labelled refit edits decisions bags",
    "estimators/pairs": "gains rows summed_rows judge stage",
    "experiments": """environment store protocol cells demo study summary figures rules
        verdicts page command""",
    "export": """terms extract document rebuild tables sources codes onnx_model sql
        methods""",
    "export/sql": "words cells steps answers query",
    "explain": """scale band frames heat_map pictures shape_function pair_axis pair_function
        global_explanation
        local_explanation trees page""",
    "explain/page": "write data",
    "learners": "kernels credibility leaves base stumps dictionary pairs trees",
    "learners/stumps": """splits stump_statistics dense_stumps sparse_stumps mixed_splits
        mixed_stumps some_rows class_sums prepared_mixed family monotone""",
    "learners/pairs": "axes isotone levels columns look score search in_cells tables choose family",
    "learners/trees": "arrays histograms splits grow leaf_of lines look stored path search family",
    "losses": """kernels conjugates base log_link squared huber log_cosh quantile absolute
        exponential softmax logistic poisson gamma tweedie ridged""",
    "losses/conjugates": "base closed_forms ridged logistic",
    "model": """path category_tables ladders pair_scores pair_tables stump_model
        leaf_lines trees dictionary_model class_model mixed coverage history bands
        with_pairs""",
    "plot": """style room comparison importances learning_curve shape_functions interactions
        waterfall""",
    "report": "judged performance levels exact page",
    "selection": "layout rules always thresholds weighted",
    "statistics": """cells base rows class_rows whole_gram counted_gram slots side_by_side memory
        classes in_memory folded_rows pieces work_file chunks""",
    "storage": "container values model_file",
    "theory": "_validation procedure norms distance dual angle guarantees certificates figures",
    "theory/angle": """closed_forms definite enumeration ascent spectral known stump_gram
        gram_bounds stump_angle cosine""",
    "theory/certificates": "training certificate optimal recording stopping",
    "theory/dual": "ends products span stump_span projection ground search",
    "training": """plan state trace callbacks stopping checkpoint driver
        make_problem boost""",
    "training/plan": """pieces on_card facts costs rules pair_memory pair_rules report engines
        cluster entries resolve documents __main__""",
}
"""Files and folders of every folder, from the lowest to the highest: each imports only those that
stand before it. A folder's ``__init__`` may import all of them, and is imported by none."""

EXCEPTIONS = {
    "explain/pictures imports explain/global_explanation": "for types only",
    "explain/pictures imports explain/local_explanation": "for types only",
    "explain/pictures imports explain/shape_function": "for types only",
    "explain/heat_map imports explain/pair_axis": "for types only",
    "explain/heat_map imports explain/pair_function": "for types only",
    "cuda/card imports cuda/kernels": "when memory is cleared, which a kernel does",
}


def name_of(path, folder):
    """The file or folder, directly in a folder, that a path leads to."""
    return path.relative_to(ROOT / folder).parts[0].removesuffix(".py")


def imported(path):
    """The dotted names, as tuples, that a file imports from rgboost."""
    package = ("rgboost", *path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            yield from ((*module, alias.name) for alias in node.names if module[0] == "rgboost")
        elif isinstance(node, ast.Import):
            names = (tuple(alias.name.split(".")) for alias in node.names)
            yield from (name for name in names if name[0] == "rgboost" and len(name) > 1)


FILES = sorted(ROOT.rglob("*.py"))
FOLDERS = sorted({str(path.parent.relative_to(ROOT)).replace(".", "") for path in FILES})


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_has_its_place(folder):
    found = {name_of(path, folder) for path in (ROOT / folder).rglob("*.py")} - {"__init__"}
    assert found == set(LAYERS.get(folder, "").split()), f"say in LAYERS where {folder!r} has them"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path):
    parts = path.relative_to(ROOT).parent.parts
    for depth in range(len(parts) + 1):
        folder = "/".join(parts[:depth])
        order, own = LAYERS[folder].split(), name_of(path, folder)
        if own == "__init__":
            continue
        inside = ("rgboost", *parts[:depth])
        for name in imported(path):
            if name[: depth + 1] != inside or name[depth + 1] in ("__version__", own):
                continue
            below = order[: order.index(own)]
            said = " imports ".join("/".join((*inside[1:], n)) for n in (own, name[depth + 1]))
            assert name[depth + 1] in below or said in EXCEPTIONS, f"{path}: {said}"


MOST_FILES = 16
"""Python files side by side in a folder, with ``__init__``: as many as one looks through."""

TESTS = Path(__file__).parent


@pytest.mark.parametrize("root", [ROOT, TESTS], ids=["src", "tests"])
def test_no_folder_has_very_many_files(root):
    counts = Counter(path.parent.relative_to(root) for path in root.rglob("*.py"))
    many = {str(folder): count for folder, count in counts.items() if count > MOST_FILES}
    assert not many, f"make a folder of those that belong together: {many}"


def class_names(folder):
    trees = (ast.parse(path.read_text()) for path in (ROOT / folder).rglob("*.py"))
    return {n.name for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}


CONTRACTS = {"Loss", "LearnerFamily", "Prepared"}
"""What an argument of the public face may be told from a name or a matrix by."""

KINDS = {folder: class_names(folder) - CONTRACTS for folder in ("losses", "learners", "statistics")}


def looked_at(tree):
    """Names of classes that ``isinstance``, ``type(...) is`` or ``case`` compares with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            sides = node.args[1:]
        elif isinstance(node, ast.Compare) and ast.unparse(node.left).startswith("type("):
            sides = node.comparators
        elif isinstance(node, ast.MatchClass):
            sides = [node.cls]
        else:
            continue
        parts = [n for side in sides for n in ast.walk(side)]
        yield from (n.id for n in parts if isinstance(n, ast.Name))
        yield from (n.attr for n in parts if isinstance(n, ast.Attribute))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_losses_families_and_statistics_say_what_they_are(path):
    """Nobody outside of their folders looks at their classes."""
    name = str(path.relative_to(ROOT))
    kinds = {kind for folder, mine in KINDS.items() if not name.startswith(folder) for kind in mine}
    found = kinds & set(looked_at(ast.parse(path.read_text())))
    assert not found, f"{name} looks at the classes {sorted(found)}"


def test_checks_of_numbers_have_one_place():
    functions = {}
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                functions.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    checks = {name for name, where in functions.items() if "_core/validation.py" in where}
    assert "check_real" in checks
    assert {name: functions[name] for name in checks if len(functions[name]) > 1} == {}
