"""How far a comparison is: a bar where a person looks, a line for every fit elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .._core.compiling import NOTICE, told_by

Tell = Callable[[int, int, str], None]
"""Called with the fits that are done, those that there are, and what is fitted now."""


EVERY = 2.0
"""Seconds between two lines."""


def say_nothing(done: int, total: int, what: str) -> None:
    """Nobody looks."""


@contextmanager
def shown_on(console: Any) -> Iterator[Tell]:
    """Show it on a `rich.console.Console`."""
    show = _bar if console.is_terminal or console.is_jupyter else _lines
    with show(console) as tell:
        yield tell


@contextmanager
def _bar(console: Any) -> Iterator[Tell]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=None)

        def tell(done: int, total: int, what: str) -> None:
            progress.update(task, completed=done, total=total, description=what, refresh=True)

        with told_by(lambda: progress.update(task, description=NOTICE, refresh=True)):
            yield tell


@contextmanager
def _lines(console: Any) -> Iterator[Tell]:
    began = said_at = time.perf_counter()

    def say(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    def tell(done: int, total: int, what: str) -> None:
        nonlocal said_at
        now = time.perf_counter()
        if done == 0 or (done < total and now >= said_at + EVERY):
            said_at = now
            say(f"fit {done + 1} of {total}: {what}  ({now - began:.0f} s)")

    left = [NOTICE]
    with told_by(lambda: say(left.pop()) if left else None):
        yield tell
