"""Models with pairs come back as they were."""

import numpy as np
import pytest

import rgboost

from .make_models import some_models
from .test_round_trip import assert_same, stored_and_loaded

CURVES = [(model, rows) for model, rows in some_models() if hasattr(model.model_, "wide")]
WITH_PAIRS = [(model, rows) for model, rows in CURVES if model.model_.wide.pairs is not None]


@pytest.mark.parametrize(("model", "rows"), WITH_PAIRS, ids=["one score", "three classes"])
@pytest.mark.parametrize("how", ["save", "pickle"])
def test_the_same_bits(model, rows, how, tmp_path):
    loaded = stored_and_loaded(model, how, tmp_path)
    assert_same(loaded.model_, model.model_)
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    assert_same(loaded.explain_local(rows), model.explain_local(rows))
    assert_same(loaded.explain_global(), model.explain_global())
    assert loaded.term_names_ == model.term_names_
    np.testing.assert_array_equal(loaded.term_importances_, model.term_importances_)
    with pytest.raises(AttributeError, match="a model with pairs of features has no stages"):
        next(loaded.staged_predict(rows))


def test_bytes_and_layout(tmp_path):
    model, _ = WITH_PAIRS[0]
    model.save(tmp_path / "a")
    loaded = rgboost.load(tmp_path / "a")
    loaded.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    arrays = [value for value in vars(loaded.model_.pairs).values() if hasattr(value, "flags")]
    assert len(arrays) == 6
    assert all(array.flags.c_contiguous for array in arrays)
