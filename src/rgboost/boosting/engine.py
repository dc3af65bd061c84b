"""Algorithm 2, by whichever engine is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..learners import LearnerFamily
from ..learners.base import Additive, Prepared
from ..losses import Loss, Softmax
from ..model import Path
from ..selection import SelectionRule
from ..steps import LeafStep, StepRule
from .callbacks import Callback
from .cost import choose_engine
from .direct import run_direct
from .gram import default_gram_memory, gram_obstacle, run_gram
from .problem import Problem, Validation
from .softmax import check_classes, run_softmax
from .step_length import make_rule
from .surrogate import run_surrogate, surrogate_obstacle
from .trace import Recorder, Trace

Engine = Literal["auto", "direct", "gram", "surrogate"]


@dataclass(frozen=True)
class Boosted:
    """The outcome of a run."""

    model: Additive
    trace: Trace
    prepared: Prepared


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
    validation: Validation | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 1,
    callbacks: Iterable[Callback] = (),
    engine: Engine = "auto",
    gram_memory: int | None = None,
    tol: float = 1e-8,
) -> Boosted:
    """Run Algorithm 2 (RGBM).

    The estimators check their input and call this; call it directly to bring your own loop around
    it. X is a 2-D float array or a sparse matrix, y float labels that suit the loss, weights are
    not negative. ``start_score=None`` starts from the loss's best constant.

    ``engine``: ``"direct"`` works on the rows, ``"gram"`` on statistics of them (squared loss and
    stumps; the same iterates, an iteration does not cost n), ``"auto"`` takes the one that
    `rgboost.boosting.cost` expects to be faster. ``"surrogate"`` minimises smooth losses by blocks
    of iterations on quadratic models (see `rgboost.boosting.surrogate`): other iterates, the same
    optimum; it stops when a block gains less than ``tol`` of the loss. ``gram_memory`` limits the
    bytes of Gram rows (default: a quarter of the machine's memory).
    """
    if isinstance(loss, Softmax):
        check_classes(step, engine)
    rule = make_rule(step, loss, learning_rate, len(y))
    loss.check_labels(y)
    if weight is not None and (weight == 0).any():  # such rows are not there
        kept = weight > 0
        X, y, weight, learner = X[kept], y[kept], weight[kept], learner.restricted_to(kept)
    prepared = learner.prepare(X, weight, groups=groups, names=names, n_jobs=n_jobs)
    if isinstance(step, LeafStep) or isinstance(loss, Softmax):
        what = f"step={step!r}" if isinstance(step, LeafStep) else f"{loss!r}"
        if not prepared.free_leaves:
            raise ValueError(
                f"{what} needs stumps with free leaves and without monotone constraints."
            )
    selection.size(prepared.layout)  # an impossible t raises here
    held_arrays = prepared.arrays
    if validation is not None:
        held_arrays = prepared.arrays_for(validation.X, n_jobs)
    problem = Problem(
        prepared=prepared,
        y=y,
        weight=weight,
        start=_start(loss, y, weight, start_score),
        loss=loss,
        selection=selection,
        rule=rule,
        held=validation,
        held_arrays=held_arrays,
        rng=np.random.default_rng(random_state),
        recorder=Recorder(
            n_iter,
            prepared.layout.offsets,
            total_weight(y, weight),
            None if validation is None else total_weight(validation.y, validation.weight),
            loss.n_classes if isinstance(loss, Softmax) else None,
        ),
        n_jobs=n_jobs,
        callbacks=tuple(callbacks),
    )
    if isinstance(loss, Softmax):
        run_softmax(problem)
        return _boosted(problem)
    memory = default_gram_memory() if gram_memory is None else gram_memory
    if engine == "auto":
        engine = choose_engine(problem, memory)
    if engine == "gram":
        check_engine("gram", gram_obstacle(problem))
        run_gram(problem, memory)
    elif engine == "surrogate":
        check_engine("surrogate", surrogate_obstacle(problem))
        run_surrogate(problem, memory, tol)
    else:
        run_direct(problem)
    return _boosted(problem)


def _start(
    loss: Loss,
    y: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    start_score: float | None,
) -> Any:
    """The score of the null model; with several classes one for each."""
    if start_score is None:
        return loss.best_constant(y, weight)
    if isinstance(loss, Softmax):
        return np.full(loss.n_classes, float(start_score))
    return float(start_score)


def _boosted(problem: Problem) -> Boosted:
    prepared = problem.prepared
    trace = problem.recorder.trace()
    path = Path(trace.learner, trace.left, trace.right)
    return Boosted(prepared.model(path, problem.start), trace, prepared)


def check_engine(name: str, obstacle: str | None) -> None:
    if obstacle is not None:
        raise ValueError(f"engine={name!r} cannot do this: {obstacle}. Or use engine='direct'.")


def total_weight(y: NDArray[np.float64], weight: NDArray[np.float64] | None) -> float:
    return float(len(y)) if weight is None else float(weight.sum())
