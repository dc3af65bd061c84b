"""What loading a changed file may do, for the tests and for the fuzzer."""

import pickle
import tracemalloc
from contextlib import suppress

import numpy as np

import rgboost
from rgboost.storage import StorageError

PEAK_BYTES = 32 << 20
"""What loading a small file may take: mostly for parsing a hostile header."""


def same_model(a, b, X):
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)
    assert str(a.get_params()) == str(b.get_params())


def load_peak(path):
    """The model or the error, and the most bytes that were taken on the way."""
    tracemalloc.start()
    try:
        try:
            found = rgboost.load(path)
        except StorageError as error:
            found = error
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def check_mutant(hostile, original, data, path, X):
    """Load a changed file; returns whether it was refused."""
    path.write_bytes(data)
    found, peak = load_peak(path)
    assert peak < PEAK_BYTES, f"{peak} bytes were taken for a file of {len(data)}"
    if isinstance(found, StorageError):
        assert str(path) in str(found)
        assert len(str(found)) < 1000
        return True
    if not hostile:  # what is read has not changed: white space, or nothing at all
        same_model(found, original, X)
        return False
    use(found, X)
    return False


def use(model, X):
    """A hostile file's model gives numbers or says what is wrong; it does not crash."""
    with np.errstate(all="ignore"), suppress(ValueError, TypeError):
        model.predict(X)
        explanation = model.explain_local(X)
        explanation.shown_values()
        if not hasattr(model.model_, "n_trees"):  # SHAP values of trees are rounded
            scores = model.model_.score(model._check_rows(X))
            np.testing.assert_array_equal(explanation.score(), scores)
        model.feature_importances_  # noqa: B018
        model.explain_global().centered()
        model.explain_global()._repr_html_()
        pickle.loads(pickle.dumps(model)).trace_.picture()
        if getattr(model.model_, "wide", model.model_).feature is not None:
            list(zip(range(3), model.staged_predict(X), strict=False))
