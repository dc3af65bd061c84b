"""Algorithm 2, by whichever engine is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import one_line
from ..engines.direct.direct import run_direct
from ..engines.direct.softmax import check_classes, run_softmax
from ..engines.gram.gram import gram_obstacle, run_gram
from ..engines.problem import Problem, Validation
from ..engines.quadratic.surrogate import run_surrogate, surrogate_obstacle
from ..learners import LearnerFamily
from ..learners.base import Additive, Prepared
from ..losses import Loss, Softmax
from ..selection import SelectionRule
from ..steps import StepRule
from .budget import gram_budget
from .callbacks import Callback
from .cost import choose_engine
from .interrupt import DeferredInterrupt
from .make_problem import make_problem
from .state import RunState
from .stopping import EarlyStopping, best_iteration
from .trace import Trace

Engine = Literal["auto", "direct", "gram", "surrogate"]


@one_line
@dataclass(frozen=True)
class Boosted:
    """The outcome of a run.

    ``model`` is the one after ``best_iteration`` iterations: where the validation loss was
    smallest, or the last one without validation rows. ``trace`` has all iterations.
    ``interrupted`` tells that Ctrl-C ended the run.
    """

    model: Additive
    trace: Trace
    prepared: Prepared
    best_iteration: int
    interrupted: bool = False
    state: RunState | None = None
    """What ``resume`` of another call goes on from, if ``keep_state`` was asked for; None if the
    run was interrupted in the middle of a block."""
    asked_to_stop: bool = False
    """Whether a callback ended the run."""


def boost(
    X: Any,
    y: NDArray[np.float64],
    *,
    loss: Loss,
    learner: LearnerFamily,
    selection: SelectionRule,
    step: StepRule,
    n_iter: int,
    learning_rate: float = 1.0,
    start_score: float | None = 0.0,
    groups: Any = None,
    names: Sequence[str] | None = None,
    weight: NDArray[np.float64] | None = None,
    offset: NDArray[np.float64] | None = None,
    validation: Validation | None = None,
    early_stopping: EarlyStopping | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 1,
    callbacks: Iterable[Callback] = (),
    engine: Engine = "auto",
    gram_memory: int | None = None,
    tol: float = 1e-8,
    resume: RunState | None = None,
    keep_state: bool = False,
) -> Boosted:
    """Run Algorithm 2 (RGBM).

    The estimators check their input and call this; call it directly to bring your own loop around
    it. X is a 2-D float array or a sparse matrix, y float labels that suit the loss, weights are
    not negative. ``start_score=None`` starts from the loss's best constant. ``offset`` is a known
    part of the score of every row, (rows, classes) if there are several: the model is what is added
    to it. Validation rows have their own.

    ``engine``: ``"direct"`` works on the rows, ``"gram"`` on statistics of them (squared loss and
    stumps; the same iterates, an iteration does not cost n), ``"auto"`` takes the one that
    `rgboost.training.cost` expects to be faster. ``"surrogate"`` minimises smooth losses by blocks
    of iterations on quadratic models (see `engines.quadratic`): other iterates, the same
    optimum; it stops when a block gains less than ``tol`` of the loss. ``gram_memory`` limits the
    bytes of Gram rows (default: such that all that a run adds is at most a quarter of what the
    process may use, see `rgboost._core.memory`).

    With ``validation`` rows their loss is recorded in every iteration, at no extra pass where the
    engine works on statistics, and the model is the one of the best iteration. ``early_stopping``
    ends the run when that loss no longer falls.

    Ctrl-C ends the run after the block of iterations that is under way (about 50 milliseconds),
    and what was done until then is returned, marked as ``interrupted``. Before the first iteration
    is done, and at the second Ctrl-C if nothing is done, KeyboardInterrupt is raised.

    ``resume`` goes on from the state of a run on the same data (``Boosted.state``, or
    ``RunState.load`` of a checkpoint), with the same learning rate, step, selection and seed (None:
    that of the run before); ``n_iter`` counts the iterations of both. The result is
    that of one run, to the last bit, if the engine is the same: ``"auto"`` goes on with the engine
    that the run began with.
    """
    if early_stopping is not None and validation is None:
        raise ValueError("early_stopping needs validation rows; pass validation=Validation(X, y).")
    if isinstance(loss, Softmax):
        check_classes(step, engine)
    with ExitStack() as stack:
        listeners: list[Callback] = list(callbacks)
        if early_stopping is not None:
            listeners.append(early_stopping)
        enter_all(stack, listeners)
        problem = make_problem(
            X,
            y,
            loss=loss,
            learner=learner,
            selection=selection,
            step=step,
            n_iter=n_iter,
            learning_rate=learning_rate,
            start_score=start_score,
            groups=groups,
            names=names,
            weight=weight,
            offset=offset,
            validation=validation,
            random_state=random_state,
            n_jobs=n_jobs,
            callbacks=tuple(listeners),
            resume=None if resume is None else check_fits(resume, n_iter, engine),
        )
        memory = gram_budget(X) if gram_memory is None else gram_memory
        interrupted = _run(problem, engine, memory, tol)
        state = problem.state() if keep_state else None
    problem.end()
    stop_at = None if early_stopping is None else early_stopping.stop_at
    return outcome(problem, stop_at, interrupted, state)


def enter_all(stack: ExitStack, listeners: Iterable[Callback]) -> None:
    """Enter the callbacks that are context managers."""
    for listener in listeners:
        if isinstance(listener, AbstractContextManager):
            stack.enter_context(listener)


def _run(problem: Problem, engine: Engine, memory: int, tol: float) -> bool:
    """Run an engine; whether Ctrl-C ended it with something done."""
    if problem.resume is not None:
        if problem.resume.finished or problem.wants_to_stop():
            return False
        engine = problem.resume.engine  # type: ignore[assignment]
    elif engine == "auto":
        engine = choose_engine(problem, memory)

    def run() -> None:
        if isinstance(problem.loss, Softmax):
            run_softmax(problem)
        elif engine == "gram":
            check_engine("gram", gram_obstacle(problem))
            try:
                run_gram(problem, memory)
            except MemoryError:  # statistics take more than the rows alone
                if problem.recorder.done:
                    raise
                problem.rewind(0)
                problem.recorder.engine = "direct"
                run_direct(problem)
        elif engine == "surrogate":
            check_engine("surrogate", surrogate_obstacle(problem))
            run_surrogate(problem, memory, tol)
        else:
            run_direct(problem)

    return interruptible(problem, run)


def interruptible(problem: Problem, run: Callable[[], None]) -> bool:
    """Run an engine to the end or until Ctrl-C; whether that ended it with something done."""
    try:
        with DeferredInterrupt() as interrupt:
            problem.callbacks += (lambda progress: interrupt.requested,)
            run()
    except KeyboardInterrupt:  # the second one, or one that a callback raised
        if not problem.recorder.done:
            raise
        return True
    return interrupt.requested


def check_fits(state: RunState, n_iter: int, engine: str) -> RunState:
    """The state, or an error if a run cannot go on from it with these parameters."""
    if n_iter < state.done:
        raise ValueError(
            f"The run to go on with has {state.done} iterations, more than the {n_iter} that are "
            "asked for; ask for at least as many, or begin anew."
        )
    if engine != "auto" and not state.label.startswith(engine):
        raise ValueError(
            f"The run to go on with is one of engine={state.engine!r}; "
            f"engine={engine!r} cannot go on with it. Use engine='auto', or begin anew."
        )
    return state


def outcome(
    problem: Problem,
    stop_at: int | None,
    interrupted: bool,
    state: RunState | None = None,
) -> Boosted:
    """The model of the best iteration, and the trace until iteration ``stop_at`` or the last."""
    trace = problem.recorder.trace(stop_at)
    check_losses(trace)
    best = len(trace)
    if trace.validation_loss is not None:
        best = best_iteration(trace.validation_loss)
    model = problem.prepared.model(trace.path(best), problem.centre + problem.start)
    asked = problem.asked_to_stop
    return Boosted(model, trace, problem.prepared, best, interrupted, state, asked)


def check_engine(name: str, obstacle: str | None) -> None:
    if obstacle is not None:
        raise ValueError(f"engine={name!r} cannot do this: {obstacle}. Or use engine='direct'.")


def check_losses(trace: Trace) -> None:
    """A loss that is not finite has no model worth keeping."""
    bad = np.flatnonzero(~np.isfinite(trace.train_loss))
    if len(bad):
        raise ValueError(
            f"the training loss was {trace.train_loss[bad[0]]} after {bad[0]} iterations; use a "
            "smaller learning_rate, or scale y down."
        )
