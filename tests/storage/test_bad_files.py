"""Files that are not whole models are refused with one error, before memory is taken."""

import os

import numpy as np
import pytest

import rgboost
from rgboost.storage import StorageError

from .checks import check_mutant, load_peak
from .make_models import stored_models
from .mutations import (
    DTYPES,
    bytes_of,
    join,
    mutants,
    put_bytes,
    split,
    with_document,
    with_document_text,
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return list(stored_models(tmp_path_factory.mktemp("files") / "model"))


@pytest.fixture(scope="module")
def files(stored):
    return [data for _, _, data in stored]


def test_changed_files(stored, files, tmp_path):
    """Some hundred of what `benchmarks/fuzz_storage.py` does with thousands."""
    refused = []
    for hostile, which, _, data in mutants(files, 800, seed=1):
        model, rows, _ = stored[which]
        refused.append(check_mutant(hostile, model, data, tmp_path / "model", rows))
    assert sum(refused) > 400
    assert not all(refused)


def test_the_hostile_know_the_checksum(stored, tmp_path):
    for model, rows, data in stored:
        assert not check_mutant(False, model, join(*split(data)), tmp_path / "model", rows)


def test_every_flipped_bit_is_noticed(files, tmp_path):
    """One bit in each of 400 bytes of the data and of the header."""
    data = files[0]
    for at in np.linspace(0, len(data) - 1, 400).astype(int):
        changed = bytearray(data)
        changed[at] ^= 1 << (at % 8)
        (tmp_path / "model").write_bytes(changed)
        with pytest.raises(StorageError):
            rgboost.load(tmp_path / "model")


def big_tensor(data):
    """A header that promises a terabyte."""
    header, tensors = split(data)
    header["model_.cuts"]["shape"] = [1 << 37]
    return join(header, tensors)


def long_header(data):
    return (1 << 40).to_bytes(8, "little") + data[8:]


def without_document(data):
    return without_tensor(data, "rgboost.document")


BAD = [
    (lambda d: b"", "header claims 0 bytes and the file has 0: .*was cut off"),
    (lambda d: d[:5], "was cut off"),
    (lambda d: d[:100], "was cut off"),
    (lambda d: d[:-1], "was cut off, something was appended"),
    (lambda d: d + b"x", "was cut off, something was appended"),
    (long_header, "Its header claims 1,099,511,627,776 bytes and the file has"),
    (lambda d: b"PK\x03\x04" + bytes(200), "no stored model of rgboost|cut off|not readable"),
    (lambda d: d[:20] + b"\xff" + d[21:], "not readable"),
    (lambda d: d[:-3] + b"abc", "checksum is wrong"),
    (lambda d: with_document(d, lambda v: v.update(version=3)), "version 3.*2; install a newer"),
    (lambda d: with_document(d, lambda v: v.update(version="x")), "version 'x'.*it is damaged"),
    (lambda d: with_document(d, lambda v: v.pop("version")), "version None.*it is damaged"),
    (without_document, "not a stored model of rgboost: it has no tensor 'rgboost.document'"),
    (lambda d: join({}, b""), "not a stored model of rgboost"),
    (lambda d: with_document_text(d, b"[1]"), "Its document is list instead of an object"),
    (lambda d: with_document_text(d, b"{" * 9), "Its document is not readable"),
    (lambda d: with_document_text(d, b"[" * 200_000), "Its document is not readable"),
    (lambda d: with_document_text(d, b'{"a":1,"a":2}'), "a key is there twice"),
    (lambda d: with_document_text(d, b'{"a":NaN}'), "NaN is not a number"),
    (big_tensor, "not readable"),
    (lambda d: with_document(d, lambda v: v.update(new=1)), "document.new is not known"),
    (lambda d: with_document(d, lambda v: v["fitted"].update(new_=1)), "fitted.new_ is not known"),
    (lambda d: with_document(d, lambda v: v["parameters"].update(a=1)), "parameters.a is not"),
    (lambda d: with_document(d, lambda v: v["fitted"].pop("trace_")), "fitted.trace_ is missing"),
    (lambda d: with_document(d, lambda v: v.update(estimator="SVC")), "not one of RGBMRegressor"),
    (
        lambda d: with_document(d, lambda v: v["fitted"].update(n_features_in_=1 << 50)),
        "n_features_in_ is 1,125,899,906,842,624 in a file of 3 features",
    ),
    (
        lambda d: with_document(
            d, lambda v: v["fitted"].update(loss_={"object": "Popen", "arguments": {}})
        ),
        "an object of the class 'Popen', which this version of rgboost does not know",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD, ids=[m[:40] for _, m in BAD])
def test_messages(change, message, files, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(change(files[0]))
    found, peak = load_peak(path)
    assert isinstance(found, StorageError)
    with pytest.raises(StorageError, match=message):
        raise found
    assert str(path) in str(found)
    assert peak < 4 << 20


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize(
    "name", ["n_iter_", "n_learners_", "subset_size_", "trace_.n_runs", "pair_trace_.n_runs"]
)
def test_sizes_that_the_bytes_do_not_back(name, thin, stored, tmp_path):
    """Numbers that are no length of an array, in a file that is whole otherwise."""
    half = len(stored) // 2
    some = [(model, data) for model, _, data in (stored[half:] if thin else stored[:half])]
    if name.startswith("pair"):
        X = np.random.default_rng(0).normal(size=(300, 2))
        pairs = rgboost.RGBMRegressor(interactions=[[0, 1]], random_state=0)
        pairs.fit(X, X[:, 0] + X.prod(axis=1))
        pairs.save(tmp_path / "model", full=not thin)
        some = [(pairs, (tmp_path / "model").read_bytes())]
    attribute, _, field = name.partition(".")

    def change(document):
        if field:
            document["fitted"][attribute]["arguments"][field] = 100_000_000
        else:
            document["fitted"][attribute] = 100_000_000

    for model, data in some:
        (tmp_path / "model").write_bytes(with_document(data, change))
        with pytest.raises(StorageError, match=name):
            rgboost.load(tmp_path / "model")
        (tmp_path / "model").write_bytes(data)
        assert rgboost.load(tmp_path / "model").n_learners_ == model.n_learners_


def test_unknown_tensors(files, tmp_path):
    header, tensors = split(files[0])
    place = [len(tensors), len(tensors) + 8]
    header["model_.extra"] = {"dtype": "F64", "shape": [1], "data_offsets": place}
    (tmp_path / "model").write_bytes(join(header, tensors + bytes(8)))
    with pytest.raises(StorageError, match=r"unknown tensor 'model_\.extra"):
        rgboost.load(tmp_path / "model")


def test_a_huge_file_takes_no_memory(files, tmp_path):
    """A file of a terabyte, nearly all of it a hole."""
    path = tmp_path / "model"
    path.write_bytes(files[0])
    os.truncate(path, 1 << 40)
    found, peak = load_peak(path)
    assert "pass a larger max_bytes if you trust it" in str(found)
    assert peak < 1 << 20
    path.write_bytes(files[0])
    with pytest.raises(StorageError, match="1,000 are allowed"):
        rgboost.load(path, max_bytes=1000)


def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        rgboost.load(tmp_path / "model")
    with pytest.raises((IsADirectoryError, PermissionError)):
        rgboost.load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="It is not a file"):
        rgboost.load(tmp_path / "pipe")


def with_tensor(data, name, change):
    """Other numbers in a tensor, the checksum set right."""
    header, tensors = split(data)
    array = np.frombuffer(bytes_of(header, tensors, name), DTYPES[header[name]["dtype"]]).copy()
    change(array)
    return join(header, put_bytes(header, tensors, name, array.tobytes()))


def without_tensor(data, name):
    """A tensor less, the places of the others set right."""
    header, tensors = split(data)
    tensors = put_bytes(header, tensors, name, b"")
    del header[name]
    return join(header, tensors)


def put(value, at=0):
    def change(array):
        array[at] = value

    return change


MIXED, CLASSES, PAIRS, PAIRS_AND_CLASSES, STORED_THIN = 2, 3, 6, 7, 14
WRONG = [
    (MIXED, "model_.categories.features", put(99), "categories.features"),
    (MIXED, "model_.categories.starts", put(1 << 40, -1), "categories.starts"),
    (MIXED, "model_.categories.values", put(7.0, -1), "categories.values"),
    (MIXED, "model_.categories.values", put(0.5), "categories.values"),
    (MIXED, "model_.categories.iteration", put(0, -1), "categories.iteration"),
    (MIXED, "model_.categories.feature", put(0), "categories.feature"),
    (MIXED, "input_.categorical", put(0), "input_.labels"),
    (MIXED, "coverage_.category_weights", put(-1.0), "coverage_.category_weights"),
    (MIXED, "coverage_.missing", put(-1.0), "coverage_.weights"),
    (MIXED, "coverage_.density", put(np.inf), "coverage_.density"),
    (MIXED, "coverage_.edges", put(np.nan), "coverage_.edges"),
    (STORED_THIN, "trace_.kept", put(1), "trace_.kept"),
    (STORED_THIN, "trace_.kept", put(-1, -1), "trace_.kept"),
    (0, "trace_.choices", put(127, slice(None)), "trace_.choices"),
    (0, "model_.feature", put(3), "model_.feature"),
    (0, "model_.threshold", put(np.nan, slice(None)), "model_.threshold"),
    (CLASSES, "model_.wide.features", put(3, -1), "model_.features"),
    (CLASSES, "model_.wide.starts", put(1 << 40, -1), "model_.starts"),
    (CLASSES, "classes_", put(255, slice(None)), "classes_"),
    (PAIRS, "model_.pairs.features", put(99), "pairs.features"),
    (PAIRS, "model_.pairs.features", put(-1), "pairs.features"),
    (PAIRS, "model_.pairs.features", put([0, 1] * 3, slice(None)), "pairs.features"),
    (PAIRS, "model_.pairs.features", put([1, 0], slice(2)), "pairs.features"),
    (PAIRS, "model_.pairs.categorical", put(1, slice(None)), "pairs.categorical"),
    (PAIRS, "model_.pairs.edge_starts", put(1 << 40, -1), "pairs.edge_starts"),
    (PAIRS, "model_.pairs.edge_starts", put(-1, 1), "pairs.edge_starts"),
    (PAIRS, "model_.pairs.edges", put(np.nan), "pairs.edges"),
    (PAIRS, "model_.pairs.edges", put(np.inf), "pairs.edges"),
    (PAIRS, "model_.pairs.edges", put(0.0, slice(None)), "pairs.edges"),
    (PAIRS, "model_.pairs.weights", put(-1.0), "pairs.weights"),
    (PAIRS, "model_.pairs.weights", put(0.0, slice(None)), "pairs.weights"),
    (PAIRS_AND_CLASSES, "model_.wide.pairs.edge_starts", put(0, slice(None)), "pairs.edge_starts"),
    (PAIRS_AND_CLASSES, "model_.wide.pairs.weights", put(np.nan), "pairs.weights"),
]


@pytest.mark.parametrize(("which", "name", "change", "message"), WRONG, ids=[w[1] for w in WRONG])
def test_wrong_indices(which, name, change, message, files, tmp_path):
    (tmp_path / "model").write_bytes(with_tensor(files[which], name, change))
    with pytest.raises(StorageError, match=rf"Its value \S*({message})\S* is not valid"):
        rgboost.load(tmp_path / "model")


def shift_a_start(array):
    """One category less for one axis, one more for the next: a table of another shape."""
    array[1] -= 1


def test_truth_values_are_0_or_1(files, tmp_path):
    header, tensors = split(files[PAIRS])
    name = "model_.pairs.categorical"
    raw = np.frombuffer(bytes_of(header, tensors, name), np.uint8)
    changed = put_bytes(header, tensors, name, np.where(raw, 255, 0).astype(np.uint8).tobytes())
    (tmp_path / "model").write_bytes(join(header, changed))
    with pytest.raises(StorageError, match=r"pairs\.categorical is not valid|not readable"):
        rgboost.load(tmp_path / "model")


def test_tables_of_pairs_have_the_shape_of_their_edges(files, tmp_path):
    changed = with_tensor(files[PAIRS], "model_.pairs.edge_starts", shift_a_start)
    (tmp_path / "model").write_bytes(changed)
    with pytest.raises(StorageError, match=r"model_\.pairs\.(edges|tables) is not valid"):
        rgboost.load(tmp_path / "model")


def test_pairs_with_a_path_or_of_another_class(files, tmp_path):
    def with_path(document):
        model = document["fitted"]["model_"]["arguments"]
        model["pairs"], model["categories"] = model["categories"], None

    def of_one_score(document):
        wide = document["fitted"]["model_"]["arguments"]["wide"]["arguments"]
        wide["pairs"]["arguments"]["tables"] = {"array": "model_.wide.pairs.weights"}
        wide["pairs"]["arguments"]["weights"] = {"array": "model_.wide.pairs.tables"}

    for which, change in ((MIXED, with_path), (PAIRS_AND_CLASSES, of_one_score)):
        (tmp_path / "model").write_bytes(with_document(files[which], change))
        with pytest.raises(StorageError, match=r"model_\.pairs\S* is not valid"):
            rgboost.load(tmp_path / "model")


def field(document, place):
    """The arguments of an object in a document, and which of them is at a place."""
    *owners, name = place.split(".")
    found = document["fitted"]
    for owner in owners:
        found = found[owner]["arguments"]
    return found, name


@pytest.mark.parametrize(
    "place",
    [
        "model_.left", "model_.threshold", "model_.categories.sets", "trace_.choices",
        "trace_.split",
    ],
)  # fmt: skip
def test_a_path_is_there_as_a_whole_or_not_at_all(place, files, tmp_path):
    def change(document):
        arguments, name = field(document, place)
        arguments[name] = None

    data = with_document(without_tensor(files[MIXED], place), change)
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(StorageError, match="without the rest of the path"):
        rgboost.load(tmp_path / "model")


LABELS = [
    (lambda labels: labels.append([99, {"objects": ["a"]}]), "input_.labels"),
    (lambda labels: labels.append([-1, {"objects": ["a"]}]), "input_.labels"),
    (lambda labels: labels.append([0, {"objects": ["a"]}]), "input_.labels"),
    (lambda labels: labels.append(["1", {"objects": ["a"]}]), "input_.labels"),
    (lambda labels: labels[0][1]["objects"].append(1.5), "input_.labels"),
    (lambda labels: labels[0].append(1), "One of its values"),
    (lambda labels: labels[0][1]["objects"].pop(), "categories.values"),
]


@pytest.mark.parametrize(("change", "message"), LABELS)
def test_labels_must_be_those_of_categories(change, message, files, tmp_path):
    data = with_document(
        files[MIXED], lambda v: change(field(v, "input_.labels")[0]["labels"]["dict"])
    )
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(StorageError, match=rf"{message}.* is not valid"):
        rgboost.load(tmp_path / "model")


CLASS_COUNTS = [
    (None, lambda v: v["loss_"]["arguments"].update(n_classes=4), "loss_"),
    (None, lambda v: v.update(loss_={"object": "Logistic", "arguments": {}}), "loss_"),
    ("classes_", lambda v: v.update(classes_={"objects": ["a", "b"]}), "classes_"),
    ("classes_", lambda v: v.update(classes_={"objects": list("abcd")}), "classes_"),
    ("intercept_", lambda v: v.update(intercept_=0.5), "intercept"),
    (
        "model_.wide.intercept",
        lambda v: v["model_"]["arguments"]["wide"]["arguments"].update(intercept=0.5),
        "intercept",
    ),
]


@pytest.mark.parametrize(("tensor", "change", "message"), CLASS_COUNTS)
def test_numbers_of_classes_must_agree(tensor, change, message, files, tmp_path):
    data = files[CLASSES] if tensor is None else without_tensor(files[CLASSES], tensor)
    (tmp_path / "model").write_bytes(with_document(data, lambda v: change(v["fitted"])))
    with pytest.raises(StorageError, match=rf"{message} is not valid"):
        rgboost.load(tmp_path / "model")
