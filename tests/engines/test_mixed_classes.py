"""Several classes together with missing values and categories, against brute force."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import RGBMClassifier
from rgboost.learners import Stumps
from rgboost.learners.stumps.class_sums import projections
from rgboost.losses import Softmax
from rgboost.selection import AllLearners, RandomLearners
from rgboost.steps import ConstantStep, NewtonStep
from rgboost.training import Validation, boost
from tests.conftest import JIT
from tests.mixed_naive import numeric_sides, subset_sides

N_ITER = 6


def mixed_problem(n, n_classes, seed=0):
    """(X, y, weight): two numeric features and a categorical one; two have missing values."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n).round(1), rng.normal(size=n).round(1),
                         rng.integers(0, 5, n)]).astype(float)  # fmt: skip
    X[rng.random(n) < 0.2, 0] = np.nan
    X[rng.random(n) < 0.2, 2] = np.nan
    drift = (
        np.nan_to_num(X[:, 0], nan=1.5)
        + np.array([0, 2, -1, 1, -2, 3])[np.nan_to_num(X[:, 2], nan=5).astype(int)]
    )
    y = np.floor(np.abs(drift + rng.normal(size=n))) % n_classes
    y[:n_classes] = np.arange(n_classes)
    return X, y, rng.integers(1, 4, n).astype(float)


def gradient(left, r, weight):
    """<b, r> of the best leaves for these sides, a value for each class."""
    sums = [(weight[s, None] * r[s]).sum(axis=0) for s in (left, ~left)]
    return np.sqrt(sum((s @ s) / weight[m].sum() for s, m in zip(sums, (left, ~left), strict=True)))


def run(X, y, weight, n_classes, **kwargs):
    defaults = dict(
        loss=Softmax(n_classes, 0.01), learner=Stumps(max_bins=None, categorical=(2,)),
        selection=AllLearners(), step=ConstantStep(), n_iter=N_ITER, weight=weight,
        learning_rate=0.8, random_state=0,
    )  # fmt: skip
    return boost(X, y, **{**defaults, **kwargs})


@pytest.mark.kernel
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("step", [ConstantStep(), NewtonStep()], ids=repr)
def test_choices_are_what_they_say(sparse, step):
    """Scores and leaves are exact; no split of a number is better than the choice."""
    X, y, weight = mixed_problem(40, 3)
    data = scipy.sparse.csc_array(np.nan_to_num(X, nan=np.nan)) if sparse else X
    boosted = run(data, y, weight, 3, step=step)
    loss, trace = Softmax(3, 0.01), boosted.trace
    assert {0, 2} <= set(trace.feature)
    f = np.zeros((len(y), 3))
    numbers = [side for g in (0, 1) for side in numeric_sides(X[:, g], None, weight)]
    stages = boosted.model.staged_score(data)
    for m, after in enumerate(stages):
        r = loss.residual(y, f)
        assert trace.train_loss[m] == pytest.approx(np.average(loss.value(y, f), weights=weight))
        added = after - f
        left = np.isclose(added[:, 0], trace.left[m, 0], rtol=1e-9)
        assert 0 < left.sum() < len(y)
        assert trace.gradient_norm[m] == pytest.approx(gradient(left, r, weight), rel=1e-9)
        best = max(gradient(side, r, weight) for side in numbers)
        assert trace.gradient_norm[m] >= best * (1 - 1e-9)
        if isinstance(step, ConstantStep):
            means = (weight[left, None] * r[left]).sum(axis=0) / weight[left].sum()
            np.testing.assert_allclose(trace.left[m], 0.8 * means / loss.smoothness, rtol=1e-9)
        f = after
    np.testing.assert_allclose(boosted.model.score(data), f, rtol=1e-9, atol=1e-12)


@pytest.mark.kernel
def test_the_best_set_if_means_lie_on_a_line():
    """As they do for two classes: among all splits into two sets none is better."""
    X, y, weight = mixed_problem(40, 2, seed=1)
    boosted = run(X[:, 2:], y, weight, 2, learner=Stumps(categorical=(0,)))
    loss, f = Softmax(2, 0.01), np.zeros((len(y), 2))
    for m, after in enumerate(boosted.model.staged_score(X[:, 2:])):
        r = loss.residual(y, f)
        best = max(gradient(side, r, weight) for side in subset_sides(X[:, 2]))
        assert boosted.trace.gradient_norm[m] == pytest.approx(best, rel=1e-9)
        f = after


@pytest.mark.kernel
def test_the_first_principal_direction():
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 9, 12).astype(float)
    means = rng.normal(size=(12, 4)) * [9.0, 1.0, 1.0, 1.0]
    bins = means * weights[:, None]
    off = means - np.average(means, axis=0, weights=weights)
    top = np.linalg.eigh((off * weights[:, None]).T @ off)[1][:, -1]
    found = projections(bins, weights, bins.sum(axis=0), weights.sum())
    expected = off @ top
    np.testing.assert_allclose(found * np.sign(found @ expected), expected, rtol=1e-6, atol=1e-6)
    same = projections(np.ones((3, 2)), np.ones(3), np.full(2, 3.0), 3.0)
    np.testing.assert_array_equal(same, np.zeros(3))


def test_held_out_rows_with_missing_values_that_training_rows_did_not_have():
    """A missing value adds the average, as in the model."""
    X, y, weight = mixed_problem(60, 3)
    known = ~np.isnan(X).any(axis=1)
    held = Validation(X[~known][:, :2], y[~known], weight[~known])
    boosted = run(X[known][:, :2], y[known], weight[known], 3, learner=Stumps(), validation=held)
    n = boosted.best_iteration
    loss = Softmax(3, 0.01)
    expected = np.average(loss.value(held.y, boosted.model.score(held.X)), weights=held.weight)
    assert boosted.trace.validation_loss[n] == pytest.approx(expected, rel=1e-9)


@pytest.mark.skipif(not JIT, reason="many rows")
def test_results_do_not_depend_on_threads():
    X, y, weight = mixed_problem(30_000, 3)
    one, two = (
        run(X, y, weight, 3, n_jobs=n, selection=RandomLearners(0.5), n_iter=20) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.trace.learner, two.trace.learner)
    np.testing.assert_array_equal(one.trace.left, two.trace.left)
    np.testing.assert_array_equal(one.trace.sets, two.trace.sets)


def test_unseen_categories_count_as_missing():
    X, y, _ = mixed_problem(200, 3)
    model = RGBMClassifier(max_iter=30, categorical_features=[2], random_state=0).fit(X, y)
    other, gone = X[:5].copy(), X[:5].copy()
    other[:, 2], gone[:, 2] = 77.0, np.nan
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(gone))


@pytest.mark.kernel
@pytest.mark.parametrize("lightest", [0.0, 0.1])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sums_of_single_splits(monkeypatch, lightest, n_jobs):
    """Left sums of the splits in J are those from all bins, also of splits with missing values on
    the left, beside categories, and of splits that leave too little on a side."""
    X, y, weight = mixed_problem(300 if JIT else 40, 3)
    learner = Stumps(max_bins=None, categorical=(2,), min_weight_fraction_leaf=lightest)
    settings = dict(learner=learner, selection=RandomLearners(3), n_iter=12, n_jobs=n_jobs)
    singly = run(X, y, weight, 3, **settings)
    assert {0, 1, 2} == set(singly.trace.feature)
    monkeypatch.setattr("rgboost.engines.direct.outputs.SPLITS_OF_COLUMN", 0)
    together = run(X, y, weight, 3, **settings)
    np.testing.assert_array_equal(singly.trace.learner, together.trace.learner)
    np.testing.assert_array_equal(singly.trace.sets, together.trace.sets)
    np.testing.assert_allclose(singly.trace.left, together.trace.left, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(singly.trace.train_loss, together.trace.train_loss, rtol=1e-12)
