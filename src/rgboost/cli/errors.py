"""What goes wrong, in words for people and in exit codes for scripts."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path

import typer

from .typed import as_typed


class ExitCode(IntEnum):
    """How the program ends."""

    DONE = 0
    FAULT = 1
    USAGE = 2
    DATA = 3
    OUTPUT = 4
    PACKAGE = 5
    MEMORY = 6
    INTERRUPTED = 130


class CommandError(Exception):
    """An error with its exit code; the message names what is wrong and what to do."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.code = code


def tell(error: BaseException, as_json: bool) -> ExitCode:
    """Print one line about an error (and an object on standard output); return the exit code."""
    code, message = describe(error)
    typer.echo(f"rgboost: {message}", err=True)
    if as_json:
        place = {name: getattr(error, name, None) for name in ("path", "line", "column")}
        found = {"message": message, "kind": code.name.lower(), "exit_code": int(code)}
        typer.echo(json.dumps({"error": found | {k: v for k, v in place.items() if v is not None}}))
    return code


def describe(error: BaseException) -> tuple[ExitCode, str]:
    """Exit code and message of any error."""
    from .._core.on_card import NoCardError
    from ..data.readers.errors import DataError, with_place

    message = _in_one_line(str(error))
    if isinstance(error, CommandError):
        return error.code, message
    if isinstance(error, DataError):
        what = as_typed(_in_one_line(error.what))
        return ExitCode.DATA, with_place(what, error.path, error.line, error.column)
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED, "interrupted"
    if isinstance(error, ImportError):
        return ExitCode.PACKAGE, message
    if isinstance(error, NoCardError):
        return ExitCode.PACKAGE, as_typed(message)
    if isinstance(error, OSError) and error.errno is not None:
        return ExitCode.OUTPUT, _about_output(error, error.filename)
    if isinstance(error, ValueError | TypeError):
        return ExitCode.USAGE, as_typed(message)
    if isinstance(error, MemoryError):
        found = f" ({message})" if message else ""
        return ExitCode.MEMORY, (
            f"the memory is not enough for this{found}, take fewer rows or features, or more memory"
        )
    kind = type(error).__name__
    return ExitCode.FAULT, f"{kind}: {message}. This is a fault of the program; --debug shows more"


def _in_one_line(text: str) -> str:
    return " ".join(line.strip() for line in text.splitlines() if line.strip())


@contextmanager
def writing(path: Path | None) -> Iterator[None]:
    """Faults of the system within are about writing ``path`` (None: standard output)."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno is None:
            raise
        raise CommandError(_about_output(error, path), ExitCode.OUTPUT) from error


def _about_output(error: OSError, path: str | Path | None) -> str:
    assert error.errno is not None
    remedy = {
        errno.ENOSPC: "free some space or write elsewhere",
        errno.EDQUOT: "free some space or write elsewhere",
        errno.ENOENT: "make the folder first",
        errno.EACCES: "write elsewhere or change the permissions",
        errno.EROFS: "write elsewhere",
        errno.EISDIR: "give the name of a file",
    }.get(error.errno, "check the path")
    where = "standard output" if path is None else str(path)
    return f"{where}: cannot be written ({os.strerror(error.errno)}), {remedy}"


def check_writable(path: Path) -> None:
    """Refuse an output that cannot be written before hours of work go into it."""
    with writing(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
