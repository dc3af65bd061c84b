"""Proposition equiv: Algorithm 2 and Algorithm 3 are the same, for every rule and step."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import boost, random_then_greedy
from rgboost.learners import Dictionary, Stumps
from rgboost.learners.kernels import TIE
from rgboost.losses import Exponential, Huber, Logistic, Squared
from rgboost.selection import AllLearners, Layout, RandomGroup, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch
from tests.naive import expand_signed_stumps, naive_stumps

RULES = [AllLearners(), RandomLearners(7), RandomGroup(), RandomGroups(2)]
PAIRS = [
    (Squared(), ConstantStep()),
    (Squared(), LineSearch()),
    (Huber(0.5), ConstantStep()),
    (Huber(0.5), LineSearch()),
    (Logistic(0.01), ConstantStep()),
    (Logistic(0.01), LineSearch()),
    (Exponential(), ConstantStep(rho=0.05)),
    (Exponential(), LineSearch()),
]


def problem(loss, n=60, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1] = np.round(2 * X[:, 1])
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n)
    return X, np.sign(y - 1) if isinstance(loss, Logistic | Exponential) else y


@pytest.mark.parametrize(("loss", "step"), PAIRS, ids=repr)
@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_signed_stumps(rule, loss, step, weighted):
    X, y = problem(loss)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(y)) if weighted else None
    boosted = boost(
        X, y, loss=loss, learner=Stumps(leaves="signed", max_bins=6), selection=rule, step=step,
        n_iter=40, random_state=5, weight=weight,
    )  # fmt: skip
    w = np.ones(len(y)) if weight is None else weight
    stumps = naive_stumps(X, 6, "quantile", w)
    B = expand_signed_stumps(X, stumps)
    groups = [[s.learner for s in stumps if s.feature == g] for g in range(X.shape[1])]
    descent = random_then_greedy(
        B, y, loss, rule, step, 40, random_state=5, groups=groups, weight=weight
    )
    np.testing.assert_array_equal(boosted.trace.learner, descent.trace.coordinate)
    np.testing.assert_allclose(boosted.model.score(X), B @ descent.coef, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(boosted.trace.train_loss * w.sum(), descent.trace.loss, rtol=1e-10)
    np.testing.assert_allclose(
        boosted.trace.gradient_norm, np.abs(descent.trace.gradient), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize(("loss", "step"), PAIRS, ids=repr)
@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("sparse", [False, True])
def test_dictionary(rule, loss, step, sparse):
    X, y = problem(loss)
    B = np.hstack([X, np.maximum(X, 0), np.zeros((len(y), 1)), X**2])
    groups = [[0, 4, 9], [1, 5, 10, 8], [2, 6, 11], [3, 7, 12]]
    columns = scipy.sparse.csc_array(B) if sparse else B
    boosted = boost(
        X, y, loss=loss, learner=Dictionary(columns), selection=rule, step=step, n_iter=40,
        random_state=5, groups=groups,
    )  # fmt: skip
    descent = random_then_greedy(columns, y, loss, rule, step, 40, random_state=5, groups=groups)
    np.testing.assert_array_equal(boosted.trace.feature, descent.trace.coordinate)
    np.testing.assert_allclose(boosted.model.coef, descent.coef, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(boosted.trace.train_loss * len(y), descent.trace.loss, rtol=1e-10)
    assert 8 not in boosted.trace.feature  # a column of zeros


def block_coordinate_descent(X, y, loss, stumps, layout, rule, step, n_iter, seed):
    """Algorithm 3 on pairs of columns, the normalised indicators of the two sides of a split.

    The pair with the largest norm of the partial gradient is moved along that gradient.
    """
    blocks = []
    for s in stumps:
        left = X[:, s.feature] <= s.threshold
        pair = np.column_stack([left, ~left]).astype(float)
        blocks.append(pair / np.sqrt(pair.sum(axis=0)))
    rng = np.random.default_rng(seed)
    f = np.zeros(len(y))
    coefficients = np.zeros((len(blocks), 2))
    path = []
    for _ in range(n_iter):
        J = rule.learners(layout, rule.draw(layout, rng, 1)[0])
        gradients = [-blocks[j].T @ loss.residual(y, f) for j in J]
        squares = np.array([g @ g for g in gradients])
        best = int(np.argmax(squares >= squares.max() * (1 - TIE)))
        unit = -gradients[best] / np.sqrt(squares[best])
        b = blocks[J[best]] @ unit
        rho = step.constant(loss)
        move = step.find(loss, y, f, b) if rho is None else rho * np.sqrt(squares[best])
        coefficients[J[best]] += move * unit
        f = f + move * b
        path.append(J[best])
    return np.array(path), sum(B @ c for B, c in zip(blocks, coefficients, strict=True))


@pytest.mark.parametrize(("loss", "step"), PAIRS, ids=repr)
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_free_leaves_are_pairs_of_columns(rule, loss, step):
    X, y = problem(loss)
    boosted = boost(
        X, y, loss=loss, learner=Stumps(max_bins=6), selection=rule, step=step, n_iter=40,
        random_state=5,
    )  # fmt: skip
    stumps = naive_stumps(X, 6, "quantile", np.ones(len(y)))
    layout = boosted.prepared.layout
    path, f = block_coordinate_descent(X, y, loss, stumps, layout, rule, step, 40, 5)
    np.testing.assert_array_equal(boosted.trace.learner, path)
    np.testing.assert_allclose(boosted.model.score(X), f, rtol=1e-10, atol=1e-10)


def test_random_coordinate_descent_is_a_special_case():
    """Type 1 with t=1 draws every coordinate equally often."""
    rng = np.random.default_rng(0)
    B, y = rng.normal(size=(30, 5)), rng.normal(size=30)
    trace = random_then_greedy(B, y, selection=RandomLearners(1), n_iter=2000).trace
    counts = np.bincount(trace.coordinate, minlength=5)
    assert counts.min() > 330


def test_it_converges_to_least_squares():
    rng = np.random.default_rng(0)
    B, y = rng.normal(size=(50, 6)), rng.normal(size=50)
    result = random_then_greedy(B, y, selection=RandomGroups(2), n_iter=800, random_state=0)
    np.testing.assert_allclose(result.coef, np.linalg.lstsq(B, y)[0], rtol=1e-8)
    assert (np.diff(result.trace.loss) <= 1e-12).all()


def test_layouts_agree():
    layout = Layout.make(np.array([0, 1, 2, 2, 3]))
    assert layout.n_learners == 3


def test_errors():
    B, y = np.eye(2), np.array([1.0, 0.0])
    with pytest.raises(ValueError, match="expects labels -1 and"):
        random_then_greedy(B, y, Logistic())
    with pytest.raises(ValueError, match="is not smooth"):
        random_then_greedy(B, np.array([1.0, -1.0]), Exponential())
    with pytest.raises(ValueError, match="n_iter=-1 must be 0 or greater"):
        random_then_greedy(B, y, n_iter=-1)
