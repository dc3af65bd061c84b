"""Callbacks: called between blocks of iterations, never inside one."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from .trace import Progress

Callback = Callable[[Progress], bool | None]
"""Called with a `Progress`; return True to stop the run there."""


class ProgressBar:
    """A bar on the terminal with the losses in it."""

    def __init__(self, description: str = "rgboost") -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[losses]}"),
            TimeRemainingColumn(),
        )
        self._task = self._bar.add_task(description, total=None, losses="")

    def __call__(self, progress: Progress) -> None:
        losses = f"train {progress.train_loss:.5g}"
        if progress.validation_loss is not None:
            losses += f"  valid {progress.validation_loss:.5g}"
        self._bar.update(
            self._task, total=progress.n_iter, completed=progress.iteration, losses=losses
        )

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()
