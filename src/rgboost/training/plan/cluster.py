"""Rows on a cluster: what the client holds, and what is under way on the workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...statistics.pieces import TOGETHER
from . import rules
from .costs import Bins, Work, gram_bytes_of
from .facts import Facts
from .pair_memory import PairMemory
from .pair_rules import SCREENING_BINS
from .report import Entry, Plan, Way
from .rules import Case

BLOCK_BYTES = 1 << 26
"""Gram rows are made in blocks of so many bytes, but of one feature at least. A merge adds
`TOGETHER` of them."""
ROW_IN_FLIGHT = 64
"""Bytes of a row besides its bins while a task asks something of it: score, residual, curvature,
for several models side by side."""
SAMPLE_MARGIN = 8.0
"""Rows above a bar are certainly not in the sample: with so many standard deviations to spare."""


def block_features(
    features: Sequence[int], offsets: Any, bytes_of_entry: int
) -> Iterator[list[int]]:
    """Features whose Gram rows are made together."""
    most = max(1, BLOCK_BYTES // max(1, int(offsets[-1]) * bytes_of_entry))
    block: list[int] = []
    n_rows = 0
    for q in features:
        size = int(offsets[q + 1] - offsets[q])
        if block and n_rows + size > most:
            yield block
            block, n_rows = [], 0
        block.append(q)
        n_rows += size
    if block:
        yield block


def sample_bar(n_rows: int, size: int) -> int:
    """Of numbers below 2^64, drawn for all rows, one that the smallest ``size`` are below."""
    wanted = size + SAMPLE_MARGIN * size**0.5
    return 2**64 - 1 if wanted >= n_rows else int(wanted / n_rows * 2**64)


def about_cluster(case: Case, plan: Plan) -> Iterator[Entry]:
    """Entries of a plan."""
    facts = case.facts
    if facts.partitions is None:
        return
    rows = facts.partitions
    held, block = 0, 0
    for way in plan.ways:
        work = Work.of(facts, _bins_of(way), way.selection, case.groups)
        entry = _entry_bytes(facts, way)
        held = max(held, int(work.n_sums) ** 2 * entry)
        largest = int(work.sums.max(initial=0)) * work.n_sums * entry
        block = max(block, largest, min(BLOCK_BYTES, held))
    if plan.pairs is not None:
        of_curves = max(way.max_bins or plan.pairs.max_bins for way in plan.ways)
        bins = min(plan.pairs.max_bins, of_curves)
        memory = PairMemory.of(facts, SCREENING_BINS, bins, plan.mean, False)
        block = max(block, memory.of_answer(plan.pairs.candidates, plan.pairs.screened))
    cell = 1 + any(way.max_bins is None or way.max_bins > 256 for way in plan.ways)
    codes = max(rows, default=0) * (facts.features * cell + 8)
    yield Entry(
        "partitions", len(rows), "given",
        f"the client holds Gram matrices of at most {held:,} bytes, and nothing of the rows but "
        "their sample",
    )  # fmt: skip
    flight = (TOGETHER + 1) * block + 2 * codes + ROW_IN_FLIGHT * max(rows, default=0)
    yield Entry(
        "bytes in flight", flight, "auto",
        f"on a worker, at most, for each of its threads: what {TOGETHER + 1} partitions answer, "
        f"blocks of Gram rows or sums in the cells of pairs, {block:,} bytes each, and a copy of "
        f"the bins of the largest partition; besides, it keeps the bins of its partitions, "
        f"{codes:,} bytes for the largest",
    )  # fmt: skip


def _bins_of(way: Way) -> Bins:
    least = way.min_weight_fraction_leaf
    return Bins(way.max_bins, least, rules.LEAST_ROWS_OF_CATEGORY, rules.MOST_CATEGORIES)


def _entry_bytes(facts: Facts, way: Way) -> int:
    """Bytes of an entry in all Gram matrices: one for each fold and one of all rows; or one for all
    runs, of the curvature."""
    if way.engine == "quadratic":
        return np.dtype(way.gram_type or "int32").itemsize
    if way.n_runs == 1:
        return gram_bytes_of(facts.rows, facts.weighted)
    fold = gram_bytes_of(-(-facts.rows // way.n_runs), facts.weighted)
    return way.n_runs * fold + gram_bytes_of(facts.rows, facts.weighted)
