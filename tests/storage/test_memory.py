"""No number in a file makes loading take memory that the file's own bytes do not back."""

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse

import rgboost
from rgboost.storage import StorageError

from .checks import load_peak, use
from .make_models import stored_models
from .mutations import DOCUMENT, bytes_of, split, with_document

HUGE = 10**8
MOST = 4 << 20
"""Bytes that a small file may take. A byte for each of `HUGE` would be twenty times that."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    found = list(stored_models(tmp_path_factory.mktemp("files") / "model"))
    for model, rows, _ in found:
        use(model, rows)  # what is imported and compiled the first time is no part of it
    return found


def whole_numbers(node):
    """(list or dict, key) of all whole numbers in a JSON value."""
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        if type(value) is int:
            yield node, key
        elif isinstance(value, dict | list):
            yield from whole_numbers(value)


def documents(data, number):
    """The file with one whole number of its document after the other set to this one."""
    header, tensors = split(data)
    n = sum(1 for _ in whole_numbers(json.loads(bytes_of(header, tensors, DOCUMENT))))
    for k in range(n):

        def change(document, k=k):
            node, key = list(whole_numbers(document))[k]
            node[key] = number

        yield with_document(data, change)


@pytest.mark.parametrize("number", [HUGE, 1 << 61])
def test_every_number_of_the_document(number, stored, tmp_path):
    n_loaded = n_refused = 0
    for _, rows, data in stored:
        for changed in documents(data, number):
            (tmp_path / "model").write_bytes(changed)
            found, peak = load_peak(tmp_path / "model")
            assert peak < MOST
            if isinstance(found, StorageError):
                n_refused += 1
                continue
            n_loaded += 1
            tracemalloc.start()
            try:
                use(found, rows)
                assert tracemalloc.get_traced_memory()[1] < MOST
            finally:
                tracemalloc.stop()
    assert n_loaded > 50
    assert n_refused > 50


def claim_features(n):
    """A change that says that there are n features, wherever a document says so."""

    def change(document):
        fitted = document["fitted"]
        fitted["n_features_in_"] = n
        model = fitted["model_"]["arguments"]
        model.get("wide", {"arguments": model})["arguments"]["n_features"] = n

    return change


def test_features_that_the_file_has_no_room_for(stored, tmp_path):
    """The process may take 64 MiB more than it has, which it would have to for the features."""
    path = tmp_path / "hostile"
    data = with_document(stored[0][2], claim_features(HUGE))
    assert len(data) < 10_000
    path.write_bytes(data)
    (tmp_path / "good").write_bytes(stored[0][2])
    code = """
import resource, sys
import rgboost
rgboost.load(sys.argv[1])  # all that is imported then is there
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (64 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    rgboost.load(sys.argv[2])
except rgboost.storage.StorageError as error:
    print(error)
"""
    paths = [str(tmp_path / "good"), str(path)]
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert (
        f"{path} cannot be loaded. Its value n_features_in_ is 100,000,000 in a file of 3"
        in done.stdout
    )


def test_many_features_take_a_bit_each(tmp_path):
    n_features = 200_000
    X = scipy.sparse.random_array((50, n_features), density=1e-4, rng=0, format="csr")
    model = rgboost.RGBMRegressor(max_iter=5, random_state=0).fit(X, np.arange(50.0))
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < n_features / 8 + 20_000
    loaded = rgboost.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_long_files_take_their_own_size(tmp_path):
    """A document of a megabyte of brackets, the worst there is, and one of numbers."""
    model = rgboost.RGBMRegressor(max_iter=2).fit(np.eye(9), np.arange(9.0))
    model.save(tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    for groups in ([[]] * 300_000, list(range(150_000))):
        changed = with_document(data, lambda v, g=groups: v["parameters"].update(groups=g))
        (tmp_path / "model").write_bytes(changed)
        _, peak = load_peak(tmp_path / "model")
        assert peak < 60 * len(changed)
