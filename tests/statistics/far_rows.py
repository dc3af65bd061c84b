"""Statistics by somebody else: rows in pieces, each with a worker that may fail."""

import numpy as np

from rgboost.statistics.base import CellSums, Falls, Source, Statistics, Sums, Weights
from rgboost.statistics.pieces import MemoryRows, merged_facts


class Unreachable(Exception):
    """A worker did not answer."""


class Worker:
    """Has one piece of the rows; its second call fails, which is written down in ``failed``."""

    def __init__(self, rows, failed):
        self.rows = rows
        self.failed = failed
        self.calls = 0

    def answer(self, call, *args):
        self.calls += 1
        if self.calls == 2:
            self.failed.append(call)
            raise Unreachable(call)
        return getattr(self.rows, call)(*args)


def ask(worker, call, *args):
    """An answer, if need be at the second attempt."""
    try:
        return worker.answer(call, *args)
    except Unreachable:
        return worker.answer(call, *args)


class FarRows(Source):
    """Workers, in the order of their rows."""

    def __init__(self, pieces):
        self.workers, self.failed, first = [], [], 0
        for piece in pieces:  # X, y, and weight and offset if rows have them
            self.workers.append(Worker(MemoryRows(*piece, first=first), self.failed))
            first += len(piece[1])

    def cuts(self, classes):
        return merged_facts([ask(worker, "cuts", classes) for worker in self.workers], classes)

    def binned(self, problem, family, n_folds, seed, team):
        found = []
        for worker in self.workers:
            rows = ask(worker, "binned", problem, family, n_folds, seed, team)
            if rows is not None:
                found.append(Worker(rows, self.failed))
        return FarStatistics(found, family.offsets)


class FarStatistics(Statistics):
    """Sums of the answers of all workers, in their order."""

    def __init__(self, workers, offsets):
        self.workers = workers
        self.offsets = offsets
        self.sizes = [sum(sizes) for sizes in zip(*(w.rows.sizes for w in workers), strict=True)]
        self.weighted = any(worker.rows.weighted for worker in workers)
        self.rows_at_once = sum(self.sizes)

    def add(self, call, *args):
        total = None
        for worker in self.workers:
            found = ask(worker, call, *args)
            total = found if total is None else [a + b for a, b in zip(total, found, strict=True)]
        return total

    def weights(self, weighting=None):
        return Weights(*self.add("weights", weighting))

    def sums(self, models, losses_only=False):
        return Sums(*self.add("sums", models, losses_only))

    def gram(self, features, columns, weighting, outs):
        cells = np.concatenate([np.arange(*self.offsets[[g, g + 1]]) for g in columns])
        total = [0] * len(outs)
        for worker in self.workers:
            blocks = [np.zeros_like(out) for out in outs]
            ask(worker, "gram", features, columns, weighting, blocks)
            total = [a + block for a, block in zip(total, blocks, strict=True)]
        for out, found in zip(outs, total, strict=True):
            out[:, cells] = found[:, cells]

    def cell_weights(self, cells):
        return sum(ask(worker, "cell_weights", cells) for worker in self.workers)

    def tables(self, cells, models, table):
        return CellSums(*self.add("tables", cells, models, table))

    def falls(self, models, fold, counts):
        return Falls(*self.add("falls", models, fold, counts))
