"""A family that is none of ours runs on the direct engine, and is Algorithm 3 on its columns."""

from itertools import pairwise

import numpy as np
import pytest

from rgboost import RGBMRegressor, boost
from rgboost.callbacks import Checkpoint
from rgboost.coordinate import random_then_greedy
from rgboost.losses import AbsoluteError, Huber, Logistic, Squared
from rgboost.selection import (
    AllLearners,
    RandomGroup,
    RandomGroups,
    RandomLearners,
    RandomLearnersAndAlways,
    RandomThresholds,
    WeightedGroups,
)
from rgboost.steps import ConstantStep, LeafSearch, LineSearch
from rgboost.storage import StorageError
from rgboost.training import RunState, Validation

from .ramps import Ramps, columns_of

RULES = [
    AllLearners(), RandomLearners(7), RandomGroup(), RandomGroups(2), RandomThresholds(5),
    WeightedGroups(2, [1.0, 2.0, 0.5, 1.0]), RandomLearnersAndAlways(4, (1,)),
]  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 4))
    y = np.maximum(0, X[:, 0] - 0.2) * 3 - np.abs(X[:, 1]) + 0.1 * rng.normal(size=300)
    return X, y, rng.uniform(0.5, 2.0, size=300)


def fitted(rows, **settings):
    X, y, weight = rows
    given = dict(
        loss=Squared(), learner=Ramps(), selection=RandomGroups(2), step=ConstantStep(), n_iter=60,
        weight=weight, random_state=3, n_jobs=2,
    )  # fmt: skip
    return boost(X, y, **{**given, **settings})


@pytest.mark.parametrize("step", [ConstantStep(), LineSearch()], ids=repr)
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_algorithm_3_on_its_columns(rows, rule, step):
    X, y, weight = rows
    ours = fitted(rows, selection=rule, step=step)
    arrays = ours.prepared.arrays
    B = columns_of(X, arrays.knots, arrays.offsets)
    if type(rule) in (AllLearners, RandomLearners, RandomGroup, RandomGroups):
        ends = arrays.offsets
        groups = [list(range(a, b)) for a, b in pairwise(ends)]
        theirs = random_then_greedy(
            B, y, selection=rule, step=step, n_iter=60, random_state=3, weight=weight, groups=groups
        )
        np.testing.assert_array_equal(ours.trace.learner, theirs.trace.coordinate)
        losses = theirs.trace.loss / weight.sum()
        np.testing.assert_allclose(ours.trace.train_loss, losses, rtol=1e-10)
        np.testing.assert_allclose(ours.model.coef, theirs.coef, rtol=1e-8, atol=1e-12)
    else:  # the same draws, step by step, on the layout of the features
        _compare_with_greedy(rows, ours, B, rule, step)


def _compare_with_greedy(rows, ours, B, rule, step):
    _, y, w = rows
    layout, rng = ours.prepared.layout, np.random.default_rng(3)
    columns = B / np.sqrt((B**2 * w[:, None]).sum(axis=0))
    f = np.zeros(len(y))
    for m in range(60):
        J = rule.learners(layout, rule.draw(layout, rng, 1)[0])
        inner = columns[:, J].T @ (w * (y - f))
        j = J[np.argmax(inner**2)]
        assert ours.trace.learner[m] == j
        f += inner[np.argmax(inner**2)] * columns[:, j]  # the step is the same for both rules
        loss = 0.5 * w @ (y - f) ** 2 / w.sum()
        assert ours.trace.train_loss[m + 1] == pytest.approx(loss, rel=1e-10)


@pytest.mark.parametrize("loss", [Huber(0.3), Logistic(1e-3), AbsoluteError()], ids=repr)
def test_other_losses_by_line_search(rows, loss):
    X, y, _ = rows
    y = np.where(y > 0, 1.0, -1.0) if isinstance(loss, Logistic) else y
    trace = boost(
        X, y, loss=loss, learner=Ramps(), selection=RandomGroups(2), step=LineSearch(), n_iter=80,
        random_state=0, validation=Validation(X[:50], y[:50]),
    ).trace  # fmt: skip
    assert (np.diff(trace.train_loss) <= 1e-12).all()
    assert trace.train_loss[-1] < 0.8 * trace.train_loss[0]


def test_goes_on_from_a_checkpoint(rows, tmp_path):
    file = tmp_path / "run.npz"
    whole = fitted(rows)
    fitted(rows, n_iter=23, callbacks=[Checkpoint(file)])
    resumed = fitted(rows, resume=RunState.load(file))
    assert resumed.trace.train_loss.tobytes() == whole.trace.train_loss.tobytes()
    assert resumed.model.coef.tobytes() == whole.model.coef.tobytes()


def test_an_estimator_with_ramps(rows, tmp_path):
    X, y, _ = rows
    model = RGBMRegressor(learner=Ramps(), selection="groups", max_iter=600, random_state=0)
    model.fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.raises(StorageError, match=r"learner=Ramps .* store with pickle"):
        model.save(tmp_path / "ramps.safetensors")
    with pytest.raises(TypeError, match="Only models of stumps have shape functions"):
        model.explain_global()


def test_what_ramps_cannot_do(rows):
    with pytest.raises(ValueError, match="needs stumps"):
        fitted(rows, engine="gram")
    with pytest.raises(ValueError, match="free leaves"):
        fitted(rows, step=LeafSearch())
    with pytest.raises(NotImplementedError, match="knows no folds"):
        fitted(rows, fold=np.arange(300) % 5)
    X, y, _ = rows
    with pytest.raises(ValueError, match=r"max_iter='cv' needs folds.*early_stopping=True"):
        RGBMRegressor(learner=Ramps(), max_iter="cv").fit(X, y)


@pytest.mark.parametrize("n_rows", [29, 60, 300])
def test_defaults_hold_rows_out_where_there_are_no_folds(rows, n_rows):
    X, y, _ = rows
    model = RGBMRegressor(learner=Ramps(), random_state=0).fit(X[:n_rows], y[:n_rows])
    assert model.plan_.judge == ("few rows" if n_rows < 30 else "held-out rows")
    if n_rows >= 30:
        assert "weak-learners knows no folds" in model.plan_["iterations by"].why
    assert model.score(X, y) > 0.5
