"""Which engines can run a fit, and which is taken."""

import ast
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.losses import Huber, Logistic, Softmax, Squared
from rgboost.selection import RandomLearners, RandomThresholds
from rgboost.steps import NewtonStep
from rgboost.training.plan import rules
from rgboost.training.plan.engines import Mean
from rgboost.training.plan.rules import MOST_CLASS_SCORES, Case

from .test_rules import facts


def mean(shape, loss, selection=None, learning_rate=0.2, engine="auto"):
    given = {**RGBMRegressor().get_params(), "engine": engine}
    known = facts(*shape, loss, distinct=100)
    case = Case(given, known, shape[0], mean=True, step=NewtonStep(), rate=learning_rate)
    return Mean(case, selection or RandomThresholds(6), 5, 1 << 30, shape[0] // 5)


@pytest.mark.parametrize(
    ("shape", "loss", "more", "faster"),
    [
        ((941, 90), Squared(), {}, True),
        ((9000, 5), Squared(), {}, False),
        ((3000, 57), Logistic(), {}, True),
        ((3000, 57), Logistic(), {"learning_rate": 1.5}, False),
        ((3000, 57), Logistic(), {"engine": "direct"}, False),
        ((3000, 57), Huber(), {}, False),
        ((100_000, 57), Logistic(), {}, False),
        ((941, 90), Squared(), {"selection": RandomLearners(6)}, False),
        ((MOST_CLASS_SCORES // 4, 10), Softmax(4), {"selection": RandomLearners(9)}, True),
        ((26_000, 10), Softmax(4), {"selection": RandomLearners(9)}, False),
    ],
)
def test_where_rows_are_faster(shape, loss, more, faster):
    assert mean(shape, loss, **more).rows_are_faster() == faster


def test_what_cannot_go_by_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(240, 5)), rng.normal(size=240)
    monkeypatch.setattr(rules, "DENSE_CELLS", X.size - 1)
    missing = X.copy()
    missing[3, 1] = np.nan

    def obstacle(rows, **more):
        direct = RGBMRegressor(**more).plan(rows, y).engines[0]
        assert (direct.engine, direct.n_runs) == ("direct", 5)
        return direct.obstacle

    assert obstacle(X) is None
    assert "too many to be made dense" in obstacle(csr_array(X))
    assert "without missing values" in obstacle(missing)
    assert "without missing values" in obstacle(X.round(), categorical_features=[1])
    assert "engine='gram' is asked for" in obstacle(X, engine="gram")
    assert "monotone" in obstacle(X, monotone_constraints={0: 1})
    assert "more than gram_memory" in obstacle(X, gram_memory=1000)


def test_where_memory_is_short_there_are_fewer_bins_whatever_the_selection():
    """Random thresholds of 60 features with 255 bins would take half a gigabyte."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 60)), rng.normal(size=9000)
    plan = RGBMRegressor(gram_memory=200_000_000).plan(X, y)
    (way,) = plan.ways
    assert (way.engine, way.n_runs, way.gram_type) == ("quadratic", 5, "uint16")
    assert way.selection == RandomThresholds(60)
    assert 2 * (60 * (way.max_bins - 1)) ** 2 <= 200_000_000 < 2 * (60 * way.max_bins) ** 2
    assert "so few that Gram rows fit" in plan["max_bins"].why
    assert not RGBMRegressor(gram_memory=200_000_000, max_bins=255).plan(X, y).mean


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"engine": "gram", "loss": "huber"}, "needs the squared loss"),
        ({"engine": "gram", "step": "newton"}, "its steps are along b"),
        ({"engine": "gram", "max_bins": None}, "at most 2048 bins"),
        ({"engine": "gram", "monotone_constraints": {0: 1}}, "without monotone constraints"),
        ({"engine": "quadratic", "loss": "absolute"}, "has no quadratic model"),
        ({"engine": "quadratic", "step": "leaf-search"}, "is no step on a quadratic model"),
    ],
    ids=str,
)
def test_an_engine_that_is_asked_for_and_cannot(given, message):
    X = np.random.default_rng(0).normal(size=(3000, 2))
    with pytest.raises(
        ValueError, match=rf"engine=.* cannot do this: .*{message}.*engine='direct'"
    ):
        RGBMRegressor(max_iter=10, **given).plan(X, X[:, 0])


def test_engines_of_several_classes():
    X = np.random.default_rng(0).normal(size=(300, 2))
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    with pytest.raises(ValueError, match="it needs the squared loss, not Softmax"):
        RGBMClassifier(engine="gram", max_iter=5).plan(X, labels)
    assert RGBMClassifier().plan(X, labels).ways[0].engine == "direct"
    for max_iter in (5, "auto", "cv"):
        plan = RGBMClassifier(engine="quadratic", max_iter=max_iter).plan(X, labels)
        assert plan.ways[0].engine == "quadratic"


def test_every_obstacle_is_said_in_one_place():
    source = Path(rgboost.__file__).parent
    found = Counter()
    for room in ("engines", "learners", "statistics", "training"):
        for path in (source / room).rglob("*.py"):
            texts = [n.value for n in ast.walk(ast.parse(path.read_text("utf-8")))
                     if isinstance(n, ast.Constant) and isinstance(n.value, str)]  # fmt: skip
            found.update(text for text in texts if text.startswith(("it needs ", "its steps ")))
    assert len(found) >= 5
    assert [text for text, times in found.items() if times > 1] == []
