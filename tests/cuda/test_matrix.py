"""Rows that are on the card: which of them, what is missing, what is not finite, which levels."""

import numpy as np
import pytest

from rgboost.cuda import matrix
from rgboost.cuda.matrix import CardMatrix, matrix_on
from rgboost.data.cuts import columns_with_missing
from rgboost.data.mixed_bins import weigh_categories

from .rows import card, mixed_rows, send, weights

LAYOUTS = {
    "rows": lambda X: send(X),
    "columns": lambda X: send(np.asfortranarray(X)),
    "strided": lambda X: send(np.repeat(X, 2, axis=0))[::2],
    "single": lambda X: send(X.astype(np.float32)),
}
PARTS = {
    "all": slice(None),
    "some": slice(3, 17),
    "every other": slice(1, None, 2),
    "places": np.array([7, 7, 2, 30]),
    "mask": np.arange(40) % 3 == 0,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("part", PARTS)
def test_rows_are_chosen_by_their_places(layout, part):
    X, _ = mixed_rows(40)
    now = PARTS[part]
    found = matrix_on(card(), LAYOUTS[layout](X))[now]
    expected = X.astype(found.dtype)[now]
    assert found.shape == expected.shape
    assert found.nbytes == expected.nbytes
    np.testing.assert_array_equal(found.to_host(), expected)
    np.testing.assert_array_equal(found[1:][:2].to_host(), expected[1:][:2])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("places", [False, True])
def test_missing_values_and_levels(weighted, places, monkeypatch):
    monkeypatch.setattr(matrix, "FIRST_LEVELS", 4)  # several passes
    monkeypatch.setattr(matrix, "GATHERED_BYTES", 400)  # several blocks
    X, _ = mixed_rows(70)
    w = weights(70) if weighted else None
    rows = CardMatrix(card(), send(X))
    if places:
        order = np.random.default_rng(0).permutation(70)[:51]
        X, w, rows = X[order], None if w is None else w[order], rows[order]
    there = np.isnan(X)
    one = np.ones(len(X)) if w is None else w
    np.testing.assert_allclose(rows.weigh_missing(w), one @ there, rtol=1e-15)
    np.testing.assert_array_equal(columns_with_missing(rows), there.any(axis=0))
    for g in (0, 1, 2):
        values, sums = weigh_categories(rows, g, w)
        expected = weigh_categories(X, g, w)
        np.testing.assert_array_equal(values, expected[0])
        np.testing.assert_allclose(sums, expected[1], rtol=1e-14)


def test_what_is_not_finite():
    X = np.zeros((150, 3))
    X[[70, 140], 1], X[[3, 90], 2], X[149, 0] = np.nan, -np.inf, np.nan
    infinite, missing = matrix_on(card(), send(X)).first_bad()
    assert infinite.tolist() == [-1, -1, 3]
    assert missing.tolist() == [149, 70, -1]


def test_integers_are_numbers():
    X = np.arange(12).reshape(4, 3)
    rows = matrix_on(card(), send(X))
    assert rows.to_host().dtype == np.float64
    np.testing.assert_array_equal(rows[[3, 1]].to_host(), X[[3, 1]])


def test_other_arrays_are_refused():
    with pytest.raises(ValueError, match="rows and columns"):
        matrix_on(card(), send(np.zeros(3)))
    with pytest.raises(TypeError, match="complex128; turn it into"):
        matrix_on(card(), send(np.zeros((3, 2), complex)))
    with pytest.raises(TypeError, match="float16; turn it into"):
        matrix_on(card(), send(np.zeros((3, 2), np.float16)))


def test_a_card_that_is_another_one(monkeypatch):
    monkeypatch.setattr(matrix, "number_of", lambda X: 1)
    with pytest.raises(ValueError, match="is on the card 'cuda:1'"):
        matrix_on(card(), send(np.zeros((3, 2))))
