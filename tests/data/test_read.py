"""One door to all formats: compression, choice of the format, options, Parquet."""

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas
import pytest
from numpy.testing import assert_array_equal

from rgboost.data.readers import DataError, detect_format, iter_tables, read_table


def zip_files(*contents, names=("folder/data.txt",)):
    """An archive with folders, and with what a Mac adds."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("folder")
        archive.writestr("__MACOSX/._data.txt", "nothing")
        for name, content in zip(names, contents, strict=True):
            archive.writestr(name, content)
    return packed.getvalue()


COMPRESS = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zip": zip_files,
}  # fmt: skip
LIBSVM = b"1 1:2 3:4\n-1 2:5\n"
CSV = b"a,y\n1,2\n3,4\n"


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            zip_files(CSV, CSV, names=("a.csv", "b.csv")),
            r"has 2 files \('a.csv', 'b.csv'\), one is",
        ),
        (zip_files(names=()), "has 0 files"),
        (zip_files(CSV).replace(b"\x14\x00\x00\x00", b"\x14\x00\x01\x00"), "locked by a password"),
        (zip_files(CSV).replace(b"\0\0\x08\0", b"\0\0\x60\0"), "of another kind"),
    ],
)
def test_archives_that_are_refused(tmp_path, content, message):
    path = write(tmp_path, "data.zip", content)
    with pytest.raises(DataError, match=rf"data.zip: .*{message}"):
        read_table(path, format="csv")


@pytest.mark.parametrize("ending", COMPRESS)
class TestCompression:
    def test_libsvm(self, tmp_path, ending):
        path = write(tmp_path, f"data{ending}", COMPRESS[ending](LIBSVM))
        table = read_table(path)
        assert_array_equal(table.X.toarray(), [[2, 0, 4], [0, 5, 0]])
        assert table.path == path

    def test_csv(self, tmp_path, ending):
        path = write(tmp_path, f"data.csv{ending}", COMPRESS[ending](CSV))
        assert_array_equal(read_table(path, target="y").y, [2, 4])

    @pytest.mark.parametrize("name", ["data.svm", "data.csv"])
    def test_cut_off(self, tmp_path, ending, name):
        rng = np.random.default_rng(0)
        text = "".join(f"1 1:{x}\n" for x in rng.random(5000)).encode()
        packed = COMPRESS[ending](text if name == "data.svm" else b"a\n" + text)
        path = write(tmp_path, name + ending, packed[: len(packed) // 2])
        with pytest.raises(DataError, match=f"the {ending} data is damaged.*get the file again"):
            read_table(path)

    def test_not_compressed(self, tmp_path, ending):
        path = write(tmp_path, f"data.svm{ending}", LIBSVM)
        with pytest.raises(DataError, match=f"{path}: the {ending} data is damaged"):
            read_table(path)

    def test_ending_is_missing(self, tmp_path, ending):
        path = write(tmp_path, "data.svm", COMPRESS[ending](LIBSVM))
        with pytest.raises(DataError, match=f"give it a name that ends in {ending}"):
            read_table(path)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("name", ["data.svm", "data.csv"])
def test_small_file_that_unpacks_to_one_long_line(tmp_path, name, ending):
    path = write(tmp_path, name + ending, COMPRESS[ending](b"1" * 30_000_000))
    assert path.stat().st_size < 50_000
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=f"{name}{ending}:1: this line is longer than 16,777,"):
            read_table(path)
        assert tracemalloc.get_traced_memory()[1] < 80e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("data.csv", LIBSVM, "csv"),
        ("data.tsv.gz", b"", "csv"),
        ("data.SVM", CSV, "libsvm"),
        ("data.libsvm.xz", b"", "libsvm"),
        ("data.parquet", b"", "parquet"),
        ("a9a", LIBSVM, "libsvm"),
        ("a9a.t", b"\xef\xbb\xbf# note\n\n-1\n-1 \n+1.5e3 qid:4 7:1", "libsvm"),
        ("rcv1.binary", b"1 1:x\n", "libsvm"),
        ("data.txt", CSV, "csv"),
        ("data", b"a b:1 c\n", "csv"),
        ("data", b"1\n2\n", "csv"),
        ("data", b"1,5:2\n", "csv"),
        ("data", b"PAR1....", "parquet"),
    ],
)
def test_detect_format(tmp_path, name, content, expected):
    assert detect_format(write(tmp_path, name, content)) == expected


def test_no_such_file(tmp_path):
    for name in ("none.csv", "none.svm", "none", "none.svm.xz"):
        with pytest.raises(DataError, match=f"{name}: cannot be read .*check the path"):
            read_table(tmp_path / name)


def test_folder(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_table(tmp_path, format="libsvm")


def test_target_of_libsvm(tmp_path):
    path = write(tmp_path, "data.svm", LIBSVM)
    with pytest.raises(DataError, match=r"has no column 'y'.*leave the target out"):
        read_table(path, target="y")


def test_option_of_another_format(tmp_path):
    path = write(tmp_path, "data.csv", CSV)
    with pytest.raises(TypeError, match=r"n_features is not an option of csv files.*of libsvm"):
        read_table(path, n_features=3)
    with pytest.raises(TypeError, match=r"colour is not an option.*no format has it"):
        read_table(path, colour=3)
    with pytest.raises(ValueError, match="format='xls' is not known"):
        read_table(path, format="xls")
    with pytest.raises(ValueError, match="batch_rows=0 must be 1 or greater"):
        iter_tables(path, batch_rows=0)


def test_missing_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"need pyarrow: pip install 'rgboost\[frames\]'"):
        read_table(write(tmp_path, "d.pq", CSV))


class TestParquet:
    @pytest.fixture
    def path(self, tmp_path):
        pytest.importorskip("pyarrow")
        frame = pandas.DataFrame(
            {"a": np.arange(50.0), "b": ["x", None] * 25, "y": np.arange(50) % 2}
        )
        frame.loc[3, "a"] = np.nan
        path = tmp_path / "data.parquet"
        frame.to_parquet(path)
        return path

    def test_whole(self, path):
        table = read_table(path, target="y")
        assert table.feature_names == ("a", "b")
        assert table.format == "parquet"
        assert_array_equal(table.y, np.arange(50) % 2)
        assert table.X["a"].isna().sum() == 1
        assert table.X["b"].isna().sum() == 25

    @pytest.mark.parametrize("ending", COMPRESS)
    def test_compressed(self, path, ending):
        packed = Path(f"{path}{ending}")
        packed.write_bytes(COMPRESS[ending](path.read_bytes()))
        assert read_table(packed).X.equals(read_table(path).X)

    def test_batches(self, path):
        batches = list(iter_tables(path, target="y", batch_rows=20))
        assert [batch.n_rows for batch in batches] == [20, 20, 10]
        assert_array_equal(np.concatenate([batch.y for batch in batches]), np.arange(50) % 2)

    def test_target_that_is_not_there(self, path):
        with pytest.raises(DataError, match="no target column 'Y', the nearest names are 'y'"):
            read_table(path, target="Y")

    @pytest.mark.parametrize("keep", [0, 6, 200])
    def test_damaged(self, path, keep):
        path.write_bytes(path.read_bytes()[:keep])
        with pytest.raises(DataError, match=r"data\.parquet: the Parquet data is damaged"):
            read_table(path)

    def test_no_such_file(self, path):
        with pytest.raises(DataError, match="cannot be read"):
            read_table(path.with_name("none.parquet"))

    def test_no_rows(self, path):
        pandas.DataFrame({"a": np.empty(0)}).to_parquet(path)
        with pytest.raises(DataError, match="no rows"):
            read_table(path)
