"""Random small problems."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def problems(draw, max_rows=24, max_features=4, binary=False):
    """(X, y, weight): few distinct values, so that ties, constant columns and zeros occur."""
    n = draw(st.integers(2, max_rows))
    p = draw(st.integers(1, max_features))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["real", "few", "sparse"]))
    X = rng.normal(size=(n, p))
    if kind == "few":
        X = rng.integers(-2, 3, size=(n, p)).astype(float)
    elif kind == "sparse":
        X *= rng.random((n, p)) < 0.4
    y = rng.normal(size=n)
    if binary:
        y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        y[:2] = [1.0, -1.0]
    weight = rng.integers(1, 4, size=n) * 0.5
    return X, y, weight
