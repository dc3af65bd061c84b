"""Iterations on rows, in blocks: between two of them callbacks are told where the run stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core.loading import working_seconds
from .._core.team import Team
from ..engines.problem import BlockLength, Problem
from ..engines.record import Record
from .state import Arrays


class ScoredRows(Protocol):
    """What rows of one score and of several classes share; see `rows.Rows`."""

    @property
    def score(self) -> NDArray[np.float64]: ...
    @property
    def residual(self) -> NDArray[np.float64]: ...
    @property
    def loss_sums(self) -> NDArray[np.float64]: ...
    @property
    def residual_sums(self) -> NDArray[np.float64]: ...


_KEPT = ("score", "residual", "loss_sums", "residual_sums")


def keep_rows(rows: ScoredRows, name: str) -> Arrays:
    """Copies of what a step changes."""
    return {f"{name}_{field}": getattr(rows, field).copy() for field in _KEPT}


def restore_rows(rows: ScoredRows, name: str, kept: Arrays) -> None:
    """Go on from what `keep_rows` gave."""
    for field in _KEPT:
        getattr(rows, field)[:] = kept[f"{name}_{field}"]


def start_or_resume(
    problem: Problem, rows: ScoredRows, held: ScoredRows, start: Callable[[Any], None]
) -> None:
    """The rows as a run before left them, or as ``start`` makes them."""
    kept = problem.rows_to_resume("direct")
    for name, some in (("train", rows), ("held", held)):
        if kept is None:
            start(some)
        else:
            restore_rows(some, name, kept)


def run_blocks(
    problem: Problem,
    rows: ScoredRows,
    held: ScoredRows,
    n_threads: int,
    run_one: Callable[[Team, Any, Record], None],
) -> None:
    """Run the iterations that are left to do; ``run_one`` runs a block of them on the rows."""
    recorder, length = problem.recorder, BlockLength(problem)
    problem.begin(
        "direct", lambda: (recorder.done, keep_rows(rows, "train") | keep_rows(held, "held"))
    )
    begun = working_seconds() - recorder.seconds[recorder.done]
    with Team(n_threads) as team:
        while recorder.left_to_do:
            n = length.next(recorder.left_to_do)
            block_begun = working_seconds()
            problem.begin_block()
            subsets = problem.selection.subsets(problem.prepared.layout, problem.rng, n)
            run_one(team, subsets, recorder.record(n))
            now = working_seconds()
            losses = float(rows.loss_sums.sum()), float(held.loss_sums.sum())
            recorder.finish_block(n, now - begun, *losses)
            length.learn(n, now - block_begun)
            if problem.wants_to_stop():
                break
