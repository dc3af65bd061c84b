"""The user's cache folder, and downloads into it: resumed, checked, all or nothing."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import lzma
import os
import re
import sys
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from .readers.compressed import OPENERS
from .readers.errors import DataError

Report = Callable[[int, int | None], None]
"""Told of the bytes that are there and of all bytes (None: not known)."""

ATTEMPTS = 4
PAUSE_SECONDS = 1.0
TIMEOUT_SECONDS = 30.0
_BLOCK_BYTES = 1 << 16


class _Interrupted(Exception):
    """The transfer ended early; what came is kept."""


def cache_dir() -> Path:
    """The folder for downloads: the platform's place for caches, in a folder ``rgboost``."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(base) / "rgboost" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "rgboost"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rgboost"


def download(
    url: str,
    folder: Path,
    *,
    sha256: str | None = None,
    progress: bool | Report | None = None,
) -> Path:
    """Download a file into a folder, unless it is there.

    The bytes go to ``NAME.part``; an interrupted download, also of an earlier process, goes on
    from there if the server still has the same file. The file gets its name when it is whole and
    its checksum is right.

    Parameters
    ----------
    url : str
    folder : Path
        Made if it is not there.
    sha256 : str or None
        Checksum of the file. None: not known; then that of its contents is checked, which
        compressed files carry with them.
    progress : bool, callable or None
        True: a bar. None: a bar on a terminal. A callable is told of the bytes (`Report`).
    """
    name = url.rsplit("/", 1)[-1]
    target = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f".{name}.lock"):
            if target.is_file():  # another process may have been faster
                return target
            part = folder / f"{name}.part"
            with _reporting(progress, name) as report:
                _fetch_all(url, part, report)
            if sha256 is None:
                _check_contents(part, Path(name).suffix, url)
            else:
                _check(part, sha256, url)
            os.replace(part, target)
            _tag_file(part).unlink(missing_ok=True)
    except OSError as error:  # those of the network are caught below
        raise DataError(
            f"cannot write the download of {url} ({error.strerror or error}), "
            "make room or check the permissions",
            path=folder,
        ) from error
    return target


def _fetch_all(url: str, part: Path, report: Report) -> None:
    """Fetch until the file is whole; go on after interruptions."""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
        try:
            return _fetch(url, part, report)
        except _Interrupted as error:
            reason = str(error)
    size = part.stat().st_size if part.is_file() else 0
    raise DataError(
        f"the download of {url} was interrupted {ATTEMPTS} times ({reason}; {size:,} bytes came), "
        "try again: it goes on where it was"
    )


def _fetch(url: str, part: Path, report: Report) -> None:
    """One request: the whole file, or what is missing of it."""
    tag_file = _tag_file(part)
    held = part.stat().st_size if part.is_file() else 0
    tag = tag_file.read_text("utf-8") if tag_file.is_file() else ""
    headers = {"User-Agent": "rgboost", "Accept-Encoding": "identity"}
    if held and tag:
        headers |= {"Range": f"bytes={held}-", "If-Range": tag}
    try:
        request = urllib.request.Request(url, headers=headers)
        response = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416:  # nothing after what is held: whole, or another file
                if _total(error.headers.get("Content-Range")) == held:
                    return
                tag_file.unlink(missing_ok=True)
                raise _Interrupted("the file on the server has changed") from error
            if error.code >= 500 or error.code == 429:
                raise _Interrupted(f"HTTP status {error.code}") from error
            raise DataError(
                f"the server has no {url} (HTTP status {error.code}: {error.reason}), "
                "get the file by hand"
            ) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise DataError(f"{url} cannot be reached ({reason}), check the network") from error
    with response:
        is_rest = response.status == 206
        if is_rest and _start(response.headers.get("Content-Range")) != held:
            tag_file.unlink(missing_ok=True)
            raise _Interrupted("the server sent another part than was asked for")
        tag_file.write_text(_tag(response.headers), "utf-8")
        _save(response, part, held if is_rest else 0, report)


def _save(response: Any, part: Path, held: int, report: Report) -> None:
    """Write the body of a response after the first ``held`` bytes."""
    length = response.headers.get("Content-Length")
    total = None if length is None else held + int(length)
    report(held, total)
    with open(part, "r+b" if held else "wb") as file:
        file.seek(held)
        file.truncate()
        while True:
            try:
                block = response.read(_BLOCK_BYTES)
            except (OSError, http.client.HTTPException) as error:
                raise _Interrupted(str(error) or type(error).__name__) from error
            if not block:
                break
            file.write(block)
            held += len(block)
            report(held, total)
    if total is not None and held < total:
        raise _Interrupted(f"the connection closed after {held:,} of {total:,} bytes")


def _check(part: Path, sha256: str, url: str) -> None:
    with open(part, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        _remove(part, url, f"has the SHA-256 checksum {found} instead of {sha256}")


def _check_contents(part: Path, ending: str, url: str) -> None:
    """Unpack a compressed file, which checks the checksum inside."""
    if ending not in OPENERS:
        return
    try:
        with OPENERS[ending](part) as file:
            while file.read(_BLOCK_BYTES):
                pass
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        _remove(part, url, f"is damaged ({error})")


def _remove(part: Path, url: str, why: str) -> NoReturn:
    part.unlink()
    _tag_file(part).unlink(missing_ok=True)
    raise DataError(
        f"the download of {url} {why} and was removed, try again or get the file by hand"
    )


def _tag_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")


def _tag(headers: Any) -> str:
    """What identifies this version of the file; '' where the server does not say."""
    etag = headers.get("ETag") or ""
    weak = not etag or etag.startswith("W/")  # a weak tag does not vouch for the bytes
    return headers.get("Last-Modified") or "" if weak else etag


def _start(content_range: str | None) -> int | None:
    match = re.match(r"bytes (\d+)-", content_range or "")
    return int(match.group(1)) if match else None


def _total(content_range: str | None) -> int | None:
    match = re.search(r"/(\d+)$", content_range or "")
    return int(match.group(1)) if match else None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time; without the means for it (Windows), nothing."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # type: ignore[attr-defined, unused-ignore]
        yield


@contextlib.contextmanager
def _reporting(progress: bool | Report | None, name: str) -> Iterator[Report]:
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield lambda done, total: None
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
