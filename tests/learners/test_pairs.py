"""Quadrant stumps against brute force."""

import itertools

import numpy as np
import pytest
import scipy.sparse

from rgboost._core.team import Team
from rgboost.learners import Pairs
from rgboost.learners.kernels import Subset
from rgboost.learners.pairs.isotone import keep_order
from rgboost.learners.pairs.look import whole_look
from rgboost.learners.pairs.search import make_found, search_all
from rgboost.losses import Huber, Logistic, Loss, Quantile, Softmax, Squared
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep
from rgboost.training import RunState, Validation, boost
from tests.learners.pairs_naive import boost_pairs, quadrants_of, scores_of_pair, splits_of

NONE = np.zeros(0, np.int64)


def made(n=300, p=4, seed=0, missing=False, bins=6):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, bins, size=(n, p)).astype(float)
    if missing:
        X[rng.random((n, p)) < 0.15] = np.nan
    return X, rng


def searched(prepared, residual, columns=None, learners=None):
    """What the search finds in each column."""
    columns = np.arange(len(prepared.arrays.pairs)) if columns is None else columns
    found = make_found(len(columns), len(residual))
    first = NONE
    if learners is not None:
        first = np.concatenate([[0], np.cumsum([len(some) for some in learners])])
        learners = np.concatenate(learners)
    listed = NONE if learners is None else learners
    subset = Subset(columns, learners is not None, first, listed)
    with Team(1) as team:
        rows = residual, 0, residual.shape[1]
        search_all(
            prepared.arrays, subset, whole_look(prepared.arrays, columns), *rows, found, team
        )
    return found


@pytest.mark.kernel
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_the_search_finds_what_brute_force_finds(outputs, weighted, missing):
    X, rng = made(missing=missing)
    weight = rng.uniform(0.2, 3.0, len(X)) if weighted else None
    prepared = Pairs(stumps=True).prepare(X, weight)
    mass = np.ones(len(X)) if weight is None else weight
    residual = rng.normal(size=(outputs, len(X))) * mass
    found = searched(prepared, residual)
    for k, (g, h) in enumerate(prepared.columns_):
        gone = np.isnan(X[:, g])
        splits_g = splits_of(np.nan_to_num(X[:, g], nan=-1), gone)
        if gone.any():
            splits_g = splits_of(np.where(gone, 99, X[:, g]), gone)
        splits_h = [np.ones(len(X), bool)]
        if h >= 0:
            gone = np.isnan(X[:, h])
            splits_h = splits_of(np.where(gone, 99, X[:, h]), gone)
        scores = scores_of_pair(residual, mass, splits_g, splits_h)
        first, stop = prepared.layout.offsets[k : k + 2]
        assert stop - first == len(scores)
        best = int(np.argmax(scores >= scores.max() * (1 - 1e-9)))
        assert found.learner[k] - first == best
        assert found.score[k] == pytest.approx(scores[best], rel=1e-9)
        leaf = quadrants_of(splits_g[best // len(splits_h)], splits_h[best % len(splits_h)])
        np.testing.assert_allclose(found.weights[k], np.bincount(leaf, mass, 4), atol=1e-9)
        for c in range(outputs):
            sums = np.bincount(leaf, residual[c], 4)
            np.testing.assert_allclose(found.sums[k, :, c], sums, atol=1e-9)


@pytest.mark.kernel
def test_a_list_of_weak_learners_is_searched_alone():
    X, rng = made()
    prepared = Pairs().prepare(X)
    residual = rng.normal(size=(1, len(X)))
    offsets = prepared.layout.offsets
    listed = [np.arange(a, b)[3:9] for a, b in itertools.pairwise(offsets)]
    found = searched(prepared, residual, learners=listed)
    none = np.zeros(len(X), bool)
    for k, (g, h) in enumerate(prepared.columns_):
        scores = scores_of_pair(
            residual, np.ones(len(X)), splits_of(X[:, g], none), splits_of(X[:, h], none)
        )
        assert found.learner[k] - offsets[k] == 3 + np.argmax(scores[3:9])


@pytest.mark.kernel
def test_light_quadrants_stay_at_zero():
    X, rng = made(n=120)
    least = 0.1
    prepared = Pairs(min_weight_fraction_leaf=least).prepare(X)
    residual = rng.normal(size=(1, len(X)))
    found = searched(prepared, residual)
    none = np.zeros(len(X), bool)
    for k, (g, h) in enumerate(prepared.columns_):
        best = 0.0
        for left_g in splits_of(X[:, g], none):
            for left_h in splits_of(X[:, h], none):
                leaf = quadrants_of(left_g, left_h)
                mass, sums = np.bincount(leaf, None, 4), np.bincount(leaf, residual[0], 4)
                heavy = mass > least * len(X)
                best = max(best, float(np.sum(sums[heavy] ** 2 / mass[heavy])))
        assert found.score[k] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("stumps", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_boosting_is_algorithm_2(stumps, weighted):
    X, rng = made(n=200)
    y = X[:, 0] * X[:, 1] - X[:, 2] + rng.normal(size=200)
    weight = rng.uniform(0.5, 2.0, 200) if weighted else None
    selection, n_iter = RandomGroups(3), 12
    family = Pairs(stumps=stumps)
    fit = boost(
        X, y, loss=Squared(), learner=family, selection=selection, step=ConstantStep(),
        n_iter=n_iter, learning_rate=0.7, random_state=5, weight=weight,
    )  # fmt: skip
    prepared = fit.prepared
    draws = selection.draw(prepared.layout, np.random.default_rng(5), n_iter)
    score, path = boost_pairs(
        X.astype(int), y, prepared.columns_, draws, n_iter=n_iter, rate=0.7, weight=weight
    )
    offsets = prepared.layout.offsets
    assert [offsets[k] + j for k, j, _ in path] == fit.trace.choices["learner"].tolist()
    np.testing.assert_allclose(fit.trace.choices["values"], [v for *_, v in path], atol=1e-10)
    np.testing.assert_allclose(fit.model.score(X), score, atol=1e-9)


def test_a_step_is_block_coordinate_descent_on_four_orthogonal_columns():
    """Algorithm 3 on the columns of a pair, moved together: the step 1/sigma along the gradient in
    the block of the normalised indicators."""
    X, rng = made(n=150, p=3)
    y = rng.normal(size=150)
    fit = boost(
        X, y, loss=Squared(), learner=Pairs(), selection=AllLearners(), step=ConstantStep(),
        n_iter=4,
    )  # fmt: skip
    none, score = np.zeros(len(y), bool), np.zeros(len(y))
    for m in range(4):
        best = (-1.0, None)
        for g, h in fit.prepared.columns_:
            for left_g in splits_of(X[:, g], none):
                for left_h in splits_of(X[:, h], none):
                    block = (quadrants_of(left_g, left_h)[:, None] == np.arange(4)).astype(float)
                    block = block[:, block.any(axis=0)]
                    block /= np.linalg.norm(block, axis=0)
                    gradient = block.T @ (y - score)
                    if gradient @ gradient > best[0] * (1 + 1e-9):
                        best = (gradient @ gradient, block @ gradient)
        score = score + best[1]
        assert fit.trace.choices["gradient_norm"][m] ** 2 == pytest.approx(best[0])
    np.testing.assert_allclose(fit.model.score(X), score, atol=1e-10)


SELECTIONS = [AllLearners(), RandomLearners(40), RandomGroup(), RandomGroups(2)]


@pytest.mark.parametrize("selection", SELECTIONS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(1.0)], ids=repr)
def test_constant_steps_take_off_what_the_theorem_says(selection, loss):
    X, rng = made(n=250, missing=True)
    y = np.where(rng.random(250) < 0.5, -1.0, 1.0)
    fit = boost(
        X, y, loss=loss, learner=Pairs(stumps=True), selection=selection, step=ConstantStep(),
        n_iter=30, random_state=1,
    )  # fmt: skip
    losses = fit.trace.train_loss * len(y)
    least = fit.trace.choices["gradient_norm"] ** 2 / (2 * loss.smoothness)
    assert (losses[1:] <= losses[:-1] - least + 1e-9 * losses[0]).all()


class PythonLogistic(Loss):
    smoothness = 0.25
    newton_limit = 2.0

    def value(self, y, f):
        return np.logaddexp(0, -y * f)

    def residual(self, y, f):
        return y / (1 + np.exp(y * f))

    def curvature(self, y, f):
        p = 1 / (1 + np.exp(-f))
        return p * (1 - p)


STEPS = [ConstantStep(), LineSearch(), NewtonStep(l2=1.0), LeafSearch()]


@pytest.mark.parametrize("step", STEPS, ids=lambda s: type(s).__name__)
def test_a_loss_in_python_gives_the_same(step):
    X, rng = made(n=200)
    y = np.where(X[:, 0] * X[:, 1] + 4 * rng.normal(size=200) > 6, 1.0, -1.0)
    fits = [
        boost(
            X,
            y,
            loss=loss,
            learner=Pairs(),
            selection=RandomGroups(3),
            step=step,
            n_iter=15,
            learning_rate=0.5,
            random_state=0,
        )
        for loss in (Logistic(ridge=0.0), PythonLogistic())
    ]
    np.testing.assert_allclose(fits[0].trace.train_loss, fits[1].trace.train_loss, rtol=1e-7)
    assert (np.diff(fits[0].trace.train_loss) < 0).all()


@pytest.mark.parametrize("step", STEPS, ids=lambda s: type(s).__name__)
def test_leaf_values_follow_their_formulas(step):
    X, rng = made(n=200)
    y = np.where(rng.random(200) < 0.4, 1.0, -1.0)
    loss = Logistic(ridge=0.0)
    fit = boost(
        X, y, loss=loss, learner=Pairs(), selection=AllLearners(), step=step, n_iter=1,
        learning_rate=0.3,
    )  # fmt: skip
    first = fit.trace.choices[0]
    score = fit.model.score(X)
    none = np.zeros(len(y), bool)
    k = int(np.searchsorted(fit.prepared.layout.offsets, first["learner"], side="right") - 1)
    g, h = fit.prepared.columns_[k]
    splits_h = splits_of(X[:, h], none)
    j = first["learner"] - fit.prepared.layout.offsets[k]
    leaf = quadrants_of(splits_of(X[:, g], none)[j // len(splits_h)], splits_h[j % len(splits_h)])
    residual = loss.residual(y, np.zeros(len(y)))
    sums, mass = np.bincount(leaf, residual, 4), np.bincount(leaf, None, 4)
    if isinstance(step, ConstantStep):
        expected = 4 * sums / mass
    elif isinstance(step, NewtonStep):
        expected = sums / (0.25 * mass + 1.0)
    elif isinstance(step, LeafSearch):
        share = np.bincount(leaf, y > 0, 4) / mass
        expected = np.log(share / (1 - share))
    else:
        expected = sums / mass
        rho = first["values"][0] / 0.3 / expected[0]
        slopes = [
            np.sum(expected[leaf] * loss.residual(y, r * expected[leaf]))
            for r in (rho * 0.999, rho, rho * 1.001)
        ]
        assert slopes[0] > 0 > slopes[2]
        expected = rho * expected
    np.testing.assert_allclose(first["values"], 0.3 * expected, rtol=1e-6)
    np.testing.assert_allclose(score, first["values"][leaf], atol=1e-12)


def test_quantiles_have_leaves_that_are_quantiles():
    X, rng = made(n=300)
    y = rng.normal(size=300) + X[:, 0]
    fit = boost(
        X, y, loss=Quantile(0.8), learner=Pairs(), selection=RandomGroups(2), step=LeafSearch(),
        n_iter=40, learning_rate=0.5, start_score=None, random_state=0,
    )  # fmt: skip
    assert fit.trace.train_loss[-1] < 0.8 * fit.trace.train_loss[0]


@pytest.mark.parametrize("step", [ConstantStep(), NewtonStep()])
def test_several_classes(step):
    X, rng = made(n=300, missing=True)
    y = rng.integers(0, 3, 300).astype(float)
    y[np.nan_to_num(X[:, 0] * X[:, 1]) > 8] = 2
    weight = rng.uniform(0.5, 1.5, 300)
    fit = boost(
        X, y, loss=Softmax(3), learner=Pairs(stumps=True), selection=RandomGroups(4), step=step,
        n_iter=40, random_state=0, weight=weight, start_score=None,
    )  # fmt: skip
    assert (np.diff(fit.trace.train_loss) < 0).all()
    score = fit.model.score(X)
    assert score.shape == (300, 3)
    loss = np.average(Softmax(3).value(y, score), weights=weight)
    assert fit.trace.train_loss[-1] == pytest.approx(loss, rel=1e-10)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_model_is_the_sum_of_the_path(kind):
    X, rng = made(n=400, missing=kind == "dense")
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=400)
    rows = scipy.sparse.csr_array(X) if kind == "sparse" else X
    fit = boost(
        rows, y, loss=Squared(), learner=Pairs(stumps=True, categorical=(2,)),
        selection=RandomGroups(4), step=ConstantStep(), n_iter=60, learning_rate=0.5,
        start_score=None, random_state=0, validation=Validation(rows[:50], y[:50]),
    )  # fmt: skip
    best = fit.best_iteration
    loss = 0.5 * np.mean((y - fit.model.score(rows)) ** 2)
    assert fit.trace.train_loss[best] == pytest.approx(loss, rel=1e-10)
    held = 0.5 * np.mean((y[:50] - fit.model.score(rows[:50])) ** 2)
    assert fit.trace.validation_loss[best] == pytest.approx(held, rel=1e-10)


def test_sparse_rows_are_dense_rows():
    X, rng = made(n=300)
    X[X < 3] = 0
    y = X[:, 0] * X[:, 1] + rng.normal(size=300)
    fits = [
        boost(
            rows,
            y,
            loss=Squared(),
            learner=Pairs(),
            selection=RandomGroups(3),
            step=ConstantStep(),
            n_iter=30,
            random_state=0,
        ).trace.train_loss
        for rows in (X, scipy.sparse.csr_array(X), scipy.sparse.csc_array(X))
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


def test_the_same_bits_for_any_number_of_threads():
    X, _rng = made(n=9000, bins=20)
    y = np.where(X[:, 0] * X[:, 1] > 100, 1.0, -1.0)
    fits = [
        boost(
            X,
            y,
            loss=Logistic(),
            learner=Pairs(stumps=True),
            selection=RandomGroups(5),
            step=NewtonStep(),
            n_iter=10,
            random_state=0,
            n_jobs=n_jobs,
        )
        for n_jobs in (1, 2, 3)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].trace.train_loss, other.trace.train_loss)
        np.testing.assert_array_equal(fits[0].trace.choices, other.trace.choices)


@pytest.mark.parametrize("step", [ConstantStep(), NewtonStep()])
def test_a_search_on_some_rows_has_the_values_of_all(step):
    X, rng = made(n=1000, missing=True)
    y = np.where(np.nan_to_num(X[:, 0] * X[:, 1]) + 3 * rng.normal(size=1000) > 6, 1.0, -1.0)
    common = dict(
        loss=Logistic(), learner=Pairs(stumps=True, search_rows=200, categorical=(3,), smooth=True),
        selection=RandomGroups(4), step=step, learning_rate=0.5, random_state=0,
    )  # fmt: skip
    fit = boost(X, y, n_iter=40, **common)
    assert (np.diff(fit.trace.train_loss) < 0).all()
    score = fit.model.score(X)
    assert fit.trace.train_loss[-1] == pytest.approx(Logistic().value(y, score).mean(), rel=1e-10)
    half = boost(X, y, n_iter=17, keep_state=True, **common)
    rest = boost(X, y, n_iter=40, resume=half.state, **common)
    np.testing.assert_array_equal(fit.trace.train_loss, rest.trace.train_loss)
    if isinstance(step, ConstantStep):
        least = fit.trace.choices["gradient_norm"] ** 2 / (2 * Logistic().smoothness)
        losses = fit.trace.train_loss * len(y)
        assert (losses[1:] <= losses[:-1] - 0.749 * least).all()  # rate (2 - rate) of it


def test_categories_that_act_with_a_number_are_found():
    """Half of the categories turn the sign of the effect of a number: no curve sees it."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 12, 2000), rng.normal(size=2000)]).astype(float)
    sign = np.where(np.isin(X[:, 0], [0, 3, 5, 6, 10, 11]), 1.0, -1.0)
    y = sign * (X[:, 1] > 0) - sign * (X[:, 1] <= 0)
    fit = boost(
        X, y, loss=Squared(), learner=Pairs(categorical=(0,)), selection=AllLearners(),
        step=ConstantStep(), n_iter=1,
    )  # fmt: skip
    assert fit.trace.train_loss[1] < 0.02 * fit.trace.train_loss[0]


def test_two_categories_that_act_together_are_found():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, size=(4000, 2)).astype(float)
    y = np.where(np.isin(X[:, 0], [1, 4, 7]) == np.isin(X[:, 1], [0, 2, 9]), 1.0, -1.0)
    fit = boost(
        X, y, loss=Squared(), learner=Pairs(categorical=(0, 1)), selection=AllLearners(),
        step=ConstantStep(), n_iter=1,
    )  # fmt: skip
    assert fit.trace.train_loss[1] < 1e-12


def test_rare_categories_fit_no_noise():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 200, 2000), rng.normal(size=2000)]).astype(float)
    y = rng.normal(size=2000)
    taken_off = []
    for smooth in (False, True):
        fit = boost(
            X, y, loss=Squared(), learner=Pairs(categorical=(0,), smooth=smooth),
            selection=AllLearners(), step=ConstantStep(), n_iter=1,
        )  # fmt: skip
        taken_off.append(1 - fit.trace.train_loss[1] / fit.trace.train_loss[0])
    assert taken_off[0] > 0.05
    assert taken_off[1] < 0.25 * taken_off[0]


@pytest.mark.kernel
def test_values_that_keep_the_order_are_the_nearest():
    """Against a grid of all values that keep it."""
    rng = np.random.default_rng(0)
    grid = np.linspace(-1.5, 1.5, 13)
    all_values = np.array(np.meshgrid(grid, grid, grid, grid)).reshape(4, -1).T
    for sign_g, sign_h in [(1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1)]:
        kept = np.ones(len(all_values), bool)
        for a, b, sign in ((0, 2, sign_g), (1, 3, sign_g), (0, 1, sign_h), (2, 3, sign_h)):
            kept &= sign * (all_values[:, b] - all_values[:, a]) >= 0
        for _ in range(20):
            values, weights = rng.uniform(-1.5, 1.5, 4), rng.uniform(0.1, 2.0, 4)
            nearest = (weights * (all_values[kept] - values) ** 2).sum(axis=1).min()
            found = values.copy()
            keep_order(found, weights, sign_g, sign_h)
            for a, b, sign in ((0, 2, sign_g), (1, 3, sign_g), (0, 1, sign_h), (2, 3, sign_h)):
                assert sign * (found[b] - found[a]) >= -1e-12
            assert (weights * (found - values) ** 2).sum() <= nearest + 1e-12


@pytest.mark.parametrize("step", [ConstantStep(), NewtonStep(), LeafSearch(), LineSearch()])
def test_monotone_constraints_hold_for_the_whole_model(step):
    X, rng = made(n=500, p=3, missing=True, bins=8)
    y = np.where(rng.random(500) < 0.5, 1.0, -1.0)
    family = Pairs(stumps=True, constraints=[1, -1, 0])
    fit = boost(
        X, y, loss=Logistic(), learner=family, selection=RandomGroups(3), step=step, n_iter=80,
        learning_rate=0.5, random_state=0,
    )  # fmt: skip
    assert fit.trace.train_loss[-1] < fit.trace.train_loss[0]
    probe = np.repeat(X[:60], 8, axis=0)
    for g, sign in ((0, 1), (1, -1)):
        rows = probe.copy()
        rows[:, g] = np.tile(np.arange(8.0), 60)
        score = fit.model.score(rows).reshape(60, 8)
        assert (sign * np.diff(score, axis=1) >= -1e-9).all()


@pytest.mark.parametrize("step", [ConstantStep(), NewtonStep(), LineSearch()])
def test_quadrants_without_rows_keep_the_order(step):
    """Two features that go together leave quadrants empty, where predictions are asked for, too."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 8, 400).astype(float)
    X = np.column_stack([x, x + (rng.random(400) < 0.1)])
    y = 10.0 + x + rng.normal(size=400)
    fit = boost(
        X, y, loss=Squared(), learner=Pairs(stumps=True, constraints=[1, 1]),
        selection=AllLearners(), step=step, n_iter=40, learning_rate=0.5,
    )  # fmt: skip
    grid = np.array(np.meshgrid(np.arange(9.0), np.arange(9.0), indexing="ij")).reshape(2, -1).T
    score = fit.model.score(grid).reshape(9, 9)
    for axis in (0, 1):
        assert (np.diff(score, axis=axis) >= -1e-9).all()


def test_a_run_goes_on_from_its_state(tmp_path):
    X, rng = made(n=300, missing=True)
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=300)
    common = dict(
        loss=Squared(), learner=Pairs(stumps=True), selection=RandomGroups(3),
        step=ConstantStep(), learning_rate=0.5, random_state=3,
        validation=Validation(X[:40], y[:40]),
    )  # fmt: skip
    whole = boost(X, y, n_iter=30, **common)
    half = boost(X, y, n_iter=12, keep_state=True, **common)
    half.state.save(tmp_path / "state")
    rest = boost(X, y, n_iter=30, resume=RunState.load(tmp_path / "state"), **common)
    np.testing.assert_array_equal(whole.trace.choices, rest.trace.choices)
    np.testing.assert_array_equal(whole.trace.train_loss, rest.trace.train_loss)
    np.testing.assert_array_equal(whole.model.score(X), rest.model.score(X))


def test_folds_have_runs_without_their_rows():
    X, rng = made(n=300)
    y = X[:, 0] * X[:, 1] + rng.normal(size=300)
    fold = np.arange(300) % 3
    common = dict(
        loss=Squared(), learner=Pairs(), selection=RandomGroups(3), step=ConstantStep(),
        n_iter=20, learning_rate=0.5,
    )  # fmt: skip
    mean = boost(X, y, fold=fold, random_state=7, start_score=0.0, **common)
    for k in range(3):
        rest, held = fold != k, fold == k
        alone = boost(
            X[rest], y[rest], start_score=0.0, random_state=np.random.default_rng([7, k]),
            validation=Validation(X[held], y[held]), **common,
        )  # fmt: skip
        path = mean.run_path(k) if mean.best_iteration == 20 else None
        full = mean.trace.choices[k::3]
        np.testing.assert_allclose(3 * full["values"], alone.trace.choices["values"], atol=1e-9)
        assert path is None or len(path) == 20


def test_groups_are_a_partition_of_pairs():
    X, rng = made(n=100)
    y = rng.normal(size=100)
    names = ["a", "b", "c", "d"]
    groups = [[("a", "b"), ("a", "c"), (0, 3)], [("b", "c"), ("b", "d"), ("c", "d")]]
    fit = boost(
        X, y, loss=Squared(), learner=Pairs(), selection=RandomGroup(), step=ConstantStep(),
        n_iter=10, groups=groups, names=names, random_state=0,
    )  # fmt: skip
    assert fit.prepared.layout.n_groups == 2
    wrong = [
        ([[("a", "a")]], "none of the 6 pairs"),
        ([*groups, [("b", "a")]], r"\('b', 'a'\) is in groups\[0\] and in groups\[2\]"),
        (groups[:1], r"3 of 6 .* the first of them \('b', 'c'\), \('b', 'd'\), \('c', 'd'\)"),
        ([*groups, [()]], r"groups has \(\), which is none"),
    ]
    for given, told in wrong:
        with pytest.raises(ValueError, match=told):
            Pairs().prepare(X, groups=given, names=names)
    with pytest.raises(ValueError, match=r"2 of 3 pairs and features .* of them 1, \(0, 1\)"):
        Pairs(pairs=[(0, 1)], stumps=True).prepare(X[:, :2], groups=[[0]])


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([(0, 0)], "with itself"),
        ([(0, 1), (1, 0)], "twice"),
        ([("a", "z")], "no feature has that name"),
        ([(0, 9)], "from 0 to 3"),
        ([(0, 1, 2)], "pairs of two features"),
        (["ab"], "pairs of two features"),
    ],
)
def test_bad_pairs_are_named(pairs, told):
    X, _ = made(n=50)
    with pytest.raises(ValueError, match=told):
        Pairs(pairs=pairs).prepare(X, names=["a", "b", "c", "d"])


def test_pairs_that_may_act_together():
    X, _ = made(n=50)
    prepared = Pairs(interaction_constraints=[[0, 1], ["c", "d"]]).prepare(X, names=list("abcd"))
    assert prepared.columns_.tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"max_bins": 1}, "max_bins"),
        ({"max_bins": 300}, "at most 255"),
        ({"min_weight_fraction_leaf": 0.4}, "four quadrants"),
        ({"stumps": "yes"}, "stumps"),
        ({"max_categories": 1000}, "at most 255"),
    ],
)
def test_bad_settings_are_named(settings, told):
    with pytest.raises((ValueError, TypeError), match=told):
        Pairs(**settings)
