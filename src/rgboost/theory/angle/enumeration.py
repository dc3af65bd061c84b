r"""Exact Minimal Cosine Angles by enumeration, where the rank or the number of columns is small.

With unit columns, B = U diag(s) V' and c = U x, let a_j = U'B_{:j}. Then

.. math:: \Theta_F = \min_x \|[\langle a_j, x\rangle]_j\|_F / \|x\|_2 = 1 / \max_{x \in P} \|x\|_2,
          \qquad P = \{x : \|[\langle a_j, x\rangle]_j\|_F \le 1\},

a convex function's maximum over a polytope, attained at a vertex of P. Three ways to the vertices:

- `by_signs` (columns linearly independent): x -> B'Ux is one-to-one, so the vertices of P are those
  of the unit ball of the norm: signs on the union of some groups, divided by the sum of that many
  weights.
- `by_hull` (small rank): P is the polar of Q = {sum_j b_j a_j : ||b||_{F*} <= 1}. Vertices of P are
  facets of Q, so Theta is the distance from the origin to the nearest facet of Q. Q is the convex
  hull of the points sum_g gamma_{pi(g)} (+-a_{k_g}), with pi a permutation and k_g in I_g.
- `by_directions` (small rank, few columns): the norm is linear on each cone of the arrangement of
  the hyperplanes where two |<a_j, x>| are equal or one is 0, and over a cone a linear function
  divided by ||x|| is smallest on an extreme ray. Each ray is the intersection of r - 1 of these
  at most K^2 hyperplanes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, permutations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from .._validation import Floats
from ..distance import Factors
from ..norms import StructuredNorm

MAX_SIGNS = 600_000
"""Most vertices that `by_signs` looks at."""

MAX_SIGN_ROW = 2**18
"""Most vertices of one set of groups, which are held in memory together."""

MAX_POINTS = {2: 100_000, 3: 20_000, 4: 5_000, 5: 2_000, 6: 500, 7: 200, 8: 80, 9: 50}
"""Most points whose convex hull `by_hull` takes, by rank."""

MAX_DIRECTIONS = 20_000_000
"""Most coordinates (directions times columns) that `by_directions` computes, up to rank 4."""

_CHUNK = 1_000_000

_ARRANGED = 8
"""Most positive weights whose permutations are listed."""


@dataclass(frozen=True, eq=False)
class Enumerated:
    """Theta from an enumeration, a direction x that attains it, and the way it was got."""

    value: float
    x: Floats
    method: str


def enumerate_angle(factors: Factors, norm: StructuredNorm) -> Enumerated | None:
    """Theta by the first way that is affordable, None if none is."""
    if factors.rank == 1:
        return Enumerated(norm.cumulative[-1], np.ones(1), "rank 1")
    if factors.rank == norm.n_coordinates and _count_signs(norm) <= MAX_SIGNS:
        return by_signs(factors, norm)
    if count_extreme_points(norm) <= MAX_POINTS.get(factors.rank, 0):
        found = by_hull(factors, norm)
        if found is not None:
            return found
    K = norm.n_coordinates
    if factors.rank <= 4 and K * math.comb(K * K, factors.rank - 1) <= MAX_DIRECTIONS:
        return by_directions(factors, norm)
    return None


def by_signs(factors: Factors, norm: StructuredNorm) -> Enumerated:
    """Theta of linearly independent columns, over the vertices of the norm's unit ball."""
    inverse = (factors.V / factors.s).T  # B'Ux = u  <=>  x = diag(1/s) V'u
    best, best_x = 0.0, np.zeros(factors.rank)
    for group_count in range(1, norm.n_groups + 1):
        for chosen in combinations(range(norm.n_groups), group_count):
            columns = np.concatenate(
                [norm.members[norm.start[g] : norm.start[g + 1]] for g in chosen]
            )
            x = _half_cube(columns.size) @ inverse[:, columns].T / norm.cumulative[group_count - 1]
            lengths = np.einsum("ij,ij->i", x, x)
            i = int(np.argmax(lengths))
            if lengths[i] > best:
                best, best_x = float(lengths[i]), x[i]
    return Enumerated(1.0 / math.sqrt(best), best_x, "enumerated signs")


def _half_cube(d: int) -> Floats:
    """The sign vectors of length d whose first sign is +."""
    bits = np.arange(2 ** (d - 1))[:, None] >> np.arange(d - 1) & 1
    return np.hstack([np.ones((len(bits), 1)), 1.0 - 2.0 * bits])


def _count_signs(norm: StructuredNorm) -> float:
    """How many vertices `by_signs` looks at (infinite if one set of groups has too many)."""
    if norm.n_coordinates > MAX_SIGN_ROW.bit_length():
        return math.inf
    # Sum over all sets of groups of 2^(number of their coordinates), without the empty set.
    return (math.prod(1.0 + 2.0**size for size in norm.sizes.tolist()) - 1.0) / 2.0


def count_extreme_points(norm: StructuredNorm) -> float:
    """How many points `by_hull` takes the hull of (infinite if too many permutations)."""
    values, repeats = np.unique(norm.weights[norm.weights > 0.0], return_counts=True)
    positive = int(repeats.sum())
    if values.size > 1 and positive > _ARRANGED:
        return math.inf
    arrangements = math.factorial(positive) // math.prod(map(math.factorial, repeats.tolist()))
    # Elementary symmetric polynomial of degree `positive` in the numbers of signed members.
    symmetric = [1.0] + [0.0] * positive
    for size in norm.sizes.tolist():
        for degree in range(positive, 0, -1):
            symmetric[degree] += 2.0 * size * symmetric[degree - 1]
    return arrangements * symmetric[positive]


def extreme_points(rows: Floats, norm: StructuredNorm) -> Iterator[Floats]:
    """The points sum_g gamma_{pi(g)} (+-rows[k_g]), in blocks."""
    positive = norm.weights[norm.weights > 0.0]
    if positive[0] == positive[-1]:
        arrangements = {tuple(positive.tolist())}
    else:
        arrangements = set(permutations(positive.tolist()))
    signed = []
    for g in range(norm.n_groups):
        own = rows[norm.members[norm.start[g] : norm.start[g + 1]]]
        signed.append(np.vstack([own, -own]))
    for chosen in combinations(range(norm.n_groups), positive.size):
        for weights in sorted(arrangements):
            points = np.zeros((1, rows.shape[1]))
            for g, weight in zip(chosen, weights, strict=True):
                sums = points[:, None, :] + weight * signed[g][None]
                points = sums.reshape(-1, rows.shape[1])
            yield points


def by_hull(factors: Factors, norm: StructuredNorm) -> Enumerated | None:
    """Theta as the inradius of Q, None if Qhull finds the points degenerate.

    The hull is taken after the map diag(1/s), which makes the columns' Gram matrix the identity,
    so that badly spread columns do not look flat. A facet <m, y> <= 1 there is
    <diag(1/s) m, p> <= 1 in the original coordinates.
    """
    points = np.vstack(list(extreme_points(factors.V, norm)))
    try:
        equations = ConvexHull(points).equations
    except QhullError:
        return None
    x = equations[:, :-1] / -equations[:, -1:] / factors.s
    lengths = np.einsum("ij,ij->i", x, x)
    i = int(np.argmax(lengths))
    return Enumerated(1.0 / math.sqrt(lengths[i]), x[i], "enumerated facets")


def by_directions(factors: Factors, norm: StructuredNorm) -> Enumerated:
    """Theta as the smallest norm among all rays of the arrangement."""
    rows = factors.V * factors.s
    first, second = np.triu_indices(len(rows), 1)
    normals = np.vstack([rows, rows[first] - rows[second], rows[first] + rows[second]])
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals[lengths > 1e-12] / lengths[lengths > 1e-12, None]
    best, best_x = math.inf, np.zeros(factors.rank)
    subsets = combinations(range(len(normals)), factors.rank - 1)
    while chosen := list(islice(subsets, max(1, _CHUNK // len(rows)))):
        x = _common_normals(normals[np.array(chosen)])
        if len(x):
            values = norm.norms(x @ rows.T)
            i = int(np.argmin(values))
            if values[i] < best:
                best, best_x = float(values[i]), x[i]
    return Enumerated(best, best_x, "enumerated directions")


def _common_normals(stacks: Floats) -> Floats:
    """The unit vector orthogonal to the r - 1 unit rows of each stack, by cofactors.

    Stacks with (nearly) dependent rows are left out: the rays they could give are those of other
    stacks.
    """
    rank = stacks.shape[2]
    x = np.empty((len(stacks), rank))
    for i in range(rank):
        minor = np.delete(stacks, i, axis=2)
        x[:, i] = (-1) ** i * np.linalg.det(minor)
    lengths = np.linalg.norm(x, axis=1)
    return np.asarray(x[lengths > 1e-10] / lengths[lengths > 1e-10, None])
