"""Explanations as data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ..export.made import made_models, rows_of

BACKENDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
NAMES = ["regression", "three classes", "constant"]


def explained(name):
    made = made_models()[name]
    return made.model.explain_global(), made.model.explain_local(rows_of(made))


def as_pandas(frame):
    return frame.to_pandas() if isinstance(frame, pl.DataFrame) else frame


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NAMES)
def test_contributions(name, backend):
    _, local = explained(name)
    frame = local.to_frame(backend)
    assert isinstance(frame, BACKENDS[backend])
    found = as_pandas(frame)
    terms = found[["intercept", *local.names]].to_numpy()
    if local.classes is None:
        assert np.array_equal(terms[:, 1:], local.contributions)
    else:
        assert found["row"].tolist()[:4] == [0, 0, 0, 1]
        assert found["class"].tolist()[:3] == local.classes.tolist()
        parts = local.contributions.swapaxes(1, 2).reshape(len(found), -1)
        assert np.array_equal(terms[:, 1:], parts)
    np.testing.assert_allclose(terms.sum(axis=1), local.score().ravel(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_one_feature(name, backend):
    whole, _ = explained(name)
    found = as_pandas(whole.to_frame(backend))
    sizes = [len(shape.values) + 1 for shape in whole]
    assert len(found) == sum(sizes) * np.size(whole.intercept)
    for shape in whole:
        own = found[found["term"] == shape.name]
        missing = own["missing"].astype(bool)
        assert np.array_equal(own["value"][~missing], shape.values.ravel())
        assert np.array_equal(own["value"][missing], np.ravel(shape.missing))
        if whole.classes is not None:
            own = own[own["class"] == whole.classes[0]]
        weights = [*shape.weights, shape.missing_weight]
        assert np.array_equal(own["weight"], weights)
        if shape.categories is None:
            assert np.array_equal(own["from"][:-1], shape.edges[:-1])
            assert np.array_equal(own["to"][:-1], shape.edges[1:])
            assert own["category"].isna().all()
        else:
            assert own["category"].tolist()[:-1] == [str(c) for c in shape.categories]
            assert own["from"].isna().all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NAMES[:2])
def test_pairs(name, backend):
    whole, _ = explained(name)
    for pair in whole.pairs:
        found = as_pandas(pair.to_frame(backend))
        assert np.array_equal(found["value"], pair.values.ravel())
        n_classes = 1 if pair.classes is None else len(pair.classes)
        assert np.array_equal(found["weight"], np.repeat(pair.weights.ravel(), n_classes))
        i, j = 1, 2
        row = found.iloc[(i * pair.weights.shape[1] + j) * n_classes]
        for side, axis, k in (("first", pair.axes[0], i), ("second", pair.axes[1], j)):
            if axis.categories is None:
                ends = [-np.inf, *axis.cuts, np.inf]
                assert (row[f"{side}_from"], row[f"{side}_to"]) == (ends[k], ends[k + 1])
            else:
                assert row[f"{side}_category"] == str(axis.categories[k])


def test_other_frames():
    whole, local = explained("regression")
    assert local.to_frame("pyarrow").num_rows == len(local.contributions)
    with pytest.raises(ValueError, match="use 'pandas', 'polars', 'pyarrow'"):
        whole.to_frame("numpy")
