"""What is kept of a run."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from rgboost.data import datasets
from rgboost.experiments.cells import Cell, checkpoints, extra_cells, find_optimum, run_cell
from rgboost.experiments.protocol import STEPS, Budget, Part, Ready, split
from rgboost.learners import Stumps
from rgboost.losses import Logistic
from rgboost.selection import RandomGroups
from rgboost.training import Validation, boost
from rgboost.training.plan import paper_bins
from tests.optimum import indicator_columns, smallest_loss


@pytest.fixture(scope="module")
def part():
    return split(datasets.load("embedded"), 0)


@pytest.fixture(scope="module")
def digits():
    return split(datasets.load("embedded-digits"), 0)


def test_checkpoints():
    at = checkpoints(100_000)
    assert at[0] == 0
    assert at[-1] == 100_000
    assert (np.diff(at) > 0).all()
    assert len(at) < 130
    assert checkpoints(1).tolist() == [0, 1]


@pytest.mark.parametrize("step", list(STEPS))
def test_losses_are_those_of_the_trace(part, step):
    found = run_cell(Cell(step, 5, 3), part, Budget("iterations", 300), 0.0)
    boosted = boost(
        part.X_train,
        part.y_train,
        loss=part.loss,
        learner=Ready(part.prepared),
        selection=RandomGroups(5),
        step=STEPS[step],
        n_iter=300,
        random_state=3,
        validation=Validation(part.X_test, part.y_test),
        engine="direct",
    )
    at = found["iterations"]
    assert_allclose(found["train_loss"], boosted.trace.train_loss[at], rtol=1e-12)
    assert_allclose(found["test_loss"], boosted.trace.validation_loss[at], rtol=1e-9)
    trace = boosted.trace  # all of it: the model is that of the best iteration
    path = trace.path()
    last = part.prepared.model(path, boosted.model.intercept)
    wrong = np.mean(part.y_test * last.score(part.X_test) <= 0)
    assert found["test_error"][-1] == pytest.approx(wrong)


def test_sparse_rows(part):
    sparse = scipy.sparse.csr_array(np.where(part.X_train > 1, part.X_train, 0.0))
    held = scipy.sparse.csr_array(np.where(part.X_test > 1, part.X_test, 0.0))
    prepared = Stumps(max_bins=paper_bins(sparse.shape[0])).prepare(sparse)
    twin = Part(sparse, held, part.y_train, part.y_test, prepared, part.loss)
    found = run_cell(Cell("constant", 30, 0), twin, Budget("iterations", 60), 0.0)
    dense = Part(
        sparse.toarray(), held.toarray(), part.y_train, part.y_test,
        Stumps(max_bins=paper_bins(sparse.shape[0])).prepare(sparse.toarray()), part.loss,
    )  # fmt: skip
    expected = run_cell(Cell("constant", 30, 0), dense, Budget("iterations", 60), 0.0)
    assert_allclose(found["test_loss"], expected["test_loss"], rtol=1e-9)


def test_gaps_are_reached_when_they_are(part):
    best = find_optimum(part)["loss"]
    found = run_cell(Cell("constant", 2, 0), part, Budget("iterations", 500), best)
    trace = boost(
        part.X_train,
        part.y_train,
        loss=part.loss,
        learner=Ready(part.prepared),
        selection=RandomGroups(2),
        step=STEPS["constant"],
        n_iter=500,
        random_state=0,
        engine="direct",
    ).trace
    for entry in found["reached"]:
        below = np.flatnonzero(trace.train_loss - best <= entry["gap"])
        assert entry["iterations"] == (below[0] if len(below) else None)
        if len(below):
            assert entry["epochs"] == pytest.approx(below[0] * 2 / 30)
            assert 0 < entry["seconds"] <= found["seconds"][-1]
    assert [entry["iterations"] is None for entry in found["reached"]] == [False, False, True]


def test_budgets(part):
    epochs = run_cell(Cell("constant", 3, 0), part, Budget("epochs", 2), 0.0)
    assert epochs["n_iter"] == 20
    seconds = run_cell(Cell("constant", 30, 0), part, Budget("seconds", 0.02), 0.0)
    assert seconds["seconds"][-1] >= 0.02
    assert seconds["n_iter"] < 4_000_000


def test_a_run_ends_at_the_optimum(part):
    best = find_optimum(part)["loss"]
    found = run_cell(Cell("line-search", 30, 0), part, Budget("iterations", 100_000), best)
    assert found["n_iter"] < 100_000
    assert abs(found["lowest_gap"]) < 1e-9


def test_optimum_is_that_of_its_slow_twin(part):
    cuts = part.prepared.cuts
    columns = indicator_columns(part.X_train, np.split(cuts.thresholds, cuts.offsets[1:-1]))
    found = find_optimum(part)
    assert found["loss"] == pytest.approx(smallest_loss(columns, part.y_train, part.loss), rel=1e-9)
    assert found["certified_gap"] < 1e-10


def test_optimum_where_features_depend_on_each_other():
    """One-hot columns of many rows, as in a9a: their sums are all the same constant."""
    rng = np.random.default_rng(5)
    blocks = [np.eye(k)[rng.integers(0, k, size=1500)] for k in (2, 5, 9, 16)]
    X = np.hstack(blocks)
    y = np.where(rng.random(1500) < 0.3 + 0.4 * X[:, 0], 1.0, -1.0)
    sparse = scipy.sparse.csr_array(X)
    prepared = Stumps(max_bins=paper_bins(sparse.shape[0])).prepare(sparse)
    part = Part(sparse, sparse, y, y, prepared, Logistic(1e-4))
    columns = np.hstack([np.ones((1500, 1)), X])
    z = np.zeros(columns.shape[1])
    for _ in range(20):
        f = columns @ z
        hessian = (columns.T * part.loss.curvature(y, f)) @ columns
        z += np.linalg.lstsq(hessian, columns.T @ part.loss.residual(y, f), rcond=1e-12)[0]
    expected = part.loss.value(y, columns @ z).mean()
    assert find_optimum(part)["loss"] == pytest.approx(expected, rel=1e-10)


def test_gram_engine_has_the_same_iterates(digits):
    direct = run_cell(Cell("constant", 64, 0), digits, Budget("iterations", 200), 0.0)
    (extra,) = extra_cells(digits, 64, 0)
    assert extra.engine == "gram"
    gram = run_cell(extra, digits, Budget("iterations", 200), 0.0)
    assert_allclose(gram["train_loss"], direct["train_loss"], rtol=1e-9)
    assert_allclose(gram["test_loss"], direct["test_loss"], rtol=1e-9)


def test_extra_engines_need_few_bins(part):
    assert extra_cells(part, 30, 0) == []
    coarse = Part(
        part.X_train, part.X_test, part.y_train, part.y_test,
        Stumps(max_bins=50).prepare(part.X_train), part.loss,
    )  # fmt: skip
    (extra,) = extra_cells(coarse, 30, 0)
    assert extra.engine == "quadratic"
    best = find_optimum(coarse)["loss"]
    found = run_cell(extra, coarse, Budget("iterations", 5000), best)
    assert found["lowest_gap"] < 0.01 * (found["train_loss"][0] - best)
