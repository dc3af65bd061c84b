"""Algorithm 2, by whichever engine is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._core.memory import memory_budget
from .._core.one_line import one_line
from ..engines.base import Runs
from ..engines.direct.runs import DirectRuns
from ..engines.gram.runs import GramRuns, all_rows_fit, gram_obstacle
from ..engines.leaves.runs import LeafRuns
from ..engines.problem import Problem, Validation
from ..engines.quadratic.cell_runs import CellRuns
from ..engines.quadratic.class_runs import ClassQuadraticRuns
from ..engines.quadratic.runs import QuadraticRuns, quadratic_obstacle
from ..learners import LearnerFamily
from ..learners.base import Additive, Prepared
from ..losses import Loss
from ..model import Path
from ..selection import SelectionRule
from ..statistics.base import RowsInBins, Source
from ..steps import StepRule
from .callbacks import Callback
from .driver import Driver, enter_all, fingerprint_of
from .make_problem import make_problem, problem_of_source
from .plan.costs import gram_budget
from .plan.engines import engine_of, is_open
from .plan.facts import Facts, facts_of
from .state import RunState, check_settings, settings_of
from .stopping import EarlyStopping, best_iteration
from .trace import Trace

Engine = Literal["auto", "direct", "gram", "quadratic"]

ENGINES: dict[str, Callable[[Problem], Runs]] = {
    "direct": lambda problem: (
        LeafRuns(problem) if problem.prepared.by_leaves else DirectRuns(problem)
    ),
    "gram": GramRuns,
    "quadratic": lambda problem: (
        CellRuns(problem)
        if problem.goes_on_from_curves
        else QuadraticRuns(problem)
        if problem.n_classes is None
        else ClassQuadraticRuns(problem)
    ),
}
_OBSTACLES = {"gram": gram_obstacle, "quadratic": quadratic_obstacle}


@one_line
@dataclass(frozen=True)
class Boosted:
    """The outcome of a run.

    ``model`` is the one after ``best_iteration`` iterations: where the validation loss was
    smallest, or the last one without validation rows. ``trace`` has all iterations.
    ``interrupted`` tells that Ctrl-C ended the run.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import Stumps, boost
    >>> from rgboost.losses import Squared
    >>> from rgboost.selection import RandomGroups
    >>> from rgboost.steps import ConstantStep
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1]
    >>> rules = dict(learner=Stumps(max_bins=16), selection=RandomGroups(1), step=ConstantStep())
    >>> boosted = boost(X, y, loss=Squared(), n_iter=50, random_state=0, **rules)
    >>> boosted.best_iteration, boosted.model.score(X).shape
    (50, (200,))
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
    events: tuple[str, ...] = ()
    """What changed on the way: an engine that ran out of memory, and the one that went on."""
    starts: tuple[Any, ...] = ()
    """Where each of the runs started from, counted from ``centre``."""
    centre: float = 0.0
    in_bins: RowsInBins | None = None
    """The rows of ``statistics``; labels are less ``centre``."""

    def stopped_at(self, iteration: int) -> Boosted:
        """The same run, and its model after so many iterations."""
        start = self.centre + np.mean(self.starts, axis=0)
        model = self.prepared.model(self.trace.path(iteration), start)
        return replace(self, model=model, best_iteration=iteration)

    def run_path(self, k: int) -> Path:
        """The choices of one of the runs until the best iteration, as those of its own model."""
        n_runs = self.trace.n_runs
        choices = self.trace.path(self.best_iteration).choices[k::n_runs].copy()
        for name in self.prepared.step_fields:
            choices[name] *= n_runs
        return Path(choices)

    def run_models(self) -> list[Additive]:
        """The models that the model is the mean of, as scores less ``centre``."""
        paths = (self.run_path(k) for k in range(self.trace.n_runs))
        return [
            self.prepared.model(path, start) for path, start in zip(paths, self.starts, strict=True)
        ]


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
    fold: NDArray[np.int64] | int | None = None,
    run_scores: NDArray[np.float64] | None = None,
    statistics: Source | None = None,
    prepared: Prepared | None = None,
    early_stopping: EarlyStopping | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 1,
    callbacks: Iterable[Callback] = (),
    engine: Engine = "auto",
    instead: Engine | None = None,
    gram_memory: int | None = None,
    tol: float = 1e-8,
    resume: RunState | None = None,
    keep_state: bool = False,
) -> Boosted:
    """Run Algorithm 2 (RGBM).

    The estimators check their input and call this; call it directly to bring your own loop around
    it. Labels, weights and offsets are not checked.

    Ctrl-C ends the run after the block of iterations that is under way (about 50 milliseconds),
    and what was done until then is returned, marked as ``interrupted``. Before the first iteration
    is done, and at the second Ctrl-C if nothing is done, KeyboardInterrupt is raised.

    Parameters
    ----------
    X : 2-D float array or sparse matrix
        The rows.
    y : ndarray of float
        Labels that suit the loss.
    loss, learner, selection, step
        Objects of `rgboost.losses`, `rgboost.learners`, `rgboost.selection`, `rgboost.steps`.
    n_iter : int
        Number of iterations, at most.
    learning_rate : float
        Multiplies the step.
    start_score : float or None
        The score to start from. None: the best constant of the loss.
    groups, names
        A partition of the columns, and their names; see `rgboost.selection.Layout`.
    weight : ndarray, optional
        Weights of the rows, not negative.
    offset : ndarray, optional
        A known part of the score of every row, (rows, classes) if there are several: the model is
        what is added to it. Validation rows have their own.
    validation : Validation, optional
        Rows whose loss is recorded in every iteration, at no extra pass where the engine works on
        statistics. The model is then the one of the best iteration.
    fold : ndarray of int, optional
        The number 0, 1, ... of each row's fold: the mean of k models is asked for, each fitted
        without the rows of one fold. See the notes.
    run_scores : ndarray, optional
        (runs, rows) or (runs, rows, classes): scores that the runs of the folds begin with, in
        place of a constant, of models that were fitted without the same folds. Weak-learners with
        leaves, such as pairs, can go on from them.
    statistics : Source, optional
        In place of X, y, weight and offset, a `rgboost.statistics.base.Source` that has the rows
        elsewhere and gives sums over them; ``fold`` is then the number of folds.
    prepared : Prepared, optional
        Weak-learners that were laid into bins before: those that another call came to
        (``Boosted.prepared``) with the same learner, groups and names, rows and weights.
    early_stopping : EarlyStopping, optional
        Ends the run when the loss of held-out rows no longer falls.
    random_state : int, Generator or None
        Of the random subsets.
    n_jobs : int
        Threads.
    callbacks : iterable of callables
        See `rgboost.callbacks`.
    engine : {"auto", "direct", "gram", "quadratic"}
        ``"direct"`` works on the rows. ``"gram"`` works on statistics of them (squared loss and
        stumps; the same iterates, an iteration does not cost n). ``"auto"`` takes the one of the
        two that is expected to be faster. ``"quadratic"`` minimises smooth losses by stretches of
        iterations on quadratic models: other iterates, the same optimum.
    instead : str, optional
        The engine to take in place of ``"gram"`` where Gram rows of all features turn out not to
        fit: before rows are in bins, their number is an estimate.
    gram_memory : int, optional
        The most bytes of Gram rows. Default: such that all that a run adds is at most a quarter of
        what the process may use.
    tol : float
        ``"quadratic"`` stops when a stretch gains less than this share of the loss.
    resume : RunState, optional
        The state of a run on the same data to go on from (``Boosted.state``, or ``RunState.load``
        of a checkpoint), with the same learning rate, step, selection and seed (None: that of the
        run before). ``n_iter`` counts the iterations of both. The result is that of one run, to
        the last bit, if the engine is the same; ``"auto"`` goes on with the one that it began with.
    keep_state : bool
        Whether the outcome has what ``resume`` needs.

    Returns
    -------
    Boosted

    Notes
    -----
    The mean of additive models is an additive model: the sum of all their weak-learners, each
    divided by k. Its variance is smaller than that of one model, and every row was trained on by
    k - 1 runs, although every run had rows to tell where to stop (explainable boosting machines
    average bags in the same way; Breiman, "Bagging predictors", 1996). All runs use bins that come
    from all rows. An iteration is then one of every run, and the path has k entries for each.
    Losses of the trace are means over the runs: of the rows that a run is fitted to, and, as
    validation loss, of those that it is not. The seed of a run is (``random_state``, its fold).

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import Stumps, boost
    >>> from rgboost.losses import Squared
    >>> from rgboost.selection import RandomGroups
    >>> from rgboost.steps import ConstantStep
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> boosted = boost(
    ...     X, np.sin(X[:, 0]), loss=Squared(), learner=Stumps(max_bins=16), n_iter=100,
    ...     selection=RandomGroups(1), step=ConstantStep(), random_state=0,
    ... )
    >>> bool(boosted.trace.train_loss[-1] < 0.05)
    True
    """
    if fold is not None and (validation is not None or resume is not None):
        raise ValueError("fold is given: its rows are held out; leave out validation and resume.")
    has_held = validation is not None or (statistics is not None and statistics.has_held)
    if early_stopping is not None and not has_held and fold is None:
        raise ValueError("early_stopping needs validation rows; pass validation=Validation(X, y).")
    settings = {
        "learning_rate": learning_rate, "step": step, "selection": selection,
        "random_state": random_state,
    }  # fmt: skip
    if resume is not None:
        check_settings(check_fits(resume, n_iter, engine), settings_of(**settings))
    with ExitStack() as stack:
        listeners = list(callbacks)
        enter_all(stack, listeners)
        facts = None
        if statistics is None and (gram_memory is None or is_open(engine)):
            facts = boost_facts(X, y, loss, learner, weight, validation, fold, names)
        memory = memory_for(facts, gram_memory)
        if statistics is not None:
            engine = engine_on_statistics(engine, loss, learner, statistics.has_codes)
        elif resume is not None:
            engine = resume.engine  # type: ignore[assignment]
        elif is_open(engine):
            assert facts is not None
            rules = learner, selection, step, learning_rate, n_iter
            engine = engine_of(facts, *rules, early_stopping is not None, memory, groups)
        make = make_problem if statistics is None else partial(problem_of_source, statistics)
        problem = make(
            X, y, loss=loss, learner=learner, selection=selection, step=step, n_iter=n_iter,
            learning_rate=learning_rate, start_score=start_score, groups=groups, names=names,
            weight=weight, offset=offset, validation=validation, fold=fold,
            random_state=random_state, n_jobs=n_jobs, tol=tol if fold is None else 0.0,
            gram_memory=memory, prepared=prepared,
        )  # fmt: skip
        problem.run_scores = run_scores
        if resume is not None:
            check_same_data(resume, problem)
        if resume is None and engine in _OBSTACLES:
            check_engine(engine, _OBSTACLES[engine](problem))
        events = []
        if instead is not None and must_do_with_less(problem, engine, instead):
            events.append(f"Gram rows do not fit into gram_memory: {instead} in place of {engine}")
            engine = instead
        driver, interrupted = _run(problem, engine, listeners, early_stopping, settings, resume)
        driver.events[:0] = events
        state = driver.state() if keep_state else None
    driver.end()
    stop_at = None if early_stopping is None else early_stopping.stop_at
    return outcome(driver, stop_at, interrupted, state)


def must_do_with_less(problem: Problem, engine: str, instead: str) -> bool:
    """Whether the Gram rows of an engine do not fit, and another engine is possible."""
    able = instead not in _OBSTACLES or _OBSTACLES[instead](problem) is None
    return engine == "gram" and able and not all_rows_fit(problem)


def _run(
    problem: Problem,
    engine: str,
    listeners: list[Callback],
    rule: EarlyStopping | None,
    settings: dict[str, Any],
    resume: RunState | None,
) -> tuple[Driver, bool]:
    """Drive an engine; whether Ctrl-C ended it with something done."""
    begin = ENGINES[engine]
    if engine == "direct" and problem.source is not None:
        begin = problem.source.direct_runs
    try:
        driver = Driver(problem, begin(problem), listeners, settings, resume)
        return driver, driver.go(rule)
    except MemoryError:  # statistics take more than the rows alone
        if engine == "direct" or resume is not None or problem.source is not None:
            raise
    driver = Driver(problem, DirectRuns(problem), listeners, settings)
    driver.events.append(f"engine {engine!r} was refused memory; direct from the beginning")
    return driver, driver.go(rule)


def engine_on_statistics(engine: str, loss: Loss, learner: LearnerFamily, has_codes: bool) -> Any:
    """The engine that needs no rows; or, if it is asked for, that on rows where they are."""
    if engine == "direct" and not has_codes:
        raise ValueError("engine='direct' works on rows, and statistics have none; use 'auto'.")
    if not is_open(engine):
        return engine
    return "gram" if loss.quadratic and learner.by_statistics else "quadratic"


def boost_facts(
    X: Any, y: Any, loss: Loss, learner: Any, weight: Any, validation: Any, fold: Any, names: Any
) -> Facts:
    """What the engine is chosen by."""
    categorical = np.zeros(X.shape[1], bool)
    categorical[list(getattr(learner, "categorical", ()))] = True
    facts = facts_of(
        X, y, loss, weight=weight, categorical=categorical, validation=validation, names=names
    )
    if fold is None:
        return facts
    if weight is not None:
        fold = np.where(weight > 0, fold, -1)
    return facts.with_folds(fold, weight)


def memory_for(facts: Facts | None, given: int | None) -> int:
    """Bytes for Gram rows."""
    if given is not None:
        return given
    return memory_budget() if facts is None else gram_budget(facts, frugal=False)


def check_fits(state: RunState, n_iter: int, engine: str) -> RunState:
    """The state, or an error if a run cannot go on from it with these parameters."""
    if n_iter < state.done:
        raise ValueError(
            f"The run to go on with has {state.done} iterations, more than the {n_iter} that are "
            "asked for; ask for at least as many, or begin anew."
        )
    if not is_open(engine) and engine not in (state.begun, state.engine):
        raise ValueError(
            f"The run to go on with is one of engine={state.engine!r}; "
            f"engine={engine!r} cannot go on with it. Use engine='auto', or begin anew."
        )
    return state


def check_same_data(state: RunState, problem: Problem) -> None:
    if state.fingerprint != fingerprint_of(problem):
        raise ValueError(
            "The run to go on with had other data, another loss or other weak-learners; "
            "give those of that run, or begin anew."
        )


def outcome(
    driver: Driver, stop_at: int | None, interrupted: bool, state: RunState | None
) -> Boosted:
    """The model of the best iteration, and the trace until iteration ``stop_at`` or the last."""
    problem, trace = driver.problem, driver.recorder.trace(stop_at)
    check_losses(trace)
    best = len(trace)
    if trace.validation_loss is not None:
        best = best_iteration(trace.validation_loss)
    model = problem.prepared.model(trace.path(best), problem.centre + driver.start)
    return Boosted(
        model, trace, problem.prepared, best, interrupted, state, driver.asked_to_stop,
        tuple(driver.events), tuple(driver.starts), problem.centre, problem.in_bins,
    )  # fmt: skip


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
