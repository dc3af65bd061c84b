"""Downloads from a server on this machine: resumed, checked, all or nothing."""

import bz2
import gzip
import hashlib
import lzma
import os
import random
import sys
from pathlib import Path

import pytest

from rgboost.data import cache
from rgboost.data.readers import DataError

from .http_files import serve

CONTENT = bz2.compress(random.Random(0).randbytes(500_000))
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(cache, "PAUSE_SECONDS", 0.0)


@pytest.fixture
def server():
    with serve() as server:
        server.files["/set/data.bz2"] = CONTENT
        yield server


def fetch(server, folder, **options):
    return cache.download(f"{server.url}/set/data.bz2", folder, **options)


def visible(folder):
    return sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))


def test_whole_file(server, tmp_path):
    path = fetch(server, tmp_path / "new" / "folder", sha256=SHA256)
    assert path == tmp_path / "new" / "folder" / "data.bz2"
    assert path.read_bytes() == CONTENT
    assert visible(path.parent) == ["data.bz2"]


def test_file_that_is_there_is_not_asked_for(server, tmp_path):
    fetch(server, tmp_path)
    fetch(server, tmp_path)
    assert len(server.requests) == 1


def test_interruptions_within_a_call(server, tmp_path):
    server.breaks = [100_000, 50_000]
    assert fetch(server, tmp_path, sha256=SHA256).read_bytes() == CONTENT
    ranges = [request.get("range") for request in server.requests]
    assert ranges == [None, "bytes=100000-", "bytes=150000-"]
    assert server.requests[1]["if-range"] == '"one"'


def test_resumed_by_a_later_call(server, tmp_path):
    server.breaks = [70_000, 0, 0, 0]
    with pytest.raises(DataError, match=r"interrupted 4 times .*70,000 bytes came.*try again"):
        fetch(server, tmp_path)
    assert "data.bz2" not in visible(tmp_path)
    assert fetch(server, tmp_path, sha256=SHA256).read_bytes() == CONTENT
    assert server.requests[-1]["range"] == "bytes=70000-"
    assert visible(tmp_path) == ["data.bz2"]


def test_resumed_by_date_where_the_tag_is_weak(server, tmp_path):
    server.etag, server.last_modified = 'W/"weak"', "Sat, 01 Jan 2022 00:00:00 GMT"
    server.breaks = [1000]
    assert fetch(server, tmp_path, sha256=SHA256).read_bytes() == CONTENT
    assert server.requests[-1]["if-range"] == server.last_modified


def test_server_that_names_no_version_is_asked_for_all(server, tmp_path):
    server.etag = None
    server.breaks = [1000]
    assert fetch(server, tmp_path, sha256=SHA256).read_bytes() == CONTENT
    assert "range" not in server.requests[-1]


def test_server_without_ranges(server, tmp_path):
    server.with_ranges = False
    server.breaks = [1000]
    assert fetch(server, tmp_path, sha256=SHA256).read_bytes() == CONTENT


def test_file_changed_between_two_calls(server, tmp_path):
    server.breaks = [1000, 0, 0, 0]
    with pytest.raises(DataError):
        fetch(server, tmp_path)
    other = server.files["/set/data.bz2"] = bz2.compress(CONTENT[::-1])
    server.etag = '"two"'
    assert fetch(server, tmp_path).read_bytes() == other


def test_part_that_is_whole(server, tmp_path):
    """The process ended between the last byte and the renaming."""
    (tmp_path / "data.bz2.part").write_bytes(CONTENT)
    (tmp_path / "data.bz2.part.tag").write_text('"one"')
    assert fetch(server, tmp_path, sha256=SHA256).read_bytes() == CONTENT


def test_part_that_is_too_long(server, tmp_path):
    (tmp_path / "data.bz2.part").write_bytes(CONTENT + b"more")
    (tmp_path / "data.bz2.part.tag").write_text('"one"')
    assert fetch(server, tmp_path, sha256=SHA256).read_bytes() == CONTENT


def test_wrong_checksum(server, tmp_path):
    with pytest.raises(DataError, match=rf"checksum {SHA256} instead of 00ff and was removed, try"):
        fetch(server, tmp_path, sha256="00ff")
    assert visible(tmp_path) == []


@pytest.mark.parametrize("module", [bz2, gzip, lzma], ids=lambda module: module.__name__)
@pytest.mark.parametrize("fault", ["a bit", "the end", "another format"])
def test_without_a_checksum_the_contents_are_checked(server, tmp_path, module, fault):
    whole = module.compress(random.Random(0).randbytes(5000))
    damaged = bytearray(whole)
    damaged[2500] ^= 1
    name = {"bz2": "set.bz2", "gzip": "set.gz", "lzma": "set.xz"}[module.__name__]
    server.files[f"/{name}"] = {
        "a bit": bytes(damaged), "the end": whole[:-10], "another format": b"<html>" * 900
    }[fault]  # fmt: skip
    with pytest.raises(DataError, match=rf"{name} is damaged \(.*and was removed, try again"):
        cache.download(f"{server.url}/{name}", tmp_path)
    assert visible(tmp_path) == []
    server.files[f"/{name}"] = whole
    assert cache.download(f"{server.url}/{name}", tmp_path).read_bytes() == whole


def test_not_found(server, tmp_path):
    with pytest.raises(DataError, match=r"the server has no .*/none \(HTTP status 404.*by hand"):
        cache.download(f"{server.url}/none", tmp_path)
    assert len(server.requests) == 1
    assert visible(tmp_path) == []


def test_busy_server_is_asked_again(server, tmp_path):
    server.statuses = [503, 429]
    assert fetch(server, tmp_path).read_bytes() == CONTENT


def test_busy_server_is_given_up(server, tmp_path):
    server.statuses = [500] * 10
    with pytest.raises(DataError, match="HTTP status 500"):
        fetch(server, tmp_path)
    assert len(server.requests) == cache.ATTEMPTS


def test_no_server(tmp_path):
    with serve() as server:
        url = server.url
    with pytest.raises(DataError, match=r"cannot be reached \(.*check the network"):
        cache.download(f"{url}/data", tmp_path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder of another user")
def test_folder_that_cannot_be_written(server, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match=r"cannot write the download .*check the permissions"):
        fetch(server, tmp_path / "data")


def test_folder_that_is_a_file(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write the download of"):
        fetch(server, tmp_path / "file")


class TestProgress:
    def test_is_told_to_a_callable(self, server, tmp_path):
        server.breaks = [1000]
        told = []
        fetch(server, tmp_path, progress=lambda done, total: told.append((done, total)))
        assert told[0] == (0, len(CONTENT))
        assert (1000, len(CONTENT)) in told
        assert told[-1] == (len(CONTENT), len(CONTENT))

    def test_is_a_bar_on_request(self, server, tmp_path, capsys):
        fetch(server, tmp_path, progress=True)
        assert "data.bz2" in capsys.readouterr().err

    def test_is_silent_without_a_terminal(self, server, tmp_path, capsys):
        fetch(server, tmp_path)
        assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, Path("/x/rgboost")),
        ("linux", {"HOME": "/h"}, Path("/h/.cache/rgboost")),
        ("darwin", {"HOME": "/h"}, Path("/h/Library/Caches/rgboost")),
        ("win32", {"LOCALAPPDATA": "/l"}, Path("/l/rgboost/Cache")),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths as on POSIX")
def test_cache_folder(monkeypatch, platform, environment, expected):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache.cache_dir() == expected
