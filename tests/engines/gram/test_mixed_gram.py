"""The Gram engine on missing values and categories gives the iterates of the direct engine."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost import RGBMRegressor
from rgboost._core.team import Team
from rgboost.engines.gram.family import gram_family
from rgboost.learners import Stumps
from rgboost.losses import Squared
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch
from rgboost.training import Validation, boost
from rgboost.training.make_problem import make_problem
from tests.conftest import JIT
from tests.engines.checks import check_threads
from tests.engines.test_folds import SETTINGS, K, honest_losses, losses_of_folds
from tests.learners.test_mixed_stumps import mixed_problems

RULES = [AllLearners(), RandomLearners(20), RandomGroup(), RandomGroups(3)]
CATEGORICAL = (1, 4, 5)


def frame(n=600, weighted=False, seed=0):
    """Numbers and categories, without and with missing values; labels; weights.

    Few values a feature, so that all of them are in every fold."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([
        rng.integers(0, 15, n), rng.integers(0, 9, n), rng.integers(0, 12, n),
        rng.integers(0, 2, n), rng.integers(0, 14, n), rng.integers(0, 2, n),
        rng.integers(0, 2, n), np.full(n, 3.0),
    ]).astype(float)  # fmt: skip
    for g in (2, 4, 6, 7):
        X[rng.random(n) < 0.15, g] = np.nan
    effect = rng.normal(size=(2, 15))
    y = np.sin(X[:, 0]) + effect[0, X[:, 1].astype(int)] + 0.1 * np.nan_to_num(X[:, 2], nan=20.0)
    y += effect[1, np.nan_to_num(X[:, 4], nan=14.0).astype(int)] + rng.normal(size=n)
    return X, y, rng.random(n) + 0.1 if weighted else None


def both(X, y, **kwargs):
    settings = dict(
        loss=Squared(), learner=Stumps(categorical=CATEGORICAL), selection=AllLearners(),
        step=ConstantStep(), n_iter=300, random_state=0,
    )  # fmt: skip
    settings |= kwargs
    return [boost(X, y, engine=engine, **settings) for engine in ("direct", "gram")]


def assert_same(direct, gram):
    np.testing.assert_array_equal(direct.trace.learner, gram.trace.learner)
    np.testing.assert_array_equal(direct.trace.sets, gram.trace.sets)
    scale = np.abs(direct.trace.left).max()
    for name in ("left", "right", "gradient_norm"):
        a, b = getattr(direct.trace, name), getattr(gram.trace, name)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10 * scale)
    np.testing.assert_allclose(direct.trace.train_loss, gram.trace.train_loss, rtol=1e-9)
    if direct.trace.validation_loss is not None:
        a, b = direct.trace.validation_loss, gram.trace.validation_loss
        np.testing.assert_allclose(a, b, rtol=1e-9)
    assert direct.trace.engine == "direct"


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("leaves", ["free", "signed"])
@pytest.mark.parametrize("step", [ConstantStep(), LineSearch()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_iterates(rule, leaves, step, weighted):
    X, y, weight = frame(900, weighted)
    held = Validation(X[600:], y[600:], None if weight is None else weight[600:])
    runs = both(
        X[:600], y[:600], learner=Stumps(leaves=leaves, max_bins=10, categorical=CATEGORICAL),
        selection=rule, step=step, weight=None if weight is None else weight[:600],
        validation=held, learning_rate=0.5, start_score=None,
    )  # fmt: skip
    assert_same(*runs)
    assert runs[1].trace.engine == "gram"
    assert len(np.unique(runs[1].trace.feature)) >= 7


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("least", [0.05, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_least_weight_of_a_side(rule, least, weighted):
    X, y, weight = frame(weighted=weighted)
    learner = Stumps(categorical=CATEGORICAL, min_weight_fraction_leaf=least)
    runs = both(X, y, learner=learner, selection=rule, weight=weight, learning_rate=0.3)
    assert_same(*runs)


@pytest.mark.parametrize("leaves", ["free", "signed"])
def test_validation_rows_lack_other_values(leaves):
    """Missing values and unknown categories where training rows have none: the average is added."""
    X, y, _ = frame(900)
    held, rng = X[600:].copy(), np.random.default_rng(1)
    held[rng.random(held.shape) < 0.2] = np.nan
    held[::7, 1] = 77.0
    learner = Stumps(leaves=leaves, categorical=CATEGORICAL)
    runs = both(
        X[:600], y[:600], learner=learner, validation=Validation(held, y[600:]), learning_rate=0.3
    )
    assert_same(*runs)


@pytest.mark.kernel
@given(mixed_problems(), st.booleans(), st.booleans())
def test_small_problems(problem, signed, weighted):
    X, categorical, y, weight = problem
    if not (categorical.any() or np.isnan(X).any()):
        return
    direct, gram = both(
        X, y, selection=RandomGroups(0.5), weight=weight if weighted else None, n_iter=6,
        learner=Stumps(
            leaves="signed" if signed else "free", categorical=tuple(np.flatnonzero(categorical))
        ),
        validation=Validation(X[::-1], y),
    )  # fmt: skip
    scale = direct.trace.train_loss[0]
    for name in ("train_loss", "validation_loss"):
        a, b = getattr(direct.trace, name), getattr(gram.trace, name)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12 * scale)


def slot_indicators(X, cuts, slots):
    """The rows of each slot, by brute force."""
    found = []
    for g, x in enumerate(X.T):
        if slots.start[g + 1] > slots.start[g]:
            compare = np.equal if cuts.categorical[g] else np.less_equal
            found += [compare(x, edge) for edge in cuts.edges_of(g)]
            found += [np.isnan(x)] * int(slots.missing[g])
    return np.column_stack(found)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_are_sums_over_slots(weighted, n_threads):
    if n_threads > 1 and not JIT:
        pytest.skip("threads need compiled code")
    X, y, weight = frame(300, weighted)
    problem = make_problem(
        X, y, loss=Squared(), learner=Stumps(max_bins=6, categorical=CATEGORICAL), n_iter=1,
        selection=AllLearners(), step=ConstantStep(), learning_rate=1.0, start_score=0.0,
        groups=None, names=None, weight=weight, validation=None, random_state=0, n_jobs=1,
        gram_memory=1 << 40,
    )  # fmt: skip
    family = gram_family(problem)
    with Team(n_threads) as team:
        rows = family.statistics(problem.prepared.arrays, y, weight, Squared(), 0.0, team)
        slot_weight, total = rows.bin_weights()
        gradient = rows.gradient(np.zeros(family.n_tables))
        n = int(family.offsets[-1])
        gram = np.zeros((n, n), np.float64 if weighted else np.uint32)
        rows.gram_rows(range(X.shape[1]), range(X.shape[1]), gram)
    inside = slot_indicators(X, problem.prepared.cuts, family.splits.slots)
    w = np.ones(len(y)) if weight is None else weight
    np.testing.assert_allclose(gram, inside.T @ (inside * w[:, None]), rtol=1e-12)
    np.testing.assert_allclose(slot_weight, w @ inside, rtol=1e-12)
    np.testing.assert_allclose(gradient.left_sums, (w * y) @ inside, atol=1e-11)
    assert total == pytest.approx(w.sum())


@pytest.mark.skipif(not JIT, reason="threads need compiled code")
def test_threads_that_make_gram_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 60))
    X[:, ::3] = np.floor(30 * rng.random((2000, 20)))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 1]) + np.sin(np.nan_to_num(X[:, 0])) + rng.normal(size=2000)
    check_threads(
        X, y, threads=(1, 2, 3), loss=Squared(), selection=RandomGroups(20), n_iter=400,
        learner=Stumps(max_bins=200, categorical=tuple(range(0, 60, 3))), engine="gram",
        validation=Validation(X[:500], y[:500]),
    )  # fmt: skip


@pytest.mark.parametrize("memory", [0, 7_500, 12_500])
def test_when_memory_is_used_up_the_direct_engine_goes_on(memory):
    X, y, _ = frame()
    held = X[:200].copy()
    held[::5, :2] = np.nan
    direct, gram = both(
        X, y, selection=RandomGroups(3), validation=Validation(held, y[:200]), gram_memory=memory,
        learning_rate=0.3,
    )  # fmt: skip
    assert_same(direct, gram)
    assert "gram_memory was used up; direct from there" in gram.trace.engine
    if memory:
        assert "until iteration 0," not in gram.trace.engine


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "more",
    [dict(), dict(selection=AllLearners(), step=LineSearch()), dict(n_jobs=2),
     dict(learner=Stumps(leaves="signed", categorical=CATEGORICAL))],
    ids=["groups", "all, line search", "threads", "signed"],
)  # fmt: skip
def test_folds_give_the_curve_of_honest_fits(weighted, more):
    X, y, weight = frame(weighted=weighted)
    fold = np.random.default_rng(1).integers(0, K, len(y))
    settings = {**SETTINGS, "learner": Stumps(categorical=CATEGORICAL), **more}
    found = boost(X, y, fold=fold, n_iter=200, weight=weight, random_state=5, **settings).trace
    expected = honest_losses(X, y, fold, weight, 200, **settings)
    np.testing.assert_allclose(found.validation_loss, expected, rtol=1e-9)
    assert found.engine == f"gram: the mean of {K} runs"


def test_the_least_weight_of_a_side_is_a_share_of_each_fold():
    """Sets of categories, and two values: thresholds are left out by the weight of all rows."""
    X, y, weight = frame(weighted=True)
    fold = np.random.default_rng(1).integers(0, K, len(y))
    learner = Stumps(categorical=(0, 2, 3), min_weight_fraction_leaf=0.2)
    settings = {**SETTINGS, "learner": learner}
    data = X[:, [1, 3, 4, 5]], y, fold
    found = losses_of_folds(*data, n_iter=200, weight=weight, random_state=5, **settings)
    np.testing.assert_allclose(found, honest_losses(*data, weight, 200, **settings), rtol=1e-9)


def test_the_model_is_the_mean_of_the_folds():
    X, y, _ = frame()
    fold = np.random.default_rng(1).integers(0, K, len(y))
    settings = {**SETTINGS, "learner": Stumps(categorical=CATEGORICAL)}
    mean = boost(X, y, fold=fold, n_iter=100, weight=None, random_state=5, **settings)
    n_iter = mean.best_iteration
    fits = [
        boost(
            X[fold != k], y[fold != k], n_iter=n_iter, random_state=[5, k],
            **{**settings, "engine": "direct"},
        )
        for k in range(K)
    ]  # fmt: skip
    expected = np.mean([fit.model.score(X) for fit in fits], axis=0)
    np.testing.assert_allclose(mean.model.score(X), expected, rtol=1e-9, atol=1e-9)
    assert mean.trace.engine == f"gram: the mean of {K} runs"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_folds_without_some_categories_and_missing_values(weighted, rule):
    """A fold has all rows of some categories, of a number and of missing values: empty sides."""
    X, y, weight = frame(weighted=weighted)
    fold = np.arange(len(y)) % 3
    some = (X[:, 1] > 6) | (X[:, 0] > 12) | np.isnan(X[:, 2]) | np.isnan(X[:, 4])
    fold[some | (X[:, 3] == 1)] = 0
    settings = {**SETTINGS, "learner": Stumps(categorical=CATEGORICAL), "selection": rule}
    mean = boost(X, y, fold=fold, n_iter=200, weight=weight, random_state=5, **settings)
    assert np.isfinite(mean.trace.train_loss).all()
    assert np.abs(mean.trace.left).max() < np.abs(y).max()
    assert np.abs(mean.trace.right).max() < np.abs(y).max()
    assert (np.diff(mean.trace.train_loss) < 1e-12).all()


def test_auto_takes_it_where_it_is_faster():
    X, y, _ = frame(3000)
    settings = dict(
        loss=Squared(), learner=Stumps(categorical=CATEGORICAL), selection=AllLearners(),
        step=ConstantStep(), random_state=0,
    )  # fmt: skip
    # thresholds 14 + 11 + 1 + 1, bins of categories 9 + 14 + 2, four features with missing values
    needed = 2 * (14 + 9 + 12 + 1 + 15 + 2 + 2 + 1) ** 2
    for n_iter, memory, engine in (
        (2, 1 << 40, "direct"), (2000, 1 << 40, "gram"),
        (2000, needed, "gram"), (2000, needed - 1, "direct"),
    ):  # fmt: skip
        found = boost(X, y, n_iter=n_iter, gram_memory=memory, engine="auto", **settings)
        assert found.trace.engine == engine


def test_hundreds_of_categories():
    X, y, _ = frame(900)
    X[:, 1] = np.random.default_rng(1).integers(0, 300, 900)
    direct, gram = both(X, y, learner=Stumps(categorical=CATEGORICAL), selection=RandomGroups(3))
    assert_same(direct, gram)
    assert set(direct.trace.feature) >= {1, 4}


def test_what_it_cannot_do():
    X, y, _ = frame(2100)
    many = X.copy()
    many[:, 1] = np.arange(2100)
    plain = X[:, [0, 3]]
    held = Validation(np.where(plain == 1, np.nan, plain), y)
    for data, kwargs, message in [
        (scipy.sparse.csr_array(X), dict(), "needs dense rows where there are missing values"),
        (many, dict(), "needs at most 2048 bins"),
        (plain, dict(learner=Stumps(), validation=held), "needs validation rows without missing"),
    ]:
        with pytest.raises(ValueError, match=message):
            both(data, y, n_iter=2, **kwargs)
    assert boost(
        many, y, loss=Squared(), learner=Stumps(categorical=CATEGORICAL), selection=AllLearners(),
        step=ConstantStep(), n_iter=2000, random_state=0,
    ).trace.engine == "direct"  # fmt: skip


def test_estimator():
    X, y, _ = frame(2000)
    model = RGBMRegressor(categorical_features=list(CATEGORICAL), random_state=0).fit(X, y)
    assert "mean" in model.trace_.engine
    other, target, _ = frame(2000)
    assert model.score(other, target) > 0.4
    other[::3, 0] = np.nan
    other[::4, 1] = 99.0
    assert np.isfinite(model.predict(other)).all()
