import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rgboost.data.sorting import (
    radix_positions,
    radix_sort_rows,
    sort_again,
    sort_rows,
    sorted_positions,
)


def radix(values):
    unsigned = np.uint32 if values.dtype == np.float32 else np.uint64
    out = np.empty_like(values)
    radix_sort_rows(values.view(unsigned), 8 * values.itemsize, out.view(unsigned))
    return out


@pytest.mark.parametrize("width", [32, 64])
@given(data=st.data())
def test_it_sorts(width, data):
    floats = st.floats(width=width, allow_nan=False)
    n = data.draw(st.integers(1, 40))
    rows = data.draw(st.lists(st.lists(floats, min_size=n, max_size=n), min_size=1, max_size=3))
    values = np.array(rows, dtype=np.float32 if width == 32 else np.float64)
    np.testing.assert_array_equal(radix(values), np.sort(values, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [100, 5000])
def test_large_and_small(dtype, n):
    rng = np.random.default_rng(0)
    values = (rng.normal(size=(3, n)) * 10.0 ** rng.integers(-30, 30, size=(3, n))).astype(dtype)
    values[1] = np.round(rng.normal(size=n))
    values[2] = 7.0
    np.testing.assert_array_equal(sort_rows(values), np.sort(values, axis=1))


@pytest.mark.kernel
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=40))
def test_positions(values):
    numbers = np.array(values) + 0.0  # no -0.0, which radix sort puts before 0.0
    np.testing.assert_array_equal(radix_positions(numbers), np.argsort(numbers, kind="stable"))


@pytest.mark.parametrize("n", [100, 5000])
def test_positions_of_many(n):
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=n), np.abs(np.round(rng.normal(size=n))), np.full(n, 7.0)):
        np.testing.assert_array_equal(sorted_positions(values), np.argsort(values, kind="stable"))


@given(
    st.lists(st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0]), min_size=1, max_size=30), st.randoms()
)
def test_sorting_again_does_not_depend_on_the_order_before(values, shuffled):
    values = np.array(values)
    order = list(range(len(values)))
    shuffled.shuffle(order)
    order = np.array(order, np.uint16)
    sort_again(values, order)
    np.testing.assert_array_equal(order, sorted_positions(values))
