"""Faulty LIBSVM files: each fault with its place and a remedy; random faults; memory."""

import pickle
import random
import re
import subprocess
import sys

import numpy as np
import pytest

from rgboost.data.readers import DataError, compressed, iter_tables, libsvm_file, read_table

from .libsvm_twin import Refused, naive_libsvm
from .test_libsvm import check_against_twin, read

FAULTS = [
    # content, line, column, what, remedy
    (b"1 1:1\nyes 1:1\n", 2, 1, "the label 'yes' is not a number", "begin each line"),
    (b"1:1 2:1\n", 1, 1, "has no label", "begin each line with its label"),
    (b"1,2 1:1\n", 1, 1, "the label '1,2' is not a number", "one label per line"),
    (b"nan 1:1\n", 1, 1, "the label 'nan' is not finite", "remove lines"),
    (b"1e999 1:1\n", 1, 1, "the label '1e999' is out of range", "rescale"),
    (b"1.8e308 1:1\n", 1, 1, "the label '1.8e308' is out of range", "rescale"),
    (b"1 1:1 17 18:1\n", 1, 7, "'17' has no colon", "index:value"),
    (b"1 x:1\n", 1, 3, "'x' is not a feature index", "index:value"),
    (b"1 :1\n", 1, 3, "'' is not a feature index", "index:value"),
    (b"1 1.5:1\n", 1, 3, "'1.5' is not a feature index", "index:value"),
    (b"1 1e3:1\n", 1, 3, "'1e3' is not a feature index", "index:value"),
    (b"1 1_0:1\n", 1, 3, "'1_0' is not a feature index", "index:value"),
    (b"1_0 1:1\n", 1, 1, "the label '1_0' is not a number", "begin each line"),
    (b"1 qidx:1 1:1\n", 1, 3, "'qidx' is not a feature index", "index:value"),
    (b"1 -3:1\n", 1, 3, "feature index -3 is negative", "from 0 or 1"),
    (b"1 2147483648:1\n", 1, 3, "feature index 2147483648 is above", "renumber"),
    (b"1 99999999999999999999999:1\n", 1, 3, "feature index 99999999999999999999999 is", "renum"),
    (b"1 1:1\n\n# note\n1 1:1  7:1 5:1\n", 4, 12, "feature index 5 comes after", "sort"),
    (b"1 1:1 1:1\n", 1, 7, "feature index 1 is repeated", "one value per feature"),
    (b"1 1:\n", 1, 5, "the value after the colon is missing", "without blanks"),
    (b"1 1: 2\n", 1, 5, "the value after the colon is missing", "without blanks"),
    (b"1 1:two\n", 1, 5, "the value 'two' is not a number", "index:value"),
    (b"1 1:1:2\n", 1, 5, "the value '1:2' is not a number", "index:value"),
    (b"1 1:1,5\n", 1, 5, "the value '1,5' is not a number", "index:value"),
    (b"1 1:1_000\n", 1, 5, "the value '1_000' is not a number", "index:value"),
    (b"1 1:2 3:-inf\n", 1, 9, "the value '-inf' is not finite", "leave the feature out"),
    (b"1 1:NaN\n", 1, 5, "the value 'NaN' is not finite", "leave the feature out"),
    (b"1 1:1e400\n", 1, 5, "the value '1e400' is out of range", "rescale"),
    (b"1 1:1\n1 1:1\n1 1:1.8e308\n2 1:1\n", 3, 5, "the value '1.8e308' is out of range", "resc"),
    (b"1 1:1\n1 1:1.8e308\n2 1:1\n2 1:x\n", 2, 5, "the value '1.8e308' is out of range", "resc"),
    (b"1 1:1.8e308 2:x\n", 1, 5, "the value '1.8e308' is out of range", "resc"),
    (b"1 1:1.8e308\nx 2:1\n", 1, 5, "the value '1.8e308' is out of range", "resc"),
    (b"1 qid:x 1:1\n", 1, 3, "'qid:x' is not a query id", "qid:NUMBER"),
    (b"1 1:1 qid:2\n", 1, 7, "'qid:2' is not a query id", "right after the label"),
    (b"1 1:1\n1 \x00 1:1\n", 2, None, "binary, not text", "right file"),
    (b"1 1:1\n1 1:\xff\xfe\n", 2, 5, "is not a number", "index:value"),
    (b"1 1:1\r\n1 1:1\r\n1 1:z\r\n", 3, 5, "the value 'z'", "index:value"),
]


@pytest.mark.parametrize(("content", "line", "column", "what", "remedy"), FAULTS)
def test_fault(tmp_path, content, line, column, what, remedy):
    with pytest.raises(DataError) as caught:
        read(tmp_path, content, format="libsvm")
    message = str(caught.value)
    place = f"{line}" if column is None else f"{line}:{column}"
    assert message.startswith(f"{tmp_path / 'file.svm'}:{place}: ")
    assert what in message
    assert remedy in message.partition(what)[2]
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"1 1:1\n1 0:1\n", {"zero_based": False}, ":2:3: feature index 0 in a file .*zero_based"),
        (b"1 4:1\n", {"n_features": 3}, ":1:3: feature index 4 does not fit n_features=3, raise"),
        (b"1 3:1\n", {"n_features": 3, "zero_based": True}, ":1:3: feature index 3 does not fit"),
        (b"", {}, "no rows"),
        (b"# nothing\n\n", {}, "no rows"),
        (b"1 \x00 1:1\n", {}, "binary, not text"),
        (b"\xff\xfe1\x00", {}, ":1: there is a NUL byte"),
    ],
)
def test_fault_by_option(tmp_path, content, options, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, content, **options)


def test_long_tokens_are_shortened(tmp_path):
    with pytest.raises(DataError) as caught:
        read(tmp_path, b"1 1:" + b"x" * 10_000)
    assert len(str(caught.value)) < 300 + len(str(tmp_path))


def test_error_survives_pickle():
    error = DataError("bad, mend it", path="a/b", line=3, column=4)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "a/b:3:4: bad, mend it"
    assert (again.path, again.line, again.column) == ("a/b", 3, 4)


VALID = b"""\xef\xbb\xbf+1 1:0.5 3:-2e-3 17:1 # first
-1 2:1234567.890123456789 40:.5\r

# a comment
0.25 1:5e-324 2:17.976931348623157e307
3
1e2 5:0 6:7. 7:1
"""
SPICE = [b":", b" ", b"\n", b"\r", b"#", b"-", b"e", b".", b"0", b"9" * 25, b"qid:1", b"\x00"]
SPICE += [
    b"nan",
    b"_",
    b"1e3:1 ",
    b"\xff",
    b"\t",
    b"+",
    b" 1:1",
    b"\n1 0:1",
    b"1e",
    b" 2147483647:1",
]


def mutate(rng, content):
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(5):
            case 0:
                content = content[:at] + rng.choice(SPICE) + content[at:]
            case 1:
                content = content[:at] + content[at + rng.randint(1, 6) :]
            case 2:
                content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
            case 3:
                content = content[at:] + content[:at]
            case 4:
                content = content[: rng.randrange(len(content) + 1)] + content[at:]
    return content


@pytest.mark.parametrize("seed", range(40))
def test_mutated_files_are_read_right_or_refused(tmp_path, seed):
    """Twenty mutations each: the reader accepts exactly what its naive twin accepts."""
    rng = random.Random(seed)
    path = tmp_path / "mutated.svm"
    for _ in range(20):
        content = mutate(rng, VALID[rng.choice([0, 3]) :])  # with and without its BOM
        path.write_bytes(content)
        try:
            rows = naive_libsvm(content)
        except Refused:
            with pytest.raises(DataError, match=re.escape(str(path))):
                read_table(path)
            continue
        most = max((index for _, f in rows for index in f), default=0)
        if most < 10_000:
            check_against_twin(read_table(path), rows)
        else:
            with pytest.raises(DataError, match=r":\d+:\d+: .*(give|does not fit) n_features="):
                read_table(path, n_features=None if most < 2**31 - 1 else most - 1)


class TestFarIndex:
    """A slip of the pen must not ask for memory for two thousand million features."""

    content = b"1 1:1 3:4\n" * 60 + b"1 3:1 2000000000:1\n" + b"-1 2:1\n" * 60

    def test_needs_n_features(self, tmp_path):
        assert len(self.content) < 1200
        with pytest.raises(DataError) as caught:
            read(tmp_path, self.content)
        assert str(caught.value).endswith(
            "file.svm:61:7: the largest feature index is 2,000,000,000, and the file has 182 "
            "values; if this is right, give n_features=2000000000, else correct the index"
        )
        with pytest.raises(DataError, match="give n_features=2000000000"):
            next(iter_tables(tmp_path / "file.svm"))

    def test_is_read_with_n_features(self, tmp_path):
        table = read(tmp_path, self.content, n_features=2_000_000_000)
        assert table.X.shape == (121, 2_000_000_000)
        assert table.X.nnz == 182

    @pytest.mark.parametrize(("index", "is_read"), [(2**20, True), (2**20 + 1, False)])
    def test_what_is_far(self, tmp_path, index, is_read):
        content = b"1 %d:1\n" % index
        if is_read:
            assert read(tmp_path, content).X.shape == (1, index)
        else:
            with pytest.raises(DataError, match=f"give n_features={index}"):
                read(tmp_path, content)

    def test_as_many_values_as_features(self, tmp_path, monkeypatch):
        monkeypatch.setattr(libsvm_file, "FREE_WIDTH", 5)
        assert read(tmp_path, b"1 1:1 2:1 3:1 5:1 6:1\n2 6:1\n").n_features == 6
        with pytest.raises(DataError, match="give n_features=8"):
            read(tmp_path, b"1 1:1 2:1 3:1 5:1 7:1\n2 0:1\n")


def test_longest_line(tmp_path, monkeypatch):
    monkeypatch.setattr(compressed, "LONGEST_LINE", 20)
    assert read(tmp_path, b"1 1:1\n2 1:123456 2:12345\n").n_rows == 2
    with pytest.raises(DataError, match=r"file\.svm:2: this line is longer than 20 characters"):
        read(tmp_path, b"1 1:1\n2 1:123456 2:1234567\n")


MEASURE = """
import sys, tracemalloc
from rgboost.data.readers import read_table
small, large = sys.argv[1:]
read_table(small)  # compiled code and imports are not what is measured
tracemalloc.start()
table = read_table(large)
parsed = sum(part.nbytes for part in (table.X.data, table.X.indices, table.X.indptr, table.y))
print(parsed, tracemalloc.get_traced_memory()[1])
"""


def test_memory_stays_within_twice_the_parsed_size(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(1000):
        indices = np.sort(rng.choice(47_236, size=75, replace=False)) + 1
        features = " ".join(f"{i}:{v:.6f}" for i, v in zip(indices, rng.random(75), strict=True))
        lines.append(f"1 {features}\n")
    block = "".join(lines).encode()
    small, large = tmp_path / "small.svm", tmp_path / "large.svm"
    small.write_bytes(block)
    with open(large, "wb") as file:
        while file.tell() < 50e6:
            file.write(block)
    run = [sys.executable, "-c", MEASURE, str(small), str(large)]
    result = subprocess.run(run, capture_output=True, text=True, check=True)
    parsed, peak = map(int, result.stdout.split())
    assert parsed > 35e6
    assert peak < 2 * parsed
