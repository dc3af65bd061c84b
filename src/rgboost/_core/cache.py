"""Where compiled code is kept: in the first of some folders that can be written.

Numba's own ``cache=True`` fails where it finds no such folder or where a disk is full, and does not
read from a folder that it may not write, such as the package in an image. Here compiled code is
read from wherever it lies, and a place that cannot be written is passed over:

1. the folder ``NUMBA_CACHE_DIR``; without it the package's own ``__pycache__``, then the user's
   cache folder;
2. a folder of the user's own in the system's temporary folder;
3. nowhere: every process compiles anew.

The second and the third are told, once in a process.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import os
import pickle
import stat
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import caching, config
from numba.misc.appdirs import AppDirs

from .linking import is_part


class KernelCache(caching.NullCache):
    """The compiled code of one function on disk; a dispatcher of Numba calls it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @functools.cached_property
    def _places(self) -> list[Any]:
        source = Path(inspect.getfile(self._function)).absolute()
        return [cache(self._function) for where, cache in _PLACES if where.folder(source)]

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The code for a signature, from the first place that has it, or None."""
        if is_foreign(signature):
            return None
        for place in self._places:
            try:
                found = place.load_overload(signature, target_context)
            except OSError:  # it is gone, or may not be read
                continue
            except (EOFError, pickle.UnpicklingError, ImportError, AttributeError):
                # Cut off, or of classes that are no longer there: begin anew.
                with contextlib.suppress(OSError):
                    place.flush()
                continue
            if found is not None:
                return found
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep code that Python calls in the first place that takes it."""
        if is_part(compiled) or is_foreign(signature):
            return
        reasons = []
        for place in self._places:
            try:
                place.save_overload(signature, compiled)
            except OSError as error:
                reasons.append(f"{place.cache_path} ({error.strerror or error})")
                continue
            if reasons:
                _tell(reasons, place.cache_path)
            return
        _tell(reasons, None)


_told = False


def _tell(reasons: list[str], kept: str | None) -> None:
    global _told
    if _told:
        return
    _told = True
    instead = (
        f"It goes to {Path(kept).parent}, where it may not stay."
        if kept
        else "Every process compiles anew, which takes some seconds."
    )
    warnings.warn(
        f"Compiled code cannot be kept in {' or '.join(reasons)}. {instead} Set NUMBA_CACHE_DIR "
        "to a folder that can be written.",
        RuntimeWarning,
        stacklevel=3,
    )


class _Where:
    """A place for the code of functions, with what Numba asks about it."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._py_file = inspect.getfile(function)
        self._line = function.__code__.co_firstlineno
        self._folder = folder

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Where:
        folder = cls.folder(Path(file).absolute())
        assert folder is not None  # see `KernelCache._places`
        return cls(function, folder)

    @classmethod
    def folder(cls, source: Path) -> Path | None:
        """The folder for the functions of a source file; None if this place is not to be used."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise an OSError if what lies here may not be trusted."""

    def get_cache_path(self) -> str:
        return str(self._folder)

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        return _hash_of(self._py_file)

    def get_disambiguator(self) -> str:
        return str(self._line)


@functools.cache
def _hash_of(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _name(source: Path) -> str:
    return f"{source.parent.name}_{hashlib.sha1(os.fsencode(source.parent)).hexdigest()}"


class _Given(_Where):
    @classmethod
    def folder(cls, source: Path) -> Path | None:
        return Path(config.CACHE_DIR).absolute() / _name(source) if config.CACHE_DIR else None


class _Package(_Where):
    @classmethod
    def folder(cls, source: Path) -> Path | None:
        return None if config.CACHE_DIR else source.parent / "__pycache__"


class _Home(_Where):
    @classmethod
    def folder(cls, source: Path) -> Path | None:
        home = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
        is_home = home.is_absolute()  # a user without a home has "~"
        return home / _name(source) if is_home and not config.CACHE_DIR else None


class _Temporary(_Where):
    """Anybody may write to the temporary folder, and stored code is run: so a folder in it that
    belongs to the user, and that nobody else can write."""

    @classmethod
    def folder(cls, source: Path) -> Path | None:
        user = os.getuid() if hasattr(os, "getuid") else "cache"
        try:
            return Path(tempfile.gettempdir(), f"rgboost-{user}", _name(source))
        except OSError:  # there is no temporary folder
            return None

    def check(self) -> None:
        found = self._folder.parent.lstat()
        foreign = hasattr(os, "getuid") and found.st_uid != os.getuid()
        if foreign or found.st_mode & 0o022 or not stat.S_ISDIR(found.st_mode):
            raise PermissionError("others could write it")

    def ensure_cache_path(self) -> None:
        self._folder.parent.mkdir(mode=0o700, exist_ok=True)
        self.check()
        super().ensure_cache_path()


def _cache_in(where: type[_Where]) -> Any:
    """Numba's cache of a function, in such a place."""

    class Implementation(caching.CompileResultCacheImpl):
        _locator_classes = (where,)

    class Place(caching.FunctionCache):
        _impl_class = Implementation

        def load_overload(self, signature: Any, target_context: Any) -> Any:
            self._impl.locator.check()
            return super().load_overload(signature, target_context)

    return Place


def is_foreign(signature: Any) -> bool:
    """Whether a class in a signature is none of ours. A kernel then calls what somebody else has
    registered for it, which may have changed since it was compiled; and the class would be written
    into an index that others read, who cannot import it."""
    waiting = list(signature)
    while waiting:
        kind = waiting.pop()
        waiting += getattr(kind, "types", ())
        made_by = getattr(kind, "instance_class", None)
        if made_by is not None and not made_by.__module__.startswith(_PACKAGE):
            return True
    return False


_PACKAGE = __name__.split(".")[0] + "."
_PLACES = tuple((where, _cache_in(where)) for where in (_Given, _Package, _Home, _Temporary))
