"""Weak-learners on some of the rows: a run without a fold is an honest fit to the other rows."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import Dictionary, Stumps, boost
from rgboost.learners.stumps.monotone import Monotone
from rgboost.learners.stumps.some_rows import LIGHT, on_some_rows, take_rows
from rgboost.losses import Logistic, Softmax, Squared
from rgboost.model import Path
from rgboost.selection import RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, NewtonStep
from rgboost.training import Validation

K, N_ITER = 3, 60
COLUMNS = [lambda Z, g=g: np.sin(Z[:, g]) + 0.1 * Z[:, 0] for g in range(5)]
FAMILIES = {
    "dense": Stumps(),
    "signed": Stumps(leaves="signed"),
    "sparse": Stumps(),
    "mixed": Stumps(categorical=(1, 3)),
    "light sides": Stumps(categorical=(1, 3), min_weight_fraction_leaf=0.2),
    "sparse mixed": Stumps(categorical=(1, 3)),
    "monotone": Monotone(Stumps(), {0: 1, 1: -1}),
    "sparse monotone": Monotone(Stumps(), {0: 1, 1: -1}),
    "dictionary": Dictionary.from_functions(COLUMNS),
}
LOSSES = {"squared": Squared(), "logistic": Logistic(), "softmax": Softmax(3)}
FREE = ("dense", "sparse", "mixed", "light sides", "sparse mixed")
"""Several classes need free leaves."""
CASES = [(name, w) for name in FAMILIES for w in LOSSES if w != "softmax" or name in FREE]


def data(name, loss, weighted):
    """Few values a feature, all of them in the training rows of every fold: honest fits have the
    bins of all rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 7, size=(500, 5)).astype(float)
    X[rng.random(X.shape) < 0.4] = 0.0
    y = np.sin(X[:, 0]) + 0.2 * X[:, 1] + (X[:, 3] == 2) + 0.5 * rng.normal(size=500)
    if "mixed" in name or name == "light sides":
        X[rng.random(500) < 0.2, 0] = np.nan
        X[rng.random(500) < 0.2, 3] = np.nan
    if isinstance(loss, Logistic):
        y = np.where(y > 0.7, 1.0, -1.0)
    if isinstance(loss, Softmax):
        y = np.digitize(y, [0.3, 1.0]).astype(float)
    weight = rng.random(500) + 0.5 if weighted else None
    return scipy.sparse.csr_array(X) if "sparse" in name else X, y, rng.integers(0, K, 500), weight


def part(values, rows):
    return None if values is None else values[rows]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("selection", [RandomGroups(2), RandomLearners(4)], ids=str)
@pytest.mark.parametrize(("name", "which"), CASES)
def test_runs_of_folds_are_honest_fits(name, which, selection, weighted):
    loss = LOSSES[which]
    X, y, fold, weight = data(name, loss, weighted)
    settings = dict(
        loss=loss, learner=FAMILIES[name], selection=selection, n_iter=N_ITER, learning_rate=0.4,
        step=NewtonStep() if which == "softmax" else ConstantStep(), engine="direct",
    )  # fmt: skip
    found = boost(X, y, fold=fold, weight=weight, random_state=5, **settings)
    trace, prepared = found.trace, found.prepared
    start = np.zeros(3) if which == "softmax" else 0.0
    train_loss, held_loss, mass = 0.0, 0.0, 0.0
    for k in range(K):
        train, held = fold != k, fold == k
        honest = boost(
            X[train], y[train], weight=part(weight, train), random_state=[5, k],
            validation=Validation(X[held], y[held], part(weight, held)), **settings,
        )  # fmt: skip
        assert honest.prepared.layout.n_learners == prepared.layout.n_learners
        np.testing.assert_array_equal(trace.learner[k::K], honest.trace.learner)
        choices = trace.choices[k::K].copy()
        for field in {"left", "right"} & set(choices.dtype.names):
            choices[field] *= K
        path = Path(choices)
        score = prepared.model(path, start).score(X)
        expected = honest.prepared.model(honest.trace.path(), start).score(X)
        np.testing.assert_allclose(score, expected, rtol=1e-8, atol=1e-9)
        its_mass = held.sum() if weight is None else weight[held].sum()
        train_loss = train_loss + honest.trace.train_loss / K
        held_loss, mass = held_loss + its_mass * honest.trace.validation_loss, mass + its_mass
    np.testing.assert_allclose(trace.train_loss, train_loss, rtol=1e-9)
    np.testing.assert_allclose(trace.validation_loss, held_loss / mass, rtol=1e-9)
    assert len(np.unique(trace.learner)) > 3


@pytest.mark.parametrize("name", ["dense", "sparse", "mixed", "sparse mixed"])
def test_bins_are_those_of_the_rows_that_are_left(name):
    X, _, fold, weight = data(name, Squared(), True)
    arrays = FAMILIES[name].prepare(X, weight).arrays
    rows, others = np.flatnonzero(fold != 1), np.flatnonzero(fold == 1)
    mine, left_out = on_some_rows(arrays, rows, weight[rows], others)
    for some, found in ((rows, mine), (others, left_out)):
        for g in range(5):
            np.testing.assert_array_equal(codes_of(found, g, len(some)),
                                          codes_of(arrays, g, 500)[some])  # fmt: skip
    assert mine.splits.total_weight == pytest.approx(weight[rows].sum())
    if hasattr(arrays, "columns"):
        for g in range(5):
            first, n = arrays.columns.bin_start[g], arrays.columns.n_values[g] + 1
            expected = np.bincount(codes_of(mine, g, len(rows)), weight[rows], n)
            found = mine.columns.bin_weight[first : first + n]
            np.testing.assert_allclose(found, expected, atol=1e-9)
        # What a search writes, held-out rows read; other runs do not.
        assert left_out.columns is mine.columns
        assert not np.shares_memory(mine.columns.order, arrays.columns.order)


def codes_of(arrays, g, n_rows):
    """The bin of every row."""
    if hasattr(arrays, "codes"):
        return np.asarray(arrays.codes[g, :n_rows])
    entries = arrays.entries
    now = slice(entries.indptr[g], entries.indptr[g + 1])
    found = np.full(n_rows, entries.zero_code[g], np.int64)
    found[entries.rows[now]] = entries.codes[now]
    return found


@pytest.mark.parametrize("sparse", [False, True])
def test_a_side_that_has_no_rows_is_never_chosen(sparse):
    """Its weight may be what rounding leaves of a sum."""
    rng = np.random.default_rng(0)
    X, weight = rng.integers(0, 3, size=(300, 2)).astype(float), rng.random(300)
    X[X[:, 0] == 2, 0] = 0.0
    X[:20, 0] = 2.0
    rows = scipy.sparse.csr_array(X) if sparse else X
    arrays = Stumps().prepare(rows, weight).arrays
    mine, _ = on_some_rows(arrays, np.arange(20, 300), weight[20:], np.arange(20))
    light = mine.splits.total_weight - mine.splits.left_weight[1]
    assert abs(light) < LIGHT * mine.splits.total_weight
    assert mine.splits.gain[1] == 0.0
    assert (mine.splits.gain[[0, 2, 3]] > 0).all()


def test_what_cannot_be_taken_apart():
    with pytest.raises(TypeError, match="int cannot be taken apart by rows"):
        take_rows(3, np.arange(2), 5)
