"""The Minimal Cosine Angle of all stumps of a prepared family."""

from __future__ import annotations

import numpy as np

from ..._core.memory import memory_budget
from ..._core.team import Team, team_size
from ...learners.base import Prepared
from ...selection import SelectionRule
from .._validation import Floats
from ..distance import Factors
from ..norms import StructuredNorm, infinity_norm, norm_of_layout
from .closed_forms import orthogonal_angle, orthogonal_minimiser
from .gram_bounds import GramFactor, ascend_by_gram, most_promising, proved_bound
from .known import ORTHOGONAL, MinimalCosineAngle, angle_of_factors
from .stump_gram import StumpGram

_FEW = 200
"""Up to this many stumps singular values are computed; above, bounds come from a factor."""

_KEPT = 4
"""How many of the directions that ascents end at are evaluated on the rows."""


def stump_angle(
    prepared: Prepared,
    selection: SelectionRule,
    weight: Floats | None,
    n_starts: int,
    rng: np.random.Generator,
    n_jobs: int,
) -> MinimalCosineAngle:
    """Theta, or an interval of it; see `rgboost.theory.minimal_cosine_angle`."""
    K = prepared.layout.n_learners
    if K == 0:
        raise ValueError("B has no split; prepare the stumps on a feature that is not constant.")
    if 2 * memory_budget() < 8 * K * K:
        raise ValueError(
            f"B has {K:,} stumps, whose Gram matrix does not fit into half of the memory; prepare "
            "them with a smaller max_bins."
        )
    n_rows = row_count(prepared) if weight is None else len(weight)
    norm = norm_of_layout(selection, prepared.layout)
    if norm.weights[0] == norm.cumulative[-1]:  # t = G: the largest group is always drawn
        norm = infinity_norm(K)
    with Team(team_size(n_jobs, prepared.cells)) as team:
        columns = StumpGram(prepared, n_rows, weight, team)
        gram = np.empty((K, K))
        columns.fill(gram)
        if K <= _FEW:
            return _of_few(columns, gram, norm, n_starts, rng)
        factor = GramFactor(gram)
        directions = ascend_by_gram(factor, norm, rng, n_starts)[:, :_KEPT].T
        candidate, kept = most_promising(factor, norm, rng), factor.kept
        del gram, factor  # room for the matrix of the proof
        bound = proved_bound(columns, kept, candidate)
        ends = bound.value, bound.method, "ascent"
        found = [_evaluated(columns, norm, z, *ends) for z in directions]
        return min(found, key=lambda angle: angle.upper)


def row_count(prepared: Prepared) -> int:
    """The rows that stumps without weights were prepared on: their number is their weight."""
    total = float(prepared.arrays.splits.total_weight)
    n_rows = round(total)
    stored = None if prepared.sparse else prepared.arrays.codes.shape[1]
    if n_rows != total or (stored is not None and not n_rows <= stored < n_rows + 64):
        raise ValueError(
            "sample_weight is missing: the stumps were prepared with weights; pass the same here."
        )
    return n_rows


def _of_few(
    columns: StumpGram,
    gram: Floats,
    norm: StructuredNorm,
    n_starts: int,
    rng: np.random.Generator,
) -> MinimalCosineAngle:
    """Theta from the singular values, which are the roots of the Gram matrix's eigenvalues."""
    gram = np.triu(gram) + np.triu(gram, 1).T
    K = len(gram)
    skew = float(np.linalg.norm(gram - np.eye(K)))
    if skew <= ORTHOGONAL:
        name = "closed form of an orthogonal basis"
        lower = orthogonal_angle(norm) * np.sqrt(1.0 - skew)
        return _evaluated(columns, norm, orthogonal_minimiser(norm), lower, name, name)
    values, vectors = np.linalg.eigh(gram)
    kept = values > 4.0 * K * np.finfo(np.float64).eps * values[-1]
    s = np.sqrt(values[kept])[::-1]
    V = np.ascontiguousarray(vectors[:, kept][:, ::-1])
    ends = angle_of_factors(Factors(np.empty((0, len(s))), s, V), norm, n_starts, rng)
    return _evaluated(
        columns, norm, V @ (ends.x / s), ends.lower, ends.lower_method, ends.upper_method
    )


def _evaluated(
    columns: StumpGram,
    norm: StructuredNorm,
    z: Floats,
    lower: float,
    lower_method: str,
    upper_method: str,
) -> MinimalCosineAngle:
    """The interval with the value at c = Bz as its upper end, computed from the rows."""
    c = columns.combination(z)
    c /= np.sqrt(columns.weight @ (c * c))
    upper = norm.norm(columns.inner_products(c))
    return MinimalCosineAngle(float(min(lower, upper)), upper, lower_method, upper_method, c)
