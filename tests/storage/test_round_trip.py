"""A stored model comes back as it was."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
import scipy.sparse
import skops.io
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import rgboost
from rgboost import Dictionary, RGBMClassifier, RGBMRegressor, Stumps, Trace
from rgboost.learners import Monotone, Pairs, Trees
from rgboost.losses import (
    AbsoluteError,
    Exponential,
    Gamma,
    Huber,
    LogCosh,
    Logistic,
    Loss,
    Poisson,
    Quantile,
    Ridged,
    Softmax,
    Squared,
    Tweedie,
)
from rgboost.selection import (
    AllLearners,
    RandomGroup,
    RandomGroups,
    RandomLearners,
    RandomLearnersAndAlways,
    RandomThresholds,
    WeightedGroups,
)
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonGain, NewtonStep
from rgboost.storage import StorageError
from rgboost.storage.model_file import FITTED, Fitted, is_a
from rgboost.storage.values import CHECKED, NotStorable, decode, encode, stored_classes
from rgboost.training.plan import Plan

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
y = X[:, 0] + np.abs(X[:, 1]) + 0.1 * rng.normal(size=80)
FRAME = pd.DataFrame(X, columns=["a", "b", "größe", "d"])
MISSING = np.where(rng.random(X.shape) < 0.1, np.nan, X)
MIXED = pd.DataFrame(MISSING, columns=["a", "b", "größe", "d"])
MIXED["b"] = np.array(["ä", "", "c", "日本", None], object)[np.arange(80) % 5]
MIXED["d"] = pd.Categorical(np.array([0.5, 7, 1e9])[np.arange(80) % 3])
CLASSES = np.array(["low", "middle", "high"])[np.digitize(y, [0.0, 1.0])]

MODELS = {
    "plain": lambda: RGBMRegressor(max_iter=20, random_state=0).fit(X, y),
    "weights": lambda: RGBMRegressor(max_iter=20).fit(X, y, np.arange(80.0)),
    "names": lambda: RGBMRegressor(max_iter=20, groups=[["a", "d"], ["b", "größe"]]).fit(FRAME, y),
    "objects": lambda: RGBMRegressor(
        loss=Ridged(Huber(0.3), 0.2),
        learner=Stumps(leaves="signed", max_bins=9),
        selection=RandomLearners(5),
        step=ConstantStep(0.7),
        max_iter=20,
    ).fit(X, y),
    "quadratic": lambda: RGBMClassifier(engine="quadratic", max_iter=50).fit(X, y > 0),
    "strings": lambda: RGBMClassifier(max_iter=20).fit(X, np.where(y > 0, "yes", "no")),
    "objects as labels": lambda: RGBMClassifier(max_iter=5).fit(
        X, np.where(y > 0, "yes", "no").astype(object)
    ),
    "int8": lambda: RGBMClassifier(max_iter=5).fit(X, (y > 0).astype(np.int8)),
    "exponential": lambda: RGBMClassifier(
        loss="exponential", step="line-search", interactions=0, random_state=0
    ).fit(X, y > 0),
    "sparse": lambda: RGBMRegressor(max_iter=20).fit(scipy.sparse.csr_array(X * (X > 0)), y),
    "missing": lambda: RGBMRegressor(max_iter=20, random_state=0).fit(MISSING, y),
    "categories": lambda: RGBMRegressor(max_iter=20, random_state=0).fit(MIXED, y),
    "numbers as categories": lambda: RGBMClassifier(max_iter=20, categorical_features=[0]).fit(
        X.round(), y > 0
    ),
    "classes": lambda: RGBMClassifier(max_iter=20, random_state=0).fit(X, CLASSES),
    "categories and classes": lambda: RGBMClassifier(max_iter=20, random_state=0).fit(
        MIXED, CLASSES
    ),
    "poisson": lambda: RGBMRegressor(loss="poisson", max_iter=20).fit(X, np.exp(y).round()),
    "folds": lambda: RGBMRegressor(max_iter="cv", cv=3, random_state=0).fit(X, y),
    "validated": lambda: RGBMRegressor(max_iter=30, early_stopping=True).fit(X, y),
    "monotone": lambda: RGBMRegressor(
        max_iter=20, monotone_constraints={"a": 1}, feature_weights={"b": 2}, selection="groups"
    ).fit(FRAME, y),
    "nothing to learn": lambda: RGBMRegressor(max_iter=3).fit(np.ones((9, 2)), np.arange(9.0)),
}


NOT_STORED = {"_run_state", "_seeds", "certificates", "lookup", "_forest", "_narrow"}


def rows_of(model):
    """Rows that suit a model of these."""
    if not hasattr(model, "feature_names_in_"):
        return X[:, : model.n_features_in_]
    return MIXED if model.input_.categorical.any() else FRAME


def assert_same(a, b):
    """All attributes, with their types."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, tuple):
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, Plan):  # what people see of it is stored, not what runs are given
        assert_same(a.to_dict(), b.to_dict())
    elif hasattr(a, "__dict__"):
        assert vars(a).keys() - NOT_STORED == vars(b).keys() - NOT_STORED
        for name in vars(a).keys() - NOT_STORED:
            assert_same(vars(a)[name], vars(b)[name])
    else:
        assert a == b


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]()


def test_everything_comes_back(model, tmp_path):
    model.save(tmp_path / "model.safetensors", full=True)
    loaded = rgboost.load(tmp_path / "model.safetensors")
    assert_same(loaded, model)
    rows = rows_of(model)
    for a, b in zip(loaded.staged_predict(rows), model.staged_predict(rows), strict=True):
        np.testing.assert_array_equal(a, b)
    assert_says_the_same(loaded, model)


def assert_says_the_same(loaded, model):
    rows = rows_of(model)
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    assert_same(loaded.explain_local(rows), model.explain_local(rows))
    assert_same(loaded.explain_global(), model.explain_global())


def stored_and_loaded(model, how, tmp_path):
    if how == "pickle":
        return pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "model.safetensors")
    return rgboost.load(tmp_path / "model.safetensors")


@pytest.mark.parametrize("how", ["save", "pickle"])
def test_a_stored_model_has_tables_and_no_path(model, how, tmp_path):
    """The same predictions and explanations to the last bit; what is not there says so."""
    loaded = stored_and_loaded(model, how, tmp_path)
    assert_says_the_same(loaded, model)
    assert not hasattr(loaded, "cv_loss_")
    with pytest.raises(AttributeError, match=r"staged predictions need the path.*full=True"):
        next(loaded.staged_predict(rows_of(model)))
    trace, whole = loaded.trace_, model.trace_
    assert trace.choices is trace.feature is trace.split is None
    assert (len(trace), trace.engine, trace.n_runs) == (len(whole), whole.engine, whole.n_runs)
    np.testing.assert_array_equal(trace.train_loss, whole.train_loss[trace.iteration])
    again = stored_and_loaded(loaded, how, tmp_path)
    assert_same(again, loaded)
    with pytest.raises(AttributeError, match="files by full=True need the path"):
        loaded.save(tmp_path / "model", full=True)


def test_a_long_trace_is_thinned():
    rest = [np.zeros(5000, [("learner", np.int64)]), np.arange(5000), np.arange(5000)]
    losses = np.linspace(5.0, 1.0, 5001)
    whole = Trace(losses, losses + 1, 2 * losses, *rest, "direct")
    thin = whole.thinned(3333)
    assert len(whole) == len(thin) == 5000
    assert len(thin.iteration) < 200
    assert {0, 1, 2, 3, 3333, 5000} <= set(thin.iteration)
    assert np.diff(thin.iteration).max() <= 52  # no long stretch is without a loss
    np.testing.assert_array_equal(thin.train_loss, losses[thin.iteration])
    np.testing.assert_array_equal(thin.validation_loss, losses[thin.iteration] + 1)
    np.testing.assert_array_equal(thin.seconds, 2 * losses[thin.iteration])
    assert thin.train_loss[thin.place(3333)] == losses[3333]
    with pytest.raises(IndexError, match="iteration 3331 is not in this trace"):
        thin.place(3331)
    with pytest.raises(AttributeError, match="choices of a trace need the path"):
        thin.path()
    assert_same(thin.thinned(3333), thin)
    assert repr(thin) == repr(whole)
    assert (whole.iteration == np.arange(5001)).all()


def test_size():
    """What is stored does not grow with the number of iterations."""
    few, many = (
        RGBMRegressor(max_iter=n, early_stopping=False, random_state=0, max_bins=8).fit(X, y)
        for n in (500, 20_000)
    )
    small, large = len(pickle.dumps(few)), len(pickle.dumps(many))
    assert large < 1.2 * small < 20_000
    assert len(pickle.dumps(many.set_params(warm_start=True))) > 1_000_000


def test_warm_start_is_pickled_whole():
    model = RGBMRegressor(max_iter=30, warm_start=True, random_state=0).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert_same(loaded, model)
    for one in (loaded, model):
        one.set_params(max_iter=60).fit(X, y)
    np.testing.assert_array_equal(loaded.trace_.train_loss, model.trace_.train_loss)
    np.testing.assert_array_equal(list(loaded.staged_predict(X)), list(model.staged_predict(X)))
    assert len(list(loaded.staged_predict(X))) == 60


def test_warm_start_of_a_stored_model_begins_anew(tmp_path):
    model = RGBMRegressor(max_iter=30, warm_start=True, random_state=0).fit(X, y)
    model.save(tmp_path / "model", full=True)
    loaded = rgboost.load(tmp_path / "model")
    with pytest.warns(UserWarning, match=r"nothing to go on from, and this fit begins anew"):
        loaded.set_params(max_iter=60).fit(X, y)
    np.testing.assert_array_equal(
        loaded.predict(X), model.set_params(max_iter=60).fit(X, y).predict(X)
    )


def test_copies_keep_the_path(model):
    for other in (copy.copy(model), copy.deepcopy(model)):
        assert_same(other, model)
        assert other is not model
    assert copy.deepcopy(model).model_ is not model.model_


def test_numbers_of_numpy_become_numbers(tmp_path):
    MODELS["plain"]().set_params(subset_size=np.int64(2)).save(tmp_path / "model")
    assert type(rgboost.load(tmp_path / "model").subset_size) is int


def test_loaded_arrays_suit_the_compiled_code(tmp_path):
    model = MODELS["plain"]()
    model.save(tmp_path / "model")
    values = vars(rgboost.load(tmp_path / "model").model_).values()
    for array in (value for value in values if isinstance(value, np.ndarray)):
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model = MODELS["plain"]()
    model.save(tmp_path / "a")
    rgboost.load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_loaded_model_can_be_fitted_again(tmp_path):
    MODELS["names"]().set_params(random_state=3).save(tmp_path / "model")
    loaded = clone(rgboost.load(tmp_path / "model")).fit(FRAME, y)
    fresh = MODELS["names"]().set_params(random_state=3).fit(FRAME, y)
    np.testing.assert_array_equal(loaded.predict(FRAME), fresh.predict(FRAME))


def test_the_safetensors_library_reads_it(tmp_path):
    model = MODELS["names"]()
    model.save(tmp_path / "model.safetensors")
    tensors = safetensors.numpy.load_file(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(tensors["model_.tables"], model.model_.tables)
    np.testing.assert_array_equal(tensors["trace_.train_loss"], model.trace_.train_loss)
    document = json.loads(tensors["rgboost.document"].tobytes())
    assert (document["version"], document["estimator"]) == (2, "RGBMRegressor")


OBJECTS = [
    Squared(), Huber(0.1), Logistic(0.0), Exponential(), Ridged(Logistic(), 0.1), Softmax(4, 0.1),
    Poisson(), Gamma(), Tweedie(1.2), Quantile(0.3), AbsoluteError(), LogCosh(), AllLearners(),
    RandomLearners(3), RandomGroup(), RandomGroups(0.5), WeightedGroups(2, {"a": 2.0}, (1,)),
    RandomLearnersAndAlways(2, ("a", 1)), RandomThresholds(7),
    ConstantStep(), ConstantStep(1 / 3), LineSearch(), LeafSearch(), NewtonStep(2.0), NewtonGain(),
    Stumps("signed", None, "hybrid", (1, 2)), Monotone(Stumps(), {"a": 1}),
    Pairs([("a", 1)], stumps=True, max_bins=9, constraints={"a": 1}),
    Trees(7, 3, 5, 0.5, 0.9, categorical=(1,), interaction_constraints=[["a", 1]]),
]  # fmt: skip


@pytest.mark.parametrize("value", OBJECTS, ids=repr)
def test_objects(value):
    assert there_and_back(value) == value


def there_and_back(value):
    """Through JSON and tensors; nothing is left of these."""
    tensors = {}
    text = json.dumps(encode(value, tensors, "value"))
    assert all(name.startswith("value") for name in tensors)
    found = decode(json.loads(text), tensors)
    assert tensors == {}
    return found


def test_every_class_of_objects_is_tested():
    assert {type(value).__name__ for value in OBJECTS} == {
        name for name, kind in stored_classes().items() if kind not in CHECKED
    }


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, 0.1, "text", [1, [2.5]], (1, "a", (2,)), {"a": 1, 2: (3,), None: {}},
        float("inf"), 1 << 80, "\ud800",
    ],
    ids=str,
)  # fmt: skip
def test_values(value):
    found = there_and_back(value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3), np.arange(2, dtype=np.uint8), np.array([0.1, np.nan]), np.array([True]),
        np.array(["a", "bc"]), np.array(["a"], dtype="<U7"), np.array(["a", 1, 2.5], object),
        np.array([0.1], np.float32), np.empty(0), np.zeros((2, 0, 3)), np.array(2.5),
        np.array([["a"], ["日本"]]), np.arange(6).reshape(2, 3).T,
        np.array([(1, [0.5, 2.0], True)], [("feature", "<i8"), ("values", "<f8", 2), ("on", "?")]),
        np.zeros((0, 2), [("a", "<u2")]),
    ],
    ids=repr,
)  # fmt: skip
def test_arrays(array):
    found = there_and_back(array)
    assert_same(found, array)
    assert found.flags.writeable
    assert found.flags.c_contiguous


@pytest.mark.parametrize(
    "array",
    [
        np.array(["2020"], "M8[Y]"), np.array([1j]), np.array([[None]]), np.array([b"a"]),
        np.zeros(2, np.dtype([("a", "u1"), ("b", "<f8")], align=True)),
        np.array([("a",)], [("a", object)]),
    ],
    ids=repr,
)  # fmt: skip
def test_arrays_that_have_no_place(array):
    with pytest.raises(NotStorable):
        encode(array, {}, "value")


def test_arrays_of_the_other_byte_order():
    np.testing.assert_array_equal(there_and_back(np.arange(3, dtype=">i8")), [0, 1, 2])


class MyLoss(Loss):
    smoothness = 1.0

    def value(self, y, f):
        return 0.5 * (y - f) ** 2

    def residual(self, y, f):
        return y - f


class Huber2(Huber):
    pass


@pytest.mark.parametrize("loss", [MyLoss(), Huber2(), Ridged(Huber2(), 0.1)], ids=repr)
def test_a_loss_of_your_own(loss, tmp_path):
    model = MODELS["plain"]().set_params(loss=loss)
    model.loss_ = loss  # without the fit, which would compile for a while
    with pytest.raises(StorageError, match=r"a loss of your own.*use a loss of rgboost.*joblib"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("learner", [Dictionary.from_functions([lambda X: X]), Dictionary(X)])
def test_a_dictionary(learner, tmp_path):
    model = RGBMRegressor(learner=learner, max_iter=3).fit(X, y)
    with pytest.raises(StorageError, match=r"learner=Dictionary makes a Dict.*use stumps, or"):
        model.save(tmp_path / "model")


def test_a_random_state_that_is_an_object(tmp_path):
    model = RGBMRegressor(max_iter=3, random_state=np.random.RandomState(0)).fit(X, y)
    with pytest.raises(StorageError, match=r"random_state holds.*Call set_params\(random_state="):
        model.save(tmp_path / "model")
    model.set_params(random_state=None).save(tmp_path / "model")


def test_long_parameters(tmp_path):
    groups = [list(range(10**6))]
    MODELS["plain"]().set_params(groups=groups).save(tmp_path / "model")
    assert rgboost.load(tmp_path / "model").groups == groups


def test_attributes_that_the_schema_does_not_know_are_not_dropped(tmp_path):
    model = MODELS["plain"]()
    model.extra_ = 1
    with pytest.raises(StorageError, match="extra_ of this RGBMRegressor has no place"):
        model.save(tmp_path / "model")


def test_a_new_attribute_is_one_line(tmp_path, monkeypatch):
    """What a later release may add."""
    notes = {
        "settings": {"step": {"value": NewtonStep(), "origin": "auto", "reason": "it is smooth"}},
        "engines": [("gram", 0.5), ("direct", None)],
        "events": [],
    }
    model = MODELS["plain"]()
    model.notes_ = notes
    monkeypatch.setitem(FITTED, "notes_", Fitted(is_a(dict), optional=True))
    model.save(tmp_path / "model")
    assert_same(rgboost.load(tmp_path / "model").notes_, notes)
    del model.notes_
    model.save(tmp_path / "model")
    assert not hasattr(rgboost.load(tmp_path / "model"), "notes_")


def test_unfitted(tmp_path):
    with pytest.raises(NotFittedError):
        RGBMRegressor().save(tmp_path / "model")


@pytest.mark.parametrize("name", ["names", "strings", "quadratic"])
def test_skops(name):
    model = MODELS[name]()
    stored = skops.io.dumps(model)
    trusted = skops.io.get_untrusted_types(data=stored)
    assert all(kind.startswith("rgboost.") for kind in trusted)
    rows = FRAME if name == "names" else X
    loaded = skops.io.loads(stored, trusted=trusted)
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)


def test_certificates_are_not_stored(tmp_path):
    model = MODELS["plain"]()
    model.trace_ = replace(model.trace_, certificates=((3, object()),))
    model.save(tmp_path / "model")
    assert rgboost.load(tmp_path / "model").trace_.certificates == ()


def test_labels_of_very_different_length(tmp_path):
    frame = pd.DataFrame({"a": [f"{k}" for k in range(200)]})
    frame.loc[0, "a"] = "x" * 100_000
    model = RGBMRegressor(max_iter=3).fit(frame, np.arange(200.0))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        rgboost.load(tmp_path / "model").predict(frame), model.predict(frame)
    )
