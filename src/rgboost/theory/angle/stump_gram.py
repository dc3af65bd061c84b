r"""Inner products of stumps from counts of rows, for the Minimal Cosine Angle of a whole family.

Let W_u be the weight left of split u, W the weight of all rows, and N_uj the weight left of both u
and j. N comes from joint histograms of two features; no column is ever built.

- Signed stumps, +-1/sqrt(W) left and right of u:
  :math:`\langle b_u, b_j\rangle = (W - 2 W_u - 2 W_j + 4 N_{uj}) / W`.
- Stumps with free leaves are not one vector but the plane of :math:`1_L` and :math:`1_R`; what the
  greedy step sees of c is the length of its projection onto the plane,
  :math:`a_u = \sqrt{m^2 + \langle b_u, c\rangle^2}` with :math:`m = \langle 1, c\rangle / \sqrt W`
  and :math:`b_u` the unit vector of the plane that is orthogonal to constants:
  :math:`\langle b_u, b_j\rangle = (N_{uj} W - W_u W_j) / \sqrt{W_u (W - W_u) W_j (W - W_j)}`.

**Free leaves may be replaced by the centred columns b_u.** Theta of the planes is
min ||a||_F / ||c||, and ||c||^2 = m^2 + ||c~||^2 with c~ the centred part of c. Every selection
rule's norm is the mean of |a_j| over a random j, so by Minkowski's inequality
||a||_F^2 >= m^2 + ||q||_F^2 with q_u = <b_u, c>, and therefore

.. math:: \frac{\|a\|_F^2}{\|c\|^2} \ge \frac{m^2 + \|q\|_F^2}{m^2 + \|\tilde c\|^2}
          \ge \frac{\|q\|_F^2}{\|\tilde c\|^2}

(the last because ||q||_F <= ||c~||), with equality for m = 0.
"""

from __future__ import annotations

import numpy as np

from ..._core.team import Team
from ...learners.base import Prepared
from ...losses import Squared
from ...model.path import path_tables
from ...statistics.memory import MOST_BINS, MemoryStatistics
from .._validation import Floats
from ..dual.stump_span import fill_codes


class StumpGram:
    """The columns b_u of the stumps of a prepared family, as sums over rows."""

    def __init__(self, prepared: Prepared, n_rows: int, weight: Floats | None, team: Team) -> None:
        self.arrays, self.n_rows = prepared.arrays, n_rows
        self.offsets = prepared.layout.offsets
        self.n_columns = int(self.offsets[-1])
        nobody = np.zeros(n_rows)
        self.statistics = MemoryStatistics(prepared.arrays, nobody, weight, Squared(), 0.0, team)
        self.weight = np.ones(n_rows) if weight is None else weight
        self.exact = weight is None
        left, total = self.statistics.bin_weights()
        self.left_weight, self.total_weight = left, total
        if left.min() <= 0.0 or (total - left).min() <= 0.0:
            raise ValueError(
                "B has splits with no weight on one side; prepare the stumps on the rows with "
                "positive weight."
            )
        if not np.allclose(left, prepared.arrays.splits.left_weight, rtol=1e-9):
            raise ValueError(
                "sample_weight differs from the weights that the stumps were prepared with; pass "
                "the same to prepare and here."
            )
        self.signed = bool(prepared.arrays.splits.signed)
        right = total - left
        if self.signed:
            self.left_value = np.full(self.n_columns, 1.0 / np.sqrt(total))
            self.right_value = -self.left_value
        else:
            self.left_value = np.sqrt(right / (total * left))
            self.right_value = -np.sqrt(left / (total * right))

    def fill(self, out: Floats) -> None:
        """Row u of the Gram matrix from column u on (the rest of ``out`` is undefined)."""
        n_features = len(self.offsets) - 1
        for g in range(n_features):
            first, stop = int(self.offsets[g]), int(self.offsets[g + 1])
            if first == stop:
                continue
            block = out[first:stop]
            self._joint_weights(g, block)
            self._normalise(block[:, first:], slice(first, stop), slice(first, None))
        out[np.diag_indices(self.n_columns)] = 1.0

    def _joint_weights(self, g: int, block: Floats) -> None:
        """N_uj for the splits u of feature g and all j from there on."""
        n_features = len(self.offsets) - 1
        if self.arrays.splits.most_bins <= MOST_BINS:
            self.statistics.gram_rows([g], range(g, n_features), block)
            return
        codes = np.empty(self.n_rows, np.uint16)
        fill_codes(self.arrays, g, codes)
        for u in range(len(block)):
            block[u], _ = self.statistics.weigh_splits(np.where(codes <= u, self.weight, 0.0))

    def _normalise(self, block: Floats, rows: slice, columns: slice) -> None:
        """From joint weights to inner products. Counts of rows stay exact up to the division."""
        left, total = self.left_weight, self.total_weight
        if self.signed:
            block *= 4.0
            block -= 2.0 * left[columns]
            block += (total - 2.0 * left[rows])[:, None]
            block /= total
            return
        block *= total
        block -= left[rows][:, None] * left[columns]
        length = np.sqrt(left * (total - left))
        block /= length[columns]
        block /= length[rows][:, None]

    def entry_error(self) -> Floats:
        """e with |error of <b_u, b_j>| <= e_u e_j: rounding, and sums of weights that round."""
        eps = float(np.finfo(np.float64).eps)
        relative = 16.0 * eps if self.exact else (2.0 * self.n_rows + 16.0) * eps
        if self.signed:
            return np.full(self.n_columns, np.sqrt(8.0 * relative))
        # N and W_u W_j / W are at most sqrt(W_u W_j), and are divided by the lengths.
        amplified = (
            1.0 if self.exact else self.total_weight / (self.total_weight - self.left_weight)
        )
        return np.sqrt(2.0 * relative * amplified) * np.ones(self.n_columns)

    def combination(self, z: Floats) -> Floats:
        """c = sum_u z_u b_u on the rows."""
        left, right = z * self.left_value, z * self.right_value
        tables = path_tables(self.offsets, np.arange(self.n_columns), left, right)
        return self.statistics.score(tables).copy()

    def inner_products(self, c: Floats) -> Floats:
        """<b_u, c> for all u."""
        left, total = self.statistics.weigh_splits(self.weight * c)
        return left * self.left_value + (total - left) * self.right_value
