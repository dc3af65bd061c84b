"""What is read of files that do not fit into memory: a bar for the pass that is under way and one
for the iterations on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from .progress import Lines

if TYPE_CHECKING:
    from ...training import Progress


class _Passes:
    """Counts passes; ``watch`` is told of them by `rgboost.Chunks`, ``tell`` of iterations."""

    def __init__(self) -> None:
        self.number = 0
        self._last = ("", 0)

    def watch(self, what: str, done: int, total: int) -> None:
        """Some more was read."""
        name, before = self._last
        self.number += what != name or done <= before
        self._last = what, done
        self.show(f"pass {self.number}: {what}", done, total)

    def show(self, title: str, done: int, total: int) -> None:
        raise NotImplementedError

    def tell(self, progress: Progress) -> None:
        raise NotImplementedError


class PassLines(_Passes):
    """A line every few seconds, to standard error."""

    def __init__(self, every: float = 2.0) -> None:
        super().__init__()
        self.every = every
        self.lines = Lines(every)
        self._printed_at = 0.0

    def __enter__(self) -> PassLines:
        self.lines.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.lines.__exit__()

    def show(self, title: str, done: int, total: int) -> None:
        if time.monotonic() >= self._printed_at + self.every:
            self._printed_at = time.monotonic()
            typer.echo(f"{title}  {amount(done, total)}", err=True)

    def tell(self, progress: Progress) -> None:
        self.lines(progress)


class PassBars(_Passes):
    """Two bars on a terminal."""

    def __enter__(self) -> PassBars:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}")
        self._bars: Any = RichProgress(*columns, console=Console(stderr=True))
        self._reading = self._bars.add_task("reading", total=None, told="")
        self._fit: Any = None
        self._bars.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._bars.stop()

    def show(self, title: str, done: int, total: int) -> None:
        self._bars.update(
            self._reading, description=title, completed=done, total=total or None,
            told=amount(done, total),
        )  # fmt: skip

    def tell(self, progress: Progress) -> None:
        from ...training.callbacks import describe_losses

        if self._fit is None:
            self._fit = self._bars.add_task("fit", total=None, told="")
        self._bars.update(
            self._fit, completed=progress.iteration, total=progress.n_iter,
            told=f"{progress.iteration:,}  {describe_losses(progress)}",
        )  # fmt: skip


def amount(done: int, total: int) -> str:
    """Bytes in words."""
    of_all = f" of {total / 1e9:.2f}" if total else ""
    return f"{done / 1e9:.2f}{of_all} GB"


def pass_reporter() -> PassBars | PassLines:
    """What shows passes where standard error goes."""
    return PassBars() if sys.stderr.isatty() else PassLines()
