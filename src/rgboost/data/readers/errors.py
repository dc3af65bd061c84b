"""The one error of the readers: where the fault is, what it is, and what to do about it."""

from __future__ import annotations

import os


class DataError(ValueError):
    """A file that cannot be read as data.

    The message is ``path:line:column: what, remedy``, as far as the position is known. Lines and
    columns count from 1; a column is counted in bytes.

    Attributes
    ----------
    path : str or None
    line, column : int or None
    """

    def __init__(
        self,
        what: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.what = what
        self.path = None if path is None else os.fspath(path)
        self.line = line
        self.column = column
        super().__init__(with_place(what, self.path, line, column))

    def __reduce__(self) -> tuple:  # keyword-only arguments would be lost by pickle
        return _restore, (self.what, self.path, self.line, self.column)


def _restore(what: str, path: str | None, line: int | None, column: int | None) -> DataError:
    return DataError(what, path=path, line=line, column=column)


def with_place(what: str, path: str | None, line: int | None, column: int | None) -> str:
    """What is wrong, after the place where it is."""
    place = [str(part) for part in (path, line, column) if part is not None]
    return f"{':'.join(place)}: {what}" if place else what


def shorten(text: str, most: int = 40) -> str:
    """``text`` as it is quoted in a message: printable, and not a page long."""
    return repr(text if len(text) <= most else text[: most - 3] + "...")
