"""Pairs from sums in cells, against boosting on the rows."""

import numpy as np
import pytest

from rgboost import boost
from rgboost.data.coarse import coarse_cuts
from rgboost.estimators.pairs.summed_rows import summed_rows
from rgboost.learners import Pairs, Stumps
from rgboost.losses import Logistic, Softmax, Squared
from rgboost.selection import RandomGroups, RandomLearners
from rgboost.statistics.base import fold_of_rows
from rgboost.statistics.pieces import MemoryRows, Pieces
from rgboost.steps import ConstantStep
from rgboost.training import EarlyStopping

PAIRS = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]


def mixed_rows(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(2)
    X[:, 3] = rng.integers(0, 6, n)
    X[rng.random(n) < 0.1, 1] = np.nan
    score = X[:, 0] + 2 * X[:, 2] * (X[:, 3] % 2) + X[:, 0] * np.nan_to_num(X[:, 1])
    return X, score + 0.3 * rng.normal(size=n), rng.uniform(0.5, 2.0, n)


def curves(X, y, weight, loss, fold):
    """A short fit of curves, on sums over the rows, which come in two pieces."""
    parts = (slice(0, 600), slice(600, None))
    pieces = [
        MemoryRows(X[now], y[now], None if weight is None else weight[now], first=now.start or 0)
        for now in parts
    ]
    return boost(
        None, None, statistics=Pieces(pieces), loss=loss, n_iter=40, fold=fold, random_state=3,
        learner=Stumps(max_bins=32, categorical=(3,), smooth=True), learning_rate=0.3,
        selection=RandomLearners(30), step=ConstantStep(), start_score=None,
        early_stopping=EarlyStopping(100) if fold else None, gram_memory=1 << 28,
    )  # fmt: skip


def pairs_of(boosted, **options):
    """The family of pairs, on coarser bins than the curves'."""
    cuts = boosted.prepared.bins()
    return Pairs(
        pairs=PAIRS, stumps=True, cuts=coarse_cuts(cuts, 12), categorical=(3,), smooth=True,
        min_weight_fraction_leaf=0.01, **options,
    )  # fmt: skip


SETTINGS = dict(
    selection=RandomGroups(4), step=ConstantStep(), learning_rate=0.5, n_iter=300, start_score=0.0,
    random_state=5,
)  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fold", [None, 3])
def test_the_rounds_of_boosting_on_rows(weighted, fold):
    """With all rows in the sample, sums are exact after every round, and the squared loss is its
    own quadratic model: the same choices."""
    X, y, weight = mixed_rows()
    weight = weight if weighted else None
    before = curves(X, y, weight, Squared(), fold)
    rows = summed_rows(before, Squared())
    family = pairs_of(before)
    stopping = None if fold is None else EarlyStopping(300, 0.0)
    mine = {**SETTINGS, **rows.for_boost(), "early_stopping": stopping}
    far = boost(loss=Squared(), learner=family, **mine)
    centre, models = before.centre, before.run_models()
    scores = np.array([model.score(X) for model in models])
    where = {"offset": scores[0]}
    if fold is not None:
        where = {"fold": fold_of_rows(0, len(y), fold, 3), "run_scores": scores}
    here = boost(
        X, y - centre, weight=weight, loss=Squared(), learner=family, engine="direct",
        early_stopping=stopping, **where, **SETTINGS,
    )  # fmt: skip
    np.testing.assert_array_equal(far.trace.learner, here.trace.learner)
    np.testing.assert_allclose(far.trace.train_loss, here.trace.train_loss, rtol=1e-9)
    np.testing.assert_allclose(far.trace.values, here.trace.values, atol=1e-9)
    np.testing.assert_allclose(far.model.score(X), here.model.score(X), atol=1e-9)
    if fold is not None:
        held = far.trace.validation_loss, here.trace.validation_loss
        np.testing.assert_allclose(*held, rtol=1e-9)
        assert held[0].min() < 0.8 * held[0][0]


@pytest.mark.parametrize("loss", [Logistic(0.0), Softmax(3)], ids=repr)
def test_losses_are_those_of_the_models(loss):
    """Other losses have quadratic models, which are made anew: what is recorded in the end is
    exact, and no round that was kept raised the loss."""
    X, score, weight = mixed_rows()
    y = np.where(score > np.median(score), 1.0, -1.0)
    if loss.outputs > 1:
        y = np.digitize(score, np.quantile(score, [0.3, 0.7])).astype(float)
    before = curves(X, y, weight, loss, 3)
    rows = summed_rows(before, loss)
    stopping = EarlyStopping(300, 0.0)
    settings = {**SETTINGS, **rows.for_boost(), "early_stopping": stopping}
    found = boost(loss=loss, learner=pairs_of(before), **settings)
    fold = fold_of_rows(0, len(y), 3, 3)
    starts = np.array([model.score(X) for model in before.run_models()])
    train, held = [], np.zeros(len(y))
    last = found.stopped_at(len(found.trace))
    assert last.best_iteration == 300
    for k, curve in enumerate(starts):
        path = last.run_path(k)
        value = loss.value(y, curve + found.prepared.model(path, np.zeros_like(curve[0])).score(X))
        train.append(np.average(value[fold != k], weights=weight[fold != k]))
        held[fold == k] = value[fold == k]
    np.testing.assert_allclose(found.trace.train_loss[-1], np.mean(train), rtol=1e-9)
    np.testing.assert_allclose(
        found.trace.validation_loss[-1], np.average(held, weights=weight), rtol=1e-9
    )
    assert found.trace.train_loss[-1] < 0.8 * found.trace.train_loss[0]


def test_a_small_sample():
    """Estimates from few rows are noise: stretches are short then, and the loss falls all the
    same."""
    X, y, _ = mixed_rows(6000)
    before = curves(X, y, None, Squared(), 3)
    few = np.arange(0, 6000, 10)
    facts = before.in_bins.facts
    facts = facts._replace(X=facts.X[few], y=facts.y[few], places=few)
    arrays = before.prepared.arrays
    arrays = arrays._replace(codes=np.ascontiguousarray(arrays.codes[:, few]))
    before.prepared.arrays = arrays
    in_bins = before.in_bins._replace(facts=facts, fold=before.in_bins.fold[few])
    object.__setattr__(before, "in_bins", in_bins)
    rows = summed_rows(before, Squared())
    settings = {**SETTINGS, **rows.for_boost(), "early_stopping": EarlyStopping(300, 0.0)}
    found = boost(loss=Squared(), learner=pairs_of(before), **settings)
    assert found.trace.validation_loss.min() < 0.3 * found.trace.validation_loss[0]
    values = 0.5 * np.square(y - before.model.score(X) - found.model.score(X))
    assert values.mean() < 0.3 * found.trace.validation_loss[0]
