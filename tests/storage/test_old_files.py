"""Files of all versions so far are read, and say what they said."""

import json

import numpy as np
import pytest

import rgboost

from .make_fixtures import FOLDER, rows_for

FILES = sorted(FOLDER.glob("*.safetensors"))


def test_fixtures_are_there():
    assert {path.stem for path in FILES} >= {
        "regressor_2", "objects_2", "classifier_2", "mixed_2", "classes_2",
        "mixed_classes_2",
    }  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_old_file(path):
    model = rgboost.load(path)
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    rows = rows_for(model)
    np.testing.assert_array_equal(model.model_.score(model._check_rows(rows)), expected["score"])
    np.testing.assert_array_equal(model.predict(rows), expected["prediction"])
    np.testing.assert_array_equal(model.explain_local(rows).score(), expected["score"])
    np.testing.assert_allclose(model.feature_importances_, expected["importances"], rtol=1e-12)
    np.testing.assert_array_equal(model.trace_.train_loss, expected["train_loss"])
    parameters = {name: repr(value) for name, value in model.get_params(deep=False).items()}
    assert parameters.items() >= expected["parameters"].items()
    last = list(model.staged_predict(rows))[-1]
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(last, expected["prediction"], rtol=1e-12)
