"""Trees under constraints: on order, and on which features act together."""

import numpy as np
import pytest

from rgboost.learners import Trees
from rgboost.learners.trees.grow import Tree
from rgboost.learners.trees.leaf_of import children_of, keep_order
from rgboost.losses import Logistic, Softmax, Squared
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep
from rgboost.training import boost


def boosted(X, y, *, loss=None, step=None, n_iter=20, **family):
    return boost(
        X, y, loss=loss or Squared(), learner=Trees(min_samples_leaf=5, **family),
        selection=RandomGroups(3), step=step or ConstantStep(), n_iter=n_iter, learning_rate=0.3,
        start_score=None, random_state=0,
    )  # fmt: skip


def made(n=400, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(1)
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n), rng


@pytest.mark.parametrize(
    ("loss", "step"),
    [
        (Squared(), ConstantStep()), (Squared(), LeafSearch()), (Logistic(), NewtonStep()),
        (Logistic(), LineSearch()), (Logistic(), LeafSearch()),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("missing", [False, True])
def test_scores_rise_and_fall_as_they_should(loss, step, missing):
    X, y, rng = made()
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    y = y if loss == Squared() else np.where(y > 0, 1.0, -1.0)
    model = boosted(X, y, loss=loss, step=step, constraints={0: 1, 1: -1}).model
    others = X[rng.integers(0, len(X), 60)]
    for g, sign in ((0, 1), (1, -1)):
        grid = np.sort(rng.normal(size=40) * 2)
        rows = np.repeat(others, len(grid), axis=0)
        rows[:, g] = np.tile(grid, len(others))
        scores = model.score(rows).reshape(len(others), -1)
        assert (sign * np.diff(scores, axis=1) >= -1e-12).all()
        assert np.ptp(scores) > 0.0
    plain = boosted(X, y, loss=loss, step=step).model
    assert (np.diff(plain.score(rows).reshape(len(others), -1), axis=1) > 1e-9).any()


def test_any_values_are_put_in_order():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 12))
        leaf = np.array([rng.integers(0, k + 1) for k in range(n)])
        none = np.zeros((n, 2))
        tree = Tree(leaf, leaf, leaf, none, none, none)
        signs = rng.integers(-1, 2, n).astype(np.int8)
        values, weights = rng.normal(size=n + 1), rng.uniform(0.1, 2.0, n + 1)
        before = values.copy()
        keep_order(tree, signs, values, weights)
        children = children_of(leaf)

        def leaves_below(k, children=children):
            return [~k] if k < 0 else [q for c in children[k] for q in leaves_below(c)]

        for k in range(n):
            left, right = (values[leaves_below(c)] for c in children[k])
            if signs[k]:
                gap = right.min() - left.max() if signs[k] > 0 else left.min() - right.max()
                assert gap >= -1e-12
        if not signs.any():
            np.testing.assert_array_equal(values, before)
        again = values.copy()
        keep_order(tree, signs, again, weights)
        assert np.abs(again).max() <= np.abs(before).max() + 1e-12


def paths_of(model):
    """The features on the way to each leaf."""
    for t in range(model.n_trees):
        a, b = model.starts[t], model.starts[t + 1]
        if a == b:
            continue
        todo = [(0, frozenset())]
        while todo:
            k, used = todo.pop()
            if k < 0:
                yield used
            else:
                used |= {int(model.feature[a + k])}
                todo += [(int(c), used) for c in model.children[a + k]]


@pytest.mark.parametrize("sets", [[[0, 1], [2, 3]], [[0, 1, 2], [1, 3]], [[0, 2]], []])
def test_only_features_of_a_set_act_together(sets):
    X, y, _ = made(p=6)
    model = boosted(X, y, interaction_constraints=sets, max_leaf_nodes=12).model
    allowed = [set(one) for one in sets]
    seen = set()
    for used in paths_of(model):
        assert len(used) == 1 or any(used <= one for one in allowed)
        seen |= used
    assert len(seen) > 3
    assert any(len(used) > 1 for used in paths_of(model)) == bool(sets)
    free = boosted(X, y, max_leaf_nodes=12).model
    assert any(len(used) > 2 for used in paths_of(free))


def test_both_constraints_at_once():
    X, y, _ = made()
    fit = boosted(X, y, constraints={0: 1}, interaction_constraints=[[0, 1]])
    assert all(len(used) <= 2 for used in paths_of(fit.model))
    grid = np.repeat(X[:1], 50, axis=0)
    grid[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(fit.model.score(grid)) >= 0.0).all()


def test_where_nothing_falls_nothing_is_chosen():
    """All that a tree may do is the wrong way round."""
    x = np.repeat(np.linspace(0, 1, 200)[:, None], 3, axis=1)
    fit = boosted(x, -x[:, 0], constraints=[1, 1, 1], n_iter=3)
    assert fit.trace.learner.tolist() == [-1] * 3


def test_constraints_that_cannot_be():
    X, _, _ = made()
    shared = dict(selection=AllLearners(), step=NewtonStep(), n_iter=2)
    three = np.arange(len(X)) % 3.0
    with pytest.raises(ValueError, match="one score"):
        boost(X, three, loss=Softmax(3), learner=Trees(constraints={0: 1}), **shared)
    with pytest.raises(ValueError, match="categorical"):
        Trees(categorical=(0,), constraints={0: 1}).prepare(X)
    with pytest.raises(TypeError, match="no list of sets"):
        Trees(interaction_constraints="ab").prepare(X)
    with pytest.raises(ValueError, match="index"):
        Trees(interaction_constraints=[[0, 9]]).prepare(X)
