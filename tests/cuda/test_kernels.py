"""Kernels for cards against naive twins in NumPy."""

import math

import numpy as np
import pytest
from numba import cuda

from rgboost.cuda import kernels
from rgboost.cuda.compiled import loss_on_card
from rgboost.cuda.kernels import _LONG_TYPE, _PARTS, add_long, long_at
from rgboost.cuda.rows import unit_scale
from rgboost.data.cuts import CutPlan
from rgboost.data.mixed_bins import CategoryPlan, cut_mixed, encode_mixed
from rgboost.losses import Softmax
from rgboost.losses.kernels import evaluate_rows

from ..losses.test_losses import LOSSES, labels_for
from .rows import card, mixed_rows, new_rows, send, weights


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("rare", [0.0, 13.0])
def test_bins_of_categories_missing_and_unknown_values(rare, dtype):
    X, _ = mixed_rows(40)
    categorical, missing = np.array([False, False, True]), np.array([False, True, False])
    cuts = cut_mixed(X, categorical, missing, CutPlan(6, 5, 0), None, rare=CategoryPlan(rare, None))
    rows = np.nan_to_num(new_rows(), nan=2.0) if dtype == np.int64 else new_rows()
    rows = rows.astype(dtype)
    others = [
        cuts.n_values[g] - (len(e := cuts.edges_of(g)) > 0 and e[-1] == np.inf) for g in range(3)
    ]
    codes = send(np.zeros((3, len(rows) + 2), cuts.code_dtype()))
    sent = [send(part) for part in (cuts.categorical, cuts.edge_start, cuts.edges, others)]
    with card().at_work():
        kernels.bin_rows[kernels.grid(rows.size)](send(rows), *sent, 2, codes)
    expected = encode_mixed(rows.astype(float), cuts)[:, : len(rows)]
    np.testing.assert_array_equal(codes.copy_to_host()[:, 2:], expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_in_bins(weighted):
    rng, n = np.random.default_rng(0), 150
    codes, first_cell = rng.integers(0, 3, (2, n)).astype(np.uint8), np.array([0, 3, 7])
    w = rng.normal(size=n) if weighted else np.empty(0)
    scale = unit_scale(np.abs(w).max(), n) if weighted else 1.0
    lo, hi = 5, 140
    with card().at_work():
        out = card().zeros(7, np.int64)
        blocks, length = kernels.stretches(hi - lo, 2)
        kernels.add_to_bins[(blocks, 2), kernels.THREADS](
            send(codes), send(first_cell), send(w), scale, lo, hi, length, out
        )
    found = out.copy_to_host() / scale
    values = w if weighted else np.ones(n)
    expected = [
        math.fsum(values[lo:hi][codes[g, lo:hi] == b]) for g in range(2) for b in range(3 + g)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-14)


def test_sums_do_not_depend_on_the_order_of_rows():
    rng, n = np.random.default_rng(0), 100
    codes = rng.integers(0, 3, (1, n)).astype(np.uint8)
    w = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n)
    scale, found = unit_scale(np.abs(w).max(), n), []
    for order in (np.arange(n), rng.permutation(n)):
        with card().at_work():
            out = card().zeros(3, np.int64)
            kernels.add_to_bins[(1, 1), kernels.THREADS](
                send(codes[:, order]), send(np.array([0, 3])), send(w[order]), scale, 0, n, n, out
            )
        found.append(out.copy_to_host())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("value", [0, 1, -1, 2**32 - 1, -(2**32), 2**45 + 7, -(2**45) - 7])
def test_long_sums_in_words(value):
    """Two words of 32 bits with a carry are a number of 64."""

    @cuda.jit
    def add_twice(value, out):
        room = cuda.shared.array(2, _LONG_TYPE)
        if cuda.threadIdx.x == 0:
            room[0] = 0
            room[_PARTS - 1] = 0
            add_long(room, 0, value)
            add_long(room, 0, value)
            add_long(room, 0, np.int64(-3))
            out[0] = long_at(room, 0)

    with card().at_work():
        out = card().zeros(1, np.int64)
        add_twice[1, 1](np.int64(value), out)
    assert out.copy_to_host()[0] == 2 * value - 3


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses_are_those_of_the_processor(loss):
    rng, n = np.random.default_rng(0), 24
    y, f = labels_for(loss, rng, n), rng.uniform(-3, 3, n)
    function = loss_on_card(loss.terms)

    @cuda.jit
    def look(terms, y, f, out):
        i = cuda.grid(1)
        if i < y.shape[0]:
            out[0, i], out[1, i], out[2, i] = function(terms, y[i], f[i])

    with card().at_work():
        out = card().zeros((3, n), np.float64)
        look[kernels.grid(n)](loss.terms, send(y), send(f), out)
    expected = evaluate_rows(loss.terms, y, f)
    np.testing.assert_allclose(out.copy_to_host(), expected, rtol=1e-13, atol=1e-13)


def test_softmax_is_that_of_the_processor():
    rng, n, loss = np.random.default_rng(0), 20, Softmax(3, 0.01)
    y, f, w = rng.integers(0, 3, n).astype(float), rng.normal(size=(n, 3)), weights(n)
    with card().at_work():
        residual, curvature, value = (send(np.zeros(shape)) for shape in ((3, n), n, n))
        blocks, length = kernels.stretches(n)
        partial = send(np.zeros((kernels.MOST_CURVED + 3, blocks)))
        kernels.evaluate_classes[blocks, kernels.THREADS](
            loss.terms, send(y), send(w), send(f.T.copy()), 0, n, length,
            residual, curvature, value, partial,
        )  # fmt: skip
    r = loss.residual(y, f) * w[:, None]
    np.testing.assert_allclose(residual.copy_to_host().T, r, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(value.copy_to_host(), loss.value(y, f) * w, rtol=1e-12)
    np.testing.assert_allclose(curvature.copy_to_host(), loss.model_curvature(y, f) * w, rtol=1e-12)
    sums = partial.copy_to_host()
    np.testing.assert_allclose(sums[1:4].sum(axis=1), r.sum(axis=0), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(sums[0].sum(), (loss.value(y, f) * w).sum(), rtol=1e-12)


def test_values_in_another_order():
    values, order = np.arange(20.0) ** 2, np.random.default_rng(0).permutation(20)
    with card().at_work():
        out = card().empty(20, np.float64)
        kernels.take[kernels.grid(20)](send(values), send(order), out)
    np.testing.assert_array_equal(out.copy_to_host(), values[order])
