"""Rules of single settings, at their edges."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import RGBMRegressor
from rgboost.learners import Stumps
from rgboost.losses import LogCosh, Logistic, Poisson, Quantile, Softmax, Squared
from rgboost.selection import (
    RandomGroups,
    RandomLearners,
    RandomLearnersAndAlways,
    RandomThresholds,
)
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep
from rgboost.training.plan import Facts, Values, facts_of, rules
from rgboost.training.plan.costs import gram_budget
from rgboost.training.plan.resolve import selections
from rgboost.training.plan.rules import Case, decide

GIB = 1 << 30


def facts(rows, features, loss=None, distinct=None, **more):
    """Of rows that are never made: every feature has so many values, all equally often."""
    distinct = distinct or min(rows, 10_000)
    start = distinct * np.arange(features + 1)
    values = Values(distinct, np.ones(start[-1], np.int64), start, np.arange(features))
    none = np.zeros(features, bool)
    stored = rows * features
    known = {"categorical": none, "missing": none, "stored": stored, "input_bytes": 8 * stored}
    return Facts(rows, loss or Squared(), lambda: values, **{**known, **more})


def case(rows, features, parameters=None, *, mean=False, thresholds=False, **more):
    given = {**RGBMRegressor().get_params(), **(parameters or {})}
    return Case(given, facts(rows, features, **more), rows, mean=mean, thresholds=thresholds)


@pytest.mark.parametrize(
    ("shape", "bins"),
    [
        ((10, 3), 32), ((1649, 3), 32), ((1650, 3), 33), ((5000, 90), 100), ((13_000, 20), 255),
        ((13_000, 16), 260), ((20_000, 16), 300), ((20_000, 3), 400), ((100_000, 3), 512),
    ],
)  # fmt: skip
def test_bins(shape, bins):
    assert decide(rules.MAX_BINS, case(*shape)).value == bins


@pytest.mark.parametrize(("rows", "bins"), [(10_000, None), (10_001, 100)])
def test_bins_of_the_paper(rows, bins):
    assert decide(rules.MAX_BINS, case(rows, 3, {"max_bins": "paper"})).value == bins


def test_many_rows_of_few_values_but_for_some_features():
    """Above 100,000 rows: 4,800 splits are shared out among features with more than 255 values."""
    X = np.random.default_rng(0).normal(size=(120_000, 4))
    X[:, 1:] = X[:, 1:].round(2)

    def bins(X, categorical=()):
        mask = np.isin(np.arange(X.shape[1]), categorical)
        known = facts_of(X, np.zeros(len(mask) and X.shape[0]), Squared(), categorical=mask)
        given = RGBMRegressor().get_params()
        return decide(rules.MAX_BINS, Case(given, known, known.rows)).value

    assert bins(X[:, :1]) == 2047
    assert bins(X[:, :3]) == 1600
    assert bins(np.round(X[:, 1:], 1)) == 2047
    assert bins(np.column_stack([X[:, :1]] * 20)) == 255
    assert bins(scipy.sparse.csr_array(X[:, :1])) == 255
    assert bins(X, (1, 2, 3)) == 2047


@pytest.mark.parametrize(
    ("given", "shape", "mean", "rule"),
    [
        ({}, (500, 9), True, RandomThresholds(3)),
        ({}, (90, 9), True, RandomThresholds(1)),
        ({}, (90, 900), True, RandomThresholds(15)),
        ({}, (9999, 9), True, RandomThresholds(66)),
        ({}, (10_000, 9), True, RandomLearners("sqrt")),
        ({}, (500, 9), False, RandomLearners("sqrt")),
        ({"subset_size": 7}, (500, 9), True, RandomLearners(7)),
        ({"always_features": ["a"]}, (500, 9), True, RandomLearnersAndAlways("sqrt", ("a",))),
        ({"selection": "thresholds"}, (10**6, 9), False, RandomThresholds(6666)),
        (
            {"selection": "thresholds", "subset_size": "sqrt"}, (10**6, 9), False,
            RandomThresholds("sqrt"),
        ),
        ({"selection": "groups"}, (500, 9), True, RandomGroups("sqrt")),
        ({"learner": Stumps("signed")}, (500, 9), True, RandomThresholds(3)),
        ({"monotone_constraints": {0: 1}}, (500, 9), True, RandomLearners("sqrt")),
    ],
    ids=str,
)  # fmt: skip
def test_selection_by_rows(given, shape, mean, rule):
    assert list(selections(case(*shape, given, mean=mean))) == [rule]


def test_with_missing_values_both_are_tried():
    found = selections(case(500, 9, mean=True, missing=np.arange(9) == 3))
    assert list(found) == [RandomThresholds(3), RandomLearners("sqrt")]


@pytest.mark.parametrize(
    ("loss", "given", "step"),
    [
        (LogCosh(), {}, ConstantStep()), (Poisson(), {}, NewtonStep()),
        (Quantile(0.1), {}, LeafSearch()), (Softmax(3), {}, NewtonStep()),
        (Quantile(0.1), {"learner": Stumps("signed")}, LineSearch()),
        (Poisson(), {"monotone_constraints": {0: 1}}, LineSearch()),
    ],
    ids=str,
)  # fmt: skip
def test_steps(loss, given, step):
    assert decide(rules.STEP, case(100, 2, given, loss=loss)).value == step


@pytest.mark.parametrize(
    ("rows", "classes", "rate"), [(999, 2, 0.2), (1000, 2, 1.0), (9999, 3, 0.4), (10_000, 3, 1.0)]
)
def test_rates_of_classes(rows, classes, rate):
    loss = Logistic() if classes == 2 else Softmax(classes)
    found = case(rows, 2, loss=loss, class_rows=(rows // classes,) * classes)
    assert decide(rules.LEARNING_RATE, found).value == rate


@pytest.mark.parametrize("rows", [9999, 10_000])
def test_what_changes_at_ten_thousand_rows(rows):
    few = rows < 10_000
    one, mean = case(rows, 4), case(rows, 4, mean=True)
    assert decide(rules.LEARNING_RATE, mean).value == (0.2 if few else 0.5)
    assert decide(rules.LEAST_SHARE, one).value == (0.0 if few else 4.5 / rows)
    assert decide(rules.NO_CHANGE, mean).value == (200 if few else 400)
    assert decide(rules.NO_CHANGE, one).value == 200


class TestGramBudget:
    def test_rows_are_in_it(self):
        few, many = (gram_budget(facts(n, 10, memory=GIB), frugal=False) for n in (1000, 100_000))
        assert GIB > few > many > 0.9 * GIB

    def test_it_is_never_negative(self):
        assert gram_budget(facts(1000, 10, memory=1000), frugal=False) == 0

    def test_a_fit_that_ends_by_itself_is_frugal(self):
        small = facts(1000, 10, memory=64 * GIB)
        large = facts(100_000, 50, memory=64 * GIB, input_bytes=20_000_000)
        assert 190_000_000 < gram_budget(small, frugal=True) <= 200_000_000
        assert gram_budget(large, frugal=True) <= 10 * large.input_bytes == 200_000_000
        matrix = scipy.sparse.random_array((1000, 100_000), density=0.05, format="csr")
        larger = facts_of(matrix, np.zeros(1000), Squared())
        size = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
        assert larger.input_bytes == size
        assert gram_budget(small, frugal=False) > GIB

    def test_the_budget_is_never_above_that_of_the_process(self):
        assert gram_budget(facts(1000, 10, memory=50_000_000), frugal=True) < 50_000_000
