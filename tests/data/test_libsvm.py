"""The LIBSVM reader: odd but right files, comparison with a naive twin and with scikit-learn."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file

from rgboost.data.readers import DataError, iter_tables, libsvm_file, read_table

from .libsvm_twin import dense_rows, naive_libsvm
from .numbers import hard_numbers

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"


def read(tmp_path, content, **options):
    path = tmp_path / "file.svm"
    path.write_bytes(content)
    return read_table(path, **options)


def check_against_twin(table, rows):
    values, zero_based, width = dense_rows(rows)
    assert table.X.shape == (len(rows), width)
    assert table.zero_based == zero_based
    assert_array_equal(table.y, [label for label, _ in rows])
    assert_array_equal(table.X.toarray(), np.array(values).reshape(len(rows), width))
    table.X.check_format(full_check=True)
    assert table.X.indices.dtype == np.int32
    assert table.X.indptr.dtype == np.int32


@st.composite
def libsvm_text(draw):
    """A right file in one of the many ways to write it."""
    real = st.floats(allow_nan=False, allow_infinity=False)
    number = st.one_of(
        real.map(repr),
        real.filter(lambda x: abs(x) < 1e30).map(lambda x: f"{x:+.12f}"),
        st.integers(-9, 9).map(str),
        st.sampled_from(["0", "1e5", "-2E-3", ".5", "7.", "123456789012345678901234567890"]),
    )
    blank = st.sampled_from([" ", "  ", "\t", " \t "])
    end = st.sampled_from(["", " ", "\r", " # note 1:2", "#"])
    with_queries = draw(st.booleans())
    least = draw(st.sampled_from([0, 1]))
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        if draw(st.booleans()) and draw(st.booleans()):
            lines.append(draw(st.sampled_from(["", "  ", "# only a comment", "\r"])))
        words = [draw(number)]
        if with_queries:
            words.append(f"qid:{draw(st.integers(0, 10**12))}")
        indices = draw(st.sets(st.integers(least, 40), max_size=6))
        words += [f"{index}:{draw(number)}" for index in sorted(indices)]
        lines.append(draw(blank).join(words) + draw(end))
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return bom + "\n".join(lines).encode() + draw(st.sampled_from([b"", b"\n", b"\n\n"]))


@given(content=libsvm_text())
def test_same_as_naive_twin(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "twin.svm"
    path.write_bytes(content)
    check_against_twin(read_table(path), naive_libsvm(content))


@given(
    st.integers(1, 30), st.integers(1, 40), st.floats(0, 1), st.integers(0, 2**32), st.booleans()
)
def test_same_as_scikit_learn(tmp_path_factory, n_rows, n_features, density, seed, zero_based):
    from scipy.sparse import random_array
    from sklearn.datasets import dump_svmlight_file

    rng = np.random.default_rng(seed)
    X = random_array((n_rows, n_features), density=density, rng=rng, format="csr")
    path = tmp_path_factory.getbasetemp() / "random.svm"
    dump_svmlight_file(X, rng.normal(size=n_rows), str(path), zero_based=zero_based)
    options = {"zero_based": zero_based, "n_features": n_features}
    expected, y = load_svmlight_file(str(path), **options)
    table = read_table(path, **options)
    assert_array_equal(table.y, y)
    assert_array_equal(table.X.toarray(), expected.toarray())


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared data files")
@pytest.mark.parametrize(
    "name", ["a9a/a9a.xz", "a9a/a9a.t.xz", "colon-cancer/colon-cancer.bz2", "w8a/w8a.xz"]
)
def test_real_files_as_scikit_learn(name, tmp_path):
    path = SHARED / name
    table = read_table(path)
    plain = tmp_path / "plain"
    with libsvm_file.open_binary(path) as stream:
        plain.write_bytes(stream.read())
    X, y = load_svmlight_file(str(plain))
    X.eliminate_zeros()
    assert_array_equal(table.y, y)
    for part in ("data", "indices", "indptr"):
        assert_array_equal(getattr(table.X, part), getattr(X, part))
    assert table.X.shape == X.shape
    assert table.n_rows == len(y)


def test_windows_file(tmp_path):
    table = read(tmp_path, b"\xef\xbb\xbf+1 1:2.5 3:-1\r\n\r\n-1 2:1\r\n")
    assert_array_equal(table.X.toarray(), [[2.5, 0, -1], [0, 1, 0]])
    assert_array_equal(table.y, [1, -1])


def test_line_with_only_a_label_is_a_row(tmp_path):
    assert_array_equal(read(tmp_path, b"1\n2 1:1\n3 ").X.toarray(), [[0], [1], [0]])


def test_no_features_at_all(tmp_path):
    assert read(tmp_path, b"1\n2\n", format="libsvm").X.shape == (2, 0)


def test_comments(tmp_path):
    table = read(tmp_path, b"# head 1:1\n1 1:2#tail 2:3\n  # more\n2 # 1:1\n")
    assert_array_equal(table.X.toarray(), [[2], [0]])


def test_query_ids_are_passed_over(tmp_path):
    table = read(tmp_path, b"1 qid:3 1:1\n2 \t qid:12345678901 2:1\n3 qid:4\n4 1:2 # qid:1\n")
    assert_array_equal(table.X.toarray(), [[1, 0], [0, 1], [0, 0], [2, 0]])


class TestFirstIndex:
    def test_found_out(self, tmp_path):
        assert_array_equal(read(tmp_path, b"1 1:5 2:6\n").X.toarray(), [[5, 6]])
        table = read(tmp_path, b"1 1:5\n2 0:7\n")
        assert table.zero_based
        assert_array_equal(table.X.toarray(), [[0, 5], [7, 0]])

    def test_zero_based(self, tmp_path):
        assert_array_equal(read(tmp_path, b"1 1:5\n", zero_based=True).X.toarray(), [[0, 5]])

    def test_zero_found_after_the_last_feature(self, tmp_path):
        """Index 2 fits two features counted from 1; the 0 on a later line makes it wrong."""
        with pytest.raises(DataError, match=r":2:5: feature index 2 does not fit n_features=2"):
            read(tmp_path, b"1 1:5\n2   2:1\n3 0:1\n", n_features=2)


class TestZeros:
    def test_are_dropped_but_count_for_the_width(self, tmp_path):
        table = read(tmp_path, b"1 1:1 2:0 5:0.0\n-1 1:-0 2:1e-400 3:1e-330\n")
        assert table.X.shape == (2, 5)
        assert table.X.nnz == 1


def test_numbers_are_the_nearest_doubles(tmp_path):
    """As labels and as values; among them those half-way between two doubles."""
    texts = hard_numbers(np.random.default_rng(0))
    content = "".join(f"{text} 1:1 2:{text}\n" for text in texts)
    table = read(tmp_path, content.encode())
    expected = [float(text) for text in texts]
    assert_array_equal(table.y, expected)
    assert_array_equal(table.X.toarray()[:, 1], expected)


def test_width_is_fixed_by_n_features(tmp_path):
    assert read(tmp_path, b"1 1:1\n", n_features=7).X.shape == (1, 7)


class TestBlocks:
    @pytest.fixture(autouse=True)
    def small_blocks(self, monkeypatch):
        monkeypatch.setattr(libsvm_file, "_BLOCK_BYTES", 16)

    def test_lines_longer_than_a_block(self, tmp_path):
        content = b"1 1:1\n" + b"2 " + b" ".join(b"%d:%d" % (i, i) for i in range(1, 300)) + b"\n3"
        check_against_twin(read(tmp_path, content), naive_libsvm(content))

    def test_error_in_a_later_block(self, tmp_path):
        content = b"1 1:1 2:2 3:3\n" * 50 + b"1 1:1 2:x\n"
        with pytest.raises(DataError, match=r"file\.svm:51:9: the value 'x' is not a number"):
            read(tmp_path, content)

    @given(content=libsvm_text())
    def test_same_as_naive_twin(self, tmp_path_factory, content):
        path = tmp_path_factory.getbasetemp() / "blocks.svm"
        path.write_bytes(content)
        check_against_twin(read_table(path), naive_libsvm(content))


class TestBatches:
    content = b"".join(b"%d %d:1 40:%d\n" % (i, i % 7 + 1, i) for i in range(100))

    @pytest.mark.parametrize("batch_rows", [1, 7, 100, 1000])
    def test_are_the_rows_of_the_file(self, tmp_path, monkeypatch, batch_rows):
        monkeypatch.setattr(libsvm_file, "_BLOCK_BYTES", 128)
        whole = read(tmp_path, self.content)
        batches = list(iter_tables(whole.path, batch_rows=batch_rows))
        assert [b.n_rows for b in batches[:-1]] == [batch_rows] * (len(batches) - 1)
        assert {b.n_features for b in batches} == {40}
        assert_array_equal(np.concatenate([b.y for b in batches]), whole.y)
        assert_array_equal(np.vstack([b.X.toarray() for b in batches]), whole.X.toarray())

    def test_know_the_first_index_of_the_whole_file(self, tmp_path):
        path = tmp_path / "late.svm"
        path.write_bytes(b"1 1:1\n" * 10 + b"1 0:1\n")
        first = next(iter_tables(path, batch_rows=5))
        assert first.zero_based
        assert_array_equal(first.X.toarray()[0], [0, 1])

    @pytest.mark.parametrize("options", [{}, {"n_features": 3, "zero_based": False}])
    def test_of_an_empty_file(self, tmp_path, options):
        path = tmp_path / "empty.svm"
        path.write_bytes(b"# nothing\n")
        with pytest.raises(DataError, match="the file has no rows"):
            list(iter_tables(path, **options))

    def test_without_a_first_pass(self, tmp_path):
        path = tmp_path / "known.svm"
        path.write_bytes(b"1 1:1\n2 2:1\n")
        batches = list(iter_tables(path, batch_rows=1, n_features=3, zero_based=False))
        assert_array_equal(np.vstack([b.X.toarray() for b in batches]), [[1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 0}, "n_features=0 must be between"),
        ({"zero_based": "yes"}, "zero_based='yes' must be True, False or None"),
    ],
)
def test_wrong_options(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, b"1 1:1\n", **options)
