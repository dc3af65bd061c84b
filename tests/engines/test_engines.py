"""What holds for every engine and loss."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import Stumps
from rgboost.engines.gram import runs as gram_runs
from rgboost.losses import Exponential, Huber, Logistic, Poisson, Ridged, Softmax, Squared
from rgboost.selection import (
    AllLearners,
    RandomGroup,
    RandomGroups,
    RandomLearners,
    RandomThresholds,
)
from rgboost.steps import ConstantStep, LineSearch, NewtonStep
from rgboost.training import Validation
from tests.conftest import JIT
from tests.engines.checks import (
    CASES,
    big_problem,
    cases,
    check_blocks,
    check_descent,
    check_held,
    check_naive,
    check_stretches,
    check_threads,
    check_weights,
    labels_for,
)

CONSTANT, SEARCH, NEWTON = ConstantStep(), LineSearch(), NewtonStep()
compiled = pytest.mark.skipif(not JIT, reason="too slow as plain Python")


def problem(loss, n=500):
    X, y = big_problem(n)
    return X, labels_for(loss, y)


def data(loss, n=400, seed=0):
    """(X, y, weight, offset, fold): few values, so that weights do not move thresholds."""
    rng = np.random.default_rng(seed)
    X = np.round(2 * np.clip(rng.normal(size=(n, 5)), -2, 2))
    k = np.arange(loss.outputs)
    score = np.sin(X[:, k % 5] + k) + 0.3 * X[:, [0]] * (k + 1) + rng.gumbel(size=(n, len(k)))
    weight, offset = rng.integers(1, 5, n).astype(float), 0.5 * rng.normal(size=score.shape)
    y, fold = np.argmax(score, axis=1).astype(float), rng.integers(0, 3, n)
    if loss.outputs == 1:
        y, offset = labels_for(loss, score[:, 0] - score.mean()), offset[:, 0]
    return X, y, weight, offset, fold


THREADS = [
    *((loss, "direct", SEARCH, bins, sparse) for loss in (Squared(), Huber(0.3))
      for bins in (8, 300, None) for sparse in (False, True)),
    *((Softmax(3), "direct", CONSTANT, bins, sparse)
      for bins, sparse in ((8, False), (300, False), (8, True))),
    (Softmax(3), "direct", NEWTON, 8, False), (Logistic(), "direct", CONSTANT, 8, False),
    *((loss, "quadratic", CONSTANT, 8, sparse) for loss in (Squared(), Logistic(), Softmax(3))
      for sparse in (False, True)),
    (Squared(), "gram", CONSTANT, 8, False), (Squared(), "gram", CONSTANT, 300, True),
]  # fmt: skip


@compiled
@pytest.mark.parametrize(("loss", "engine", "step", "max_bins", "sparse"), THREADS, ids=str)
def test_threads(loss, engine, step, max_bins, sparse, monkeypatch):
    monkeypatch.setattr(gram_runs, "_WORK_FOR_THREADS", 0)
    X, y = problem(loss, 40_000)
    X[np.abs(X) < 0.5] = 0.0
    rows = scipy.sparse.csr_array(X) if sparse else X
    check_threads(
        rows, y, loss=loss, engine=engine, step=step, selection=RandomGroups(3), n_iter=30,
        learner=Stumps(max_bins=max_bins), validation=Validation(rows[:10_000], y[:10_000]),
    )  # fmt: skip


@cases
@pytest.mark.parametrize("folds", [False, True])
def test_blocks(loss, engine, folds, monkeypatch):
    X, y, weight, _, fold = data(loss)
    more = {"fold": fold} if folds else {"validation": Validation(X[:90], y[:90])}
    check_blocks(X, y, monkeypatch, loss=loss, engine=engine, weight=weight, n_iter=300, **more)


@pytest.mark.parametrize(
    "rule", [AllLearners(), RandomLearners(0.5), RandomGroup(), RandomGroups(0.5)], ids=repr
)
@pytest.mark.parametrize(
    ("loss", "engine", "step", "leaves"),
    [
        *((loss, "direct", step, leaves)
          for loss in (Squared(), Huber(0.3), Logistic(), Logistic(0.0), Ridged(Huber(0.3), 0.1))
          for step in (CONSTANT, SEARCH) for leaves in ("free", "signed")),
        *((Squared(), "gram", step, leaves) for step in (CONSTANT, SEARCH)
          for leaves in ("free", "signed")),
        *((loss, "quadratic", CONSTANT, leaves) for loss in (Squared(), Huber(0.3), Logistic())
          for leaves in ("free", "signed")),
        (Softmax(3), "direct", CONSTANT, "free"), (Softmax(4, 0.0), "direct", CONSTANT, "free"),
        (Softmax(3), "quadratic", CONSTANT, "free"),
    ],
    ids=str,
)  # fmt: skip
def test_descent(loss, engine, step, leaves, rule):
    X, y = problem(loss)
    check_descent(
        X, y, loss=loss, engine=engine, step=step, learner=Stumps(leaves=leaves), selection=rule,
        n_iter=200, start_score=0.0,
    )  # fmt: skip


@cases
@pytest.mark.parametrize("max_bins", [None, 9])
def test_weights(loss, engine, max_bins):
    X, y = problem(loss)
    check_weights(X, y, loss=loss, engine=engine, learner=Stumps(max_bins=max_bins))


@pytest.mark.parametrize(
    ("loss", "engine", "start"),
    [(loss, engine, start) for loss, engine in CASES
     for start in ((None, 0.3) if loss.outputs == 1 else (None,))],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_held_rows(loss, engine, weighted, sparse, start):
    X, y = problem(loss, 600)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    parts = [weight[:400], weight[400:]] if weighted else [None, None]
    rows = scipy.sparse.csr_array(X) if sparse else X
    held = Validation(rows[400:], y[400:], parts[1])
    check_held(
        rows[:400], y[:400], held, loss=loss, engine=engine, weight=parts[0], start_score=start,
        n_iter=300 if engine == "quadratic" else 40,
    )  # fmt: skip


@compiled
@pytest.mark.parametrize(
    ("loss", "step", "leaves", "engine"),
    [
        *((loss, SEARCH, leaves, "direct") for loss in (Squared(), Logistic(), Exponential())
          for leaves in ("free", "signed")),
        (Squared(), SEARCH, "free", "gram"),
        (Softmax(4, 0.01), CONSTANT, "free", "direct"),
        (Softmax(4, 0.01), NEWTON, "free", "direct"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
def test_many_chunks_of_rows(loss, step, leaves, engine, weighted):
    """9,000 rows are summed in chunks; the naive twin knows nothing of chunks."""
    X, y = problem(loss, 9_000)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(y)) if weighted else None
    check_naive(X, y, weight, loss, RandomGroups(3), step, leaves, 8, engine=engine)


@pytest.mark.parametrize("loss", [Logistic(), Poisson(), Softmax(4)], ids=str)
@pytest.mark.parametrize(
    "selection", [AllLearners(), RandomGroups(2), RandomLearners(9), RandomThresholds(9)], ids=repr
)
@pytest.mark.parametrize("extra", [(), ("weight",), ("offset",), ("weight", "offset")], ids=str)
@pytest.mark.parametrize("folds", [False, True])
def test_stretches_are_boosting_on_quadratic_models(loss, selection, extra, folds, steady):
    X, y, weight, offset, fold = data(loss)
    given = {"weight": weight, "offset": offset}
    more = {name: given[name] for name in extra} | ({"fold": fold} if folds else {})
    check_stretches(X, y, loss=loss, selection=selection, **more)
