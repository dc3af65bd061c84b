"""Missing values and categories: kernels against brute force over every split and every set."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost.learners import Stumps
from rgboost.learners.stumps.mixed_stumps import MixedStumps, SparseMixedStumps
from rgboost.losses import Huber, Logistic, Squared
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch
from rgboost.training import Validation, boost
from tests.conftest import JIT
from tests.engines.checks import learner_subsets
from tests.engines.test_loop import SlowSquared
from tests.mixed_naive import largest_gradient, numeric_sides, prefix_sides, subset_sides

N_ITER = 5


@st.composite
def mixed_problems(draw, binary=False):
    """(X, categorical, y, weight): few values, missing ones, up to six categories."""
    n = draw(st.integers(3, 20))
    p = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    categorical = rng.random(p) < 0.5
    X = np.where(categorical, rng.integers(-1, 5, size=(n, p)), rng.normal(size=(n, p)))
    X[rng.random((n, p)) < 0.15] = 0.0
    X[rng.random((n, p)) < rng.choice([0.0, 0.1, 0.4], size=p)] = np.nan
    y = rng.normal(size=n)
    if binary:
        y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        y[:2] = [1.0, -1.0]
    return X, categorical, y, rng.integers(1, 4, size=n) * 0.5


def run(X, categorical, y, *, sparse=False, loss=Squared(), leaves="free", **options):  # noqa: B008
    parameters = dict(selection=AllLearners(), step=ConstantStep(), n_iter=N_ITER, random_state=7)
    max_bins = options.pop("max_bins", None)
    return boost(
        scipy.sparse.csr_array(X) if sparse else X,
        y,
        loss=loss,
        learner=Stumps(
            leaves=leaves, max_bins=max_bins, categorical=tuple(np.flatnonzero(categorical))
        ),
        **{**parameters, **options},
    )


def check_scores(boosted, X, sparse=False):
    """Tables, path and trace tell the same."""
    data = scipy.sparse.csr_array(X) if sparse else X
    score = boosted.model.score(data)
    assert np.isfinite(score).all()
    staged = list(boosted.model.staged_score(data))
    if staged:  # the best iteration may be the start
        np.testing.assert_allclose(staged[-1], score, rtol=1e-9, atol=1e-11)
    return score


@pytest.mark.kernel
@given(
    mixed_problems(), st.sampled_from(["free", "signed"]), st.sampled_from([None, 3]),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_the_best_of_all_splits_and_sets(problem, leaves, max_bins, weighted, sparse):
    X, categorical, y, weight = problem
    w = weight if weighted else None
    boosted = run(
        X, categorical, y, leaves=leaves, max_bins=max_bins, weight=w, sparse=sparse,
        learning_rate=0.8,
    )  # fmt: skip
    if boosted.prepared.layout.n_learners == 0:
        assert (boosted.trace.learner == -1).all()
        return
    w = np.ones(len(y)) if w is None else w
    f = np.zeros(len(y))
    for m, score in enumerate(boosted.model.staged_score(X)):
        sides = []
        for g, x in enumerate(X.T):
            sides += subset_sides(x) if categorical[g] else numeric_sides(x, max_bins, w)
        best = largest_gradient(sides, y - f, w, leaves)
        np.testing.assert_allclose(boosted.trace.gradient_norm[m], best, rtol=1e-7, atol=1e-9)
        f = score
    fitted = 0.5 * w @ (y - check_scores(boosted, X, sparse)) ** 2
    np.testing.assert_allclose(fitted, boosted.trace.train_loss[-1] * w.sum(), rtol=1e-8, atol=1e-9)


@pytest.mark.kernel
@given(mixed_problems(), st.sampled_from(["free", "signed"]), st.booleans())
def test_each_choice_is_the_best_of_its_subset(problem, leaves, sparse):
    """Type 1: a weak-learner of a categorical feature is a prefix in the order of the moment."""
    X, categorical, y, _ = problem
    w = np.ones(len(y))
    for rule in (RandomLearners(0.5), RandomGroup(), RandomGroups(0.5)):
        boosted = run(X, categorical, y, leaves=leaves, selection=rule, sparse=sparse)
        layout, trace = boosted.prepared.layout, boosted.trace
        if layout.n_learners == 0:
            continue
        f = np.zeros(len(y))
        staged = boosted.model.staged_score(X)
        for m, J in enumerate(learner_subsets(boosted, rule, 7, N_ITER)):
            sides = []
            for g, x in enumerate(X.T):
                sides += prefix_sides(x, y - f, w) if categorical[g] else numeric_sides(x, None, w)
            assert len(sides) == layout.n_learners
            best = largest_gradient([sides[j] for j in J], y - f, w, leaves)
            np.testing.assert_allclose(trace.gradient_norm[m], best, rtol=1e-7, atol=1e-9)
            f = next(staged)


@pytest.mark.kernel
@given(mixed_problems(binary=True), st.sampled_from(["free", "signed"]), st.booleans())
def test_other_losses_and_line_search(problem, leaves, sparse):
    X, categorical, y, weight = problem
    for loss, step in ((Logistic(0.01), LineSearch()), (Huber(0.5), ConstantStep())):
        boosted = run(
            X, categorical, y, loss=loss, step=step, leaves=leaves, weight=weight, sparse=sparse
        )
        fitted = weight @ loss.value(y, check_scores(boosted, X, sparse))
        assert fitted == pytest.approx(boosted.trace.train_loss[-1] * weight.sum(), rel=1e-8)


@pytest.mark.kernel
@given(mixed_problems(), mixed_problems(), st.booleans())
def test_validation_rows_with_what_was_not_there_at_fit(problem, other, sparse):
    """Missing values and categories that only validation rows have; trace and model agree."""
    X, categorical, y, weight = problem
    other_X = np.resize(other[0], (len(other[2]), X.shape[1]))
    for data in (X, np.nan_to_num(X)):
        held = scipy.sparse.csr_array(other_X) if sparse else other_X
        boosted = run(
            data, categorical, y, weight=weight, sparse=sparse, loss=Huber(0.5),
            validation=Validation(held, other[2]),
        )  # fmt: skip
        score = check_scores(boosted, other_X, sparse)
        expected = Huber(0.5).value(other[2], score).mean()
        assert boosted.trace.validation_loss[boosted.best_iteration] == pytest.approx(
            expected, rel=1e-9
        )


def test_missing_values_take_the_better_side():
    x = np.array([1.0, 2, 3, 4, np.nan, np.nan])[:, None]
    for y, expected in [([0, 0, 1, 1, 0, 0], "left"), ([0, 0, 1, 1, 1, 1], "right")]:
        boosted = run(x, [False], np.array(y, float), n_iter=1)
        np.testing.assert_allclose(boosted.model.score(x), y, atol=1e-12)
        assert boosted.trace.split[0] == (4 + 1 if expected == "left" else 1)
    only_missing = run(x, [False], np.isnan(x[:, 0]).astype(float), n_iter=1)
    assert only_missing.trace.split[0] == 3
    assert only_missing.model.threshold[0] == np.inf
    np.testing.assert_allclose(only_missing.model.score(x), np.isnan(x[:, 0]), atol=1e-12)


@pytest.mark.parametrize("categorical", [False, True])
def test_a_missing_value_where_there_was_none_adds_the_average(categorical):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 6, size=(200, 1)).astype(float)
    y = np.array([3.0, -1, 2, 0, 5, 1])[x[:, 0].astype(int)]
    boosted = run(x, [categorical], y, n_iter=40, start_score=None)
    mean = boosted.model.score(x).mean()
    strange = [np.nan, -7.0] if categorical else [np.nan]
    for value in strange:
        assert boosted.model.score(np.array([[value]]))[0] == pytest.approx(mean, rel=1e-10)
        sparse = scipy.sparse.csr_array(np.array([[value]]))
        assert boosted.model.score(sparse)[0] == pytest.approx(mean, rel=1e-10)


def test_columns_of_missing_values_or_of_one_category_are_never_chosen():
    X = np.column_stack([np.full(20, np.nan), np.full(20, np.nan), np.ones(20), np.arange(20.0)])
    boosted = run(X, [False, True, True, False], np.arange(20.0))
    assert set(boosted.trace.feature) == {3}
    np.testing.assert_array_equal(np.diff(boosted.prepared.layout.offsets), [0, 0, 0, 19])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.skipif(not JIT, reason="too slow as plain Python")
def test_many_rows_many_categories_and_threads(sparse):
    """10,000 categories (two-byte bins), many chunks of rows; the same bits for any n_jobs."""
    rng = np.random.default_rng(0)
    n = 40_000
    effect = rng.normal(size=10_000)
    X = np.column_stack([
        rng.integers(0, 10_000, n), rng.normal(size=n), rng.integers(0, 7, n), rng.normal(size=n)
    ])  # fmt: skip
    y = effect[X[:, 0].astype(int)] + np.sin(X[:, 1]) + 0.3 * X[:, 2]
    X[rng.random((n, 4)) < 0.1] = np.nan
    X[rng.random((n, 4)) < 0.2] = 0.0
    for columns, loss, step in (
        ([0, 1, 2, 3], Huber(0.5), ConstantStep()),
        ([1, 2, 3], Logistic(0.01), LineSearch()),
    ):
        target = np.where(y > 0, 1.0, -1.0) if isinstance(loss, Logistic) else y
        runs = [
            run(
                X[:, columns], np.isin(columns, [0, 2]), target, sparse=sparse, n_iter=30,
                max_bins=100, loss=loss, step=step, selection=RandomGroups(2), n_jobs=n_jobs,
            )
            for n_jobs in (1, 3)
        ]  # fmt: skip
        expected = SparseMixedStumps if sparse else MixedStumps
        assert all(isinstance(r.prepared.arrays, expected) for r in runs)
        for name in ("learner", "left", "right", "train_loss", "sets"):
            np.testing.assert_array_equal(*(getattr(r.trace, name) for r in runs))
        score = check_scores(runs[0], X[:, columns], sparse)
        assert loss.value(target, score).mean() == pytest.approx(runs[0].trace.train_loss[-1])


def test_a_python_loss_gives_the_same_path():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 9, 300), rng.normal(size=300)])
    X[rng.random((300, 2)) < 0.1] = np.nan
    y = rng.normal(size=300)
    a, b = (
        run(X, [True, False], y, loss=loss, n_iter=20).trace for loss in (Squared(), SlowSquared())
    )
    np.testing.assert_array_equal(a.learner, b.learner)
    np.testing.assert_array_equal(a.sets, b.sets)


def test_engines_on_statistics_say_what_they_cannot_do():
    X = np.array([[1.0], [np.nan], [2.0]])
    y = np.arange(3.0)
    for engine in ("gram", "quadratic"):
        told = f"engine='{engine}' cannot do this: it needs dense rows where there are missing "
        with pytest.raises(ValueError, match=told):
            run(X, [False], y, engine=engine, sparse=True)
        with pytest.raises(ValueError, match=told):
            run(X[::2], [True], y[::2], engine=engine, sparse=True)
        with pytest.raises(ValueError, match="validation rows without missing values"):
            run(X[::2], [False], y[::2], engine=engine, validation=Validation(X, y))
    held = run(X[::2], [False], y[::2], engine="auto", validation=Validation(X, y), n_iter=9)
    assert held.trace.engine == "direct"


def test_too_many_categories():
    X = np.arange(65_536.0)[:, None]
    with pytest.raises(ValueError, match="column 0 of X has 65536 categories; at most 65535"):
        run(X, [True], X[:, 0])
