"""Lines and columns of cells."""

import pytest

from rgboost.data.readers import CsvOptions
from rgboost.data.readers.csv_cells import locate_cell

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
def test_place(tmp_path, text, row, name, options, place):
    path = tmp_path / "cells.csv"
    path.write_bytes(text.encode())
    assert locate_cell(path, row, name, CsvOptions(**options)) == place
