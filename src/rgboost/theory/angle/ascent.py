"""An upper bound on the Minimal Cosine Angle of any weak-learners, by linear programs."""

from __future__ import annotations

import numpy as np

from .._validation import Floats
from ..distance import Factors, QuotientProgram
from ..norms import StructuredNorm, infinity_norm
from .enumeration import enumerate_angle

_RANDOM = 512
"""How many random directions are looked at to find the best starts."""

_CELLS = 10_000
"""Programs with a larger matrix D (see `rgboost.theory.distance`) are not solved."""

_PATIENCE = 1e-10
"""A climb ends when a step improves the bound by less than this share."""

_WORK = 3_000_000
"""A climb takes at most this many steps divided by the size of V, within `_STEPS`."""

_STEPS = (6, 200)


def ascend(
    factors: Factors, norm: StructuredNorm, rng: np.random.Generator, n_starts: int
) -> Floats:
    r"""A direction x, as a unit vector, with a small :math:`\|[\langle a_j, x\rangle]_j\|_F`.

    Evaluated there, the norm is an upper bound on Theta. To find it, climb to a large ||x|| in
    P = {x : ||[<a_j, x>]_j||_F <= 1}: from x, the linear program
    :math:`\max \langle x, x'\rangle` over x' in P gives an x' with
    :math:`\|x'\| \ge \langle x, x' \rangle / \|x\| \ge \|x\|`, so no step makes the bound worse,
    and the climb ends at a vertex that no single program improves.

    Starts are directions of the smallest singular values, the best of many random ones and, as
    no rule's norm exceeds the infinity norm, the direction found for that one. All climb a few
    steps, the best one on to its end or to a limit that depends on the size of the program. Where
    an ordered norm's programs are too large, the starts themselves are compared.
    """
    rows = factors.V * factors.s
    starts = _starts(rows, norm, rng, n_starts)
    if norm.n_groups > 1:
        flat = infinity_norm(norm.n_coordinates)
        exact = enumerate_angle(factors, flat)
        worst = ascend(factors, flat, rng, min(n_starts, 4)) if exact is None else exact.x
        starts = np.vstack([starts, worst / np.linalg.norm(worst)])
    distinct = np.unique(norm.weights).size
    independent = factors.rank == norm.n_coordinates  # programs have a closed form
    if not independent and distinct > 1 and distinct * norm.n_groups > _CELLS:
        return np.asarray(starts[np.argmin(norm.norms(starts @ rows.T))])
    program = QuotientProgram(factors.V, norm)
    steps = int(np.clip(_WORK // factors.V.size, *_STEPS))
    ends = np.array([climb(program, factors, x, steps // 3) for x in starts])
    return climb(program, factors, ends[np.argmin(norm.norms(ends @ rows.T))], steps)


def _starts(rows: Floats, norm: StructuredNorm, rng: np.random.Generator, n_starts: int) -> Floats:
    """Unit vectors: up to half of them axes of small singular values, the rest random."""
    rank = rows.shape[1]
    n_axes = min(rank, (n_starts + 1) // 2)
    axes = np.eye(rank)[::-1][:n_axes]
    random = rng.standard_normal((max(_RANDOM, n_starts), rank))
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    good = np.argsort(norm.norms(random @ rows.T), kind="stable")[: n_starts - n_axes]
    return np.vstack([axes, random[good]])


def climb(program: QuotientProgram, factors: Factors, start: Floats, steps: int) -> Floats:
    """The unit vector where the climb from a unit vector ends, after so many steps at most.

    The dual of a step's program is the one of `rgboost.theory.distance`, in the coordinates
    z = diag(s) x, and its multipliers are the vertex.
    """

    def value_at(direction: Floats) -> float:
        return program.norm.norm(factors.V @ (factors.s * direction))

    x, value = start, value_at(start)
    for _ in range(steps):
        vertex = program.solve(x / factors.s).z / factors.s
        length = float(np.linalg.norm(vertex))
        reached = vertex / length if length > 0.0 else x
        reached_value = value_at(reached)
        if not reached_value < value:
            break
        gain = value - reached_value
        x, value = reached, reached_value
        if gain <= _PATIENCE * value:
            break
    return x
