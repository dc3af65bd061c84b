"""Rows at the end of the domain of the conjugate loss."""

import numpy as np
import pytest

from rgboost.losses import Logistic
from rgboost.theory.dual.ends import put_at_ends, square_outside

LOW, HIGH = np.array([-1.0, -1.0, 0.0, 0.0, -1.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])
GRADIENT = np.array([-0.5, -0.5, 0.5, 0.2, -0.1])


@pytest.mark.kernel
def test_rows_that_leave_get_the_end_they_leave_by_and_lose_their_curvature():
    v = np.array([-0.4, 0.3, 1.5, 0.001, -0.09])  # inside, above, above, close to 0, inside
    gradient, metric, fixed = GRADIENT.copy(), np.full(5, 0.25), np.zeros(5, bool)
    leaving = np.empty(5)
    put_at_ends(v, LOW, HIGH, 0.01, gradient, metric, fixed, leaving)
    np.testing.assert_array_equal(gradient, [-0.5, 0.0, 1.0, 0.0, -0.1])
    np.testing.assert_array_equal(fixed, [False, True, True, True, False])
    np.testing.assert_array_equal(metric, np.where(fixed, 0.01, 0.25))
    np.testing.assert_array_equal(leaving, np.where(fixed, 0.24, 0.0))
    put_at_ends(v, LOW, HIGH, 0.01, gradient, metric, fixed, leaving)
    assert not leaving.any()  # what is at an end stays there
    np.testing.assert_array_equal(gradient, [-0.5, 0.0, 1.0, 0.0, -0.1])


@pytest.mark.kernel
def test_the_squared_distance_from_the_domain():
    v = np.array([-0.4, 0.3, 1.5, -0.1, -3.0])
    weight = np.array([1.0, 2.0, 1.0, 1.0, 0.5])
    expected = 2.0 * 0.3**2 + 0.5**2 + 0.1**2 + 0.5 * 2.0**2
    assert square_outside(weight, v, LOW, HIGH) == pytest.approx(expected)


@pytest.mark.parametrize("ridge", [1e-4, 0.01])
def test_beyond_the_soft_domain_an_excess_grows_as_the_stiffness_says(ridge):
    c = Logistic(ridge).conjugate()
    y, f = np.array([1.0, 1.0]), np.array([3.0, -2.0])
    low, high = c.soft_domain(y, f)
    x = 2000 * ridge  # far enough to hide the slope at the end
    for end, sign in ((low, -1.0), (high, 1.0)):
        at, beyond = c.excess(y, f, end), c.excess(y, f, end + sign * x)
        np.testing.assert_allclose(beyond - at, 0.5 * c.stiffness * x * x, rtol=0.1)
    assert Logistic(0.0).conjugate().stiffness == np.inf
