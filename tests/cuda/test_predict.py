"""Rows on the card are scored there: the bits of the host."""

import pickle
from copy import copy

import numpy as np
import pytest
from numba import cuda

from rgboost import load
from rgboost._core.on_card import is_on_card, to_host
from rgboost.cuda import predict
from rgboost.cuda.card import SIMULATED
from rgboost.losses import Exponential, Gamma, LogCosh, Poisson, Ridged, Squared
from rgboost.model.dictionary_model import DictionaryModel
from rgboost.model.trees import TreesModel

from .rows import KINDS, labels, mixed_rows, new_rows, send, with_pairs

LAYOUTS = {
    "rows": lambda X: (send(X), X),
    "columns, single": lambda X: (send(np.asfortranarray(X, np.float32)), X.astype(np.float32)),
    "strided": lambda X: (send(X)[::2], X[::2]),
}
METHODS = ["predict", "decision_function", "predict_proba"]


def methods(model):
    return [getattr(model, name) for name in METHODS if hasattr(model, name)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_are_those_of_the_host(kind, layout):
    model = with_pairs(kind)
    assert model.model_.wide.pairs is not None
    assert model.model_.wide.categories is not None
    there, here = LAYOUTS[layout](new_rows())
    for method in methods(model):
        found, expected = method(there), method(here)
        assert is_on_card(found)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(to_host(found), expected, rtol=1e-14, atol=1e-15)
    found = model._on_card(there, None).to_host()
    np.testing.assert_array_equal(found, model.model_.score(here))


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_and_scores(kind):
    model, (X, _), y = with_pairs(kind), mixed_rows(), labels(kind)
    rng = np.random.default_rng(0)
    offset = rng.normal(size=(len(X), 3) if kind == "three classes" else len(X))
    weight = rng.uniform(1, 2, len(X))
    for method in methods(model):
        found = method(send(X), send(offset))
        np.testing.assert_allclose(to_host(found), method(X, offset), rtol=1e-13, atol=1e-15)
    expected = model.score(X, y, weight, offset)
    assert model.score(send(X), send(y), send(weight), send(offset)) == pytest.approx(expected)
    assert model.score(send(X), y, weight, offset) == pytest.approx(expected)


def changed(kind, **attributes):
    """A copy of a fitted model with other attributes."""
    model = copy(with_pairs(kind))
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        ("regression", Poisson()),
        ("regression", Ridged(Gamma(), 0.1)),
        ("regression", LogCosh()),
        ("two classes", Exponential()),
        ("two classes", Ridged(Exponential(), 0.1)),
    ],
    ids=repr,
)
def test_inverse_links(kind, loss):
    model, X = changed(kind, loss_=loss), new_rows()
    for method in methods(model):
        np.testing.assert_allclose(to_host(method(send(X))), method(X), rtol=1e-13, atol=1e-15)


class Doubled(Squared):
    """A loss of somebody else, whose link no kernel knows."""

    def inverse_link(self, f):
        return 2.0 * f


def test_the_link_of_a_loss_of_somebody_else():
    model, X = changed("regression", loss_=Doubled()), new_rows()
    np.testing.assert_array_equal(to_host(model.predict(send(X))), model.predict(X))


@pytest.mark.parametrize("classes", [[False, True], [0.5, 2.5], [-3, 70000]])
def test_labels_of_all_numbers(classes):
    model, X = changed("two classes", classes_=np.array(classes)), new_rows()
    found = to_host(model.predict(send(X)))
    assert found.dtype == model.classes_.dtype
    np.testing.assert_array_equal(found, model.predict(X))


def test_labels_that_a_card_does_not_have():
    model, X = changed("two classes", classes_=np.array(["no", "yes"])), new_rows()
    with pytest.raises(TypeError, match="numbers only: use predict_proba"):
        model.predict(send(X))
    assert to_host(model.predict_proba(send(X))).shape == (len(X), 2)
    assert model.score(send(X), model.predict(X)) == 1.0


def test_a_stored_model(tmp_path):
    model = with_pairs("three classes")
    model.save(tmp_path / "model.rgb")
    expected = to_host(model.predict_proba(send(new_rows())))
    for other in (load(tmp_path / "model.rgb"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(to_host(other.predict_proba(send(new_rows()))), expected)


def test_rows_that_are_not_like_those_of_fit():
    model, X = with_pairs("regression"), new_rows()
    with pytest.raises(ValueError, match="X has 2 features, but RGBMRegressor is expecting 3"):
        model.predict(send(X[:, :2].copy()))
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        model.predict(send(X[:0]))
    X = X.copy()
    X[4, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity in column 1, first in row 4"):
        model.predict(send(X))


def test_what_needs_rows_on_the_host():
    model, X = with_pairs("regression"), send(new_rows())
    with pytest.raises(TypeError, match="Bring it to the host for this"):
        model.explain_local(X)
    with pytest.raises(TypeError, match="return_std=True needs the tables of all bags"):
        model.predict(X, return_std=True)


@pytest.mark.parametrize("kind", [TreesModel, DictionaryModel])
def test_models_without_tables(kind):
    model = changed("regression", model_=kind.__new__(kind))
    with pytest.raises(TypeError, match="has no tables, by which rows on a card are scored"):
        model.predict(send(new_rows()))


class Elsewhere:
    """An array of a library that only has the protocol."""

    def __init__(self, array):
        self.array = array

    def __getattr__(self, name):
        return getattr(self.array, name)

    @property
    def __cuda_array_interface__(self):
        return getattr(self.array, "__cuda_array_interface__", {"of": "the simulator"})


def test_arrays_of_other_libraries(monkeypatch):
    """What they are told by, and how they are read."""
    X = send(new_rows())
    if SIMULATED:  # it has no such protocol
        monkeypatch.setattr(cuda, "as_cuda_array", lambda one: one.array, raising=False)
    model = with_pairs("two classes")
    assert is_on_card(Elsewhere(X))
    found = to_host(model.predict_proba(Elsewhere(X)))
    np.testing.assert_array_equal(found, to_host(model.predict_proba(X)))


def test_what_is_not_on_a_card():
    for one in (None, 1.0, [1.0], np.zeros(3), np.float32(1), "cuda", Squared()):
        assert not is_on_card(one)
        assert to_host(one) is one


def test_all_our_links_have_kernels():
    from rgboost import losses

    known = {losses.Loss.inverse_link, losses.Ridged.inverse_link, *predict._LINKS}
    made = [getattr(losses, name) for name in losses.__all__]
    assert all(one.inverse_link in known for one in made if hasattr(one, "inverse_link"))
