"""Looks at some of the cuts, and the order of categories, against brute force."""

import numpy as np
import pytest

from rgboost import RGBMRegressor
from rgboost._core.team import Team
from rgboost.callbacks import Checkpoint
from rgboost.learners import Pairs
from rgboost.learners.credibility import few_categories, usual_weight
from rgboost.learners.kernels import Subset
from rgboost.learners.pairs.look import look_at, make_look
from rgboost.learners.pairs.search import make_found, search_all
from rgboost.losses import (
    AbsoluteError,
    Exponential,
    Gamma,
    Huber,
    LogCosh,
    Logistic,
    Poisson,
    Quantile,
    Softmax,
    Squared,
    Tweedie,
)  # fmt: skip
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep
from rgboost.training import boost
from tests.learners.pairs_naive import (
    best_with_categories,
    quadrants_of,
    scores_of_pair,
    splits_of,
)

NONE = np.zeros(0, np.int64)


def searched(prepared, residual, most_cuts, number=0):
    """What a search finds that looks at so many cuts, and its look."""
    arrays = prepared.arrays
    columns = np.arange(len(arrays.pairs))
    look, found = make_look(arrays.n_values), make_found(len(columns), len(residual))
    look_at(arrays, columns, most_cuts, 7, number, look)
    with Team(1) as team:
        subset = Subset(columns, False, NONE, NONE)
        search_all(arrays, subset, look, residual, 0, residual.shape[1], found, team)
    return found, look


@pytest.mark.kernel
@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("categorical", [(0,), (1,), (0, 1)])
def test_categories_are_ordered_as_brute_force_orders_them(categorical, weighted, smooth):
    rng = np.random.default_rng(len(categorical))
    X = np.column_stack([rng.integers(0, 14, 500), rng.integers(0, 11, 500)]).astype(float)
    weight = rng.uniform(0.3, 2.0, 500) if weighted else None
    mass = np.ones(500) if weight is None else weight
    residual = mass * (rng.normal(size=500) + np.sin(X[:, 0]) * np.cos(X[:, 1]))
    prepared = Pairs(categorical=categorical, smooth=smooth).prepare(X, weight)
    found, _ = searched(prepared, residual[None], 255)
    codes = X.astype(int)
    sums, weights = np.zeros((2, 14, 11))
    np.add.at(sums, (codes[:, 0], codes[:, 1]), residual)
    np.add.at(weights, (codes[:, 0], codes[:, 1]), mass)
    noise = few = 0.0
    if smooth:
        noise = usual_weight(weight) * (residual**2 / mass).sum() / mass.sum()
        few = few_categories(mass.sum(), usual_weight(weight))
    by_set = [g in categorical for g in (0, 1)]
    best = best_with_categories(sums, weights, by_set, noise, few)
    assert found.score[0] == pytest.approx(best, rel=1e-9)


@pytest.mark.kernel
@pytest.mark.parametrize("missing", [False, True])
def test_a_look_finds_the_best_of_the_cuts_that_it_sees(missing):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 20, size=(400, 3)).astype(float)
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    residual, mass = rng.normal(size=(1, 400)), np.ones(400)
    prepared = Pairs().prepare(X)
    offsets, n_splits = prepared.layout.offsets, prepared.arrays.n_splits
    seen_cuts = [set(), set(), set()]
    for number in range(40):
        found, look = searched(prepared, residual, 5, number)
        seen = []
        for g in range(3):
            last = look.last[g, : look.n_values[g]]
            assert len(last) <= 6
            cuts = last[:-1].tolist()
            seen_cuts[g].update(cuts)
            if missing:  # the last split has missing values on one side
                cuts += [last[-1], *(prepared.arrays.n_values[g] + last[:-1])]
            seen.append(np.array(cuts))
        if number > 4:
            continue
        for k, (g, h) in enumerate(prepared.columns_):
            gone = np.isnan(X)
            splits = [splits_of(np.where(gone[:, f], 99, X[:, f]), gone[:, f]) for f in (g, h)]
            scores = scores_of_pair(residual, mass, *splits)
            among = (seen[g][:, None] * n_splits[h] + seen[h]).ravel()
            assert found.score[k] == pytest.approx(scores[among].max(), rel=1e-9)
            assert found.learner[k] - offsets[k] in among
            assert scores[found.learner[k] - offsets[k]] == pytest.approx(found.score[k])
    assert seen_cuts == [set(range(19))] * 3  # every cut had its turn


def test_a_look_at_many_cuts_is_a_look_at_all():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, size=(300, 3)).astype(float)
    y = X[:, 0] * X[:, 1] + rng.normal(size=300)
    common = dict(
        loss=Squared(), selection=RandomGroups(2), step=ConstantStep(), n_iter=20, random_state=0
    )
    fits = [boost(X, y, learner=Pairs(search_cuts=n), **common) for n in (None, 12, 200, 3)]
    for other in fits[1:3]:
        np.testing.assert_array_equal(fits[0].trace.choices, other.trace.choices)
    assert (fits[0].trace.choices["learner"] != fits[3].trace.choices["learner"]).any()
    assert (np.diff(fits[3].trace.train_loss) < 0).all()


def test_checkpoints_go_on_with_the_same_looks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=400)
    common = dict(
        loss=Squared(), selection=RandomGroups(2), step=ConstantStep(), random_state=0,
        learner=Pairs(search_cuts=4, search_rows=150),
    )  # fmt: skip
    whole = boost(X, y, n_iter=25, **common)
    half = boost(X, y, n_iter=11, keep_state=True, **common)
    rest = boost(X, y, n_iter=25, resume=half.state, **common)
    np.testing.assert_array_equal(whole.trace.choices, rest.trace.choices)


def test_a_checkpoint_of_an_estimator_of_pairs_gives_the_same_bits(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=400)
    learner, path = Pairs(stumps=True, search_cuts=8), tmp_path / "state.npz"
    whole = RGBMRegressor(learner=learner, max_iter=40, random_state=0).fit(X, y)
    half = RGBMRegressor(learner=learner, max_iter=15, random_state=0)
    half.set_params(callbacks=[Checkpoint(path, every=0)]).fit(X, y)
    rest = RGBMRegressor(learner=learner, max_iter=40, random_state=0).fit(X, y, resume=path)
    np.testing.assert_array_equal(whole.predict(X), rest.predict(X))
    np.testing.assert_array_equal(whole.trace_.train_loss, rest.trace_.train_loss)


def test_weights_of_cells_have_one_type():
    X = np.random.default_rng(0).normal(size=(50, 3))
    kinds = [Pairs().prepare(X, w).arrays.weights.dtype for w in (None, np.ones(50))]
    assert kinds == [np.float64, np.float64]


SELECTIONS = [AllLearners(), RandomLearners(40), RandomGroup(), RandomGroups(2)]


@pytest.mark.parametrize("selection", SELECTIONS, ids=lambda s: type(s).__name__)
def test_classes_by_all_rules_of_selection(selection):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(300, 4)).astype(float)
    y = np.digitize(X[:, 0] * X[:, 1] + rng.normal(size=300), [4, 10]).astype(float)
    fit = boost(
        X, y, loss=Softmax(3), learner=Pairs(stumps=True), selection=selection, step=NewtonStep(),
        n_iter=25, learning_rate=0.5, random_state=0, start_score=None,
    )  # fmt: skip
    assert (np.diff(fit.trace.train_loss) <= 0).all()
    assert fit.trace.train_loss[-1] < 0.95 * fit.trace.train_loss[0]
    score = fit.model.score(X)
    assert fit.trace.train_loss[-1] == pytest.approx(Softmax(3).value(y, score).mean(), rel=1e-10)


LOSSES = [
    Squared(), Huber(1.0), LogCosh(), AbsoluteError(), Quantile(0.7), Logistic(), Exponential(),
    Poisson(), Gamma(), Tweedie(1.5),
]  # fmt: skip
STEPS = [ConstantStep(), LineSearch(), NewtonStep(), LeafSearch()]


@pytest.mark.parametrize("step", STEPS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_every_loss_with_every_step(loss, step):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(250, 3)).astype(float)
    y = X[:, 0] * X[:, 1] / 10 + rng.exponential(size=250)
    if isinstance(loss, Logistic | Exponential):
        y = np.where(y > np.median(y), 1.0, -1.0)
    fit = dict(
        loss=loss, learner=Pairs(stumps=True), selection=RandomGroups(3), step=step, n_iter=20,
        learning_rate=0.3, random_state=0, start_score=None,
    )  # fmt: skip
    impossible = isinstance(step, ConstantStep) and loss.smoothness is None
    impossible |= isinstance(step, NewtonStep) and not loss.newton
    if impossible:
        with pytest.raises(ValueError, match="step"):
            boost(X, y, **fit)
        return
    fit = boost(X, y, **fit)
    assert fit.trace.train_loss[-1] < fit.trace.train_loss[0]
    value = loss.value(y, fit.model.score(X)).mean()
    assert fit.trace.train_loss[-1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [Squared(), Logistic(ridge=0.0)], ids=repr)
def test_algorithm_3_by_random_groups(loss, weighted):
    """Steps 1/sigma along the gradient in the block of normalised indicators, of the best block in
    a random subset of the pairs."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 5, size=(150, 4)).astype(float)
    y = np.where(rng.random(150) < 0.5, 1.0, -1.0)
    weight = rng.uniform(0.5, 2.0, 150) if weighted else None
    mass = np.ones(150) if weight is None else weight
    selection = RandomGroups(2)
    fit = boost(
        X, y, weight=weight, loss=loss, learner=Pairs(), selection=selection, step=ConstantStep(),
        n_iter=6, random_state=4,
    )  # fmt: skip
    draws = selection.draw(fit.prepared.layout, np.random.default_rng(4), 6)
    none, score = np.zeros(150, bool), np.zeros(150)
    for m in range(6):
        best = (-1.0, None)
        for g, h in fit.prepared.columns_[draws[m]]:
            for left_g in splits_of(X[:, g], none):
                for left_h in splits_of(X[:, h], none):
                    block = (quadrants_of(left_g, left_h)[:, None] == np.arange(4)).astype(float)
                    block = block[:, block.any(axis=0)]
                    block /= np.sqrt(mass @ block**2)
                    gradient = block.T @ (mass * loss.residual(y, score))
                    if gradient @ gradient > best[0] * (1 + 1e-9):
                        best = (gradient @ gradient, block @ gradient / loss.smoothness)
        score = score + best[1]
        assert fit.trace.choices["gradient_norm"][m] ** 2 == pytest.approx(best[0])
    np.testing.assert_allclose(fit.model.score(X), score, atol=1e-9)


@pytest.mark.parametrize("classes", [None, 3])
def test_the_same_bits_for_any_number_of_threads_whatever_the_rows(classes):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(5000, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.nan_to_num(X[:, 3])
    y = np.nan_to_num(X[:, 0] * X[:, 3]) + rng.normal(size=5000)
    loss = Squared()
    if classes:
        y, loss = np.digitize(y, np.quantile(y, [0.3, 0.7])).astype(float), Softmax(3)
    fits = [
        boost(
            X, y, loss=loss, learner=Pairs(stumps=True, categorical=(3,), smooth=True),
            selection=RandomGroups(5), step=NewtonStep() if classes else ConstantStep(), n_iter=8,
            random_state=0, weight=np.linspace(0.5, 2.0, 5000), n_jobs=n_jobs,
        )
        for n_jobs in (1, 2, 3)
    ]  # fmt: skip
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].trace.train_loss, other.trace.train_loss)
        np.testing.assert_array_equal(fits[0].trace.choices, other.trace.choices)
