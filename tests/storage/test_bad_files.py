"""Files that are not whole models are refused with one error, before memory is taken."""

import json
import os

import numpy as np
import pytest

import rgboost
from rgboost.storage import StorageError

from .checks import check_mutant, load_peak
from .make_models import stored_models
from .mutations import join, mutants, split


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


def with_metadata(data, **changes):
    header, tensors = split(data)
    header["__metadata__"] |= changes
    return join(header, tensors)


def with_document(data, change):
    header, _ = split(data)
    document = json.loads(header["__metadata__"]["document"])
    change(document)
    return with_metadata(data, document=json.dumps(document))


def big_tensor(data):
    """A header that promises a terabyte."""
    header, tensors = split(data)
    header["model.cuts"]["shape"] = [1 << 37]
    return join(header, tensors)


def long_header(data):
    return (1 << 40).to_bytes(8, "little") + data[8:]


BAD = [
    (lambda d: b"", "empty or was cut off"),
    (lambda d: d[:5], "empty or was cut off"),
    (lambda d: d[:100], "was cut off"),
    (lambda d: d[:-1], "was cut off, something was appended"),
    (lambda d: d + b"x", "was cut off, something was appended"),
    (long_header, "Its header claims 1,099,511,627,776 bytes and 2,097,152 are allowed"),
    (lambda d: b"PK\x03\x04" + bytes(200), "no stored model of rgboost|cut off|not readable"),
    (lambda d: d[:20] + b"\xff" + d[21:], "not readable"),
    (lambda d: d[:-3] + b"abc", "checksum is wrong"),
    (lambda d: with_metadata(d, version="2"), "version '2'.*reads version 1; install a newer"),
    (lambda d: with_metadata(d, version="0"), "version '0'.*it is damaged"),
    (lambda d: with_metadata(d, format="pt"), "not a stored model of rgboost"),
    (lambda d: with_metadata(d, extra="1"), "must have the keys"),
    (lambda d: join({}, b""), "not a stored model of rgboost"),
    (big_tensor, "Shape and place of its tensor 'model.cuts' do not agree"),
    (lambda d: with_document(d, lambda v: v.update(new=1)), "document.new is not known"),
    (lambda d: with_document(d, lambda v: v["fitted"].update(new_=1)), "fitted.new_ is not known"),
    (lambda d: with_document(d, lambda v: v["parameters"].update(a=1)), "parameters.a is not"),
    (lambda d: with_document(d, lambda v: v["parts"].pop("trace")), "parts.trace is missing"),
    (lambda d: with_document(d, lambda v: v.update(estimator="SVC")), "not one of RGBMRegressor"),
    (
        lambda d: with_document(d, lambda v: v["fitted"].update(n_features_in_=1 << 50)),
        "fitted.n_features_in_ is not valid",
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


def test_unknown_tensors(files, tmp_path):
    header, tensors = split(files[0])
    place = [len(tensors), len(tensors) + 8]
    header["model.extra"] = {"dtype": "F64", "shape": [1], "data_offsets": place}
    (tmp_path / "model").write_bytes(join(header, tensors + bytes(8)))
    with pytest.raises(StorageError, match="unknown tensor 'model"):
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
    start, stop = header[name]["data_offsets"]
    dtype = {"F64": "<f8", "I64": "<i8", "U8": "u1"}[header[name]["dtype"]]
    array = np.frombuffer(tensors[start:stop], dtype).copy()
    change(array)
    return join(header, tensors[:start] + array.tobytes() + tensors[stop:])


def without_tensor(data, name):
    """A tensor less, the places of the others set right."""
    header, tensors = split(data)
    start, stop = header.pop(name)["data_offsets"]
    for key, entry in header.items():
        if key != "__metadata__" and entry["data_offsets"][0] >= stop:
            entry["data_offsets"] = [at - (stop - start) for at in entry["data_offsets"]]
    return join(header, tensors[:start] + tensors[stop:])


def put(value, at=0):
    def change(array):
        array[at] = value

    return change


MIXED, CLASSES, STORED_THIN = 2, 3, 6
WRONG = [
    (MIXED, "categories.features", put(99), "labels|categories"),
    (MIXED, "categories.starts", put(1 << 40, -1), "categories.starts"),
    (MIXED, "categories.values", put(7.0, -1), "categories.values"),
    (MIXED, "categories.values", put(0.5), "categories.values"),
    (MIXED, "categories.iteration", put(0, -1), "categories.iteration"),
    (MIXED, "categories.feature", put(0), "categories.feature"),
    (MIXED, "labels.features", put(99, -1), "labels.features"),
    (MIXED, "labels.sizes", put(-1), "labels.sizes"),
    (MIXED, "labels.sizes", put((1 << 63) - 1), "labels.sizes"),
    (MIXED, "labels.strings", put(2), "labels.strings"),
    (MIXED, "labels.text", put(255), "labels.text"),
    (MIXED, "labels.ends", put(1 << 50), "labels.ends"),
    (MIXED, "input.categorical", put(3), "input.categorical"),
    (MIXED, "coverage.category_weights", put(-1.0), "coverage.category_weights"),
    (MIXED, "coverage.missing", put(-1.0), "coverage.weights"),
    (STORED_THIN, "trace.kept", put(1), "trace.kept"),
    (STORED_THIN, "trace.kept", put(-1, -1), "trace.kept"),
    (CLASSES, "model.features", put(3, -1), "model.features"),
    (CLASSES, "model.starts", put(1 << 40, -1), "model.starts"),
]


@pytest.mark.parametrize(("which", "name", "change", "message"), WRONG, ids=[w[1] for w in WRONG])
def test_wrong_indices(which, name, change, message, files, tmp_path):
    (tmp_path / "model").write_bytes(with_tensor(files[which], name, change))
    with pytest.raises(StorageError, match=rf"Its value \S*({message})\S* is not valid"):
        rgboost.load(tmp_path / "model")


@pytest.mark.parametrize(
    "name", ["model.left", "model.threshold", "categories.sets", "trace.learner", "trace.split"]
)
def test_a_path_is_there_as_a_whole_or_not_at_all(name, files, tmp_path):
    (tmp_path / "model").write_bytes(without_tensor(files[MIXED], name))
    with pytest.raises(StorageError, match="without the rest of the path"):
        rgboost.load(tmp_path / "model")


def test_numbers_of_classes_must_agree(files, tmp_path):
    for change in (
        lambda v: v["fitted"]["loss_"]["arguments"].update(n_classes=4),
        lambda v: v["fitted"].update(loss_={"object": "Logistic", "arguments": {}}),
        lambda v: v["fitted"]["classes_"]["array"].append("more"),
        lambda v: v["fitted"].update(intercept_=0.5),
        lambda v: v["parts"]["model"]["intercept"]["array"].append(0.5),
    ):
        (tmp_path / "model").write_bytes(with_document(files[CLASSES], change))
        with pytest.raises(StorageError, match=r"is not valid|too long"):
            rgboost.load(tmp_path / "model")
