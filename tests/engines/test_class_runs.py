"""Means of runs of several classes: against honest fits."""

import numpy as np
import pytest

from rgboost import RGBMClassifier, boost
from rgboost.engines.direct import runs as direct_runs
from rgboost.losses import Softmax
from rgboost.selection import RandomGroups, RandomLearners, RandomThresholds
from rgboost.steps import ConstantStep, LineSearch, NewtonStep
from tests.conftest import JIT
from tests.engines.checks import check_threads
from tests.engines.test_row_mean import SETTINGS, K, check_honest_fits, data


def class_data(weighted=False, n=240):
    X, y, fold, weight = data(weighted, n)
    return X, np.digitize(y, [0.0, 1.0]).astype(float), fold, weight


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("step", [ConstantStep(), NewtonStep()], ids=str)
@pytest.mark.parametrize("selection", [RandomLearners(3), RandomLearners(20), RandomGroups(2)])
def test_runs_are_those_of_honest_fits(step, selection, weighted):
    X, y, fold, weight = class_data(weighted)
    settings = {**SETTINGS, "step": step, "selection": selection, "loss": Softmax(3)}
    check_honest_fits(X, y, fold, weight, settings)


@pytest.mark.parametrize("step", [ConstantStep(), NewtonStep()], ids=str)
def test_threads_change_nothing(step, monkeypatch):
    if not JIT:
        pytest.skip("threads need compiled code")
    monkeypatch.setattr(direct_runs, "_SCORES_FOR_THREADS", 0)
    X, y, fold, _ = class_data()
    settings = {**SETTINGS, "selection": RandomThresholds(3), "loss": Softmax(3), "step": step}
    check_threads(X, y, threads=(1, 2), fold=fold, **{**settings, "n_iter": 400})


@pytest.mark.parametrize(
    "selection", [RandomThresholds(1), RandomLearners(1), RandomGroups(1)], ids=str
)
@pytest.mark.parametrize("step", [ConstantStep(), NewtonStep()], ids=str)
def test_a_value_that_only_one_fold_has_is_not_chosen_without_it(step, selection):
    X, y, fold, _ = class_data()
    X = np.column_stack([X[:, 0], (fold == 0) & (X[:, 0] > 9)]).astype(float)
    settings = {**SETTINGS, "selection": selection, "loss": Softmax(3), "step": step}
    found = boost(X, y, fold=fold, n_iter=60, **settings).trace
    assert not (found.feature[::K] == 1).any()
    assert (found.feature[1::K] == 1).any()
    assert np.isfinite(found.validation_loss).all()
    assert np.isfinite(found.left).all()


def test_steps_that_several_classes_do_not_have():
    X, y, fold, _ = class_data()
    settings = {**SETTINGS, "selection": RandomThresholds(1), "loss": Softmax(3)}
    with pytest.raises(ValueError, match="not for more than two classes"):
        boost(X, y, fold=fold, n_iter=5, **{**settings, "step": LineSearch()})


def test_a_classifier_of_three_classes_is_a_mean():
    X, y, _, _ = class_data()
    names = np.array(["a", "b", "c"])[y.astype(int)]
    model = RGBMClassifier(random_state=0, n_jobs=1).fit(X, names)
    assert model.trace_.engine == "direct: the mean of 5 runs"
    assert model.trace_.n_runs == 5
    assert len(model.model_.wide.feature) == 5 * model.best_iteration_
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 0.0, atol=1e-9)
    assert model.score(X, names) > 0.5
    assert model.set_params(ensemble=False).fit(X, names).trace_.n_runs == 1
