"""What tests of engines share."""

import numpy as np
import pytest

from rgboost.engines.quadratic import class_runs, runs


@pytest.fixture
def steady(monkeypatch):
    """Stretches of 20 iterations, each with curvature of its own."""
    monkeypatch.setattr(runs, "FIRST_STRETCH", 20)
    monkeypatch.setattr(runs, "LONGER", 1)
    monkeypatch.setattr(runs, "FAIR", np.inf)
    monkeypatch.setattr(class_runs, "LOWER", 1.0)
