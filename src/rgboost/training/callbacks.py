"""Callbacks: called between blocks of iterations, never inside one.

A callback is a function of a `Progress`; if it returns True, the run stops there and keeps what it
has. If it is a context manager too, it is entered before the run begins and left when it ends.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from .._core.compiling import NOTICE, told_by
from .._core.loading import working_seconds
from .._core.validation import check_not_negative, check_positive
from .trace import Progress

Callback = Callable[[Progress], bool | None]
"""Called with a `Progress`; return True to stop the run there."""


class Part:
    """A callback in one part of a fit: it is told which one, and how long the others took.

    ``began`` is shared by the parts of a fit, and gets the time at which the first of them began.
    """

    def __init__(self, callback: Callback, part: str, began: list[float]) -> None:
        self.callback = callback
        self.part = part
        self._began = began
        self._before: float | None = None

    def of(self, part: str) -> Part:
        """The same callback in another part of the fit."""
        return Part(self.callback, part, self._began)

    def __enter__(self) -> Part:
        self._before = None
        if isinstance(self.callback, AbstractContextManager):
            self.callback.__enter__()
        return self

    def __exit__(self, *exc_info: Any) -> bool | None:
        if isinstance(self.callback, AbstractContextManager):
            return self.callback.__exit__(*exc_info)
        return None

    def __call__(self, progress: Progress) -> bool | None:
        if self._before is None:
            mine = working_seconds() - (progress.seconds - progress.seconds_before)
            if not self._began:
                self._began.append(mine)
            self._before = max(0.0, mine - self._began[0])
        return self.callback(replace(progress, part=self.part, seconds_of_parts=self._before))


def in_parts(callbacks: Iterable[Callback]) -> list[Part]:
    """Callbacks of a fit that has several parts, in its first one."""
    began: list[float] = []
    return [Part(callback, "curves", began) for callback in callbacks]


def in_joblib() -> bool:
    """Whether this runs inside a job of joblib (a search of scikit-learn, say)."""
    from joblib.parallel import get_active_backend

    return bool(get_active_backend()[0].nesting_level)


def describe_losses(progress: Progress) -> str:
    """The losses of the moment in a few words."""
    losses = f"train {progress.train_loss:.5g}"
    if progress.validation_loss is not None:
        losses += f"  valid {progress.validation_loss:.5g}"
    return losses


def _named(progress: Progress, words: str) -> str:
    """The part of the fit in these words; nothing for the first one."""
    return "" if progress.part == "curves" else words.format(progress.part)


class ProgressBar:
    """A bar on the terminal with the losses in it. Inside joblib it draws nothing.

    ``console`` is the `rich.console.Console` to draw on, by default the one of standard output.

    Parameters
    ----------
    description : str
        What stands before the bar.
    console : rich.console.Console, optional
        Where it is drawn.

    Examples
    --------
    >>> from io import StringIO
    >>> from rich.console import Console
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.callbacks import ProgressBar
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bar = ProgressBar(console=Console(file=StringIO()))  # without it: on the terminal
    >>> model = RGBMRegressor(max_iter=100, callbacks=[bar], interactions=0).fit(X, y)
    """

    def __init__(self, description: str = "rgboost", console: Any = None) -> None:
        self.description = description
        self.console = console
        self._bar: Any = None
        self._open: contextlib.ExitStack | None = None

    def __call__(self, progress: Progress) -> None:
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0],
                total=progress.n_iter,
                completed=progress.iteration,
                losses=describe_losses(progress),
                description=self.description + _named(progress, ", {}"),
            )

    def __enter__(self) -> ProgressBar:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        if not in_joblib():
            self._bar = RichProgress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[losses]}"),
                TimeRemainingColumn(),
                console=self.console,
            )
            self._bar.add_task(self.description, total=None, losses="")
            self._open = contextlib.ExitStack()
            self._open.enter_context(self._bar)
            self._open.enter_context(told_by(self._say_compiling))
        return self

    def _say_compiling(self) -> None:
        self._bar.update(self._bar.task_ids[0], losses=NOTICE, refresh=True)

    def __exit__(self, *exc_info: object) -> None:
        if self._open is not None:
            self._open.close()
        self._open = self._bar = None


class LogProgress:
    """Messages of the logger ``rgboost``: one every ``every`` seconds, and one at the end.

    Nothing shows unless logging is set up to show it: ``logging.basicConfig(level="INFO")``. With
    ``always``, messages that it would not show are printed to standard error.

    Parameters
    ----------
    every : float
        Seconds between messages.
    logger : str
        Name of the logger.
    level : int
        Level of the messages.
    always : bool
        Whether messages that the logger would not show go to standard error.

    Examples
    --------
    >>> import logging
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.callbacks import LogProgress
    >>> X, y = load_diabetes(return_X_y=True)
    >>> quiet = LogProgress(every=10.0, level=logging.DEBUG)
    >>> model = RGBMRegressor(max_iter=100, callbacks=[quiet], interactions=0).fit(X, y)
    """

    def __init__(
        self,
        every: float = 1.0,
        *,
        logger: str = "rgboost",
        level: int = logging.INFO,
        always: bool = False,
    ) -> None:
        self.every = check_not_negative(every, "every")
        self.logger = logger
        self.level = level
        self.always = always
        self._forget()

    def _forget(self) -> None:
        self._last: Progress | None = None
        self._said_at = -1.0

    def __enter__(self) -> LogProgress:
        self._forget()
        return self

    def __call__(self, progress: Progress) -> None:
        self._last = progress
        if self._said_at < 0.0 or progress.seconds >= self._said_at + self.every:
            self._say(progress)

    def __exit__(self, *exc_info: object) -> None:
        if self._last is not None and self._last.seconds > self._said_at:
            self._say(self._last)

    def _say(self, progress: Progress) -> None:
        self._said_at = progress.seconds
        logger = logging.getLogger(self.logger)
        message = (
            f"{_named(progress, '{}: ')}iteration {progress.iteration} of {progress.n_iter}  "
            f"{describe_losses(progress)}  {progress.seconds:.1f} s"
        )
        if logger.hasHandlers() and logger.isEnabledFor(self.level):
            logger.log(self.level, message)
        elif self.always:
            print(f"{self.logger}: {message}", file=sys.stderr)


class TimeLimit:
    """Stops the fit so many seconds after its first iteration began, whatever its parts are.

    Compiling does not count, nor does what a run before took that this one goes on with. The first
    block of iterations of a part is always done: the model has at least one. What a machine gets
    done in the time is its affair, so such a fit is not reproducible.

    Parameters
    ----------
    seconds : float
        A positive number.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.callbacks import TimeLimit
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RGBMRegressor(max_iter=100, callbacks=[TimeLimit(60)], interactions=0).fit(X, y)
    >>> model.n_iter_
    100
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = check_positive(seconds, "seconds")

    def __call__(self, progress: Progress) -> bool:
        spent = progress.seconds - progress.seconds_before + progress.seconds_of_parts
        return spent >= self.seconds
