"""A plan as people see it, what it says has no effect, and where it is kept."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.callbacks import Checkpoint
from rgboost.estimators.documents import parameters
from rgboost.estimators.regressor import _LOSSES
from rgboost.statistics.memory import MOST_BINS
from rgboost.training.plan import Considered, Entry, Plan, costs, documents, pair_rules, rules

ROOT = Path(__file__).resolve().parents[2]


def rows(n=400, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)


NUMBERS = {10: "ten"}


def idle(plan):
    """The settings that have no effect."""
    return {entry.name for entry in plan.entries if entry.why.startswith("no effect")}


class TestEntries:
    def test_every_setting_is_there(self):
        X, y = rows()
        plan = RGBMRegressor(random_state=0).plan(X, y)
        left_out = {"callbacks", "verbose", "categorical_features"}
        assert [entry.name for entry in plan.entries][:3] == ["loss", "ridge", "init"]
        names = {entry.name for entry in plan.entries}
        assert names == RGBMRegressor().get_params().keys() - left_out | {"iterations by", "n_runs"}
        assert plan["learning_rate"][1:3] == (0.05, "auto")
        assert plan["tol"][1:3] == (1e-5, "given")
        assert plan["n_runs"].value == 5
        assert plan["selection"].value == "RandomThresholds"
        assert "10,000 rows" in plan["selection"].why
        for entry in plan.entries:
            assert entry.source in ("given", "auto")
            assert entry.why or entry.source == "given", entry

    def test_the_loss_is_the_one_of_the_fit(self):
        X, y = rows()
        for name in ("huber", "log-cosh"):
            model = RGBMRegressor(loss=name, max_iter=5).fit(X, y)
            entry = model.plan_["loss"]
            assert entry[:3] == ("loss", repr(model.loss_), "given")
            assert "1.4826" in entry.why
        entry = RGBMRegressor(loss="squared").plan(X, y)["loss"]
        assert (entry.value, entry.why) == ("Squared()", "")
        entry = RGBMClassifier().plan(X, np.digitize(y, [-0.5, 0.5]))["loss"]
        assert entry.value.startswith("Softmax(3")
        assert entry.why == "that of 'logistic' for 3 classes"

    def test_settings_that_it_does_not_have(self):
        model = RGBMRegressor(max_iter=1).fit(np.eye(4), np.arange(4.0))
        with pytest.raises(KeyError, match="the plan has no setting 'leaf'; it has loss, "):
            model.plan_["leaf"]

    def test_two_ways(self):
        X, y = rows()
        X[::7, 0] = np.nan
        plan = RGBMRegressor().plan(X, y)
        assert len(plan.ways) == 2
        assert plan["selection"].value == "RandomThresholds or RandomLearners"
        assert plan["learning_rate"].value == "0.05 or 0.2"
        model = RGBMRegressor(random_state=0).fit(X, y)
        assert any("smaller loss of held-out rows" in event for event in model.plan_.events)

    def test_engines_have_seconds_or_an_obstacle(self):
        X, y = rows(3000)
        plan = RGBMClassifier().plan(X, y > 0)
        assert [engine.engine for engine in plan.engines] == ["direct", "gram", "quadratic"]
        direct, gram, quadratic = plan.engines
        assert {engine.n_runs for engine in plan.engines} == {5}
        assert direct.obstacle is None
        assert 0 < direct.seconds < 60
        assert "squared loss" in gram.obstacle
        assert gram.seconds is None
        assert quadratic.obstacle == "possible, but direct comes first"
        assert 0 < quadratic.seconds < 60

    @pytest.mark.parametrize(
        ("given", "without", "with_"),
        [
            ({}, {"step", "validation_fraction", "gram_memory"}, {"cv", "ensemble", "tol"}),
            ({"max_iter": 50}, {"cv", "ensemble", "tol", "n_iter_no_change"}, {"step"}),
            ({"max_iter": 500, "early_stopping": True}, {"cv"}, {"validation_fraction", "tol"}),
            ({"max_iter": 5000, "selection": "all"}, {"subset_size"}, {"gram_memory", "step"}),
            ({"groups": [[0, 1], [2]]}, {"groups"}, set()),
            ({"groups": [[0, 1], [2]], "selection": "groups"}, set(), {"groups", "subset_size"}),
            ({"learner": rgboost.Stumps()}, {"max_bins", "binning"}, {"learner"}),
        ],
        ids=lambda part: " ".join(sorted(map(str, part))) or "nothing",
    )
    def test_what_has_no_effect(self, given, without, with_):
        X, y = rows()
        found = idle(RGBMRegressor(**given).plan(X, y))
        assert without <= found
        assert not with_ & found

    def test_what_keeps_another_plan_away_has_an_effect(self):
        X, y = rows(3000)
        assert "ensemble" not in idle(RGBMRegressor(ensemble=False).plan(X, y))
        assert "ensemble" in idle(RGBMRegressor(ensemble=False, max_iter=50).plan(X, y))
        short = {"max_iter": 50, "gram_memory": 1000}
        assert "gram_memory" not in idle(RGBMRegressor(**short).plan(X, y))
        assert "gram_memory" in idle(RGBMRegressor(**short, step="newton").plan(X, y))
        three = np.digitize(y, [-0.5, 0.5])
        assert "gram_memory" not in idle(RGBMClassifier(gram_memory=1000).plan(X, three))
        assert "gram_memory" in idle(RGBMClassifier().plan(X, three))

    def test_what_stops_a_mean_is_told(self):
        X, y = rows()
        plan = RGBMRegressor(early_stopping=False).plan(X, y)
        assert plan.judge == "the mean of several runs"
        assert plan["early_stopping"].idle == "cross-validation tells when to stop"
        assert RGBMRegressor().plan(X, y)["early_stopping"].idle == ""
        kept = RGBMRegressor(early_stopping=False, loss=rgboost.losses.Huber(1.0)).plan(*rows(3000))
        assert kept["early_stopping"].idle == ""  # otherwise rows would be held out

    def test_why_there_is_one_run(self, tmp_path):
        X, y = rows()
        whys = {
            "warm_start=True": RGBMRegressor(warm_start=True),
            "ensemble=False": RGBMRegressor(ensemble=False),
            "Checkpoint": RGBMRegressor(callbacks=[Checkpoint(tmp_path / "c")]),
            "cross-validation": RGBMRegressor(max_iter=10),
        }
        for why, model in whys.items():
            plan = model.plan(X, y)
            assert plan["n_runs"].value == 1
            assert why in plan["n_runs"].why


class TestEstimators:
    def test_planning_changes_nothing(self):
        X, y = rows()
        state = np.random.RandomState(0)
        model = RGBMRegressor(random_state=state)
        before, drawn = dict(vars(model)), state.get_state()[1].copy()
        model.plan(X, y, sample_weight=np.ones(400), offset=y, groups=np.arange(400) % 9)
        assert vars(model) == before
        np.testing.assert_array_equal(state.get_state()[1], drawn)

    def test_the_plan_of_a_fit_is_the_one_before_it(self):
        X, y = rows()
        model = RGBMRegressor(random_state=0)
        plan = model.plan(X, y)
        fitted = model.fit(X, y)
        told = str(fitted.plan_).partition("\n\nevents")[0]  # what came of pairs
        assert told == str(plan)
        assert fitted.trace_.n_runs == plan.ways[0].n_runs
        assert fitted.n_iter_ < plan.ways[0].n_iter

    def test_errors_are_those_of_fit(self):
        X, y = rows()
        with pytest.raises(ValueError, match="NaN or infinite entries"):
            RGBMRegressor().plan(X, y, sample_weight=np.full(400, np.nan))
        with pytest.raises(ValueError, match="engine='gram' cannot do this"):
            RGBMRegressor(engine="gram", step="newton", max_iter=10).plan(X, y)

    def test_memory_that_is_used_up_is_an_event(self):
        X, y = rows(2000)
        model = RGBMRegressor(engine="gram", max_iter=300, gram_memory=20_000, random_state=0)
        (event,) = model.fit(X, y).plan_.events
        assert "gram_memory was used up" in event


class TestPictures:
    PLAN = Plan(
        "a number",
        (Entry("loss", "<script>", "given", ""), Entry("max_bins", 12_345, "auto", "a & b " * 40)),
        (Considered("gram", 5, 0.0123, None), Considered("direct", 1, None, "it is <slow>")),
        ["something <b>happened</b>"],
    )

    def test_text_is_aligned(self):
        lines = str(self.PLAN).splitlines()
        assert lines[0] == "loss      <script>  given"
        assert lines[1].startswith("max_bins  12,345    auto   a & b")
        assert all(len(line) <= 100 for line in lines)
        assert "gram, 5 runs  0.012 s  taken" in lines
        assert lines[-1] == "something <b>happened</b>"

    def test_html_is_escaped(self):
        page = self.PLAN._repr_html_()
        assert "<script>" not in page
        assert "<b>" not in page
        assert "&lt;script&gt;" in page
        assert page.count("<table>") == 3

    def test_through_json(self):
        again = Plan.from_dict(json.loads(json.dumps(self.PLAN.to_dict())))
        assert again == self.PLAN
        X, y = rows()
        plan = RGBMRegressor(loss=rgboost.losses.Huber(2.0), groups=[[0, 1], [2]]).plan(X, y)
        assert str(Plan.from_dict(json.loads(json.dumps(plan.to_dict())))) == str(plan)


class TestStored:
    def test_a_stored_model_has_its_plan(self, tmp_path):
        X, y = rows()
        model = RGBMRegressor(random_state=0, max_iter=20).fit(X, y)
        model.save(tmp_path / "m.safetensors")
        again = rgboost.load(tmp_path / "m.safetensors")
        assert again.plan_ == model.plan_
        assert str(again.plan_) == str(model.plan_)
        assert again.plan_.ways == ()

    @pytest.mark.parametrize(
        ("part", "wrong"),
        [
            ("judge", 3), ("events", [None]), ("entries", [["a", 1, "given"]]),
            ("entries", [["a", [1], "given", ""]]), ("engines", [["gram", 1.5, None, None]]),
            ("engines", [["gram", 1, "fast", None]]), ("entries", 7), ("more", []),
        ],
    )  # fmt: skip
    def test_what_is_no_plan(self, part, wrong):
        values = TestPictures.PLAN.to_dict()
        with pytest.raises((ValueError, TypeError)):
            Plan.from_dict({**values, part: wrong})


class TestOnePlace:
    """Nobody else reads "auto"."""

    WORDS = ("auto", "paper")
    SETTINGS = (
        "selection", "subset_size", "interactions", "step", "learning_rate", "max_iter",
        "early_stopping", "n_iter_no_change", "max_bins", "min_weight_fraction_leaf", "engine",
    )  # fmt: skip
    """Those that may be "auto", or another word for which a rule decides."""

    @classmethod
    def asks_for_a_word(cls, node):
        """Whether one asks if a setting of an estimator is text: then it is read."""
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            value, kinds = node.args
            kinds = {part.id for part in ast.walk(kinds) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
            of_type = ast.unparse(node.left.func) == "type"
            value = node.left.args[0] if of_type else None
            kinds = {ast.unparse(node.comparators[0])}
        else:
            return False
        of_user = isinstance(value, ast.Attribute) and ast.unparse(value.value) != "self"
        return "str" in kinds and of_user and value.attr in cls.SETTINGS

    @classmethod
    def names_a_word(cls, node):
        """Whether such a word gets a name, under which it could be compared with."""
        is_word = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        return is_word and node.value.value in cls.WORDS

    @classmethod
    def reads(cls, path):
        """Whether a file compares something with "auto" or "paper", matches it, names it, or asks
        whether a setting is a word."""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if cls.asks_for_a_word(node) or cls.names_a_word(node):
                return True
            if isinstance(node, ast.Compare | ast.MatchValue | ast.match_case | ast.Dict):
                for part in ast.walk(node):
                    if isinstance(part, ast.Constant) and part.value in cls.WORDS:
                        if isinstance(node, ast.Dict) and part not in node.keys:
                            continue
                        return True
        return False

    def test_only_the_plan_reads_auto(self):
        source = ROOT / "src" / "rgboost"
        found = {str(p.relative_to(source)) for p in source.rglob("*.py") if self.reads(p)}
        assert "training/plan/rules.py" in found
        assert {name for name in found if not name.startswith("training/plan/")} == set()

    @pytest.mark.parametrize(
        "line",
        ['if size == "auto": pass', 'if "auto" in (a, b): pass', 'AUTO = "auto"', '{"auto": 1}[x]',
         "isinstance(model.max_iter, str)", "type(p.step) is str",
         'match x:\n    case "paper": pass'],
    )  # fmt: skip
    def test_who_reads_it_is_found(self, line, tmp_path):
        path = tmp_path / "file.py"
        path.write_text(line)
        assert self.reads(path)

    NO_RULES = ("_LEAST_SQUARE", "THINNED")
    """What float64 can hold, and rows of a table that is shown: no rules."""

    @staticmethod
    def thresholds(path):
        """What a file compares with: numbers, and numbers that it has given a name."""
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {
            ast.unparse(node.targets[0])
            for node in tree.body
            if isinstance(node, ast.Assign)
            and not any(isinstance(n, ast.Constant) and isinstance(n.value, str | bytes)
                        for n in ast.walk(node.value))
        }  # fmt: skip
        for node in ast.walk(tree):
            for part in ast.walk(node) if isinstance(node, ast.Compare) else ():
                if isinstance(part, ast.Constant) and type(part.value) in (int, float):
                    if part.value not in (0, 1, 2):
                        yield part.value
                elif isinstance(part, ast.Name) and part.id.isupper() and part.id in named:
                    yield part.id

    def test_only_the_plan_has_thresholds(self):
        """Of the rooms that hand parameters on: engines and kernels have thresholds of their own,
        which settings do not depend on."""
        source = ROOT / "src" / "rgboost"
        files = [p for room in ("estimators", "training") for p in (source / room).rglob("*.py")]
        names = {str(p.relative_to(source)): p for p in files}
        found = {name: set(self.thresholds(p)) - set(self.NO_RULES)
                 for name, p in names.items() if not name.startswith("training/plan/")}  # fmt: skip
        assert {name: numbers for name, numbers in found.items() if numbers} == {}

    def test_documents_have_the_rules_of_the_code(self):
        text = (ROOT / "docs" / "defaults.md").read_text(encoding="utf-8")
        assert documents.with_tables(text) == text, (
            "run python -m rgboost.training.plan docs/defaults.md"
        )

    SENTENCES = (
        f'`max_iter="auto"` (the default) is cross-validation below {rules.HOLD_OUT_ROWS:,} rows',
        f"With fewer than {rules.FEW_ROWS} rows there are {rules.FEW_ITERATIONS} iterations",
        f"Unless you say otherwise these are {rules.PATIENCE}, for means of several runs from "
        f"{rules.MANY_ROWS:,} rows on {rules.PATIENCE_OF_MEAN}, and "
        f"{rules.PATIENCE * rules.USUAL_STEPS:g}/`learning_rate` if that is more",
        f'`max_bins="auto"` is {rules.BINS_OF_MANY} there',
        f"(dense, or sparse with at most four million entries, zeros counted) go this way if "
        f'`selection="thresholds"` (the default below {rules.MANY_ROWS:,} rows)',
        f"cross-validation of at most {rules.MOST_FEW_ROWS:,} rows. So do several classes, also "
        f"without cross-validation if rows times classes are at most {rules.MOST_CLASS_SCORES:,}",
        f'and `max_iter="auto"` holds rows out from {rules.HOLD_OUT_ROWS:,} rows on',
        f"if it ends by itself, {NUMBERS[costs.FRUGAL_TIMES]} times its input, or "
        f"{costs.FRUGAL_BYTES // 10**6} MB if that is more",
        f"with more than {MOST_BINS:,} bins of a feature",
        f"fewer than {rules.FEW_ROWS} rows, or cross-validation ends in one fit",
        f"below {rules.HOLD_OUT_ROWS:,} rows with monotone constraints",
        f"with more than {pair_rules.MOST_FEATURES}; `interactions=20` has pairs of more, too "
        f"(above {pair_rules.MOST_SCREENED:,} pairs",
    )

    @pytest.mark.parametrize("sentence", SENTENCES)
    def test_numbers_of_the_guide_are_those_of_the_rules(self, sentence):
        pages = "inside/means.md", "pairs.md"
        text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in pages)
        assert " ".join(sentence.split()) in " ".join(text.split())
        assert rules.DENSE_CELLS == 1 << 22, "four million"

    def test_docstrings_have_no_numbers_of_the_rules(self):
        """They say what to choose and why; `plan` says what it is on these rows."""
        text = parameters("LOSSES")
        assert text in RGBMRegressor.__doc__.replace(_LOSSES, "LOSSES")
        assert set(re.findall(r"\d[\d,.]*\d", text)) == set()
