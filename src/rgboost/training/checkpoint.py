"""A callback that writes the state of the run to a file now and then."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

from .._core.validation import check_not_negative
from .trace import Progress


class Checkpoint:
    """Writes ``path`` every ``every`` seconds and at the end of the run, also after Ctrl-C.

    ``fit(X, y, resume=path)`` with the same data and parameters goes on from there; the result is
    that of a run that was not interrupted, to the last bit. Give ``random_state`` an integer:
    otherwise other rows would be held out for validation. The file is replaced in one step, so
    there is always a whole one. It holds two numbers a row (and class, if there are more
    than two) and a few an iteration. If it cannot be written (a full disk), there is a
    RuntimeWarning, the file before stays and the fit goes on. ``resume`` of a file that is not a
    whole checkpoint raises a ValueError that says so.

    Parameters
    ----------
    path : str or path-like
        The file.
    every : float
        Seconds between two writings.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.callbacks import Checkpoint
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.state")
    ...     _ = model.set_params(callbacks=[Checkpoint(path)]).fit(X, y)
    ...     longer = model.set_params(max_iter=80, callbacks=None).fit(X, y, resume=path)
    >>> longer.n_iter_
    80
    """

    needs_one_run = True
    """Not the mean of several runs."""

    def __init__(self, path: str | os.PathLike[str], every: float = 60.0) -> None:
        self.path = path
        self.every = check_not_negative(every, "every")
        self._last: Progress | None = None
        self._written = 0.0

    def __enter__(self) -> Checkpoint:
        target = Path(self.path)
        if not target.parent.is_dir() or (target.exists() and not target.is_file()):
            raise ValueError(
                f"Checkpoint cannot write path={os.fspath(self.path)!r}; give the name of a file "
                "in a folder that is there."
            )
        self._last = None
        self._written = time.perf_counter()
        return self

    def __call__(self, progress: Progress) -> None:
        self._last = progress
        if time.perf_counter() - self._written >= self.every:
            self._write(progress)

    def _write(self, progress: Progress) -> None:
        state = progress.state()
        if state is not None:
            try:
                state.save(self.path)
            except OSError as error:
                warnings.warn(
                    f"The checkpoint {os.fspath(self.path)} was not written ({error}); the fit "
                    "goes on.",
                    RuntimeWarning,
                    stacklevel=2,
                )
        self._written = time.perf_counter()

    def __exit__(self, *exc_info: object) -> None:
        if self._last is not None:
            self._write(self._last)
            self._last = None
