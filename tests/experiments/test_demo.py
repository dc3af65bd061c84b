"""The demo, on few iterations."""

import sys

import numpy as np
import pytest
from scipy.special import expit

from rgboost.experiments import demo
from rgboost.losses import Logistic, Squared
from tests.optimum import indicator_columns, smallest_loss


def test_grid():
    assert demo.geometric_grid(30) == [30, 13, 5, 2, 1]
    assert demo.geometric_grid(123) == [123, 37, 11, 3, 1]
    assert demo.geometric_grid(2) == [2, 1]


def test_demo_prints_and_draws(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["demo", "--out", str(tmp_path), "--iterations", "50"])
    demo.main()
    out = capsys.readouterr().out
    assert "training loss" in out
    assert "smallest possible training loss: 0.0033" in out
    assert (tmp_path / "demo.png").stat().st_size > 20_000


def test_smallest_loss_of_least_squares():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, size=(60, 2)).astype(float), rng.normal(size=60)
    B = indicator_columns(X, [np.array([0.5, 1.5, 2.5])] * 2)
    residual = y - B @ np.linalg.lstsq(B, y)[0]
    expected = 0.5 * np.mean(residual**2)
    assert smallest_loss(B, y, Squared()) == pytest.approx(expected, rel=1e-10)


def test_smallest_loss_when_everything_can_be_fitted():
    """Then every row takes its own best score: 1/(1 + exp(f)) = ridge f."""
    y = np.array([1.0, -1.0, 1.0, 1.0])
    found = smallest_loss(np.eye(4), y, Logistic(0.01))
    f = 0.0
    for _ in range(200):
        f = f - (0.01 * f - expit(-f)) / (0.01 + 0.25)
    assert found == pytest.approx(np.log1p(np.exp(-f)) + 0.005 * f * f, rel=1e-9)
