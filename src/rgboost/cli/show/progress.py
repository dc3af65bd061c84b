"""The losses while a model is fitted: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from ...training import Progress


class Lines:
    """A callback that prints a line every few seconds, and one at the end, to standard error."""

    def __init__(self, every: float = 2.0) -> None:
        self.every = every

    def __enter__(self) -> Lines:
        self._printed_at = 0.0
        self._unprinted: Progress | None = None
        return self

    def __call__(self, progress: Progress) -> None:
        self._unprinted = progress
        if progress.seconds >= self._printed_at + self.every:
            self._print()

    def __exit__(self, *exc_info: object) -> None:
        self._print()

    def _print(self) -> None:
        progress, self._unprinted = self._unprinted, None
        if progress is None:
            return
        self._printed_at = progress.seconds
        from ...training.callbacks import describe_losses

        where = f"iteration {progress.iteration} of {progress.n_iter}"
        typer.echo(f"{where}  {describe_losses(progress)}", err=True)


@contextmanager
def announce_compiling(shows: bool) -> Iterator[None]:
    """Tell once that kernels are compiled, before there is anything else to show. A bar says it
    itself."""
    from ..._core.compiling import NOTICE, told_by

    left = [NOTICE] if shows else []

    def tell() -> None:
        if left:
            typer.echo(left.pop(), err=True)

    with told_by(tell):
        yield


def reporter() -> Any:
    """The callback for where standard error goes."""
    if not sys.stderr.isatty():
        return Lines()
    from rich.console import Console

    from ...training import ProgressBar

    return ProgressBar("fit", Console(stderr=True))
