"""Training rows on a cluster: the first pass over them, and what a fit is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.chunked.labels import Labels
from ..estimators.chunked.rows import HeldReader, HeldRows, SurveyedRows, check_offsets, held_rows
from ..losses import Loss
from ..training.plan import Facts
from ..training.plan.cluster import sample_bar
from ..training.plan.pieces import obstacles
from ..training.plan.rules import sample_size
from . import tasks
from .cluster import Cluster
from .partitions import Partition, partitions_of
from .statistics import ClusterRows, PlacedRows
from .tasks import Place, Reader


def refuse_early(estimator: Any, y: Any, given: Any, resume: Any) -> None:
    """Raise for what does not go with rows on a cluster, before anything is computed."""
    for name, value in {"groups": given.groups, "resume": resume}.items():
        if value is not None:
            raise ValueError(
                f"{name} is not for rows on a cluster; leave it out, or give RGBMRegressor or "
                "RGBMClassifier rows in memory."
            )
    if y is None:
        raise ValueError("y is missing: give the labels, partitioned like X.")
    if (given.X_val is None) != (given.y_val is None):
        missing = "X_val" if given.X_val is None else "y_val"
        raise ValueError(f"{missing} is missing: validation rows need both X_val and y_val.")
    for name in ("sample_weight_val", "offset_val"):
        if given.X_val is None and getattr(given, name) is not None:
            raise ValueError(f"{name} is given without X_val and y_val.")
    found = next(obstacles(estimator.get_params(deep=False)), None)
    if found is not None:
        what, why, remedy = found
        raise ValueError(
            f"{what} is not for rows on a cluster: {why}. {remedy[:1].upper()}{remedy[1:]}."
        )


@dataclass
class PartitionedRows(SurveyedRows):
    """Rows on a cluster, after the first pass. ``n_rows_of`` are those of each partition."""

    cluster: Cluster
    rows: list[PlacedRows]
    reader: Reader
    n_rows_of: tuple[int, ...]
    sources: list[ClusterRows] = field(default_factory=list)

    def facts(self, loss: Loss, categorical: NDArray[np.bool_], **more: Any) -> Facts:
        return super().facts(loss, categorical, sample_rows=None, partitions=self.n_rows_of, **more)

    def source(self) -> ClusterRows:
        source = ClusterRows(self.cluster, self.survey.facts, self.rows, self.reader, self.share)
        self.sources.append(source)
        return source

    def close(self) -> list[str]:
        """Let the workers forget the rows; what was done, as an event of the plan."""
        for source in self.sources:
            source.close()
        cluster = self.cluster
        return [
            f"{len(self.n_rows_of)} partitions, computed {1 + len(self.sources)} times; "
            f"{cluster.passes} passes over their bins, of which the client got "
            f"{cluster.received:,} bytes"
        ]


def partitioned_rows(
    estimator: Any, bare: Any, cluster: Cluster, labels: Labels, seed: int, training: Sequence[Any],
    held: Sequence[Any] | None,
) -> PartitionedRows:  # fmt: skip
    """Compute the rows for the first time. ``training`` are X, labels, weights and offsets, and
    ``held`` those of validation rows; ``bare`` is the estimator as workers are to know it."""
    partitions = partitions_of("X y sample_weight offset", *training)
    counts = count_rows(cluster, partitions)
    n_rows, width = sum(counts), training[0].shape[1]
    if n_rows == 0:
        raise ValueError("X has no rows with a weight; check what its partitions hold.")
    bar = 2**64 - 1
    if not np.isnan(width):
        bar = sample_bar(n_rows, sample_size(int(width), None))
    first = np.cumsum([0, *counts]).tolist()
    places = [Place(k, first[k], bar) for k in range(len(partitions))]
    surveys = [
        cluster.task(
            "survey", tasks.survey, *one.parts, estimator=bare, labels=labels, seed=seed,
            place=place,
        )
        for one, place in zip(partitions, places, strict=True)
    ]  # fmt: skip
    each = [cluster.task("tally", tasks.seen, one) for one in surveys]
    whole = cluster.tree("merge", tasks.merged_surveys, surveys)
    all_rows, *seen = cluster.results(cluster.start([whole, *each]))
    all_rows.found.estimator = estimator
    found = all_rows.found.found()
    check_offsets(found)
    if not found.labels.settled_at_once:
        estimator.classes_ = found.labels.classes
    for name in ("input_", "n_features_in_", "feature_names_in_", "classes_"):
        if hasattr(estimator, name):
            setattr(bare, name, getattr(estimator, name))
    reader = Reader(bare, found.labels)
    rows = [
        PlacedRows(*one)
        for one in zip(partitions, places, seen, strict=True)
        if counts[one[1].k] > 0
    ]
    of_held = None
    if held is not None:
        more = partitions_of("X_val y_val sample_weight_val offset_val", *held)
        of_held, there = look_at(cluster, more, reader, found)
        rows += there
    return PartitionedRows(estimator, found, of_held, 0.0, cluster, rows, reader, tuple(counts))


def count_rows(cluster: Cluster, partitions: Sequence[Partition]) -> list[int]:
    """How many rows with a weight each partition has. Only labels and weights are computed for it,
    and nothing where lengths are known and there are no weights."""
    counts = [one.n_rows if one.weight is None else None for one in partitions]
    unknown = [k for k, n in enumerate(counts) if n is None]
    if unknown:
        asked = [
            cluster.task("count", tasks.count_rows, *partitions[k].parts[1:3]) for k in unknown
        ]
        for k, n in zip(unknown, cluster.results(cluster.start(asked)), strict=True):
            counts[k] = n
    return [int(n) for n in counts if n is not None]


def look_at(
    cluster: Cluster, partitions: Sequence[Partition], reader: Reader, survey: Any
) -> tuple[HeldRows, list[PlacedRows]]:
    """A first look at validation rows, and those partitions that have any."""
    held = HeldReader(*reader, survey.facts.counted.missing > 0, survey.sample.offset is not None)
    sent = cluster.value("input", held)
    places = [Place(one.k, 0, held=True) for one in partitions]
    asked = [
        cluster.task("survey", tasks.look_at_held, *one.parts, sent, place=place)
        for one, place in zip(partitions, places, strict=True)
    ]
    found = cluster.results(cluster.start(asked))
    there = [
        PlacedRows(one, place, None)
        for one, place, facts in zip(partitions, places, found, strict=True)
        if sum(part.n_rows for part in facts) > 0
    ]
    return held_rows(partitions, [part for facts in found for part in facts]), there
