"""The user's cache folder, and downloads into it by pooch: checked, all or nothing."""

from __future__ import annotations

import contextlib
import lzma
import os
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .readers.compressed import OPENERS
from .readers.errors import DataError

Report = Callable[[int, int | None], None]
"""Told of the bytes that are there and of all bytes (None: not known)."""

ATTEMPTS = 4
PAUSE_SECONDS = 1.0
TIMEOUT_SECONDS = 30.0
_BLOCK_BYTES = 1 << 16
_BUSY = 429
"""The HTTP status of a server that has too many requests."""


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

    The bytes go to a file of this process, which gets its name when it is whole and its checksum is
    right: whoever looks, also while several processes download it, finds all of it or nothing.

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
    try:
        import pooch
        from requests import exceptions
    except ImportError as error:
        raise DataError(
            "pooch, which downloads files, is not installed (pip install 'rgboost[data]')"
        ) from error
    name = url.rsplit("/", 1)[-1]
    files = pooch.create(folder, base_url="", registry={name: sha256}, urls={name: url})
    with _quiet(pooch.get_logger()), _reporting(progress, name) as report:

        def get(url: str, path: str, files: Any) -> None:
            headers = {"User-Agent": "rgboost", "Accept-Encoding": "identity"}
            pooch.HTTPDownloader(
                _Bar(report), _BLOCK_BYTES, headers=headers, timeout=TIMEOUT_SECONDS
            )(url, path, files)
            if sha256 is None:
                _check_contents(path, Path(name).suffix)

        for attempt in range(ATTEMPTS):
            time.sleep(PAUSE_SECONDS * attempt)
            try:
                return Path(files.fetch(name, downloader=get))
            except exceptions.RequestException as error:
                reason = _why(error, url)
            except ValueError as error:  # of pooch, or of the contents
                raise DataError(
                    f"the download of {url} is damaged and was removed ({error}), try again or "
                    "get the file by hand"
                ) from error
            except OSError as error:
                raise DataError(
                    f"cannot write the download of {url} ({error.strerror or error}), "
                    "make room or check the permissions",
                    path=folder,
                ) from error
    raise DataError(f"the download of {url} was interrupted {ATTEMPTS} times ({reason}), try again")


def _why(error: Any, url: str) -> str:
    """What happened, if it is worth another attempt; `DataError` if it is not."""
    from requests import exceptions

    if isinstance(error, exceptions.HTTPError):
        status = error.response.status_code
        if status < 500 and status != _BUSY:
            raise DataError(
                f"the server has no {url} (HTTP status {status}: {error.response.reason}), "
                "get the file by hand"
            ) from error
        return f"HTTP status {status}"
    inner = next(iter(error.args), error)  # the words of urllib3, which requests wraps
    reason = re.sub(r"^\S*Connection.*?[)>]: ", "", str(getattr(inner, "reason", inner)))
    if isinstance(error, exceptions.ConnectionError | exceptions.Timeout):
        raise DataError(f"{url} cannot be reached ({reason}), check the network") from error
    return reason


def _check_contents(path: str, ending: str) -> None:
    """Unpack a compressed file, which checks the checksum inside."""
    if ending not in OPENERS:
        return
    try:
        with OPENERS[ending](path) as file:
            while file.read(_BLOCK_BYTES):
                pass
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(str(error)) from error


@contextlib.contextmanager
def _quiet(logger: Any) -> Iterator[None]:
    """Without pooch's own messages, which go to the standard error stream."""
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


class _Bar:
    """What pooch takes for a progress bar."""

    total = 0

    def __init__(self, report: Report) -> None:
        self._report = report
        self._done = 0

    def update(self, n: int) -> None:
        self._done = min(self._done + n, self.total) if self.total else self._done + n
        self._report(self._done, self.total or None)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass


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
