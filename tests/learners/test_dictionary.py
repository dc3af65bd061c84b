"""Dictionaries: columns, and functions that serve on new rows too."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from rgboost import Dictionary, RGBMClassifier, RGBMRegressor


def haar(scale, shift):
    """The Haar wavelet psi(2^scale x - shift) on [0, 1)."""

    def wavelet(X):
        u = 2.0**scale * X[:, 0] - shift
        return np.where((u >= 0) & (u < 0.5), 1.0, 0.0) - np.where((u >= 0.5) & (u < 1), 1.0, 0.0)

    return wavelet


def test_haar_wavelets():
    """The wavelets are orthogonal: K steps of GBM interpolate a step function on 2^4 cells."""
    functions = [haar(j, k) for j in range(4) for k in range(2**j)]
    X = ((np.arange(64) + 0.5) / 64)[:, None]
    rng = np.random.default_rng(0)
    levels = rng.normal(size=16)
    y = np.repeat(levels, 4)
    model = RGBMRegressor(
        learner=Dictionary.from_functions(functions), selection="all", learning_rate=1.0,
        max_iter=15,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    assert len(set(model.trace_.feature)) == 15
    new = rng.random((20, 1))
    np.testing.assert_allclose(model.predict(new), levels[(new[:, 0] * 16).astype(int)], atol=1e-12)


def test_a_pool_of_small_svms():
    """Fitted scikit-learn estimators as weak-learners; the best single one is beaten."""
    X, y = make_moons(400, noise=0.3, random_state=0)
    rng = np.random.default_rng(0)
    pool = []
    for _ in range(30):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == c), 10) for c in (0, 1)])
        pool.append(SVC(gamma=1.0).fit(X[rows], y[rows]).decision_function)
    model = RGBMClassifier(
        learner=Dictionary.from_functions(pool), selection="groups", max_iter=200, random_state=0,
        learning_rate=0.3,
    ).fit(X[:300], y[:300])  # fmt: skip
    single = max(np.mean((h(X[:300]) > 0) == y[:300]) for h in pool)
    assert model.score(X[:300], y[:300]) > single
    assert model.score(X[300:], y[300:]) > 0.85


def test_kernels_centred_at_points_and_linear_terms():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(200, 2))
    centres = X[:20]
    functions = [lambda X, c=c: np.exp(-np.sum((X - c) ** 2, axis=1)) for c in centres]
    y = np.exp(-np.sum((X - centres[3]) ** 2, axis=1)) + 0.5 * X[:, 1]
    model = RGBMRegressor(
        learner=Dictionary.from_functions([*functions, lambda X: X]), selection="all",
        learning_rate=1.0, init="zero", max_iter=4000,
    ).fit(X, y)  # fmt: skip
    new = rng.uniform(-2, 2, size=(50, 2))
    expected = np.exp(-np.sum((new - centres[3]) ** 2, axis=1)) + 0.5 * new[:, 1]
    np.testing.assert_allclose(model.predict(new), expected, atol=0.01)


@pytest.mark.parametrize("sparse", [False, True])
def test_an_explicit_matrix_knows_its_own_rows(sparse):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    B = rng.normal(size=(30, 5)) * (rng.random((30, 5)) < 0.7)
    matrix = scipy.sparse.csr_matrix(B) if sparse else B
    model = RGBMRegressor(learner=Dictionary(matrix), max_iter=50, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        model.predict(X), model.intercept_ + B @ model.model_.coef, rtol=1e-12
    )
    with pytest.raises(ValueError, match=r"use Dictionary\.from_functions to predict on others"):
        model.predict(X[:5])


def test_blocks_may_be_sparse():
    X = np.arange(12.0).reshape(4, 3)
    family = Dictionary.from_functions([lambda X: X[:, 0], scipy.sparse.csr_array])
    B = family.matrix(X)
    assert scipy.sparse.issparse(B)
    np.testing.assert_array_equal(B.toarray(), np.hstack([X[:, :1], X]))


def test_staged_scores_end_at_the_score():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    for functions in ([lambda X: X], [scipy.sparse.csr_array]):
        model = RGBMRegressor(
            learner=Dictionary.from_functions(functions), max_iter=30, random_state=0
        ).fit(X, y)
        stages = list(model.staged_predict(X))
        assert len(stages) == 30
        np.testing.assert_allclose(stages[-1], model.predict(X), rtol=1e-12)
        losses = [0.5 * np.mean((y - stage) ** 2) for stage in stages]
        np.testing.assert_allclose(losses, model.trace_.train_loss[1:], rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dictionary(), "needs either a matrix"),
        (lambda: Dictionary(np.array([[np.nan]])), "B has NaN or infinite entries"),
        (lambda: Dictionary(np.ones(3)), r"B must be a matrix .* got shape \(3,\)"),
        (
            lambda: Dictionary.from_functions([lambda X: np.ones(2)]).matrix(np.ones((3, 1))),
            r"functions\[0\] gave shape \(2, 1\); expected one number a row \(3,\)",
        ),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
