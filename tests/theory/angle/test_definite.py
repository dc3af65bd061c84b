"""Cholesky in blocks, against eigenvalues."""

import numpy as np
import pytest

from rgboost.theory.angle.definite import is_positive_definite


@pytest.mark.parametrize("n", [1, 2, 7, 8, 30])
@pytest.mark.parametrize("block", [1, 3, 7, 100])
@pytest.mark.parametrize("order", ["C", "F"])
def test_by_the_smallest_eigenvalue(n, block, order):
    draw = np.random.default_rng(n).normal(size=(n, n))
    matrix = draw @ draw.T
    smallest = np.linalg.eigvalsh(matrix)[0]
    for shift, expected in ((0.999, True), (1.001, False)):
        shifted = matrix - shift * smallest * np.eye(n)
        lower = np.array(np.tril(shifted) + np.triu(np.full((n, n), 1e9), 1), order=order)
        assert is_positive_definite(lower, block) is expected


def test_it_is_the_factor():
    draw = np.random.default_rng(0).normal(size=(40, 20))
    matrix = draw.T @ draw
    left = matrix.copy(order="F")
    assert is_positive_definite(left, 6)
    schur = matrix[18:, 18:] - matrix[18:, :18] @ np.linalg.solve(
        matrix[:18, :18], matrix[:18, 18:]
    )
    np.testing.assert_allclose(np.tril(left[18:, 18:]), np.tril(schur), rtol=1e-9)
