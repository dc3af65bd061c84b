"""Frames with missing values and categories under every rule: leaf-wise steps, monotone
constraints, the least weight of a leaf. Compiled code against brute force."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.learners import Monotone, Stumps
from rgboost.losses import (
    AbsoluteError,
    Gamma,
    Poisson,
    Quantile,
    Softmax,
    Squared,
)
from rgboost.selection import AllLearners, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep
from rgboost.training import Validation, boost
from tests.conftest import JIT
from tests.engines.checks import learner_subsets
from tests.engines.test_mixed_classes import gradient, mixed_problem
from tests.learners.test_mixed_stumps import mixed_problems
from tests.mixed_naive import is_heavy, naive_mixed_boost

N_ITER = 6
RATE = 0.8
RULES = [AllLearners(), RandomLearners(0.5), RandomGroups(0.5)]
LEAF_STEPS = [
    (AbsoluteError(), LeafSearch()),
    (Quantile(0.75), LeafSearch()),
    (Gamma(), LeafSearch()),
    (Poisson(), NewtonStep()),
]


def check_against_naive(
    X, categorical, y, weight, rule, *, loss=Squared(), step=ConstantStep(), leaves="free",  # noqa: B008
    signs=None, least=0.0, sparse=False,
):  # fmt: skip
    family = Stumps(
        leaves=leaves, max_bins=None, categorical=tuple(np.flatnonzero(categorical)),
        min_weight_fraction_leaf=least,
    )  # fmt: skip
    boosted = boost(
        scipy.sparse.csr_array(X) if sparse else X, y, loss=loss, selection=rule, step=step,
        learner=family if signs is None else Monotone(family, signs), n_iter=N_ITER,
        weight=weight, random_state=7, learning_rate=RATE, engine="direct",
    )  # fmt: skip
    trace = boosted.trace
    if boosted.prepared.layout.n_learners == 0:
        assert (trace.learner == -1).all()
        return boosted
    w = np.ones(len(y)) if weight is None else weight
    path, gradients, losses, f = naive_mixed_boost(
        X, categorical, y, loss, learner_subsets(boosted, rule, 7, N_ITER), step, w, leaves=leaves,
        signs=signs, lightest=least * w.sum(), rate=RATE,
    )  # fmt: skip
    scale = max(1.0, abs(losses[0]))
    flat = np.flatnonzero((np.diff(losses) > -1e-9 * scale) & (path >= 0))
    agree = flat[0] if len(flat) else N_ITER  # from there on only rounding is left
    np.testing.assert_array_equal(trace.learner[:agree], path[:agree])
    np.testing.assert_allclose(trace.gradient_norm[:agree], gradients[:agree], 1e-9, 1e-9)
    found = trace.train_loss[: agree + 1] * w.sum()
    np.testing.assert_allclose(found, losses[: agree + 1], 1e-9, 1e-9 * scale)
    if agree == N_ITER:
        np.testing.assert_allclose(boosted.model.score(X), f, rtol=1e-8, atol=1e-8)
    return boosted


@pytest.mark.kernel
@pytest.mark.parametrize(("loss", "step"), LEAF_STEPS, ids=str)
@given(mixed_problems(), st.sampled_from(RULES), st.booleans())
def test_leaf_steps(loss, step, problem, rule, weighted):
    X, categorical, y, weight = problem
    kinked = isinstance(loss, AbsoluteError | Quantile)
    w = weight if weighted else None
    labels = y if kinked else np.exp(y)
    for sparse in (False, True) if kinked else (False,):  # the rest would only be compiled again
        check_against_naive(X, categorical, labels, w, rule, loss=loss, step=step, sparse=sparse)


@st.composite
def constraints(draw, n):
    """A sign for each feature; the first one is not 0."""
    others = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n - 1, max_size=n - 1))
    return [draw(st.sampled_from([-1, 1])), *others]


@pytest.mark.kernel
@given(
    mixed_problems(), constraints(4), st.sampled_from(RULES), st.sampled_from(["free", "signed"]),
    st.sampled_from([0.0, 0.2]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_monotone_constraints(problem, signs, rule, leaves, least, weighted, sparse):
    """The search is the best of the cone, and the values of a feature are in order."""
    X, categorical, y, weight = problem
    number = np.where(np.arange(len(y)) % 3, np.arange(len(y)), np.nan)
    X, categorical = np.column_stack([number, X]), np.array([False, *categorical])
    signs = np.where(categorical, 0, signs[: X.shape[1]])
    boosted = check_against_naive(
        X, categorical, y, weight if weighted else None, rule, leaves=leaves, signs=signs,
        least=least, sparse=sparse,
    )  # fmt: skip
    assert_ordered(boosted.model, signs)


def assert_ordered(model, signs):
    for g, sign in enumerate(signs):
        if sign:
            assert (sign * np.diff(model.table(g)[1]) >= 0).all()


@pytest.mark.kernel
@given(
    mixed_problems(), st.sampled_from(RULES), st.sampled_from(["free", "signed"]),
    st.sampled_from([0.1, 0.3, 0.5]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_the_least_weight_of_a_leaf(problem, rule, leaves, least, weighted, sparse):
    X, categorical, y, weight = problem
    check_against_naive(
        X, categorical, y, weight if weighted else None, rule, leaves=leaves, least=least,
        sparse=sparse,
    )  # fmt: skip


@pytest.mark.kernel
@pytest.mark.parametrize("sparse", [False, True])
def test_the_least_weight_of_a_leaf_with_several_classes(sparse):
    """Both sides are heavy, the scores are exact, and light splits would have been better."""
    X, y, weight = mixed_problem(60, 3)
    y[np.isnan(X[:, 0]) & (X[:, 1] > 1)] = 2.0
    loss = Softmax(3, 0.01)

    def run(least):
        return boost(
            scipy.sparse.csc_array(X) if sparse else X, y, loss=loss, selection=AllLearners(),
            learner=Stumps(categorical=(2,), min_weight_fraction_leaf=least),
            step=ConstantStep(), n_iter=12, weight=weight,
        )  # fmt: skip

    def sides(boosted):
        f = np.zeros((len(y), 3))
        for m, after in enumerate(boosted.model.staged_score(X)):
            left = np.isclose((after - f)[:, 0], boosted.trace.left[m, 0], rtol=1e-9)
            expected = gradient(left, loss.residual(y, f), weight)
            assert boosted.trace.gradient_norm[m] == pytest.approx(expected, rel=1e-9)
            yield left
            f = after

    lightest = 0.3 * weight.sum()
    assert not all(is_heavy(left, weight, lightest) for left in sides(run(0.0)))
    assert all(is_heavy(left, weight, lightest) for left in sides(run(0.3)))


def test_missing_values_are_no_part_of_the_order():
    """Missing values may lie below or above all values, whatever the sign."""
    x = np.array([1.0, 2, 3, 4, np.nan, np.nan])[:, None]
    for alone in (-5.0, 9.0):
        y = np.array([1.0, 2, 3, 4, alone, alone])
        for sign, expected in ((1, y), (-1, np.array([2.5, 2.5, 2.5, 2.5, alone, alone]))):
            model = boost(
                x, y, loss=Squared(), learner=Monotone(Stumps(), [sign]), n_iter=2000,
                selection=AllLearners(), step=ConstantStep(), learning_rate=0.02,
            ).model  # fmt: skip
            np.testing.assert_allclose(model.score(x), expected, atol=0.1)


@pytest.mark.skipif(not JIT, reason="too slow as plain Python")
@pytest.mark.parametrize(
    ("loss", "step", "signs", "sparse"),
    [
        (AbsoluteError(), LeafSearch(), None, False),
        (AbsoluteError(), LeafSearch(), None, True),
        (Poisson(), NewtonStep(), None, False),
        (Quantile(0.3), LineSearch(), {1: 1}, False),
    ],
    ids=str,
)
def test_results_do_not_depend_on_threads(loss, step, signs, sparse):
    rng = np.random.default_rng(0)
    n = 40_000
    X = np.column_stack([rng.integers(0, 50, n), rng.normal(size=n), rng.integers(0, 4, n)])
    y = np.abs(np.sin(X[:, 0]) + X[:, 1])
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.3] = 0.0
    data = scipy.sparse.csr_array(X) if sparse else X
    family = Stumps(max_bins=20, categorical=(0,), min_weight_fraction_leaf=0.05)
    a, b = (
        boost(
            data, y, loss=loss, learner=family if signs is None else Monotone(family, signs),
            selection=RandomGroups(2), step=step, n_iter=15, random_state=0, n_jobs=n_jobs,
            validation=Validation(data[:9_000], y[:9_000]), start_score=None,
        ).trace
        for n_jobs in (1, 3)
    )  # fmt: skip
    assert a.train_loss[-1] < a.train_loss[0]
    for name in ("learner", "left", "right", "train_loss", "validation_loss", "sets"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.fixture(scope="module")
def frame():
    """A frame with missing values and categories, and a response."""
    rng = np.random.default_rng(0)
    age = rng.uniform(0, 80, 600)
    city = rng.choice(["Ulm", "Bonn", "Kiel", "Jena"], 600)
    y = 2 + np.sin(age / 8) + age / 30 + (city == "Bonn") + 0.1 * rng.random(600)
    age[rng.random(600) < 0.1] = np.nan
    city = np.where(rng.random(600) < 0.1, None, city)
    return pd.DataFrame({"age": age, "city": city, "size": rng.normal(size=600)}), y


@pytest.mark.parametrize(
    ("loss", "signs"),
    [("absolute", None), ("poisson", None), ("absolute", {"age": 1}), ("squared", {"age": 1})],
)
def test_regressors_with_a_frame(frame, loss, signs):
    X, y = frame
    model = RGBMRegressor(
        loss=loss, monotone_constraints=signs, max_iter=60, random_state=0, learning_rate=0.5,
        min_weight_fraction_leaf=0.02,
    ).fit(X, y)  # fmt: skip
    assert set(model.trace_.feature) >= {0, 1}
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.8
    table = model.model_.table(0)[1]
    assert (np.diff(table) >= 0).all() == (signs is not None)


def test_classifiers_with_a_frame(frame):
    X, y = frame
    model = RGBMClassifier(
        monotone_constraints={"age": -1, "size": 0}, max_iter=60, random_state=0,
        min_weight_fraction_leaf=0.02,
    ).fit(X, np.where(np.median(y) < y, "high", "low"))  # fmt: skip
    assert_ordered(model.model_, [-1, 0, 0])  # the score is positive for "low"
    assert model.trace_.train_loss[-1] < 0.9 * model.trace_.train_loss[0]


def test_a_leaf_of_the_absolute_error_is_a_median(frame):
    """The default step, for frames with missing values as for others."""
    X, y = frame
    model = RGBMRegressor(loss="absolute", max_iter=1, random_state=0, learning_rate=1.0).fit(X, y)
    for value in np.unique(model.predict(X)):
        rows = y[model.predict(X) == value]
        assert (rows < value).sum() <= len(rows) / 2 <= (rows <= value).sum()


def test_categories_have_no_order(frame):
    X, y = frame
    with pytest.raises(ValueError, match="has 1 for the feature 'city', which is categorical"):
        RGBMRegressor(monotone_constraints={"city": 1}).fit(X, y)
    codes = np.column_stack([X["age"], X["city"].astype("category").cat.codes])
    with pytest.raises(ValueError, match="has -1 for the feature 1, which is categorical"):
        RGBMRegressor(monotone_constraints=[1, -1], categorical_features=[1]).fit(codes, y)
