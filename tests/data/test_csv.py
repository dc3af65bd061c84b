"""The CSV reader: odd but right files, faults with their lines, random faults."""

import contextlib
import csv
import io
import random
import re
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from rgboost.data.readers import CsvOptions, DataError, compressed, iter_tables, read_table
from rgboost.data.readers.csv_file import locate_cell

from .numbers import hard_numbers

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"


def read(tmp_path, content, **options):
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    return read_table(path, **options)


def columns(table):
    frame = table.X.astype(object)
    return frame.where(frame.notna(), None).to_dict("list")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
        (b"\xef\xbb\xbfa,b\r\n1,\r\n,4\r\n", {"a": [1, None], "b": [None, 4]}),
        (b"a,b\r1,2\r3,4", {"a": [1, 3], "b": [2, 4]}),
        (b"a;b\n1.5;2\n", {"a": [1.5], "b": [2]}),
        (b"a\tb\n1\t2", {"a": [1], "b": [2]}),
        (b"a\tb\n\t2\n1\t\n", {"a": [None, 1], "b": [2, None]}),
        (b'a,b\n1,"x\r\ny"\n', {"a": [1], "b": ["x\r\ny"]}),
        (b'a,b\n1,"say ""hi"", you"\n', {"a": [1], "b": ['say "hi", you']}),
        (b'"a;1";"b\nc"\n1;2\n', {"a;1": [1], "b\nc": [2]}),
        (b"a,b\n\n1,2\n  \n3,4\n\n", {"a": [1, 3], "b": [2, 4]}),
        (b"a, b\n1, x\n", {"a": [1], "b": ["x"]}),
        (b"a,b\nNA,null\n1,nan\n", {"a": [None, 1], "b": [None, None]}),
        (b"a,,b\n1,2,3\n", {"a": [1], "column_2": [2], "b": [3]}),
        (b"a\n1\n2\n", {"a": [1, 2]}),
        ("α,β\n1,é\n".encode(), {"α": [1], "β": ["é"]}),
    ],
)
def test_right_files(tmp_path, content, expected):
    table = read(tmp_path, content)
    assert columns(table) == expected
    assert table.feature_names == tuple(expected)
    assert table.y is None
    assert table.n_rows == len(table.X)


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (b"1,2\n3,4\n", {"header": False}, {"x0": [1, 3], "x1": [2, 4]}),
        (b"a;b\n1,5;2\n", {"decimal": ","}, {"a": [1.5], "b": [2]}),
        (b"a|b\n1|2\n", {"delimiter": "|"}, {"a": [1], "b": [2]}),
        (b"a,b\n1,?\n2,3\n", {"missing_values": ("?",)}, {"a": [1, 2], "b": [None, 3]}),
        (b"a,b\n1,\xe9\n", {"encoding": "latin-1"}, {"a": [1], "b": ["é"]}),
        (b"title\n\na,b\n1,2\n", {"skip_lines": 1}, {"a": [1], "b": [2]}),
        (b"a,b\n1,2\n", {"dtypes": {"a": "str"}}, {"a": ["1"], "b": [2]}),
    ],
)
def test_options(tmp_path, content, options, expected):
    assert columns(read(tmp_path, content, **options)) == expected


def test_numbers_are_the_nearest_doubles(tmp_path):
    texts = hard_numbers(np.random.default_rng(0))
    table = read(tmp_path, "\n".join(["a", *texts]).encode())
    assert_array_equal(table.X["a"].to_numpy(), [float(text) for text in texts])


class TestDecimals:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(400, 2)).round(3)

    def text(self, numbers, delimiter=";", decimal=","):
        rows = [f"{x}{delimiter}{y}" for x, y in numbers.tolist()]
        return "\n".join([f"a{delimiter}b", *rows]).replace(".", decimal).encode()

    @pytest.mark.parametrize("delimiter", [";", "\t"])
    def test_commas_are_found(self, tmp_path, delimiter):
        table = read(tmp_path, self.text(self.numbers, delimiter))
        assert_array_equal(table.X.to_numpy(), self.numbers)

    def test_points_are_found(self, tmp_path):
        table = read(tmp_path, self.text(self.numbers, decimal="."))
        assert_array_equal(table.X.to_numpy(), self.numbers)

    def test_commas_that_could_be_of_thousands_are_asked_about(self, tmp_path):
        content = b"a;b\n1;1,250\n2;3,512\n"
        with pytest.raises(DataError) as caught:
            read(tmp_path, content)
        assert str(caught.value).endswith(
            "file.csv:2:3: '1,250' in the column 'b' looks like a number with a comma; if it is "
            "one, say decimal=',', else say dtypes={'b': 'str'}"
        )
        assert columns(read(tmp_path, content, decimal=",")) == {"a": [1, 2], "b": [1.25, 3.512]}
        for options in ({"decimal": "."}, {"dtypes": {"b": "str"}}):
            assert columns(read(tmp_path, content, **options))["b"] == ["1,250", "3,512"]

    @pytest.mark.parametrize(
        ("content", "place"),
        [
            (b'a,b\n"1,5",2\n"2,5",3\n', "2:1"),  # of another kind than the delimiter says
            (b"a;b\nx;1.5\n3,5;2.5\n4,25;1\n", "3:1"),  # points and commas
            (b"a;b\n1.234,5;1\n2.345,6;2\n", "2:1"),  # signs between thousands
            (b"a;b\n" + b"1;2\n" * 20_000 + b"1;2,5\n" * 100, r"200\d\d:3"),  # only at the end
        ],
    )
    def test_others_are_asked_about(self, tmp_path, content, place):
        with pytest.raises(DataError, match=f"file.csv:{place}: .* looks like a number"):
            read(tmp_path, content)

    def test_texts_with_commas_are_texts(self, tmp_path):
        content = b"a;b\n1;Ulm, 5\n2;x\n3;2,5\n4;y\n"
        assert columns(read(tmp_path, content))["b"] == ["Ulm, 5", "x", "2,5", "y"]

    def test_batches_ask_too(self, tmp_path):
        path = tmp_path / "late.csv"
        path.write_bytes(b"a;b\n" + b"1;2\n" * 20_000 + b"1;2,5\n" * 1000)
        with pytest.raises(DataError, match=r"late\.csv:20002:3: '2,5' in the column 'b'"):
            list(iter_tables(path, batch_rows=1000))


class TestTarget:
    content = b"alpha,beta,Price\n1,x,3\n2,y,4\n"

    @pytest.mark.parametrize("target", ["Price", 2, -1])
    def test_by_name_or_position(self, tmp_path, target):
        table = read(tmp_path, self.content, target=target)
        assert_array_equal(table.y, [3, 4])
        assert table.feature_names == ("alpha", "beta")
        assert table.n_features == 2

    def test_of_text(self, tmp_path):
        assert read(tmp_path, self.content, target="beta").y.tolist() == ["x", "y"]

    @pytest.mark.parametrize(
        ("target", "message"),
        [
            ("price", "there is no target column 'price', the nearest names are 'Price'"),
            ("bta", "no target column 'bta', the nearest names are 'beta'"),
            ("zzz", "no target column 'zzz', the columns are 'alpha', 'beta', 'Price'"),
            (7, "no column number 7 among 3, name the target or take a number from 0 to 2"),
        ],
    )
    def test_that_is_not_there(self, tmp_path, target, message):
        with pytest.raises(DataError, match=f"file.csv: .*{message}"):
            read(tmp_path, self.content, target=target)

    def test_with_missing_values(self, tmp_path):
        message = r"target 'y' is missing in 2 row\(s\) \(first: row 2\), remove these rows"
        with pytest.raises(DataError, match=message):
            read(tmp_path, b"x,y\n1,1\n2,\n3,\n", target="y")


@pytest.mark.parametrize(
    ("content", "place", "what", "remedy"),
    [
        (b"a,b,c\n1,2,3\n4,5\n", "3", "this record has 2 cells, the first has 3", "correct"),
        (b"a,b\n1,2\n\n3,4,5\n", "4", "this record has 3 cells, the first has 2", "correct"),
        (b"a,b\n1,2\n3", "3", "this record has 1 cells, the first has 2", "correct"),
        (b'a,b\n1,"x\ny"\n3,4,5\n', "4", "this record has 3 cells", "correct"),
        (b'a,b\n"1\n",2,3\n', "2", "this record has 3 cells", "correct"),
        (b"a,b\r\n1,2\r\n3\r\n", "3", "this record has 1 cells", "correct"),
        (b'a,b\n1,2\n3,"x\n4,5\n', "3", "a quote is opened here and never closed", "close it"),
        (b'"a,b\n1,2\n', "1", "a quote is opened here and never closed", "close it"),
        (b'a,b\r\n1,"x"y\n', "2", "text after a closing quote", "double the quotes"),
        (b"a,b\n1,\xff\n", "2:3", "the text is not utf-8", "encoding="),
        (b"a,b\n" + b"1,2\n" * 200 + b"1,\x00\n", "202", "NUL byte", "right file"),
        (b"a,a,b,b\n1,2,3,4\n", None, "(first: 'a' in columns 1, 2)", "rename"),
        (b"a,b\n", None, "the file has no rows", "right file"),
        (b"", None, "the file is empty", "right file"),
        (b"\n \n", None, "the file is empty", "right file"),
        (b"\xff\xfea\x00,\x00", "1", "UTF-16", "save it as UTF-8"),
        (b"PK\x03\x04....", None, "compressed with zip", "a name that ends in .zip"),
    ],
)
def test_faults(tmp_path, content, place, what, remedy):
    with pytest.raises(DataError) as caught:
        read(tmp_path, content)
    message = str(caught.value)
    start = f"{tmp_path / 'file.csv'}:" + (f"{place}:" if place else "")
    assert message.startswith(f"{start} ")
    assert what in message
    assert remedy in message.partition(what)[2]


def test_longest_line(tmp_path, monkeypatch):
    monkeypatch.setattr(compressed, "LONGEST_LINE", 20)
    assert read(tmp_path, b"a,b\n" + b"1" * 17 + b",2\n").n_rows == 1
    with pytest.raises(DataError, match=r"file\.csv:3: this line is longer than 20 characters"):
        read(tmp_path, b"a,b\n1,2\n" + b"1" * 18 + b",2\n")


def test_a_quote_that_is_not_closed_ends_early(tmp_path):
    """Not after all of a large file was taken for one cell."""
    content = b'a,b\n1,2\n1,"x\n' + b"1,2\n" * 100_000
    with pytest.raises(DataError, match=r"file\.csv:3: a quote is opened here and never closed"):
        read(tmp_path, content)


class TestEncoding:
    content = "name,y\nUlm,1\nKöln,2\n"

    def test_of_another_kind(self, tmp_path):
        with pytest.raises(DataError, match=r"file\.csv:3:2: the text is not utf-8, give its"):
            read(tmp_path, self.content.encode("cp1252"))

    def test_after_the_first_lines(self, tmp_path):
        content = b"a,b\n" + b"1,2\n" * 50_000 + b"1,\xe9\n"
        with pytest.raises(DataError, match=r"file\.csv:50002:3: the text is not utf-8"):
            read(tmp_path, content)

    @pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8", "UTF8"])
    def test_given(self, tmp_path, encoding):
        table = read(tmp_path, self.content.encode(encoding), encoding=encoding)
        assert columns(table) == {"name": ["Ulm", "Köln"], "y": [1, 2]}

    @pytest.mark.parametrize("encoding", ["klingon", "hex", "undefined", ""])
    def test_not_known(self, tmp_path, encoding):
        with pytest.raises(ValueError, match=f"encoding='{encoding}' is not known, give one of"):
            read(tmp_path, self.content.encode(), encoding=encoding)


def test_type_that_does_not_fit(tmp_path):
    with pytest.raises(DataError, match=r"file\.csv: .*'x', correct the file or the dtypes"):
        read(tmp_path, b"a,b\n1,2\nx,3\n", dtypes={"a": "float64"})


def test_faults_after_skipped_lines(tmp_path):
    with pytest.raises(DataError, match=r"file\.csv:4: this record has 1 cells"):
        read(tmp_path, b"title\na,b\n1,2\n3\n", skip_lines=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": "::"}, "delimiter='::' must be one ASCII character"),
        ({"delimiter": '"'}, "must be one ASCII character"),
        ({"decimal": ";"}, "decimal=';' must be"),
        ({"skip_lines": -1}, "skip_lines=-1 must be 0 or greater"),
    ],
)
def test_wrong_options(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, b"a,b\n1,2\n", **options)


def test_batches_are_the_rows_of_the_file(tmp_path):
    content = b"a,y\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(95))
    whole = read(tmp_path, content, target="y")
    batches = list(iter_tables(whole.path, target="y", batch_rows=10))
    assert [batch.n_rows for batch in batches] == [10] * 9 + [5]
    assert_array_equal(np.concatenate([batch.y for batch in batches]), whole.y)
    assert_array_equal(pandas.concat([batch.X for batch in batches]), whole.X)


def test_batches_number_the_rows_of_the_file(tmp_path):
    path = tmp_path / "missing.csv"
    path.write_bytes(b"a,y\n" + b"1,1\n" * 25 + b"1,\n")
    with pytest.raises(DataError, match="first: row 26"):
        list(iter_tables(path, target="y", batch_rows=10))


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared data files")
@pytest.mark.parametrize(
    ("name", "options", "shape"),
    [
        ("bank_marketing/bank-full.csv.xz", {"target": "y"}, (45_211, 16)),
        ("house_16H/574_house_16H.tsv.gz", {"target": "target"}, (22_784, 16)),
        ("california_housing/cal_housing.csv.xz", {"target": "medianHouseValue"}, (20_640, 8)),
        (
            "adult/adult.test.xz",
            {"target": -1, "header": False, "skip_lines": 1, "missing_values": ("?",)},
            (16_281, 14),
        ),
    ],
)
def test_real_files(name, options, shape):
    assert read_table(SHARED / name, **options).X.shape == shape


@given(
    st.lists(st.lists(st.text('ab1 ",\n\r', max_size=5), min_size=1, max_size=4), min_size=1),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_first_record_of_another_length_is_named(tmp_path_factory, records, end):
    quoted = [['"' + cell.replace('"', '""') + '"' for cell in cells] for cells in records]
    path = tmp_path_factory.getbasetemp() / "records.csv"
    path.write_bytes("".join(", ".join(cells) + end for cells in quoted).encode())
    wrong = [i for i, cells in enumerate(records) if len(cells) != len(records[0])]
    if not wrong:
        table = read_table(path, header=False, delimiter=",", missing_values=())
        assert table.X.shape == (len(records), len(records[0]))
        return
    lines = [", ".join(cells) + end for cells in quoted[: wrong[0]]]
    line = 1 + len(re.findall(r"\r\n|\r|\n", "".join(lines)))
    message = rf"records\.csv:{line}: this record has {len(records[wrong[0]])} "
    with pytest.raises(DataError, match=message):
        read_table(path, header=False, delimiter=",")


VALID = b'a,b,"c d"\r\n1,x,"y, ""z"""\n2.5,,\n\n-1e3,"line\nbreak",NA\n'
SPICE = [b",", b'"', b"\n", b"\r", b";", b"\x00", b"\xff", b'""', b" ", b"9" * 400, b"\t"]


def read_by_csv_module(text):
    records = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    return [cells for cells in records if len(cells) > 1 or "".join(cells).strip()]


@pytest.mark.parametrize("seed", range(15))
def test_mutated_files_are_read_right_or_refused(tmp_path, seed):
    rng = random.Random(seed)
    path = tmp_path / "mutated.csv"
    for _ in range(20):
        content = VALID
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(content) + 1)
            content = content[:at] + rng.choice(SPICE) + content[at + rng.randrange(4) :]
        path.write_bytes(content)
        with contextlib.suppress(DataError):
            assert read_table(path).n_rows > 0
            texts = dict.fromkeys(read_table(path).feature_names, "str")
            table = read_table(path, delimiter=",", dtypes=texts, missing_values=())
            expected = read_by_csv_module(content.decode())[1:]
            assert table.X.fillna("").to_numpy().tolist() == expected


PLAIN = "a,b,c\n1,2,3\n4,5,6\n"
ODD = 'a,b\r\n"x\ny",1\r\n\r\n"p,""q",2\r\n3,é,\r\n'


@pytest.mark.parametrize(
    ("text", "row", "name", "options", "place"),
    [
        (PLAIN, 0, "a", {}, (2, 1)),
        (PLAIN, 1, "c", {}, (3, 5)),
        (PLAIN, 0, "x1", {"header": False}, (1, 3)),
        ("# note\n" + PLAIN, 1, "b", {"skip_lines": 1}, (4, 3)),
        (ODD, 0, "b", {}, (3, 4)),
        (ODD, 1, "b", {}, (5, 9)),
        ("a;b\né;2\n", 0, "b", {}, (2, 4)),
        ("\ufeffa,b\n1,2\n", 0, "b", {}, (2, 3)),
    ],
)
def test_place_of_a_cell(tmp_path, text, row, name, options, place):
    path = tmp_path / "cells.csv"
    path.write_bytes(text.encode())
    assert locate_cell(path, row, name, CsvOptions(**options)) == place
