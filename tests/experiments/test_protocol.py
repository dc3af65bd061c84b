"""The protocol is the paper's, and that of the estimators' preset."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.data import datasets
from rgboost.experiments import protocol
from rgboost.experiments.cells import Cell, run_cell
from rgboost.experiments.protocol import Budget, geometric_grid, make_plan, sets_of, split


@pytest.mark.parametrize(
    ("p", "grid"),
    [(123, [123, 37, 11, 3, 1]), (2000, [2000, 299, 45, 7, 1]), (90, [90, 29, 9, 3, 1]), (1, [1])],
)
def test_grid_of_table_stats(p, grid):
    assert geometric_grid(p) == grid


class TestBudget:
    def test_iterations(self):
        assert Budget("iterations", 70).most_iterations(0.1) == 70

    def test_epochs_are_looks_at_all_weak_learners(self):
        assert Budget("epochs", 7).most_iterations(0.1) == 70
        assert Budget("epochs", 0.001).most_iterations(1.0) == 1

    def test_seconds(self):
        assert Budget("seconds", 2.5).seconds == 2.5
        assert Budget("epochs", 2.5).seconds == np.inf

    @pytest.mark.parametrize("amount", [0, -1, np.inf, np.nan])
    def test_no_budget(self, amount):
        with pytest.raises(ValueError, match="is no budget; use a positive number"):
            Budget("seconds", amount)

    def test_half_an_iteration(self):
        with pytest.raises(ValueError, match=r"iterations=1.5 is no count"):
            Budget("iterations", 1.5)


def test_names():
    assert sets_of(["embedded"]) == ("embedded", "embedded-digits")
    assert sets_of(["a9a", "all"])[0] == "a9a"
    assert sorted(sets_of(["a9a", "all"])) == sorted(sets_of(["all"]))
    with pytest.raises(ValueError, match="'a8a' is no data set; use one of a9a, all, colon"):
        sets_of(["a8a"])


def test_every_set_can_be_loaded_by_name():
    assert set(protocol.USUAL) == set(datasets.NAMES)


def test_plan():
    plan = make_plan("embedded", seeds=2, budget=Budget("epochs", 3), steps=("constant",))
    assert (plan.seeds, str(plan.budget), plan.steps) == ((0, 1), "3 epochs", ("constant",))
    assert make_plan("a9a").budget.kind == "seconds"
    with pytest.raises(ValueError, match="seeds=0 leaves nothing to run"):
        make_plan("embedded", seeds=0)


def test_regression_targets_are_scaled_on_the_training_rows():
    part = split(datasets.load("embedded-digits"), 1)
    assert part.y_train.mean() == pytest.approx(0.0, abs=1e-12)
    assert part.y_train.std() == pytest.approx(1.0)
    assert len(part.y_train) == 4 * 1797 // 5


@pytest.mark.parametrize("step", ["constant", "line-search"])
@pytest.mark.parametrize(
    ("name", "estimator"), [("embedded", RGBMClassifier), ("embedded-digits", RGBMRegressor)]
)
def test_same_as_the_preset_of_the_estimators(name, estimator, step):
    """All features, so that nothing is drawn."""
    part = split(datasets.load(name), 0)
    p = part.X_train.shape[1]
    found = run_cell(Cell(step, p, 0), part, Budget("iterations", 40), 0.0)
    model = estimator.paper(step=step, subset_size="all", max_iter=40, engine="direct")
    model.fit(part.X_train, part.y_train)
    assert_allclose(found["train_loss"], model.trace_.train_loss[found["iterations"]], rtol=1e-12)
