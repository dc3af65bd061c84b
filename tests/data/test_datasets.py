"""Named data sets: where they are looked for, what is accepted, what is said when they are not."""

import bz2
import dataclasses
import hashlib
import lzma
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from rgboost.data import cache, datasets
from rgboost.data.readers import DataError

from .http_files import serve

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared data files")

TINY = b"1 1:1 3:1\n2 2:1\n1 3:2\n"
TINY_SHAPE = (3, 3)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    """No test looks into the user's cache, or downloads from afar."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(datasets, "cache_dir", lambda: folder)
    monkeypatch.delenv("RGBOOST_DATA", raising=False)
    monkeypatch.setattr(cache, "PAUSE_SECONDS", 0.0)
    for name, entry in datasets.REGISTRY.items():
        if entry.url is not None:
            nowhere = dataclasses.replace(entry, url="http://127.0.0.1:9/" + entry.url[-5:])
            monkeypatch.setitem(datasets.REGISTRY, name, nowhere)
    return folder


@pytest.fixture
def tiny(monkeypatch):
    """a9a as a set of three rows."""

    def change(**changes):
        entry = dataclasses.replace(datasets.REGISTRY["a9a"], **changes)
        monkeypatch.setitem(datasets.REGISTRY, "a9a", entry)

    change(n_rows=3, n_features=3)
    return change


def put(path, content=TINY):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_registry_is_table_stats():
    sizes = {
        name: (entry.task, entry.n_rows, entry.n_features)
        for name, entry in datasets.REGISTRY.items()
        if entry.stands_for is None
    }
    assert sizes == {
        "a9a": ("classification", 32_561, 123),
        "colon-cancer": ("classification", 62, 2_000),
        "rcv1": ("classification", 20_242, 47_236),
        "year": ("regression", 463_715, 90),
    }


def test_embedded():
    data = datasets.load("embedded", download=False)
    assert data.X.shape == (data.n_rows, data.n_features) == (569, 30)
    assert set(data.y) == {-1.0, 1.0}
    assert (data.paths, data.is_papers) == ((), False)


def test_embedded_digits():
    data = datasets.load("embedded-digits", download=False)
    assert data.X.shape == (1797, 64)
    assert set(data.y) == set(range(10))
    assert data.task == "regression"


def test_unknown_name():
    with pytest.raises(
        ValueError, match=r"name='a8a' is not known; use one of 'embedded', .*'a9a'"
    ):
        datasets.load("a8a")


class TestPlaces:
    @pytest.mark.parametrize(
        ("name", "pack"),
        [
            ("a9a", bytes),
            ("a9a.xz", lzma.compress),
            ("a9a.bz2", bz2.compress),
            ("a9a/a9a", bytes),
            ("a9a/a9a.xz", lzma.compress),
        ],
    )
    def test_flat_or_in_a_folder(self, tiny, tmp_path, name, pack):
        path = put(tmp_path / "data" / name, pack(TINY))
        data = datasets.load("a9a", data_dir=tmp_path / "data")
        assert data.paths == (path,)
        assert scipy.sparse.issparse(data.X)
        assert_array_equal(data.X.toarray(), [[1, 0, 1], [0, 1, 0], [0, 0, 2]])
        assert_array_equal(data.y, [-1, 1, -1])

    def test_order(self, tiny, tmp_path, monkeypatch, own_cache):
        named = put(tmp_path / "named" / "a9a")
        environment = put(tmp_path / "environment" / "a9a" / "a9a")
        cached = put(own_cache / "a9a")
        monkeypatch.setenv("RGBOOST_DATA", str(tmp_path / "environment"))
        for path in (named, environment, cached):
            assert datasets.find("a9a", tmp_path / "named") == (path,)
            path.unlink()
        assert datasets.find("a9a", tmp_path / "named") is None

    def test_data_dir_that_is_no_folder(self, tmp_path):
        with pytest.raises(DataError, match="none: data_dir is not a folder, check the path"):
            datasets.load("a9a", data_dir=tmp_path / "none")

    def test_set_of_two_files_needs_both(self, tmp_path):
        put(tmp_path / "data" / "rcv1_binary_from_subsets.part0.svm")
        assert datasets.find("rcv1-subsets", tmp_path / "data") is None


class TestNotThere:
    def test_no_network(self, tmp_path, own_cache):
        with pytest.raises(DataError) as caught:
            datasets.load("colon-cancer", data_dir=tmp_path)
        message = str(caught.value)
        assert "colon-cancer is not here, and http://127.0.0.1:9/" in message
        assert "cannot be reached" in message
        assert "put colon-cancer (as it is, or as .xz, .bz2 or .gz) into" in message
        assert f"into {tmp_path} or {own_cache}, or name its folder in RGBOOST_DATA" in message

    def test_no_download(self, own_cache):
        with pytest.raises(DataError, match=r"downloads are off. Remedy: get http.* put a9a .*RGB"):
            datasets.load("a9a", download=False)
        assert not own_cache.exists()

    def test_no_address(self, monkeypatch, tmp_path):
        monkeypatch.setenv("RGBOOST_DATA", str(tmp_path))
        with pytest.raises(DataError, match=r"no address is known.*part0.svm and .*part1.svm"):
            datasets.load("rcv1-subsets")


class TestDownload:
    def test_into_the_cache(self, tiny, own_cache):
        with serve() as server:
            server.files["/a9a"] = TINY
            server.breaks = [10]
            tiny(url=f"{server.url}/a9a", sha256=hashlib.sha256(TINY).hexdigest())
            told = []
            data = datasets.load("a9a", progress=lambda done, total: told.append(done))
        assert data.paths == (own_cache / "a9a",)
        assert told[-1] == len(TINY)
        assert datasets.load("a9a").X.shape == TINY_SHAPE  # the server is gone

    def test_compressed(self, tiny, own_cache):
        with serve() as server:
            server.files["/a9a.bz2"] = bz2.compress(TINY)
            tiny(url=f"{server.url}/a9a.bz2", sha256=None)
            assert datasets.load("a9a").paths == (own_cache / "a9a.bz2",)

    def test_wrong_checksum(self, tiny):
        with serve() as server:
            server.files["/a9a"] = TINY
            tiny(url=f"{server.url}/a9a")
            with pytest.raises(
                DataError, match=r"a9a is not here, and .*expected f5d5.*Remedy: get"
            ):
                datasets.load("a9a")


class TestSize:
    def test_other_size_is_refused(self, tmp_path):
        put(tmp_path / "rcv1_train.binary")
        message = (
            r"rcv1_train.binary: rcv1 has 20,242 rows and 47,236 features, this file has 3 and 3, "
            r"get the whole file, or load 'rcv1-subsets', or accept it with any_size=True"
        )
        with pytest.raises(DataError, match=message):
            datasets.load("rcv1", data_dir=tmp_path)

    def test_other_size_is_accepted_on_request(self, tmp_path):
        put(tmp_path / "rcv1_train.binary")
        data = datasets.load("rcv1", data_dir=tmp_path, any_size=True)
        assert data.X.shape == (3, 47_236)  # a feature may be absent from a part of the rows
        assert not data.is_papers

    def test_more_than_two_classes(self, tiny, tmp_path):
        put(tmp_path / "a9a", b"1 1:1\n2 2:1\n3 3:1\n")
        with pytest.raises(DataError, match="has 3 classes instead of 2"):
            datasets.load("a9a", data_dir=tmp_path)

    def test_fault_in_the_file(self, tiny, tmp_path):
        put(tmp_path / "a9a", b"1 1:1\n2 2:x\n")
        with pytest.raises(DataError, match="a9a:2:5: the value 'x' is not a number"):
            datasets.load("a9a", data_dir=tmp_path)


@needs_shared
@pytest.mark.parametrize(
    ("name", "shape", "is_sparse", "is_papers", "n_positive"),
    [
        ("a9a", (32_561, 123), True, True, 7_841),
        ("colon-cancer", (62, 2_000), False, True, 22),
        ("rcv1-subsets", (23_765, 47_236), True, False, None),
        ("year-sample", (1_176, 90), False, False, None),
    ],
)
def test_real_sets(name, shape, is_sparse, is_papers, n_positive):
    if name == "year-sample":
        pytest.importorskip("pandas")
    data = datasets.load(name, data_dir=SHARED, download=False)
    assert data.X.shape == shape
    assert scipy.sparse.issparse(data.X) == is_sparse
    assert data.X.dtype == data.y.dtype == np.float64
    assert data.is_papers == is_papers
    if data.task == "classification":
        assert set(data.y) == {-1.0, 1.0}
    if n_positive is not None:
        assert np.count_nonzero(data.y == 1) == n_positive


@needs_shared
@pytest.mark.parametrize("name", ["rcv1", "year"])
def test_stand_ins_do_not_pass_for_the_paper_s_sets(name):
    with pytest.raises(DataError, match=f"{name} is not here"):
        datasets.load(name, data_dir=SHARED, download=False)


@needs_shared
@pytest.mark.parametrize(("name", "path"), [("a9a", "a9a/a9a.xz"), ("colon-cancer", None)])
def test_checksums_belong_to_the_original_files(name, path):
    if path is None:
        content = (SHARED / "colon-cancer/colon-cancer.bz2").read_bytes()
    else:
        content = lzma.decompress((SHARED / path).read_bytes())
    assert hashlib.sha256(content).hexdigest() == datasets.REGISTRY[name].sha256


class TestSplit:
    @pytest.mark.parametrize("n_rows", [2, 5, 62, 101])
    def test_parts(self, n_rows):
        X, y = np.arange(n_rows)[:, None] * [1, 10], np.arange(n_rows)
        split = datasets.train_test_split_80_20(X, y, seed=3)
        assert len(split.y_train) == 4 * n_rows // 5
        assert sorted([*split.y_train, *split.y_test]) == list(range(n_rows))
        assert_array_equal(split.X_train[:, 1], 10 * split.y_train)
        assert_array_equal(split.X_test[:, 0], split.y_test)
        assert (np.diff(split.y_train) > 0).all()

    def test_seeds(self):
        X, y = np.zeros((100, 1)), np.arange(100)
        first, again, other = (datasets.train_test_split_80_20(X, y, s).y_test for s in (1, 1, 2))
        assert_array_equal(first, again)
        assert not np.array_equal(first, other)

    def test_sparse_and_frames(self):
        pandas = pytest.importorskip("pandas")
        y = np.arange(10)
        sparse = datasets.train_test_split_80_20(scipy.sparse.csr_array(y[:, None]), y, 0)
        frame = datasets.train_test_split_80_20(pandas.DataFrame({"a": y}), pandas.Series(y), 0)
        assert_array_equal(sparse.X_test.toarray()[:, 0], sparse.y_test)
        assert_array_equal(frame.X_test["a"], sparse.y_test)

    def test_different_lengths(self):
        with pytest.raises(ValueError, match="X has 5 rows, y has 4"):
            datasets.train_test_split_80_20(np.zeros((5, 1)), np.zeros(4), 0)
