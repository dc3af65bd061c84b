"""The softmax loss: derivatives, smoothness, the best constant, labels."""

import numpy as np
import pytest

from rgboost.losses import Softmax


def setting(n_classes, n=40):
    rng = np.random.default_rng(0)
    return rng.integers(0, n_classes, n).astype(float), rng.normal(0, 2, size=(n, n_classes))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_residuals_are_derivatives(n_classes, ridge):
    loss = Softmax(n_classes, ridge)
    y, f = setting(n_classes)
    for c in range(n_classes):
        h = 1e-5 * (np.arange(n_classes) == c)
        slope = (loss.value(y, f + h) - loss.value(y, f - h)) / 2e-5
        np.testing.assert_allclose(-loss.residual(y, f)[:, c], slope, rtol=1e-8, atol=1e-9)


def hessian(loss, f):
    """By differences of residuals, at one row."""
    C = loss.n_classes
    columns = [
        (loss.residual(np.zeros(1), f - h) - loss.residual(np.zeros(1), f + h))[0] / 2e-5
        for h in 1e-5 * np.eye(C)[:, None]
    ]
    return np.array(columns)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_sigma_and_mu_bound_the_eigenvalues(n_classes, ridge):
    loss = Softmax(n_classes, ridge)
    for f in setting(n_classes)[1]:
        eigenvalues = np.linalg.eigvalsh(hessian(loss, f[None]))
        assert eigenvalues[-1] <= loss.smoothness + 1e-9
        assert eigenvalues[0] >= loss.strong_convexity - 1e-9
    even = np.full((1, n_classes), -40.0)
    even[0, :2] = 0.0  # two classes with probability 1/2: the bound is reached
    assert np.linalg.eigvalsh(hessian(loss, even))[-1] == pytest.approx(loss.smoothness, rel=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 1e-4, 0.5, 20.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_best_constant(ridge, weighted):
    loss = Softmax(3, ridge)
    y = np.repeat([0.0, 1.0, 2.0], [1, 30, 400])
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    f = loss.best_constant(y, weight)
    slope = weight @ loss.residual(y, np.tile(f, (len(y), 1)))
    np.testing.assert_allclose(slope, 0, atol=1e-10 * len(y))
    assert f.sum() == pytest.approx(0, abs=1e-12)
    if ridge == 0:
        share = np.bincount(y.astype(int), weight) / weight.sum()
        np.testing.assert_allclose(loss.inverse_link(f), share, rtol=1e-12)
        np.testing.assert_allclose(loss.link(share), f, rtol=1e-12)


def test_nothing_overflows():
    loss = Softmax(3, 0.0)
    f = np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, 1e4]])
    y = np.array([1.0, 2.0])
    np.testing.assert_allclose(loss.value(y, f), [2e4, 0.0])
    assert np.isfinite(loss.residual(y, f)).all()


def test_wrong_labels_and_parameters():
    with pytest.raises(ValueError, match="expects labels 0 to 2, got 3"):
        Softmax(3).check_labels(np.array([0.0, 3.0]))
    with pytest.raises(ValueError, match=r"expects labels 0 to 2, got 0.5"):
        Softmax(3).check_labels(np.array([0.5]))
    with pytest.raises(ValueError, match="n_classes=1 must be 2 or greater"):
        Softmax(1)
    with pytest.raises(ValueError, match="no row has the class 1"):
        Softmax(3).best_constant(np.array([0.0, 2.0]))
