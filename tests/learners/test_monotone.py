"""Monotone constraints: the tables are monotone, and the search is the best under them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.learners import Dictionary, Monotone, Stumps
from rgboost.losses import Logistic, Squared
from rgboost.selection import AllLearners, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch
from rgboost.training import Validation, boost
from tests.conftest import JIT
from tests.data_strategies import problems
from tests.engines.checks import N_ITER, big_problem, check_threads, learner_subsets
from tests.naive import first_best, naive_stumps, stump_vector

RULES = [AllLearners(), RandomLearners(0.5), RandomGroups(0.5)]


def monotone_vector(stump, X, r, weight, leaves, signs):
    """The best unit vector of a stump in the cone that the signs allow, and its <b, r>."""
    inner, b = stump_vector(stump, X, r, weight, leaves)
    left = X[:, stump.feature] <= stump.threshold
    if signs[stump.feature] * (b[~left][0] - b[left][0]) >= 0:
        return inner, b
    if leaves == "signed":
        return 0.0, np.zeros_like(b)
    b = np.full_like(b, 1.0 / np.sqrt(weight.sum()))
    inner = weight @ (b * r)
    return abs(inner), -b if inner < 0 else b


def naive_monotone_boost(X, y, stumps, subsets, weight, leaves, signs, rate):
    f, path, losses = np.zeros(len(y)), [], [0.5 * weight @ (y * y)]
    for J in subsets:
        vectors = [monotone_vector(stumps[j], X, y - f, weight, leaves, signs) for j in J]
        best = first_best([inner for inner, _ in vectors])
        f = f + rate * vectors[best][0] * vectors[best][1]
        path.append(J[best])
        losses.append(0.5 * weight @ (y - f) ** 2)
    return np.array(path), np.array(losses)


@st.composite
def constrained_problems(draw, **kwargs):
    X, y, weight = draw(problems(**kwargs))
    signs = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=X.shape[1], max_size=X.shape[1]))
    signs[0] = draw(st.sampled_from([-1, 1]))
    return X, y, weight, signs


@pytest.mark.kernel
@given(
    constrained_problems(max_rows=16, max_features=3),
    st.sampled_from(RULES),
    st.sampled_from(["free", "signed"]),
    st.booleans(),
    st.booleans(),
)
def test_the_search_is_the_best_of_the_cone(problem, rule, leaves, weighted, sparse):
    X, y, weight, signs = problem
    boosted = boost(
        scipy.sparse.csr_array(X) if sparse else X, y, loss=Squared(), selection=rule,
        learner=Monotone(Stumps(leaves=leaves, max_bins=None), signs), step=ConstantStep(),
        n_iter=N_ITER, weight=weight if weighted else None, random_state=7, learning_rate=0.8,
        engine="direct",
    )  # fmt: skip
    trace = boosted.trace
    if boosted.prepared.layout.n_learners == 0:
        assert (trace.learner == -1).all()
        return
    w = weight if weighted else np.ones(len(y))
    stumps = naive_stumps(X, None, "quantile", w)
    subsets = learner_subsets(boosted, rule, 7, N_ITER)
    path, losses = naive_monotone_boost(X, y, stumps, subsets, w, leaves, signs, 0.8)
    scale = max(1.0, losses[0])
    flat = np.flatnonzero(np.diff(losses) > -1e-9 * scale)
    agree = flat[0] if len(flat) else N_ITER
    np.testing.assert_array_equal(trace.learner[:agree], path[:agree])
    np.testing.assert_allclose(trace.train_loss[: agree + 1] * w.sum(), losses[: agree + 1], 1e-9)
    assert_monotone(boosted.model, signs)


def assert_monotone(model, signs):
    for g, sign in enumerate(signs):
        assert (sign * np.diff(model.table(g)[1]) >= 0).all()


@given(
    constrained_problems(max_rows=60, max_features=4, binary=True),
    st.sampled_from([ConstantStep(), LineSearch()]),
    st.sampled_from(["free", "signed"]),
    st.integers(0, 3),
)
def test_tables_are_monotone(problem, step, leaves, seed):
    X, y, _, signs = problem
    boosted = boost(
        X, y, loss=Logistic(), learner=Monotone(Stumps(leaves=leaves), signs), step=step,
        selection=RandomGroups("sqrt"), n_iter=60, random_state=seed, learning_rate=0.9,
        start_score=None,
    )  # fmt: skip
    assert_monotone(boosted.model, signs)
    losses = boosted.trace.train_loss
    assert (np.diff(losses) <= 1e-12).all()


@pytest.mark.skipif(not JIT, reason="too slow as plain Python")
@pytest.mark.parametrize("sparse", [False, True])
def test_results_do_not_depend_on_threads(sparse):
    X, y = big_problem(n=40_000)
    X[np.abs(X) < 0.5] = 0.0
    data = scipy.sparse.csr_array(X) if sparse else X
    check_threads(
        data, y, threads=(1, 3), loss=Squared(), engine="direct", selection=RandomGroups(3),
        learner=Monotone(Stumps(max_bins=20), {0: 1, 1: -1}), n_iter=20, learning_rate=1.0,
        start_score=0.0, validation=Validation(data[:9_000], y[:9_000]),
    )  # fmt: skip


def test_without_signs_nothing_changes():
    X, y = big_problem(n=300)
    kwargs = dict(loss=Squared(), selection=AllLearners(), step=ConstantStep(), n_iter=20)
    a = boost(X, y, learner=Stumps(), **kwargs)
    b = boost(X, y, learner=Monotone(Stumps(), np.zeros(7, int)), **kwargs)
    np.testing.assert_array_equal(a.model.tables, b.model.tables)
    assert a.trace.engine == b.trace.engine


def test_estimators_take_names():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    y = np.sin(2 * frame["a"]) + frame["b"] + 0.3 * rng.normal(size=400)
    free = RGBMRegressor(max_iter=200, random_state=0).fit(frame, y)
    assert (np.diff(free.model_.table(0)[1]) < 0).any()
    for loss in ("squared", "poisson"):
        model = RGBMRegressor(
            loss=loss, monotone_constraints={"a": 1, "b": 1, "c": -1}, max_iter=200, random_state=0
        ).fit(frame, y - y.min())
        assert_monotone(model.model_, [1, 1, -1])
    model = RGBMClassifier(monotone_constraints=[0, -1, 0], max_iter=200, random_state=0)
    assert_monotone(model.fit(frame, y > 0).model_, [0, -1, 0])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        (
            dict(monotone_constraints={"z": 1}),
            "names the feature 'z', but no feature has that name",
        ),
        (dict(monotone_constraints={"a": 2}), "has 2 for the feature 'a'; use 1"),
        (dict(monotone_constraints={"a": True}), "has True for the feature 'a'; use 1"),
        (dict(monotone_constraints={"a": 1, 0: -1}), "1 for the feature 'a' and -1 for 0, which"),
        (dict(monotone_constraints={1: 0, "b": -1}), "which is the same feature; give it once"),
        (dict(monotone_constraints=[1]), "has 1 entries and X has 2 features"),
        (dict(monotone_constraints="up"), "is not a dict from features"),
        (dict(monotone_constraints={"a": 1}, engine="gram"), "without monotone constraints"),
        (dict(monotone_constraints={"a": 1}, step="newton"), "without monotone constraints"),
        (
            dict(monotone_constraints={"a": 1}, learner=Dictionary(np.eye(9))),
            "monotone_constraints need stumps",
        ),
    ],
)
def test_wrong_constraints(kwargs, message):
    frame = pd.DataFrame(np.arange(18.0).reshape(9, 2), columns=["a", "b"])
    with pytest.raises((ValueError, TypeError), match=message):
        RGBMRegressor(**kwargs).fit(frame, np.arange(9.0))


def test_more_than_two_classes_are_not_constrained():
    with pytest.raises(ValueError, match="without monotone constraints"):
        RGBMClassifier(monotone_constraints=[1]).fit(np.arange(9.0)[:, None], np.arange(9) % 3)
