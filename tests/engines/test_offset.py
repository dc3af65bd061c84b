"""Offsets: a known part of the score, in every engine."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import Dictionary, Stumps, boost
from rgboost.losses import (
    AbsoluteError,
    Exponential,
    Gamma,
    Huber,
    LogCosh,
    Logistic,
    Loss,
    Poisson,
    Quantile,
    Softmax,
    Squared,
    Tweedie,
)
from rgboost.selection import AllLearners, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonGain, NewtonStep
from rgboost.theory.certificates.recording import RecordCertificates
from rgboost.training import EarlyStopping, Validation
from tests.engines.checks import learner_subsets
from tests.engines.test_row_mean import SETTINGS, K, check_honest_fits
from tests.naive import naive_boost, naive_class_boost, naive_stumps

NEVER = EarlyStopping(10**9, 0.0)
CONSTANT, NEWTON, SEARCH, LEAVES = ConstantStep(), NewtonStep(), LineSearch(), LeafSearch()


class PythonSquared(Loss):
    smoothness = 1.0

    def value(self, y, f):
        return 0.5 * (y - f) ** 2

    def residual(self, y, f):
        return y - f


EACH = [
    (Squared(), CONSTANT), (Huber(0.7), CONSTANT), (LogCosh(), SEARCH), (AbsoluteError(), LEAVES),
    (Quantile(0.3), LEAVES), (Poisson(), NEWTON), (Gamma(), LEAVES), (Tweedie(1.4), NEWTON),
    (Logistic(0.01), CONSTANT), (Exponential(), SEARCH), (PythonSquared(), CONSTANT),
]  # fmt: skip
each = pytest.mark.parametrize(("loss", "step"), EACH, ids=str)


def data(loss, n=240, seed=0):
    """Rows with few values (weights do not move bins), labels that suit the loss, offsets, folds,
    weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(n, 4)).astype(float)
    offset = rng.normal(size=n)
    score = np.sin(X[:, 0]) + 0.1 * X[:, 1] + offset
    if isinstance(loss, Logistic | Exponential):
        y = np.where(score + rng.logistic(size=n) > 0, 1.0, -1.0)
    elif isinstance(loss, Softmax):
        offset = rng.normal(size=(n, loss.n_classes))
        offset -= offset.mean(axis=1, keepdims=True)
        noise = rng.gumbel(size=offset.shape)
        y = np.argmax(score[:, None] * np.arange(loss.n_classes) / 2 + offset + noise, axis=1)
        y = y.astype(float)
    elif isinstance(loss, Poisson | Tweedie | Gamma):
        y = rng.poisson(np.exp(score)) + (0.5 if isinstance(loss, Gamma) else 0.0)
    else:
        y = score + rng.normal(size=n)
    return X, y, offset, rng.integers(0, K, n), rng.random(n) + 0.2


def run(X, y, loss, step, **more):
    settings = dict(
        learner=Stumps(), selection=RandomLearners(12), learning_rate=0.4, start_score=None,
        n_iter=25, random_state=3,
    )  # fmt: skip
    return boost(X, y, loss=loss, step=step, **{**settings, **more})


@pytest.mark.kernel
@each
def test_direct_is_the_naive_twin_from_these_scores(loss, step):
    X, y, offset, _, weight = data(loss, 60)
    found = run(X, y, loss, step, weight=weight, offset=offset, engine="direct")
    start = found.model.intercept
    f, path, losses, _ = naive_boost(
        X, y, loss, naive_stumps(X, None, "quantile", weight),
        learner_subsets(found, RandomLearners(12), 3, 25), step, weight, "free",
        start=start + offset, learning_rate=0.4,
    )  # fmt: skip
    np.testing.assert_array_equal(found.trace.learner, path)
    np.testing.assert_allclose(found.trace.train_loss * weight.sum(), losses, rtol=1e-8)
    np.testing.assert_allclose(found.model.score(X) + offset, f, rtol=1e-7, atol=1e-8)


@each
def test_starts_from_the_best_constant_beside_the_offset(loss, step):
    X, y, offset, _, weight = data(loss)
    start = run(X, y, loss, step, weight=weight, offset=offset, n_iter=1).model.intercept
    at = [(weight * loss.value(y, offset + start + d)).sum() for d in (0.0, -1e-3, 1e-3)]
    assert at[0] <= min(at[1:])
    assert min(at[1:]) - at[0] < 0.01  # and the steps to the sides do tell


def test_classes_are_the_naive_twin_from_these_scores():
    loss = Softmax(3, 0.01)
    X, y, offset, _, weight = data(loss, 1200)  # so many that equal rows would be merged
    X = X[:, :2]
    for step in (CONSTANT, NEWTON):
        found = run(X, y, loss, step, weight=weight, offset=offset, n_iter=12)
        f, path, losses, _ = naive_class_boost(
            X, y, loss, naive_stumps(X, None, "quantile", weight),
            learner_subsets(found, RandomLearners(12), 3, 12), step, weight, 0.4,
            start=found.model.intercept + offset,
        )  # fmt: skip
        np.testing.assert_array_equal(found.trace.learner, path)
        np.testing.assert_allclose(found.trace.train_loss * weight.sum(), losses, rtol=1e-9)
        np.testing.assert_allclose(found.model.score(X) + offset, f, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_classes_start_from_the_best_constant(ridge):
    loss = Softmax(4, ridge)
    _, y, offset, _, weight = data(loss)
    start = loss.best_constant(y, weight, offset)
    assert start.sum() == pytest.approx(0.0, abs=1e-12)
    slope = (weight[:, None] * loss.residual(y, start + offset)).sum(axis=0)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9 * weight.sum())


@pytest.mark.parametrize("kind", ["dense", "sparse", "mixed", "weights", "little memory"])
def test_gram_is_direct(kind):
    X, y, offset, _, weight = data(Squared(), 500)
    learner = Stumps()
    if kind == "mixed":
        X[::7, 2] = np.nan
        learner = Stumps(categorical=(1,))
    rows = scipy.sparse.csr_array(X) if kind == "sparse" else X
    settings = dict(
        offset=offset[:400], validation=Validation(rows[400:], y[400:], None, offset[400:]),
        learner=learner, selection=RandomGroups(2), n_iter=60,
        weight=weight[:400] if kind == "weights" else None,
        gram_memory=2_000 if kind == "little memory" else None,
    )  # fmt: skip
    gram, direct = (
        run(rows[:400], y[:400], Squared(), CONSTANT, engine=engine, **settings)
        for engine in ("gram", "direct")
    )
    assert gram.trace.engine.startswith("gram")
    np.testing.assert_array_equal(gram.trace.learner, direct.trace.learner)
    for name in ("train_loss", "validation_loss", "left", "right"):
        found, expected = getattr(gram.trace, name), getattr(direct.trace, name)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    shifted = run(
        rows[:400], y[:400] - offset[:400], Squared(), CONSTANT, engine="direct",
        **{**settings, "offset": None,
           "validation": Validation(rows[400:], y[400:] - offset[400:])},
    )  # fmt: skip
    np.testing.assert_allclose(direct.trace.validation_loss, shifted.trace.validation_loss)


@pytest.mark.parametrize("loss", [Logistic(0.01), LogCosh()], ids=["newton", "majoriser"])
@pytest.mark.parametrize("n_features", [4, 60])
def test_quadratic(loss, n_features):
    X, y, offset, _, weight = data(loss, 400)
    X = np.random.default_rng(1).permuted(np.tile(X, (1, n_features // 4)), axis=0)
    settings = dict(
        offset=offset[:300], weight=weight[:300], engine="quadratic",
        validation=Validation(X[300:], y[300:], weight[300:], offset[300:]), n_iter=300,
        learning_rate=1.0,
    )  # fmt: skip
    found = run(X[:300], y[:300], loss, CONSTANT, **settings)
    at = found.best_iteration
    for rows, losses in (
        (slice(300), found.trace.train_loss),
        (slice(300, 400), found.trace.validation_loss),
    ):
        value = loss.value(y[rows], found.model.score(X[rows]) + offset[rows])
        # losses are exact where stretches end
        assert np.average(value, weights=weight[rows]) == pytest.approx(losses[at], rel=2e-2)
    last = boost(
        X[:300], y[:300], loss=loss, step=CONSTANT, selection=AllLearners(), learner=Stumps(),
        n_iter=20, start_score=None, offset=offset[:300], engine="quadratic",
    )  # fmt: skip
    value = loss.value(y[:300], last.model.score(X[:300]) + offset[:300])
    assert value.mean() == pytest.approx(last.trace.train_loss[-1], rel=1e-12)


def test_dictionary():
    X, y, offset, _, _ = data(Huber(0.7))
    settings = dict(learner=Dictionary(X), selection=AllLearners())
    found = run(X, y, Huber(0.7), CONSTANT, offset=offset, **settings)
    shifted = run(X, y - offset, Huber(0.7), CONSTANT, **settings)
    np.testing.assert_array_equal(found.trace.learner, shifted.trace.learner)
    np.testing.assert_allclose(found.model.score(X), shifted.model.score(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("loss", "step"),
    [(Squared(), NEWTON), (Squared(), NewtonGain()), (Squared(), CONSTANT),
     (Huber(0.5), CONSTANT), (Quantile(0.3), LEAVES), (Softmax(3), CONSTANT), (Softmax(3), NEWTON)],
    ids=str,
)  # fmt: skip
def test_means_by_rows_are_of_honest_fits(loss, step):
    X, y, offset, fold, weight = data(loss)
    settings = {**SETTINGS, "step": step, "selection": RandomLearners(4), "loss": loss}
    check_honest_fits(X, y, fold, weight, settings, offset=offset)


def mean_settings(loss, step, **more):
    return dict(
        learner=Stumps(), step=step, learning_rate=0.3, start_score=None, groups=None,
        names=None, n_jobs=1, random_state=5, early_stopping=NEVER, loss=loss, n_iter=80,
        selection=RandomLearners(6), **more,
    )  # fmt: skip


def test_mean_from_statistics_is_that_of_shifted_labels():
    X, y, offset, fold, weight = data(Squared(), 400)
    settings = mean_settings(Squared(), CONSTANT, weight=weight, engine="gram")
    found = boost(X, y, fold=fold, offset=offset, **settings)
    shifted = boost(X, y - offset, fold=fold, **settings)
    np.testing.assert_array_equal(found.trace.learner, shifted.trace.learner)
    np.testing.assert_allclose(found.trace.validation_loss, shifted.trace.validation_loss)
    np.testing.assert_allclose(found.model.score(X), shifted.model.score(X), rtol=1e-9)


def poisson_rates(engine, step, k_folds=K, missing=False):
    """(with the exposure as offset, with rates and weights), which are the same problem, and what
    their losses sum up to. All folds have the same rows: weights are no other shares of them."""
    X, y, offset, _, weight = data(Poisson(), 200)
    X[: 40 if missing else 0, 2] = np.nan
    X, y, offset, weight = (np.concatenate(k_folds * [part]) for part in (X, y, offset, weight))
    fold, exposure = np.repeat(np.arange(k_folds), 200), np.exp(offset)
    settings = mean_settings(Poisson(), step, engine=engine)
    counts = boost(X, y, fold=fold, offset=offset, weight=weight, **settings)
    rates = boost(X, y / exposure, fold=fold, weight=weight * exposure, **settings)
    counts_loss = counts.trace.validation_loss[::k_folds] * weight.sum()
    rates_loss = rates.trace.validation_loss[::k_folds] * (weight * exposure).sum()
    shift = np.sum(weight * y * offset)  # what they differ by, at every model
    np.testing.assert_allclose(counts_loss[1:] + shift, rates_loss[1:], rtol=1e-5)
    np.testing.assert_allclose(counts.model.score(X), rates.model.score(X), atol=1e-5)
    assert np.ptp(rates.model.score(X)) > 1
    return counts, rates


@pytest.mark.parametrize("missing", [False, True])
def test_exposure_of_counts_is_a_weight_of_rates(missing):
    counts, rates = poisson_rates("quadratic", NEWTON, missing=missing)
    np.testing.assert_array_equal(counts.trace.learner, rates.trace.learner)
    np.testing.assert_allclose(counts.trace.left, rates.trace.left, atol=1e-6)


def test_exposure_of_counts_by_rows():
    counts, rates = poisson_rates("direct", NewtonGain())
    # Residuals are in single precision there.
    np.testing.assert_array_equal(counts.trace.learner, rates.trace.learner)


def test_more_runs_than_stand_side_by_side():
    """Nine runs are looked at one by one."""
    poisson_rates("quadratic", NEWTON, k_folds=9)


@pytest.mark.parametrize("name", ["squared", "python", "huber"])
def test_losses_of_folds(name):
    loss = {"squared": Squared(), "python": PythonSquared(), "huber": Huber(0.5)}[name]
    X, y, offset, fold, weight = data(loss)
    settings = dict(
        learner=Stumps(), step=CONSTANT, learning_rate=0.3, start_score=None, groups=None,
        names=None, n_jobs=1, random_state=5, loss=loss, n_iter=40,
        selection=RandomGroups(2), weight=weight,
    )  # fmt: skip
    found = boost(X, y, fold=fold, offset=offset, **settings).trace
    shifted = boost(X, y - offset, fold=fold, **settings).trace
    np.testing.assert_allclose(found.validation_loss, shifted.validation_loss, rtol=1e-9)


@each
def test_a_constant_moves_only_the_intercept(loss, step):
    if isinstance(loss, Logistic):
        loss = Logistic(0.0)  # a ridge draws scores to 0
    X, y, offset, _, _ = data(loss)
    one, other = (run(X, y, loss, step, offset=offset + c) for c in (0.0, 1.5))
    assert other.model.intercept == pytest.approx(one.model.intercept - 1.5, abs=1e-9)
    np.testing.assert_array_equal(one.trace.learner, other.trace.learner)
    np.testing.assert_allclose(one.trace.left, other.trace.left, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax(3)], ids=str)
def test_rows_without_weight_are_not_there(loss):
    X, y, offset, _, weight = data(loss)
    weight[::3] = 0.0
    offset = offset.copy()
    offset[::3] = 1e9
    kept = weight > 0
    held = Validation(X, y, weight, offset)
    found = run(X, y, loss, CONSTANT, offset=offset, weight=weight, validation=held)
    alone = run(
        X[kept], y[kept], loss, CONSTANT, offset=offset[kept], weight=weight[kept],
        validation=held,
    )  # fmt: skip
    np.testing.assert_array_equal(found.trace.validation_loss, alone.trace.validation_loss)


@pytest.mark.parametrize("engine", ["direct", "gram", "quadratic"])
def test_resume_knows_the_offset(engine):
    X, y, offset, _, _ = data(Squared())
    held = Validation(X[:50], y[:50], None, offset[:50])
    settings = dict(engine=engine, keep_state=True, learning_rate=1.0)

    def go_on(n_iter, offset, held=held, **more):
        return run(
            X, y, Squared(), CONSTANT, offset=offset, n_iter=n_iter, validation=held,
            **settings, **more,
        )  # fmt: skip

    first, whole = go_on(10, offset), go_on(25, offset)
    again = go_on(25, offset, resume=first.state)
    np.testing.assert_array_equal(again.trace.train_loss, whole.trace.train_loss)
    np.testing.assert_array_equal(again.trace.validation_loss, whole.trace.validation_loss)
    other_held = Validation(X[:50], y[:50], None, offset[:50] + 1)
    for other, held_rows in ((offset + 1, held), (None, held), (offset, other_held)):
        with pytest.raises(ValueError, match="other data"):
            go_on(25, other, held_rows, resume=first.state)


def test_offsets_that_overflow():
    X, y, offset, _, _ = data(Logistic())
    with pytest.raises(ValueError, match=r"offsets \(up to 1e\+200\)"):
        run(X, y, Logistic(), CONSTANT, offset=np.full(len(y), 1e200) * np.sign(offset))


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=str)
def test_certificates_count_the_offset(loss):
    X, y, offset, _, _ = data(loss)
    callback = RecordCertificates(at=[5, 20])
    found = run(X, y, loss, CONSTANT, offset=offset, callbacks=[callback])
    for iteration, certificate in found.trace.certificates:
        assert certificate.loss == pytest.approx(found.trace.train_loss[iteration], rel=1e-9)
        assert 0 < certificate.gap < certificate.loss
