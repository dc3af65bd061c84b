"""Downloads from a server on this machine: checked, all or nothing."""

import bz2
import gzip
import hashlib
import lzma
import os
import random
import subprocess
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


def everything(folder):
    """All names in a folder, hidden ones too: no half files and no locks are left."""
    return sorted(path.name for path in folder.iterdir())


def test_whole_file(server, tmp_path):
    path = fetch(server, tmp_path / "new" / "folder", sha256=SHA256)
    assert path == tmp_path / "new" / "folder" / "data.bz2"
    assert path.read_bytes() == CONTENT
    assert everything(path.parent) == ["data.bz2"]


def test_file_that_is_there_is_not_asked_for(server, tmp_path):
    fetch(server, tmp_path)
    fetch(server, tmp_path)
    assert len(server.requests) == 1


def test_interruptions_within_a_call(server, tmp_path):
    server.breaks = [100_000, 0]
    assert fetch(server, tmp_path, sha256=SHA256).read_bytes() == CONTENT
    assert len(server.requests) == 3


@pytest.mark.parametrize("sha256", [None, SHA256])
def test_interrupted_again_and_again(server, tmp_path, sha256):
    server.breaks = [70_000] * 4
    message = r"interrupted 4 times \(.*70000 bytes read, .* more expected.*\), try again"
    with pytest.raises(DataError, match=message):
        fetch(server, tmp_path, sha256=sha256)
    assert everything(tmp_path) == []
    assert fetch(server, tmp_path, sha256=sha256).read_bytes() == CONTENT
    assert everything(tmp_path) == ["data.bz2"]


def test_a_process_that_ends_on_the_way_leaves_nothing(server, tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(server, tmp_path, progress=stop)
    assert everything(tmp_path) == []


def test_several_processes_at_once(server, tmp_path):
    """Each finds the whole file, whoever was first."""
    code = "import sys; from pathlib import Path; from rgboost.data.cache import download; "
    code += "print(len(download(sys.argv[1], Path(sys.argv[2])).read_bytes()))"
    command = [sys.executable, "-c", code, f"{server.url}/set/data.bz2", str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [one.communicate()[0].strip() for one in running] == [str(len(CONTENT))] * 3
    assert everything(tmp_path) == ["data.bz2"]


def test_without_pooch(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataError, match=r"pooch.* is not installed \(pip install 'rgboost\[data\]"):
        cache.download("http://127.0.0.1:9/data", tmp_path)


def test_wrong_checksum(server, tmp_path):
    message = rf"damaged and was removed \(.*expected 00ff but got {SHA256}.*\), try again or get"
    with pytest.raises(DataError, match=message):
        fetch(server, tmp_path, sha256="00ff")
    assert everything(tmp_path) == []
    assert len(server.requests) == 1


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
    with pytest.raises(DataError, match=rf"{name} is damaged and was removed \(.+\), try again"):
        cache.download(f"{server.url}/{name}", tmp_path)
    assert everything(tmp_path) == []
    server.files[f"/{name}"] = whole
    assert cache.download(f"{server.url}/{name}", tmp_path).read_bytes() == whole


def test_not_found(server, tmp_path):
    with pytest.raises(DataError, match=r"the server has no .*/none \(HTTP status 404.*by hand"):
        cache.download(f"{server.url}/none", tmp_path)
    assert len(server.requests) == 1
    assert everything(tmp_path) == []


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
    with pytest.raises(DataError, match=r"cannot be reached \(Failed to .*\), check the network"):
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
        done = [one for one, _ in told]
        assert {total for _, total in told} == {len(CONTENT)}
        assert told[-1] == (len(CONTENT), len(CONTENT))
        assert len(told) > 5
        assert max(done) == len(CONTENT)

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
