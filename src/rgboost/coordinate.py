"""Algorithm 3: Random-then-Greedy Coordinate Descent in the coefficient space.

The paper's Proposition equiv: with the same random subsets and the same step rule it produces the
models of Algorithm 2. It is written here on its own, over an explicit matrix B, so that the
proposition can be tested and the algorithm used for other problems.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ._core.one_line import one_line
from ._core.validation import check_count
from .learners.kernels import TIE
from .losses import Loss, Squared
from .selection import AllLearners, Layout, SelectionRule
from .steps import ConstantStep, LineSearch, StepRule


@one_line
@dataclass(frozen=True)
class CoordinateTrace:
    """Losses and seconds (M + 1 entries, index 0 for beta = 0) and the choices (M entries).

    ``loss`` is the sum L(beta), ``coordinate`` the column of B, ``step`` the change of its
    coefficient in terms of the normalised column, ``gradient`` the partial derivative there.
    """

    loss: NDArray[np.float64]
    seconds: NDArray[np.float64]
    coordinate: NDArray[np.int64]
    step: NDArray[np.float64]
    gradient: NDArray[np.float64]


@one_line
@dataclass(frozen=True)
class CoordinateDescent:
    """``coef`` belongs to the columns of B as they were given: scores are ``B @ coef``."""

    coef: NDArray[np.float64]
    trace: CoordinateTrace


def random_then_greedy(
    B: Any,
    y: NDArray[np.float64],
    loss: Loss | None = None,
    selection: SelectionRule | None = None,
    step: StepRule | None = None,
    n_iter: int = 100,
    random_state: int | np.random.Generator | None = None,
    *,
    groups: Sequence[Iterable[int]] | None = None,
    weight: NDArray[np.float64] | None = None,
) -> CoordinateDescent:
    """Minimise L(beta) = sum_i w_i l(y_i, B_i beta) by random-then-greedy coordinate descent.

    Parameters
    ----------
    B : array or sparse matrix (n, K)
        Coordinates are its columns, normalised to <b, b> = 1; a column of zeros is no coordinate.
    y
        Labels that suit the loss.
    loss
        Default `Squared`.
    selection
        Default `AllLearners` (greedy coordinate descent). Type 1 with t=1 is random coordinate
        descent.
    step
        Default `ConstantStep`.
    n_iter
        Number of coordinate steps.
    random_state
        The stream of subsets is the one that boosting draws from the same seed.
    groups
        A partition of the columns, for Types 2 and 3; default one group per column.
    weight
        Weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.coordinate import random_then_greedy
    >>> result = random_then_greedy(np.eye(3), np.array([3.0, 0.0, -1.0]), n_iter=3)
    >>> result.coef
    array([ 3.,  0., -1.])
    >>> result.trace.coordinate
    array([0, 2, 0])
    """
    loss = Squared() if loss is None else loss
    selection = AllLearners() if selection is None else selection
    step = ConstantStep() if step is None else step
    check_count(n_iter, "n_iter")
    rho = step.constant(loss)
    loss.check_labels(y)
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    columns, scale = _normalised(B, w)
    layout = Layout.make(np.concatenate([[0], np.cumsum(scale > 0)]), groups)
    coordinate_of = np.flatnonzero(scale > 0)
    rng = np.random.default_rng(random_state)

    beta = np.zeros(B.shape[1])
    f = np.zeros(len(y))
    trace = CoordinateTrace(
        loss=np.empty(n_iter + 1),
        seconds=np.zeros(n_iter + 1),
        coordinate=np.empty(n_iter, np.int64),
        step=np.empty(n_iter),
        gradient=np.empty(n_iter),
    )
    begun = time.perf_counter()
    for m in range(n_iter):
        trace.loss[m] = w @ loss.value(y, f)
        # (1) a random subset J of the coordinates
        J = coordinate_of[selection.learners(layout, selection.draw(layout, rng, 1)[0])]
        # (2) the largest partial derivative in J; ties go to the smallest index
        gradient = -(columns[:, J].T @ (w * loss.residual(y, f)))
        score = gradient * gradient
        best = int(np.argmax(score >= score.max() * (1.0 - TIE)))
        j = int(J[best])
        # (3) the step
        b = _dense(columns[:, [j]])
        if rho is None:
            step_m = LineSearch().find(loss, y, f, b, w)
        else:
            step_m = -rho * float(gradient[best])
        # (4) the update
        beta[j] += step_m
        f += step_m * b
        trace.coordinate[m] = j
        trace.step[m] = step_m
        trace.gradient[m] = gradient[best]
        trace.seconds[m + 1] = time.perf_counter() - begun
    trace.loss[n_iter] = w @ loss.value(y, f)
    return CoordinateDescent(beta * scale, trace)


def _normalised(B: Any, w: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
    """B with columns of unit norm, and the scale of each (0 for a column of zeros)."""
    if scipy.sparse.issparse(B):
        columns = scipy.sparse.csc_array(B, dtype=np.float64)
        squares = columns.multiply(columns)
    else:
        columns = np.asarray(B, dtype=np.float64)
        squares = columns * columns
    norm = np.sqrt(np.asarray(squares.T @ w).ravel())
    scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
    if scipy.sparse.issparse(B):
        return scipy.sparse.csc_array(columns @ scipy.sparse.diags_array(scale)), scale
    return columns * scale, scale


def _dense(column: Any) -> NDArray[np.float64]:
    return (column.toarray() if scipy.sparse.issparse(column) else column).ravel()
