"""Which engine runs a fit: what keeps each of them from it, and which is expected to be fastest."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ...engines.gram.runs import squared_obstacle
from ...engines.quadratic.runs import STEEPEST, loss_obstacle
from ...learners.base import sums_obstacle
from ...selection import RandomThresholds, SelectionRule
from ...statistics.memory import bins_obstacle
from ...steps import StepRule
from . import rules
from .costs import CURVED_ROW, FEW_CELL, ROW, TYPICAL_ITERATIONS, Bins, Work, gram_bytes_of
from .facts import Facts
from .report import Considered
from .rules import Case, Open, decide, quadratic_obstacle

BYTES_OF_TREE_ROW = 64
"""Of a row in a run of trees: labels, scores, residuals, lists of rows."""

MOST_CURVED_ROWS = 1 << 30
"""Every row adds at least one unit of curvature."""

SUM = 1e-9
"""Seconds of an iteration of the mean by statistics, for each of the sums."""

Engine = Literal["direct", "gram", "quadratic"]

SLOWER = "expected to be slower"
PIECES = "rows are read piece by piece, and it works on rows in memory"
ON_CARD = "it passes over the rows in every iteration: if engine='direct' asks for it"


class Found(NamedTuple):
    """The engine of a mean of several runs, None if there is none; with its bins and types."""

    engine: Engine | None
    why: str
    bins: Bins
    considered: list[Considered]
    gram_type: str | None = None
    newton: bool = False


@dataclass(frozen=True)
class Mean:
    """The mean of several runs: what engines have to do. ``largest`` are the rows of a fold."""

    case: Case
    selection: SelectionRule
    n_runs: int
    memory: int
    largest: int

    @property
    def facts(self) -> Facts:
        return self.case.facts

    def work(self, bins: Bins) -> Work:
        return Work.of(self.facts, bins, self.selection, self.case.groups)

    def rows_obstacle(self) -> str | None:
        """Why there are no runs side by side on few rows."""
        case, facts = self.case, self.facts
        if case.engine not in ("auto", "direct"):
            return f"engine={case.engine!r} is asked for"
        if facts.in_pieces:
            return far_rows(facts)
        if facts.loss.terms is None:
            return f"{facts.loss!r} is written in Python"
        if case.is_trees:
            return self.trees_obstacle()
        if not case.plain_stumps:
            return sums_obstacle(stumps=False)
        if facts.mixed:
            return "runs on the rows side by side need numbers without missing values"
        if facts.rows > rules.MOST_FEW_ROWS:
            return f"runs on the rows side by side are for {rules.MOST_FEW_ROWS:,} rows at most"
        if not case.can_be_dense:
            return "the sparse rows are too many to be made dense"
        needed = (2 * facts.features + 32 * facts.loss.outputs) * facts.rows * self.n_runs
        if needed > self.memory:
            return f"copies of the rows take {needed:,} bytes, more than gram_memory"
        return None

    def trees_obstacle(self) -> str | None:
        """Why there are no runs of trees side by side."""
        facts = self.facts
        needed = (2 * facts.stored + BYTES_OF_TREE_ROW * facts.rows * facts.loss.outputs) * (
            self.n_runs + 1
        )
        if needed > facts.memory:
            return f"copies of the rows take {needed:,} bytes, more than a fit may add"
        return None

    def rows_are_faster(self) -> bool:
        """Whether runs on the rows are expected to be faster than those on statistics, which are
        there; or, of several classes, whether they are worth their time."""
        facts, t = self.facts, getattr(self.selection, "t", None)
        if self.case.is_trees:
            return facts.stored * facts.loss.outputs <= rules.MOST_TREE_CELLS
        if facts.several_classes:
            return facts.rows * facts.loss.outputs <= rules.MOST_CLASS_SCORES
        if not (isinstance(self.selection, RandomThresholds) and type(t) is int):
            return False
        if facts.loss.quadratic:
            seconds = 1e-9 * facts.rows * (FEW_CELL * t + ROW)
            by_sums = SUM * facts.features * rules.BINS_OF_MANY
            return seconds < by_sums and self.case.engine == "auto"
        if self.quadratic_obstacle() is not None:
            return False
        return 1e-9 * facts.rows * (FEW_CELL * t + CURVED_ROW) < rules.LONG_ITERATION

    def quadratic_obstacle(self) -> str | None:
        case = self.case
        loss, in_pieces = case.facts.loss, case.facts.in_pieces
        obstacle = quadratic_obstacle(loss, case.step, case.rate, case.engine, in_pieces)
        return obstacle or too_many_rows(case.facts)

    def gram_obstacle(self, work: Work) -> str | None:
        """Why Gram matrices of all folds do not do."""
        case, facts = self.case, self.facts
        if case.engine not in ("auto", "gram"):
            return f"engine={case.engine!r} is asked for"
        obstacle = gram_obstacle(case, work)
        if obstacle is not None or case.engine == "gram":
            return obstacle
        fold, all_rows = (gram_bytes_of(n, facts.weighted) for n in (self.largest, facts.rows))
        share = self.memory * all_rows // (self.n_runs * fold + all_rows)
        return statistics_obstacle(work, facts, share, all_rows, rules.MOST_ROUNDS)

    def shared_obstacle(self, work: Work, per_entry: int | None) -> str | None:
        """Why one Gram matrix of all rows, with so many bytes an entry, does not do for runs on
        quadratic models. None: as if there was no end to memory."""
        obstacle = self.quadratic_obstacle()
        if obstacle is not None:
            return obstacle
        least = 1.0 - (self.facts.heaviest_fold or self.largest / self.facts.rows)
        if self.case.rate > STEEPEST * least:
            return (
                f"learning_rate={self.case.rate:g} is too long for runs that see {least:.0%} of "
                "the rows"
            )
        obstacle = stumps_obstacle(self.case, work)
        if obstacle is not None:
            return obstacle
        memory = self.memory if per_entry else 1 << 62
        return statistics_obstacle(work, self.facts, memory, per_entry or 1, rules.MOST_ROUNDS)

    def newton(self) -> bool:
        """Whether runs on the rows take the steps of a quadratic model."""
        free = self.case.plain_stumps and self.case.free_leaves and self.selection.by_learner
        return free and self.quadratic_obstacle() is None


def engines_of_mean(mean: Mean, bins: Bins, needed: bool) -> Found:
    """The engine of the mean of several runs; ``needed``: k runs have to be done anyway."""
    work, k = mean.work(bins), mean.n_runs
    on_rows, gram = mean.rows_obstacle(), mean.gram_obstacle(work)
    faster = mean.rows_are_faster()
    if on_rows is None and not faster and not needed:
        on_rows = SLOWER
    shared, gram_type, fewer = _shared_matrix(mean, work, bins)
    curved = not mean.facts.loss.quadratic
    can = Open(on_rows is None, faster, gram is None, shared is None, needed)
    engine, why = decide(rules.ENGINE_OF_MEAN, can)
    on_statistics = work.gram_seconds(TYPICAL_ITERATIONS, mean.facts.mixed, k)
    considered = [
        _considered("direct", k, work.few_rows_seconds(TYPICAL_ITERATIONS, curved, k), on_rows),
        _considered("gram", k, on_statistics, gram),
        _considered("quadratic", k, on_statistics, shared),
    ]
    considered = _but_for(engine, considered)
    if engine == "quadratic":
        return Found(engine, why, fewer, considered, gram_type)
    return Found(engine, why, bins, considered, newton=engine == "direct" and mean.newton())


def _shared_matrix(mean: Mean, work: Work, bins: Bins) -> tuple[str | None, str | None, Bins]:
    """(obstacle, type of the one Gram matrix, bins): the longest integers that fit into memory,
    then fewer bins if their number is not given."""
    obstacle = None
    for name, size in _SHARED:
        obstacle = mean.shared_obstacle(work, size)
        if obstacle is None:
            return None, name, bins
    is_rule = isinstance(mean.case.learner, str) and mean.case.max_bins == "auto"
    if not is_rule or mean.shared_obstacle(work, None) is not None:
        return obstacle, None, bins
    fewer = work.bins_that_fit(mean.memory, _SHARED[-1][1])
    if fewer is None:
        return obstacle, None, bins
    bins = replace(bins, max_bins=fewer)
    work = mean.work(bins)
    for name, size in _SHARED:
        if mean.shared_obstacle(work, size) is None:
            return None, name, bins
    return obstacle, None, bins


_SHARED = (("int32", 4), ("uint16", 2))


def engines_of_one_run(
    case: Case, selection: SelectionRule, bins: Bins, memory: int, limit: int, stops: bool,
    n_folds: int,
) -> tuple[Any, Any, list[Considered]]:  # fmt: skip
    """The engine of a single run, that of the cross-validation before it (``n_folds`` > 1), and
    the engines that were considered."""
    facts = _facts_of_one_run(case)
    if not case.is_stumps:
        direct, of_folds = Considered("direct", 1, None, None), "direct" if n_folds > 1 else None
        return _asked(case, "direct", gram_obstacle(case, None), None), of_folds, [direct]
    work = Work.of(facts, bins, selection, case.groups)
    n_iter = min(limit, TYPICAL_ITERATIONS) if stops else limit
    hard = gram_obstacle(case, work)
    per_entry = _entry_of_one_run(facts)
    gram = hard or statistics_obstacle(work, facts, memory, per_entry, limit, n_iter, one_run=True)
    cv_engine = None
    if n_folds > 1:
        mean = Mean(
            case, selection, n_folds, memory, facts.largest_fold or -(-facts.rows // n_folds)
        )
        from_statistics = case.plain_stumps and mean.gram_obstacle(work) is None
        cv_engine = "gram" if from_statistics else "direct"
        gram = None if from_statistics else gram  # the same iterates
    on_rows = far_rows(facts) if facts.in_pieces else SLOWER if gram is None else None
    considered = [
        _considered("direct", 1, work.direct_seconds(n_iter), on_rows),
        _considered("gram", 1, work.gram_seconds(n_iter, facts.mixed), gram),
        Considered("quadratic", 1, None, "other iterates: if engine='quadratic' asks for it"),
    ]
    auto = decide(rules.ENGINE, replace(case, gram_is_faster=gram is None)).value
    engine = _asked(case, auto, hard, work)
    if facts.in_pieces and engine != "direct":
        if work.layout.n_learners == 0:
            raise ValueError(
                "No feature has two different values among the rows, and there is nothing to fit; "
                "check what was read."
            )
        shared = one_quadratic_obstacle(case, work) or statistics_obstacle(
            work, facts, memory, _SHARED[-1][1], limit, n_iter
        )
        if cv_engine == "direct":
            gram = shared = "cross-validation before a run on all rows needs rows in memory"
        _check_pieces(engine, gram if engine == "gram" else shared, facts.card)
    return engine, cv_engine, _but_for(engine, considered)


def far_rows(facts: Facts) -> str:
    """Why engines on rows in memory do not run."""
    return PIECES if facts.card is None else ON_CARD


def bins_of_one_run(
    case: Case, selection: SelectionRule, bins: Bins, memory: int, limit: int
) -> Bins:
    """Of rows that are read piece by piece, so few bins that the Gram rows of a run fit: there is
    no other engine. Bins that are given stay, and so do those of which no number fits."""
    by_rule = isinstance(case.learner, str) and case.max_bins == "auto"
    if not case.facts.in_pieces or not by_rule or case.engine == "direct":
        return bins
    facts = _facts_of_one_run(case)
    on_sums = case.engine != "quadratic" and squared_obstacle(facts.loss, case.step) is None
    per_entry = _entry_of_one_run(facts) if on_sums else _SHARED[-1][1]

    def fits(few: Bins) -> bool:
        work = Work.of(facts, few, selection, case.groups)
        return work.gram_bytes(limit, per_entry) <= memory

    most = Work.of(facts, bins, selection, case.groups).most_bins
    several = range(min(most, bins.max_bins or most), 1, -1)
    if not several or fits(bins):
        return bins
    k = bisect.bisect_left(several, True, key=lambda n: fits(replace(bins, max_bins=n)))
    return replace(bins, max_bins=several[k]) if k < len(several) else bins


def _facts_of_one_run(case: Case) -> Facts:
    """Facts of the rows that a run is fitted to: some may be held out."""
    facts = case.facts
    if facts.rows == case.rows:
        return facts
    stored = facts.stored * case.rows // facts.rows
    return replace(facts, rows=case.rows, stored=stored, held_rows=facts.rows - case.rows)


def _entry_of_one_run(facts: Facts) -> int:
    """Bytes of an entry in the Gram matrices of a run."""
    per_entry = gram_bytes_of(facts.rows, facts.weighted)
    if facts.held_rows is not None:
        per_entry += gram_bytes_of(facts.held_rows, facts.held_weighted)
    return per_entry


def is_open(engine: str) -> bool:
    """Whether an engine is to be chosen here."""
    return engine == "auto"


def engine_of(
    facts: Facts, learner: Any, selection: SelectionRule, step: StepRule, learning_rate: float,
    n_iter: int, stops: bool, memory: int, groups: Any = None,
) -> Any:  # fmt: skip
    """The engine of `rgboost.boost` with ``engine="auto"``: as of an estimator with these rules."""
    given = {"learner": learner, "monotone_constraints": None, "engine": "auto", "groups": groups}
    case = Case(given, facts, facts.rows, step=step, rate=learning_rate)
    bins = Bins.of(learner)
    if facts.n_folds is None:
        return engines_of_one_run(case, selection, bins, memory, n_iter, stops, 1)[0]
    if not case.is_stumps:
        return "direct"
    mean = Mean(case, selection, facts.n_folds, memory, facts.largest_fold or facts.rows)
    return engines_of_mean(mean, bins, True).engine or "direct"


def _asked(case: Case, auto: str, gram: str | None, work: Work | None) -> str:
    """The engine that is asked for, or the one of ``"auto"``."""
    engine = case.engine
    if case.facts.engine_before is not None:
        return case.facts.engine_before
    obstacle = {"gram": gram, "quadratic": one_quadratic_obstacle(case, work)}.get(engine)
    if obstacle is not None:
        raise ValueError(f"engine={engine!r} cannot do this: {obstacle}. Or use engine='direct'.")
    return auto if engine == "auto" else str(engine)


def gram_obstacle(case: Case, work: Work | None) -> str | None:
    """Why the Gram engine cannot run this; None if it can."""
    return squared_obstacle(case.facts.loss, case.step) or stumps_obstacle(case, work)


def stumps_obstacle(case: Case, work: Work | None) -> str | None:
    """Why there are no statistics of these weak-learners on these rows."""
    facts = case.facts
    if work is None or not case.plain_stumps:
        return sums_obstacle(stumps=False)
    return sums_obstacle(
        sparse=facts.sparse, mixed=facts.mixed, held_missing=facts.held_missing
    ) or bins_obstacle(work.most_bins)


def one_quadratic_obstacle(case: Case, work: Work | None) -> str | None:
    """Why one run cannot go on quadratic models."""
    obstacle = loss_obstacle(case.facts.loss, case.step, case.rate) or too_many_rows(case.facts)
    return stumps_obstacle(case, work) if obstacle is None else obstacle


def too_many_rows(facts: Facts) -> str | None:
    """Why there are no sums of curvature, which are whole numbers of 32 bits."""
    if facts.rows < MOST_CURVED_ROWS:
        return None
    return f"quadratic models are of fewer than {MOST_CURVED_ROWS:,} rows"


def statistics_obstacle(
    work: Work, facts: Facts, memory: int, per_entry: int, limit: int,
    n_iter: int = TYPICAL_ITERATIONS, *, one_run: bool = False,
) -> str | None:  # fmt: skip
    """Why Gram rows with so many bytes an entry do not pay for ``n_iter`` iterations of at most
    ``limit``. With categories and missing values there is no other way to several runs."""
    if work.layout.n_learners == 0:
        return "no feature has a split"
    needed = work.gram_bytes(limit, per_entry)
    if needed > memory:
        return f"Gram rows take {needed:,.0f} bytes, and there are {memory:,} for them"
    if facts.in_pieces or (facts.mixed and not one_run):
        return None
    faster = work.gram_seconds(n_iter, facts.mixed) < work.direct_seconds(n_iter)
    return None if faster else SLOWER


def _check_pieces(engine: str, obstacle: str | None, card: str | None) -> None:
    """Rows that are read piece by piece, or are on a card, have no other engine."""
    if obstacle is not None:
        who = "Rows that are read piece by piece have" if card is None else f"device={card!r} has"
        instead = "give fit rows in memory" if card is None else "use device='cpu'"
        raise ValueError(
            f"{who} engine={engine!r} here, and it cannot do this: {obstacle}. Change that, give "
            f"more gram_memory or fewer bins (max_bins) if they do not fit, or {instead}."
        )


def _but_for(engine: str | None, considered: list[Considered]) -> list[Considered]:
    """The same, and others that could be taken are not."""
    found = []
    for one in considered:
        if one.engine == engine:
            one = one._replace(obstacle=None)
        elif one.obstacle is None:
            one = one._replace(obstacle=f"possible, but {engine} comes first")
        found.append(one)
    return found


def _considered(engine: str, n_runs: int, seconds: float, obstacle: str | None) -> Considered:
    """Seconds are told of what could be done."""
    possible = obstacle in (None, SLOWER)
    return Considered(engine, n_runs, seconds if possible else None, obstacle)
