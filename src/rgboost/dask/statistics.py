"""Statistics of rows on a cluster: tasks on partitions, whose answers are added up there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..statistics.base import (
    CellSums,
    Columns,
    Curvature,
    Facts,
    Falls,
    Models,
    Source,
    Statistics,
    Sums,
    Weights,
)
from ..statistics.cells import Cells
from ..statistics.folded_rows import Asked, Binner
from ..statistics.in_memory import add_blocks
from ..statistics.pieces import mirror
from ..training.plan.cluster import block_features
from . import tasks
from .cluster import Cluster
from .partitions import Partition
from .tasks import GramBlock, Place, Reader, Seen, Shares


class PlacedRows(NamedTuple):
    """A partition that has rows, its place, and by what its rows are known."""

    partition: Partition
    place: Place
    seen: Seen | None


class ClusterRows(Source):
    """Rows on a cluster. ``reader`` turns them into numbers; a ``share`` of them is held out, or
    some of the places are those of validation rows."""

    def __init__(
        self,
        cluster: Cluster,
        facts: Facts,
        rows: Sequence[PlacedRows],
        reader: Reader,
        share: float = 0.0,
    ) -> None:
        self.cluster = cluster
        self.facts = facts
        self.rows = rows
        self.reader = reader
        self.share = share
        self.has_held = share > 0.0 or any(one.place.held for one in rows)
        self.statistics: ClusterStatistics | None = None

    def cuts(self, classes: bool) -> Facts:
        return self.facts

    def binned(self, problem: Any, family: Any, n_folds: int, seed: int, team: Any) -> Statistics:
        self.close()  # bins of another problem
        cluster, binner = self.cluster, Binner.of(problem).without_rows()
        shared = cluster.value("input", self.reader), cluster.value("cuts", binner)
        shares = Shares(n_folds, seed, self.share)
        codes = [
            cluster.task(
                "bins", tasks.put_into_bins, *one.partition.parts, *shared, shares=shares,
                before=one.seen, place=one.place,
            )
            for one in self.rows
        ]  # fmt: skip
        asked = Asked(binner.prepared.arrays, family, problem.loss, None)  # type: ignore[arg-type]
        n_sets = 2 if self.has_held else n_folds
        self.statistics = ClusterStatistics(cluster, codes, asked, n_sets, team)
        return self.statistics

    def close(self) -> None:
        """Let the workers forget the rows."""
        if self.statistics is not None:
            self.statistics.close()
            self.statistics = None


class ClusterStatistics(Statistics):
    """Sums of the answers of partitions, in their order: a tree of merges on the workers, of which
    the client gets the last."""

    far = True
    rows_at_once = 1
    """The client has no rows; Gram rows come in blocks of bounded bytes."""

    def __init__(
        self, cluster: Cluster, codes: Sequence[Any], asked: Asked, n_folds: int, team: Any
    ) -> None:
        self.cluster = cluster
        self.offsets = asked.family.offsets
        self.team = team
        self.sizes = [0] * n_folds
        self.codes = cluster.start(codes)
        (self.asked,) = cluster.start([cluster.value("learners", asked)])
        self.curved: tuple[Curvature | None, Any, list[Any]] = (None, None, [])
        """The weighting that was asked for last, as a future; and the curvature of all rows, on the
        workers."""
        try:
            rows, weighted = self._sums("sizes", tasks.sizes)
        except BaseException:
            self.close()
            raise
        self.sizes = rows.tolist()
        self.weighted = bool(weighted[0])

    def close(self) -> None:
        """Let the workers forget the rows."""
        self.cluster.cancel([*self.codes, self.asked, *self.curved[2]])
        self.codes, self.curved = [], (None, None, [])

    def _all(
        self,
        what: str,
        function: Callable[..., Any],
        *shared: Any,
        each: Any = None,
        **constants: Any,
    ) -> Any:
        """The future of the sums of the answers of all partitions. They are given what is
        ``shared``, and what is of ``each`` alone."""
        more = [[]] * len(self.codes) if each is None else [[one] for one in each]
        shared = () if what == "sizes" else (self.asked, *shared)
        task = self.cluster.task
        answers = [
            task(what, function, code, *shared, *mine, n_folds=self.n_folds, **constants)
            for code, mine in zip(self.codes, more, strict=True)
        ]
        self.cluster.passes += 1
        return self.cluster.start([self.cluster.tree("add", tasks.added_answers, answers)])

    def _sums(self, *args: Any, **constants: Any) -> Any:
        """The sums of `_all`."""
        return self.cluster.answer(self._all(*args, **constants))

    def _weighted(self, weighting: Curvature | None) -> tuple[Sequence[Any], Any]:
        """What tasks need to weigh rows: nothing, for their own weights; else the weighting, and of
        each partition the curvature of its rows, which stays on the workers."""
        if weighting is None:
            return (), None
        if self.curved[0] is not weighting:
            (sent,) = self.cluster.start([self.cluster.value("model", weighting)])
            n_folds = self.n_folds
            found = [
                self.cluster.task(
                    "curvature", tasks.curvature, code, self.asked, sent, n_folds=n_folds
                )
                for code in self.codes
            ]
            self.curved = weighting, sent, self.cluster.start(found)
        return (self.curved[1],), self.curved[2]

    def _ask(self, method: str, *args: Any, **constants: Any) -> Any:
        """What statistics of all rows answer to a method; ``args`` may be large."""
        sent = [self.cluster.value("question", one) for one in args]
        what = method.replace("_", "-")
        return self._sums(what, tasks.ask, *sent, method=method, **constants)

    def weights(self, weighting: Curvature | None = None) -> Weights:
        if weighting is None:
            return Weights(*self._ask("weights"))
        shared, each = self._weighted(weighting)
        return Weights(*self._sums("weights", tasks.curved_weights, *shared, each=each))

    def sums(self, models: Models, losses_only: bool = False) -> Sums:
        return Sums(*self._ask("sums", models, losses_only=losses_only))

    def gram(
        self, features: Sequence[int], columns: Columns, weighting: Curvature | None, outs: Any
    ) -> None:
        """Block by block, of which one is made while the client gets the one before."""
        n_folds = self.n_folds if weighting is None else 1
        folds, total = outs[:n_folds], outs[n_folds:]
        first = dict(zip(features, self._first_rows(features), strict=True))
        shared, each = self._weighted(weighting)
        waiting: list[tuple[GramBlock, Any]] = []
        try:
            for block in self._blocks(features, np.asarray(columns, np.int64), folds):
                wanted = self._all("gram", tasks.gram, *shared, each=each, block=block)
                waiting.append((block, wanted))
                if len(waiting) > 1:
                    self._receive(*waiting.pop(0), first, folds)
            while waiting:
                self._receive(*waiting.pop(0), first, folds)
        except BaseException:
            self.cluster.cancel([future for _, futures in waiting for future in futures])
            raise
        if total:
            self.team.run(add_blocks, tuple(folds), total[0])
        mirror(features, self.offsets, outs)

    def _first_rows(self, features: Sequence[int]) -> list[int]:
        """Where the Gram rows of each of some features begin."""
        sizes = [int(self.offsets[q + 1] - self.offsets[q]) for q in features]
        return np.cumsum([0, *sizes])[:-1].tolist()

    def _blocks(
        self, features: Sequence[int], columns: NDArray[np.int64], folds: Any
    ) -> Iterator[GramBlock]:
        dtypes = [out.dtype for out in folds]
        for some in block_features(features, self.offsets, sum(t.itemsize for t in dtypes)):
            block = GramBlock(some, columns, dtypes, self.offsets)
            yield block
            columns = columns[~np.isin(columns, some)]

    def _receive(
        self, block: GramBlock, futures: Sequence[Any], first: dict[int, int], folds: Any
    ) -> None:
        """Put the Gram rows of a block where they belong."""
        parts = iter(self.cluster.answer(futures))
        for q, _, places in block.parts():
            rows = slice(first[q], first[q] + int(self.offsets[q + 1] - self.offsets[q]))
            for out in folds:
                part, at = next(parts), 0
                for now in places:
                    width = now.stop - now.start
                    out[rows, now] = part[:, at : at + width]
                    at += width

    def cell_weights(self, cells: Cells) -> Any:
        (found,) = self._ask("cell_weights", cells)
        return found

    def tables(self, cells: Cells, models: Models, table: NDArray[np.int64]) -> CellSums:
        return CellSums(*self._ask("tables", cells, models, table))

    def falls(
        self, models: Models, fold: Sequence[int], counts: NDArray[np.int64], unit: float
    ) -> Falls:
        return Falls(*self._ask("falls", models, list(fold), counts, unit))
