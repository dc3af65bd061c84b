"""Trees against brute force, scikit-learn and stumps."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.tree import DecisionTreeRegressor

from rgboost._core.lanes import add_pair
from rgboost._core.team import Team
from rgboost.learners import Stumps, Trees
from rgboost.losses import Huber, Logistic, Poisson, Quantile, Softmax, Squared
from rgboost.selection import (
    AllLearners,
    RandomGroup,
    RandomGroups,
    RandomLearners,
    RandomThresholds,
)
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep
from rgboost.training import RunState, Validation, boost
from tests.learners.trees.naive import grow


def made(n=160, p=3, seed=0, missing=False, bins=6):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, bins, size=(n, p)).astype(float)
    if missing:
        X[rng.random((n, p)) < 0.15] = np.nan
    return X, rng


def searched(prepared, residual, selection=None, n_jobs=1, seed=0):
    """The choice of one search."""
    search = prepared.searcher(prepared.arrays, len(residual), 0)
    rng = np.random.default_rng(seed)
    subsets = (selection or AllLearners()).subsets(prepared.layout, rng, 1)
    with Team(n_jobs) as team:
        return search(residual, subsets, 0, team)


@pytest.mark.kernel
def test_two_numbers_are_added_at_once():
    values, sums = np.arange(6.0), np.zeros(8)
    add_pair(values, 1, sums, 3)
    add_pair(values, 2, sums, 3)
    assert sums.tolist() == [0, 0, 0, 0, 0, 0, 6, 8]


@pytest.mark.kernel
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("rules", [{}, {"l2": 3.0}, {"max_depth": 2}])
def test_a_tree_is_what_brute_force_grows(outputs, weighted, missing, rules):
    X, rng = made(missing=missing)
    w = rng.uniform(0.5, 2.0, len(X)) if weighted else np.ones(len(X))
    r = rng.normal(size=(outputs, len(X))) * w
    family = Trees(max_leaf_nodes=7, min_samples_leaf=4, **rules)
    prepared = family.prepare(X, w if weighted else None)
    choice = searched(prepared, r)
    leaf, splits = grow(X, r, w, leaves=7, least=4 * w.mean(), l2=family.l2, depth=family.max_depth)
    tree = choice.tree
    assert [s[:3] for s in splits] == list(zip(tree.leaf, tree.column, tree.split, strict=True))
    np.testing.assert_allclose(tree.gain, [s[3] for s in splits], rtol=1e-9)
    np.testing.assert_array_equal(choice.leaves.leaf, leaf)
    np.testing.assert_allclose(choice.leaves.weights, np.bincount(leaf, w), rtol=1e-12)
    for c in range(outputs):
        np.testing.assert_allclose(choice.leaves.raw[:, c], np.bincount(leaf, r[c]), atol=1e-10)


@pytest.mark.kernel
def test_categories_are_split_in_the_order_of_their_means():
    X, rng = made(n=240, missing=True, bins=9)
    r, w = rng.normal(size=(1, 240)) + X[:, 0] % 2 * np.nan_to_num(X[:, 1] > 3), np.ones(240)
    r = np.nan_to_num(r)
    prepared = Trees(max_leaf_nodes=8, min_samples_leaf=5, categorical=(0, 2)).prepare(X)
    choice = searched(prepared, r)
    leaf, splits = grow(X, r, w, leaves=8, least=5, categorical=(0, 2))
    np.testing.assert_array_equal(choice.leaves.leaf, leaf)
    np.testing.assert_allclose(choice.tree.gain, [s[3] for s in splits], rtol=1e-9)


@pytest.mark.kernel
def test_rare_categories_do_not_fit_noise():
    rng = np.random.default_rng(3)
    n = 600
    X = np.column_stack([np.arange(n) % 150, rng.integers(0, 2, n)]).astype(float)
    r = (rng.normal(size=n) + 0.4 * X[:, 1])[None]
    for smooth, first in ((False, 0), (True, 1)):
        family = Trees(max_leaf_nodes=2, min_samples_leaf=1, categorical=(0,), smooth=smooth)
        assert searched(family.prepare(X), r - r.mean()).tree.column[0] == first


@pytest.mark.kernel
@pytest.mark.parametrize("p", [1, 8, 21])
def test_only_features_of_j_are_split(p):
    X, rng = made(n=300, p=p)
    r = rng.normal(size=(1, 300))
    prepared = Trees(max_leaf_nodes=9, min_samples_leaf=5).prepare(X)
    for t in {1, (p + 1) // 2, p}:
        for seed in range(3):
            choice = searched(prepared, r, RandomGroups(t), seed=seed)
            draw = RandomGroups(t).draw(prepared.layout, np.random.default_rng(seed), 1)[0]
            leaf, _ = grow(X, r, np.ones(300), leaves=9, least=5, columns=draw)
            np.testing.assert_array_equal(choice.leaves.leaf, leaf)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", ["csr_array", "csc_array"])
@pytest.mark.parametrize("outputs", [1, 2])
def test_sparse_rows_are_dense_rows(kind, outputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 30)).round(1) * (rng.random((250, 30)) < rng.uniform(0, 0.3, 30))
    X[rng.random(X.shape) < 0.01] = np.nan
    r, w = rng.normal(size=(outputs, 250)), rng.uniform(0.5, 2.0, 250)
    family = Trees(max_leaf_nodes=9, min_samples_leaf=5)
    rows = getattr(scipy.sparse, kind)(X)
    dense, sparse = family.prepare(X, w), family.prepare(rows, w)
    assert (sparse.arrays.lane < 0).any()
    assert (sparse.arrays.lane >= 0).any()
    for selection in (AllLearners(), RandomGroups(10)):
        a, b = (searched(one, r * w, selection, seed=4) for one in (dense, sparse))
        if selection == AllLearners():
            np.testing.assert_array_equal(a.leaves.leaf, b.leaves.leaf)
        found = sparse.leaves_of(sparse.arrays_for(rows), b, Team(1))
        np.testing.assert_array_equal(found, b.leaves.leaf)
    some, rest = np.arange(0, 250, 2), np.arange(1, 250, 2)
    mine, others = sparse.on_some_rows(some, w[some], rest)
    search = sparse.searcher(mine, outputs, 0)
    subsets = AllLearners().subsets(sparse.layout, np.random.default_rng(0), 1)
    choice = search(np.ascontiguousarray((r * w)[:, some]), subsets, 0, Team(1))
    leaf = np.empty(250, np.uint8)
    leaf[some], leaf[rest] = choice.leaves.leaf, sparse.leaves_of(others, choice, Team(1))
    np.testing.assert_array_equal(leaf, sparse.leaves_of(sparse.arrays, choice, Team(1)))


@pytest.mark.parametrize("leaves", [2, 5, 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_tree_is_scikit_learns(leaves, weighted):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(250, 6)), rng.normal(size=250)
    weight = rng.uniform(0.5, 2.0, 250) if weighted else None
    fit = boost(
        X, y, loss=Squared(), learner=Trees(max_leaf_nodes=leaves, min_samples_leaf=1),
        selection=AllLearners(), step=ConstantStep(), n_iter=1, start_score=None, weight=weight,
    )  # fmt: skip
    theirs = DecisionTreeRegressor(max_leaf_nodes=leaves).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(fit.model.score(X), theirs.predict(X), atol=1e-12)


STEPS = [
    (Squared(), ConstantStep()), (Squared(), LeafSearch()), (Logistic(), ConstantStep()),
    (Logistic(), NewtonStep()), (Huber(1.0), LineSearch()), (Quantile(0.3), LeafSearch()),
    (Poisson(), NewtonStep(l2=1.0)),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "step"), STEPS, ids=repr)
@pytest.mark.parametrize("kind", ["numbers", "missing", "categories"])
@pytest.mark.parametrize("selection", [AllLearners(), RandomGroups(2)], ids=repr)
def test_two_leaves_are_stumps(loss, step, kind, selection):
    X, rng = made(n=120, p=4, missing=kind == "missing")
    y = rng.poisson(2.0, 120).astype(float)
    if loss == Logistic():
        y = np.where(y > 1, 1.0, -1.0)
    known = {"categorical": (1, 3)} if kind == "categories" else {}
    fits = [
        boost(
            X, y, loss=loss, learner=learner, selection=selection, step=step, n_iter=25,
            learning_rate=0.5, start_score=None, random_state=3, engine="direct",
            validation=Validation(X[:40], y[:40]),
        )
        for learner in (
            Trees(max_leaf_nodes=2, min_samples_leaf=1, **known), Stumps(max_bins=255, **known),
        )
    ]  # fmt: skip
    trees, stumps = fits
    assert trees.trace.learner.tolist() == stumps.trace.learner.tolist()
    for name in ("train_loss", "validation_loss", "gradient_norm"):
        found, known = (getattr(fit.trace, name) for fit in fits)
        if name != "gradient_norm":  # that of stumps has the part that all leaves share
            np.testing.assert_allclose(found, known, rtol=1e-9)
    pair = np.column_stack([stumps.trace.left, stumps.trace.right])
    np.testing.assert_allclose(trees.trace.values, pair, atol=1e-9)
    np.testing.assert_allclose(trees.model.score(X), stumps.model.score(X), atol=1e-9)


def labels_for(loss, rng, n):
    if loss.outputs > 1:
        return rng.integers(0, loss.outputs, n).astype(float)
    return np.where(rng.random(n) < 0.4, 1.0, -1.0) if loss == Logistic() else rng.normal(size=n)


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(0.7), Softmax(3)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rules", [{}, {"l2": 5.0}, {"constraints": {0: 1, 1: -1}}], ids=str)
def test_the_loss_falls_as_theorem_strong_needs(loss, weighted, rules):
    """L(f+) <= L(f) - <b, r>^2 / (2 sigma) in every iteration."""
    if loss.outputs > 1 and "constraints" in rules:
        pytest.skip("constraints are for one score")
    X, rng = made(n=200, p=5, missing=True)
    y, weight = labels_for(loss, rng, 200), rng.uniform(0.2, 3.0, 200) if weighted else None
    fit = boost(
        X, y, loss=loss, learner=Trees(max_leaf_nodes=6, min_samples_leaf=5, **rules),
        selection=RandomGroups(3), step=ConstantStep(), n_iter=40, weight=weight, random_state=0,
    )  # fmt: skip
    total = 200.0 if weight is None else weight.sum()
    fall = -np.diff(fit.trace.train_loss) * total
    promised = fit.trace.gradient_norm**2 / (2 * loss.smoothness)
    assert (fall >= promised - 1e-9 * total).all()


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax(3)], ids=repr)
@pytest.mark.parametrize("sparse", [False, True])
def test_results_do_not_depend_on_threads(loss, sparse):
    X, rng = made(n=20_000, p=12, bins=40)
    X[rng.random(X.shape) < 0.9] = 0.0
    y = labels_for(loss, rng, len(X)) if loss != Squared() else X[:, 0] + rng.normal(size=len(X))
    rows = scipy.sparse.csr_array(X) if sparse else X
    fits = [
        boost(
            rows, y, loss=loss, learner=Trees(), selection=RandomGroups(9), step=ConstantStep(),
            n_iter=4, random_state=0, n_jobs=n_jobs, validation=Validation(rows[:99], y[:99]),
        )
        for n_jobs in (1, 2, 3)
    ]  # fmt: skip
    for one in fits[1:]:
        np.testing.assert_array_equal(one.trace.choices, fits[0].trace.choices)
        np.testing.assert_array_equal(one.trace.train_loss, fits[0].trace.train_loss)
        np.testing.assert_array_equal(one.model.score(rows, 2), fits[0].model.score(rows))


def test_weights_are_repeated_rows():
    X, rng = made(n=150, missing=True)
    y, times = rng.normal(size=150), rng.integers(1, 4, 150)
    times[0] += 300 - times.sum()  # twice on average
    times[:5] = np.maximum(times[:5], 1)
    long = np.repeat(np.arange(150), times)
    least = 10
    shared = dict(
        loss=Squared(), selection=AllLearners(), step=ConstantStep(), n_iter=10, start_score=None
    )
    a = boost(
        X, y, learner=Trees(max_leaf_nodes=8, min_samples_leaf=least), weight=times.astype(float),
        **shared,
    )  # fmt: skip
    whole = round(least * times.mean())
    b = boost(X[long], y[long], learner=Trees(max_leaf_nodes=8, min_samples_leaf=whole), **shared)
    np.testing.assert_allclose(a.trace.train_loss, b.trace.train_loss, rtol=1e-9)
    np.testing.assert_allclose(a.model.score(X), b.model.score(X), atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_run_without_a_fold_is_a_fit_to_the_others(weighted):
    X, rng = made(n=300)
    y, fold = rng.normal(size=300) + X[:, 0], np.arange(300) % 3
    weight = rng.uniform(0.5, 2.0, 300) if weighted else None
    shared = dict(
        loss=Squared(), learner=Trees(max_leaf_nodes=5, min_samples_leaf=3), random_state=0,
        selection=AllLearners(), step=ConstantStep(), learning_rate=0.3, start_score=None,
    )  # fmt: skip
    both = boost(X, y, fold=fold, weight=weight, n_iter=8, **shared)
    assert both.best_iteration > 2
    shared["n_iter"] = both.best_iteration
    scores = []
    for k in range(3):
        mine = fold != k
        w = None if weight is None else weight[mine]
        scores.append(boost(X[mine], y[mine], weight=w, **shared).model.score(X))
        found = both.run_models()[k].score(X) + both.centre
        np.testing.assert_allclose(found, scores[-1], atol=1e-9)
    np.testing.assert_allclose(both.model.score(X), np.mean(scores, axis=0), atol=1e-9)


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax(3), Quantile(0.4)], ids=repr)
@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_a_run_goes_on_where_it_stopped(loss, subsample, tmp_path):
    X, rng = made(n=200, missing=True)
    y = labels_for(loss, rng, 200)
    step = LeafSearch() if loss == Quantile(0.4) else NewtonStep() if loss != Squared() else None
    shared = dict(
        loss=loss, learner=Trees(max_leaf_nodes=6, min_samples_leaf=5, subsample=subsample),
        selection=RandomGroups(2), step=step or ConstantStep(), learning_rate=0.5, random_state=1,
    )  # fmt: skip
    first = boost(X, y, n_iter=5, keep_state=True, **shared)
    first.state.save(tmp_path / "state")
    second = boost(X, y, n_iter=12, resume=RunState.load(tmp_path / "state"), **shared)
    whole = boost(X, y, n_iter=12, **shared)
    np.testing.assert_array_equal(second.trace.choices, whole.trace.choices)
    np.testing.assert_array_equal(second.trace.train_loss, whole.trace.train_loss)
    other = {**shared, "learner": Trees(max_leaf_nodes=5)}
    with pytest.raises(ValueError, match="other weak-learners"):
        boost(X, y, n_iter=12, resume=first.state, **other)


def test_the_model_says_what_the_trace_says():
    X, rng = made(n=300, p=4, missing=True)
    y = rng.normal(size=300) + np.nan_to_num(X[:, 0]) * (np.nan_to_num(X[:, 1]) > 2)
    fit = boost(
        X, y, loss=Squared(), learner=Trees(max_leaf_nodes=6, categorical=(1,)), n_iter=15,
        selection=RandomGroup(), step=ConstantStep(), learning_rate=0.4, start_score=None,
    )  # fmt: skip
    stages = list(fit.model.staged_score(X))
    losses = [np.mean((y - score) ** 2) / 2 for score in stages]
    np.testing.assert_allclose(losses, fit.trace.train_loss[1:], rtol=1e-9)
    np.testing.assert_array_equal(stages[-1], fit.model.score(X))
    np.testing.assert_array_equal(stages[-1], fit.model.score(scipy.sparse.csr_array(X)))


def test_a_search_on_some_rows_has_values_of_all():
    X, rng = made(n=400)
    r = rng.normal(size=(1, 400))
    prepared = Trees(subsample=0.3, min_samples_leaf=5).prepare(X)
    search = prepared.searcher(prepared.arrays, 1, 0)
    subsets = AllLearners().subsets(prepared.layout, np.random.default_rng(0), 1)
    seen = set()
    for m in range(3):
        found = search(r, subsets, m, Team(1))
        leaf = found.leaves.leaf
        np.testing.assert_allclose(found.leaves.raw[:, 0], np.bincount(leaf, r[0]), atol=1e-10)
        np.testing.assert_array_equal(leaf, prepared.leaves_of(prepared.arrays, found, Team(1)))
        seen.add(found.sets.tobytes())
    assert len(seen) == 3


def test_random_thresholds_are_those_of_j():
    X, rng = made(n=400, p=5, bins=30)
    r = rng.normal(size=(1, 400))
    prepared = Trees(min_samples_leaf=5).prepare(X)
    for t in (3, 20):
        choice = searched(prepared, r, RandomThresholds(t), seed=7)
        layout = prepared.layout
        listed = RandomThresholds(t).subsets(layout, np.random.default_rng(7), 1).learners
        used = layout.offsets[choice.tree.column] + choice.tree.split
        assert len(used) > 1
        assert set(used) <= set(listed)


def test_single_weak_learners_cannot_be_drawn():
    X, rng = made()
    with pytest.raises(ValueError, match="Type 1"):
        boost(
            X, rng.normal(size=len(X)), loss=Squared(), learner=Trees(), step=ConstantStep(),
            selection=RandomLearners(3), n_iter=3,
        )  # fmt: skip


def test_nothing_to_split_is_a_tree_of_one_leaf():
    X, rng = np.zeros((50, 2)), np.random.default_rng(0)
    X[:, 1] = np.arange(50) % 2
    y = rng.normal(size=50)
    fit = boost(
        X, y, loss=Squared(), learner=Trees(min_samples_leaf=30), selection=AllLearners(),
        step=ConstantStep(), n_iter=3, start_score=None,
    )  # fmt: skip
    assert fit.trace.learner.tolist() == [-1, -1, -1]
    np.testing.assert_allclose(fit.model.score(X), y.mean())
    assert fit.model.importances().tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"max_leaf_nodes": 300}, "at most 256"),
        ({"max_depth": 0}, "max_depth"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"l2": -1.0}, "l2"),
        ({"subsample": 0.0}, "subsample"),
        ({"max_bins": 300}, "max_bins"),
    ],
)
def test_impossible_trees(given, match):
    with pytest.raises(ValueError, match=match):
        Trees(**given)
