"""Rows that pairs are fitted to where nobody has them: all that is known are sums in cells.

The sibling of `rows.PairRows`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...engines.gram.family import family_of_bins, tables_of_path
from ...engines.quadratic.cell_runs import CurvesOnRows
from ...learners import Pairs
from ...learners.pairs.columns import Columns
from ...learners.pairs.in_cells import screen_cells
from ...learners.pairs.tables import raw_tables
from ...losses import Loss
from ...model.with_pairs import RawPair, pure_in_bins
from ...statistics.base import Models, labels_less
from ...statistics.cells import CellTables
from ...statistics.in_memory import InMemory, RowsOfFold
from ...training import Boosted
from ...training.plan.pair_memory import BLOCK_CELLS
from ..carry_out import Settings

Vector = NDArray[np.float64]


class SummedGains(NamedTuple):
    """See `gains.Gains`: the mean loss without pairs, its mean falls, and their standard errors,
    where weights count as those of a usual row."""

    loss: float
    gain: Vector
    error: Vector


@dataclass
class SummedRows:
    """Sums over the rows, and what the curves say of them."""

    source: CurvesOnRows

    def strengths(self, family: Pairs, loss: Loss, n_jobs: int) -> Vector:
        """See `PairRows.strengths`."""
        with Team(n_jobs) as team:
            parts = [self._strengths(one, loss, team) for one in blocks_of(family)]
        return np.concatenate([*parts, np.empty(0)])

    def _strengths(self, family: Pairs, loss: Loss, team: Team) -> Vector:
        source = self.source
        prepared: Any = family.prepare(np.empty((0, source.bins.n_features)))
        cells = source.cells(prepared.columns_, prepared.cuts)
        table = source.own_folds
        sums = source.in_bins.statistics.tables(cells, source.curves, table)
        weights = source.in_bins.statistics.cell_weights(cells)[(table >= 0).any(axis=1)].sum(
            axis=0
        )
        prepared = prepared.weighed_cells(weights, source.usual_weight)
        arrays, square = prepared.arrays, float(sums.square.sum())
        if square == 0.0:
            return np.zeros(len(prepared.columns_))
        residual = sums.residual.reshape(-1, len(weights))
        noise = arrays.row_weight * square / arrays.total_weight
        found = screen_cells(arrays, residual, weights, noise, team)
        return np.maximum(found, 0.0) / square

    def for_boost(self) -> Settings:
        """Arguments of `boost`."""
        n_runs = len(self.source.held)
        fold = n_runs if n_runs > 1 else None
        return {
            "X": None,
            "y": None,
            "statistics": self.source,
            "engine": "quadratic",
            "fold": fold,
        }

    def gains(
        self, boosted: Boosted, loss: Loss, order: Columns, counts: NDArray[np.int64]
    ) -> SummedGains:
        """See `PairRows.gains`."""
        source, prepared = self.source, boosted.prepared
        n_alone = source.bins.n_features
        columns, values = pure_tables(boosted, order, loss.outputs)
        cells = source.cells(columns, prepared.cuts)  # type: ignore[attr-defined]
        models = Models(*source.curves[:2], CellTables(cells, values))
        assert boosted.trace.validation_loss is not None
        unit = abs(float(boosted.trace.validation_loss[0])) or 1.0
        falls = source.in_bins.statistics.falls(models, source.held, n_alone + counts, unit)
        weight = float(falls.weight.sum())
        before, fall, square = (part.sum(axis=0) for part in falls[1:])
        spread = np.maximum(square - source.usual_weight * fall**2 / weight, 0.0)
        scale = unit / weight
        return SummedGains(scale * float(before), scale * fall, scale * np.sqrt(spread))


def blocks_of(family: Pairs) -> Iterator[Pairs]:
    """The same with some of its pairs at a time."""
    assert family.cuts is not None
    sizes = (family.cuts.n_values + 1)[family.pairs].prod(axis=1)
    place = np.cumsum(sizes) // BLOCK_CELLS
    for block in np.unique(place):
        yield replace(family, pairs=family.pairs[place == block])


def pure_tables(boosted: Boosted, order: Columns, n_outputs: int) -> tuple[Columns, Vector]:
    """What every run adds to its curves: columns, first of every feature by itself, which have all
    that pairs say of single features, then the pairs of ``order``, purified; and the values in
    their cells, (runs, outputs, cells)."""
    prepared: Any = boosted.prepared
    runs = [boosted.run_path(k) for k in range(boosted.trace.n_runs)]
    n_classes = n_outputs if n_outputs > 1 else None
    arrays, width = prepared.arrays, len(runs) * n_outputs
    shapes = [(*shape, width) for shape in np.append(arrays.n_values + 1, 1)[arrays.pairs]]
    found = {k: np.zeros(shape) for k, shape in enumerate(shapes)}
    for run, path in enumerate(runs):
        now = slice(run * n_outputs, (run + 1) * n_outputs)
        for k, table in raw_tables(arrays, path, n_classes).items():
            found[k][:, :, now] = table.reshape(*table.shape[:2], n_outputs)
    numbers = {tuple(pair): k for k, pair in enumerate(prepared.columns_.tolist())}
    for (g, h), k in numbers.items():
        if h >= 0 and found[k].any():
            pure = pure_in_bins(prepared.cuts, RawPair(g, h, found[k], prepared.cell_weights(k)))
            found[numbers[g, -1]][:, 0] += pure.rows + pure.constant
            found[numbers[h, -1]][:, 0] += pure.columns
            found[k] = pure.table
    alone = prepared.columns_[prepared.columns_[:, 1] < 0]
    columns = np.concatenate([alone, order])
    values = [found[numbers[tuple(pair)]].reshape(-1, width) for pair in columns.tolist()]
    shape = (len(runs), n_outputs, -1) if n_classes else (len(runs), -1)
    return columns, np.concatenate(values).T.reshape(shape)


def summed_rows(boosted: Boosted, loss: Loss) -> SummedRows:
    """The rows of a fit of curves, with what the curves say of them. A single run is fitted to the
    first fold; the second one, if there is any, is held out."""
    family, n_runs = family_of_bins(boosted.prepared), boosted.trace.n_runs
    paths = [boosted.run_path(k) for k in range(n_runs)]
    tables = np.array([tables_of_path(family, path) for path in paths])
    in_bins, bins = boosted.in_bins, boosted.prepared.bins()
    assert in_bins is not None
    assert bins is not None
    facts = in_bins.facts
    held = list(range(n_runs)) if n_runs > 1 else [1 if in_bins.statistics.n_folds > 1 else -1]
    y, offset = labels_less(facts.y, facts.offset, boosted.centre, loss.translation_invariant)
    rows = RowsOfFold(boosted.prepared.arrays, y, facts.weight, offset)
    sample = InMemory(family, [rows], loss, Team(1), as_they_are=True)
    curves = Models(np.array(boosted.starts), tables)
    return SummedRows(CurvesOnRows(in_bins, sample, held, bins, family.first_cell, curves))
