"""Cells on disk."""

import pytest

from rgboost.experiments.store import Store, write_text


def test_found_by_everything_that_decides(tmp_path):
    cells = Store(tmp_path / "cells")
    key = {"cell": {"t": 3, "steps": ("a", "b")}, "version": "1"}
    assert cells.get("t3", key) is None
    cells.put("t3", key, {"loss": [1.5, 0.1]})
    assert Store(tmp_path / "cells").get("t3", key) == {"loss": [1.5, 0.1]}
    assert cells.get("t3", {**key, "version": "2"}) is None
    assert cells.get("t4", key) is None


@pytest.mark.parametrize("content", ["", '{"key": ', "[]", '{"key": {"a": 2}, "result": 1}'])
def test_files_that_cannot_be_used_count_as_absent(tmp_path, content):
    cells = Store(tmp_path)
    cells.put("a", {"a": 1}, 5)
    (path,) = tmp_path.iterdir()
    path.write_text(content)
    assert cells.get("a", {"a": 1}) is None


def test_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_text(path, "old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
