import math

import numpy as np
import pytest

from rgboost._core.math import (
    MOST_FACTORS,
    blocked_sum,
    exp,
    exp_single,
    log,
    log_of_product,
    twice_artanh,
)

pytestmark = pytest.mark.kernel


def test_exp():
    x = np.random.default_rng(0).uniform(-700, 700, size=500)
    np.testing.assert_allclose([exp(v) for v in x], [math.exp(v) for v in x], rtol=1e-15)
    assert exp(0.0) == 1.0


def test_exp_in_single_precision():
    x = np.random.default_rng(0).uniform(-87, 87, size=500).astype(np.float32)
    found = [exp_single(v) for v in x]
    assert {type(v) for v in found} <= {np.float32, float}  # compiled code returns Python's
    np.testing.assert_allclose(found, np.exp(x.astype(float)), rtol=3e-7)
    assert exp_single(np.float32(0.0)) == 1.0


def test_log1p():
    u = np.concatenate([[0.0, 1.0], np.logspace(-300, 0, 200), np.linspace(0, 1, 200)])
    np.testing.assert_allclose([twice_artanh(v / (2 + v)) for v in u], np.log1p(u), rtol=1e-15)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1000])
def test_blocked_sum(n):
    values = np.random.default_rng(n).normal(size=1001)
    assert blocked_sum(values, n) == pytest.approx(math.fsum(values[:n]), abs=1e-12)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, MOST_FACTORS])
def test_log_of_product(n):
    values = 2.0 - np.random.default_rng(n).random(MOST_FACTORS) * (n < MOST_FACTORS)
    assert log_of_product(values, n) == pytest.approx(np.log(values[:n]).sum(), abs=1e-12)


def test_log():
    x = np.concatenate([[1.0, 2.0, 0.5], np.logspace(-300, 300, 301), np.linspace(0.5, 9, 200)])
    np.testing.assert_allclose([log(v) for v in x], np.log(x), rtol=3e-16, atol=1e-16)
