"""Linear functions in the leaves of trees, against a ridge regression of the rows of each leaf."""

import numpy as np
import pytest
import scipy.sparse

from rgboost.learners import Trees
from rgboost.losses import Huber, Logistic, Loss, Poisson, Quantile, Softmax, Squared
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep
from rgboost.training import RunState, Validation, boost
from tests.learners.trees.naive import line_of, ways_of

LINES = Trees(max_leaf_nodes=6, min_samples_leaf=10, leaves="linear")


def made(n=400, p=5, seed=0, missing=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(1)
    y = 3 * X[:, 0] * (X[:, 1] > 0) + np.sin(2 * X[:, 2]) + 0.2 * rng.normal(size=n)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng


def boosted(X, y, *, learner=LINES, loss=None, step=None, n_iter=1, rate=1.0, **more):
    return boost(
        X, y, loss=loss or Squared(), learner=learner, selection=AllLearners(),
        step=step or ConstantStep(), n_iter=n_iter, learning_rate=rate, random_state=0, **more,
    )  # fmt: skip


@pytest.mark.kernel
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Poisson()], ids=repr)
def test_every_leaf_has_its_ridge_regression(weighted, missing, loss):
    """One iteration, row by row: bins are values here."""
    X, y, rng = made(missing=missing)
    weight = rng.uniform(0.5, 2.0, len(y)) if weighted else None
    if loss != Squared():
        y = np.where(y > 0, 1.0, -1.0) if loss == Logistic() else np.floor(np.exp(y / 3))
    step = ConstantStep() if loss == Squared() else NewtonStep()
    fit = boosted(
        X, y, loss=loss, step=step, weight=weight, start_score=0.0, rate=0.5,
        learner=Trees(max_leaf_nodes=6, min_samples_leaf=10, leaves="linear", categorical=(3,)),
    )  # fmt: skip
    w, zero = np.ones(len(y)) if weight is None else weight, np.zeros(len(y))
    h = w if loss == Squared() else w * loss.curvature(y, zero)
    r = w * loss.residual(y, zero)
    limit = np.inf if loss == Squared() else loss.newton_limit
    leaf, ways = ways_of(fit.model, X)
    assert len(set(leaf)) == 6
    assert max(map(len, ways)) > 1
    known = np.empty(len(y))
    for q in range(6):
        mine = leaf == q
        features = [g for g in ways[q] if g != 3]
        known[mine] = 0.5 * line_of(X, features, mine, r, h, w, limit)
    np.testing.assert_allclose(fit.model.score(X), known, atol=1e-9)


@pytest.mark.kernel
def test_nothing_is_said_that_is_not_said_to_training_rows():
    X, y, rng = made()
    fit = boosted(X, y, start_score=0.0)
    leaf, _ = ways_of(fit.model, X)
    inside = fit.model.score(X)
    far = X[rng.integers(0, len(X), 500)] + 50.0 * rng.normal(size=(500, X.shape[1]))
    leaf_far, _ = ways_of(fit.model, far)
    said = fit.model.score(far)
    for q in np.unique(leaf_far):
        assert said[leaf_far == q].max() <= inside[leaf == q].max() + 1e-12
        assert said[leaf_far == q].min() >= inside[leaf == q].min() - 1e-12
    assert np.isfinite(fit.model.score(np.full((1, X.shape[1]), np.nan))).all()


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(0.7)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_falls_as_theorem_strong_needs(loss, weighted):
    X, y, rng = made(missing=True)
    y = np.where(y > 0, 1.0, -1.0) if loss == Logistic() else y
    weight = rng.uniform(0.2, 3.0, len(y)) if weighted else None
    fit = boosted(X, y, loss=loss, weight=weight, n_iter=30)
    total = len(y) if weight is None else weight.sum()
    fall = -np.diff(fit.trace.train_loss) * total
    promised = fit.trace.gradient_norm**2 / (2 * loss.smoothness)
    assert (fall >= promised - 1e-9 * total).all()
    plain = boosted(X, y, loss=loss, weight=weight, learner=Trees(max_leaf_nodes=6), n_iter=30)
    assert fit.trace.train_loss[-1] < plain.trace.train_loss[-1]


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_model_says_what_the_trace_says(loss, kind):
    X, y, rng = made(missing=True)
    X = np.where(rng.random(X.shape) < 0.5, 0.0, X)
    y = np.where(y > 0, 1.0, -1.0) if loss == Logistic() else y
    new = X[:90] + rng.normal(size=(90, X.shape[1]))
    rows, held = (X, new) if kind == "dense" else map(scipy.sparse.csr_array, (X, new))
    fit = boosted(
        rows, y, loss=loss, step=NewtonStep() if loss == Logistic() else None, n_iter=12, rate=0.3,
        validation=Validation(held, y[:90]),
    )  # fmt: skip
    n = fit.best_iteration
    for scores, losses, labels in (
        (fit.model.staged_score(rows), fit.trace.train_loss, y),
        (fit.model.staged_score(held), fit.trace.validation_loss, y[:90]),
    ):
        known = [np.mean(loss.value(labels, score)) for score in scores]
        np.testing.assert_allclose(losses[1 : n + 1], known, rtol=1e-9)
    np.testing.assert_allclose(fit.model.score(rows), fit.model.score(X), rtol=1e-12)
    columns, wide = np.array([0, 2, 5, 6, 9]), np.zeros((len(X), 10))
    wide[:, columns] = X
    np.testing.assert_array_equal(fit.model.among(columns, 10).score(wide), fit.model.score(X))


def test_results_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=20_000)
    fits = [
        boosted(X, y, learner=Trees(leaves="linear"), n_iter=3, n_jobs=n_jobs)
        for n_jobs in (1, 2, 3)
    ]
    for one in fits[1:]:
        np.testing.assert_array_equal(one.trace.choices, fits[0].trace.choices)
        np.testing.assert_array_equal(one.model.score(X, 2), fits[0].model.score(X))


def test_the_mean_of_runs_is_the_mean_of_their_models():
    X, y, _ = made()
    fold = np.arange(len(y)) % 3
    both = boosted(X, y, fold=fold, n_iter=6, rate=0.3, start_score=None)
    scores = [
        boosted(X[fold != k], y[fold != k], n_iter=both.best_iteration, rate=0.3, start_score=None)
        .model.score(X)
        for k in range(3)
    ]  # fmt: skip
    found = [model.score(X) + both.centre for model in both.run_models()]
    np.testing.assert_allclose(both.model.score(X), np.mean(found, axis=0), atol=1e-9)
    # Bins of the mean have the means of all rows, those of a run alone of its own.
    np.testing.assert_allclose(np.mean(scores, axis=0), both.model.score(X), atol=0.3)


@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_a_run_goes_on_where_it_stopped(subsample, tmp_path):
    X, y, _ = made()
    shared = dict(
        loss=Squared(), selection=RandomGroups(3), step=ConstantStep(), random_state=1,
        learner=Trees(max_leaf_nodes=6, leaves="linear", subsample=subsample),
    )  # fmt: skip
    first = boost(X, y, n_iter=4, keep_state=True, **shared)
    first.state.save(tmp_path / "state")
    second = boost(X, y, n_iter=9, resume=RunState.load(tmp_path / "state"), **shared)
    whole = boost(X, y, n_iter=9, **shared)
    np.testing.assert_array_equal(second.trace.choices, whole.trace.choices)
    np.testing.assert_array_equal(second.model.score(X), whole.model.score(X))


def test_a_loss_of_ones_own():
    class Half(Loss):
        smoothness = 1.0

        def value(self, y, f):
            return (y - f) ** 2 / 2

        def residual(self, y, f):
            return y - f

    X, y, _ = made()
    known, found = (boosted(X, y, loss=loss, n_iter=4, rate=0.5) for loss in (Squared(), Half()))
    np.testing.assert_allclose(found.trace.train_loss, known.trace.train_loss, rtol=1e-9)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"learner": Trees(leaves="auto")}, "leaves='auto' is for RGBMRegressor"),
        ({"learner": Trees(leaves="linear", constraints={0: 1})}, "slopes of either sign"),
        ({"loss": Softmax(3)}, "one score"),
        ({"loss": Quantile(0.3), "step": LeafSearch()}, "in another way"),
        ({"step": LineSearch()}, "in another way"),
    ],
    ids=str,
)
def test_what_does_not_go_together(given, match):
    X, y, _ = made()
    y = np.arange(len(y)) % 3.0 if "loss" in given else y
    with pytest.raises(ValueError, match=match):
        boosted(X, y, **given)
    with pytest.raises(ValueError, match="leaves"):
        Trees(leaves="quadratic")


def test_features_of_two_values_leave_nothing_for_slopes():
    """They are constant in the leaves: what slopes add is rounding, of either sign."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 3)).astype(float)
    fit = boosted(X, X @ [1.0, 2.0, 3.0], n_iter=30, rate=0.1)
    constant = boosted(
        X, X @ [1.0, 2.0, 3.0], n_iter=30, rate=0.1,
        learner=Trees(max_leaf_nodes=6, min_samples_leaf=10),
    )  # fmt: skip
    np.testing.assert_allclose(fit.model.score(X), constant.model.score(X), rtol=0, atol=1e-10)
    assert np.isfinite(fit.trace.gradient_norm).all()


def test_numbers_too_large_to_be_squared_have_no_slopes():
    X, y, _ = made()
    large = np.column_stack([X[:, :1] * 1e160, X[:, 1:]])
    fit = boosted(large, y, n_iter=5)
    lines = fit.model.lines
    assert (lines.slopes[lines.place == 0] == 0.0).all()
    assert (lines.slopes != 0.0).any()
    assert np.isfinite(fit.model.score(large)).all()
