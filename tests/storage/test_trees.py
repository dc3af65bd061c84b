"""Models of trees come back as they were, and made up ones are refused."""

from dataclasses import replace

import numpy as np
import pytest

import rgboost
from rgboost import RGBMRegressor
from rgboost.learners import Trees
from rgboost.storage import StorageError

from .make_models import some_models
from .test_round_trip import assert_same, stored_and_loaded

TREES = [(model, rows) for model, rows in some_models() if hasattr(model.model_, "n_trees")]


@pytest.mark.parametrize(
    ("model", "rows"), TREES, ids=["numbers", "mixed", "three classes", "lines"]
)
@pytest.mark.parametrize("how", ["save", "pickle"])
def test_the_same_bits(model, rows, how, tmp_path):
    loaded = stored_and_loaded(model, how, tmp_path)
    assert_same(loaded.model_, model.model_)
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    for a, b in zip(loaded.staged_predict(rows), model.staged_predict(rows), strict=True):
        np.testing.assert_array_equal(a, b)


def set_entry(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


MIXED = TREES[1][0].model_
BY_SET = int(np.flatnonzero(MIXED.which_set >= 0)[0])
CHANGES = {
    "a split that leads back": {"children": set_entry(MIXED.children, (0, 0), 0)},
    "a split of another tree": {"children": set_entry(MIXED.children, (0, 0), 99)},
    "a leaf that is not there": {"children": set_entry(MIXED.children, (0, 1), -99)},
    "a feature that is not there": {"feature": set_entry(MIXED.feature, 0, 3)},
    "a negative feature": {"feature": set_entry(MIXED.feature, 0, -1)},
    "a set that is not there": {"which_set": set_entry(MIXED.which_set, BY_SET, 10**6)},
    "a number with a set": {"threshold": set_entry(MIXED.threshold, BY_SET, 0.5)},
    "a threshold that is no number": {
        "threshold": set_entry(MIXED.threshold, int(np.argmin(MIXED.which_set)), np.nan)
    },
    "trees that overlap": {"starts": set_entry(MIXED.starts, 1, MIXED.starts[2] + 1)},
    "too many trees": {"starts": np.append(MIXED.starts, MIXED.starts[-1])},
    "no trees at all": {"starts": np.empty(0, np.int64)},
    "too few leaves": {"values": MIXED.values[:-1]},
    "a value that is no number": {"values": set_entry(MIXED.values, 0, np.nan)},
    "a side of two bits": {"missing_left": set_entry(MIXED.missing_left, 0, 2)},
    "narrow sets": {"sets": np.empty((len(MIXED.sets), 0), np.uint8)},
    "categories in disorder": {"categories": MIXED.categories[::-1].copy()},
    "categories of nobody": {"category_starts": set_entry(MIXED.category_starts, 1, 10**6)},
    "numbers among categories": {"category_features": np.arange(len(MIXED.category_features))},
    "no number of features": {"n_features": "3"},
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_compiled_code_would_follow(what, tmp_path):
    model, _ = TREES[1]
    wrong = model.__copy__()
    wrong.model_ = replace(model.model_, **CHANGES[what])
    with pytest.raises(StorageError, match=r"model_"):
        wrong.save(tmp_path / "model")


LINES = TREES[3][0].model_.lines
BAD_LINES = {
    "a feature that is not there": {"features": set_entry(LINES.features, -1, 99)},
    "a category": {"features": TREES[3][0].model_.category_features[: len(LINES.features)]},
    "a place that is not there": {"place": set_entry(LINES.place, (0, 0), 7)},
    "a slope that is no number": {"slopes": set_entry(LINES.slopes, (0, 0), np.nan)},
    "bounds the wrong way round": {"low": LINES.high + 1.0},
    "no bound": {"high": set_entry(LINES.high, 0, np.inf)},
    "edges in disorder": {"edges": LINES.edges[::-1].copy()},
    "too few steps": {"steps": LINES.steps[:-1]},
    "leaves of others": {"low": LINES.low[:-1]},
    "starts of nobody": {"starts": set_entry(LINES.starts, -1, 10**6)},
}


@pytest.mark.parametrize("what", BAD_LINES)
def test_lines_that_compiled_code_would_follow(what, tmp_path):
    model, _ = TREES[3]
    wrong = model.__copy__()
    wrong.model_ = replace(model.model_, lines=replace(LINES, **BAD_LINES[what]))
    with pytest.raises(StorageError, match=r"model_.lines"):
        wrong.save(tmp_path / "model")


def test_lines_are_of_one_score(tmp_path):
    wrong = TREES[2][0].__copy__()
    wrong.model_ = replace(wrong.model_, lines=LINES)
    with pytest.raises(StorageError, match=r"model_.lines"):
        wrong.save(tmp_path / "model")


def test_curves_need_their_coverage_and_trees_have_none(tmp_path):
    curves, trees = some_models()[0][0].__copy__(), TREES[0][0].__copy__()
    curves.coverage_, trees.coverage_ = trees.coverage_, curves.coverage_
    for one in (curves, trees):
        with pytest.raises(StorageError, match="coverage_"):
            one.save(tmp_path / "model")


def test_a_family_with_its_rules_is_stored(tmp_path):
    model, _ = TREES[0]
    model.save(tmp_path / "model")
    assert rgboost.load(tmp_path / "model").learner == model.learner


def test_lines_without_a_number(tmp_path):
    """Categories have no slopes: what is stored of them has no columns."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (80, 2)).astype(float)
    trees = Trees(max_leaf_nodes=4, min_samples_leaf=5, leaves="linear")
    model = RGBMRegressor(learner=trees, categorical_features=[0, 1], max_iter=3, ensemble=False)
    model.fit(X, X @ [1.0, 2.0])
    loaded = stored_and_loaded(model, "save", tmp_path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
