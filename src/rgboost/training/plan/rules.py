"""What ``"auto"`` means: for each setting a table of rules, of which the first that holds is taken.

`rgboost.training.plan.documents` writes the tables of the documentation from these.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...engines.quadratic.runs import loss_obstacle
from ...learners import LearnerFamily, family_of
from ...losses import Loss
from ...steps import ConstantStep, LeafSearch, LineSearch, NewtonStep, StepRule
from .costs import FEWEST_BINS, FRUGAL_BYTES, FRUGAL_TIMES, gram_budget
from .facts import Facts

MANY_ROWS = 10_000
"""From so many rows on, runs take longer steps and wait longer, and an iteration looks at single
splits of all features; below, at few random thresholds."""

HOLD_OUT_ROWS = 2000
"""From so many rows on, a tenth of them tells where to stop as well as cross-validation does."""
FEW_ROWS, FEW_ITERATIONS = 30, 100
"""Fewer rows are not shared out among folds: so many iterations."""
MOST_ITERATIONS, MOST_ROUNDS = 20_000, 100_000
"""Of fits that stop by themselves, and of cross-validation; and of means of several runs, whose
iterations cost little."""

ROWS_PER_THRESHOLD = 150
"""``selection="thresholds"`` looks at one for every so many rows, but at least at as many as half
the square root of the number of features: the more rows, the less the best of many follows the
noise."""

ROWS_PER_BIN, BINS_OF_MANY, BINS_OF_FEW, MOST_AUTO_BINS = 50, 255, 512, 2047
"""Bins of a few rows follow their noise. The most bins: what a byte holds; for few rows of few
numbers; and for many rows of features that have few values, but for some."""
FEW_SPLITS, ROWS_OF_FEW_BINS = 4800, 100_000
PAPER_BINS, PAPER_ROWS = 100, 10_000

SHORT_STEPS, LONG_STEPS = 0.2, 0.5
STEPS_OF_CLASSES, LONG_STEPS_OF_CLASSES = 0.4, 1.0
STEPS_OF_THRESHOLDS = 0.05
"""Steps that are chosen from few splits are many and cheap."""
STEPS_OF_TWO_CLASSES, ROWS_OF_TWO_CLASSES = 1.0, 1000
"""The step 1/sigma is that of the largest curvature, and small already."""

PATIENCE, PATIENCE_OF_MEAN, USUAL_STEPS, LONGEST_WAIT = 200, 400, 0.075, 1e6
SHARE_OF_FEATURES, STEPS_OF_TREES, PATIENCE_OF_TREES, MOST_TREE_CELLS = 0.7, 0.1, 50, 20_000_000
"""Of trees: which share of the features J has, the learning rate, how long runs wait; and the
entries of the data up to which the mean of several runs is worth its time."""
LEAST_ROWS = 5
LEAST_ROWS_OF_CATEGORY, MOST_CATEGORIES = 5, 255
"""Rows of a category that has a level of its own, and how many of a feature have one."""

MOST_FEW_ROWS, MOST_CLASS_SCORES, LONG_ITERATION = 20_000, 100_000, 25e-6
"""Means of several runs on the rows: more rows have blocks of iterations that are too long for
those who wait, and sums that are too long for single precision; rows times classes up to which they
are worth their time; seconds of an iteration from which quadratic models are faster."""
SAMPLE_ROWS, SAMPLE_CELLS, FEWEST_SAMPLED = 200_000, 1 << 25, 20_000
"""Rows that thresholds follow from where rows are read piece by piece: a quantile is off by a
thousandth of the rows then, a quarter of a bin. Of many features fewer, so that the sample has so
many values, but not fewer than the last number."""
DENSE_CELLS = 1 << 22
"""Cells of a sparse matrix that may be made dense."""


class Rule(NamedTuple):
    """``value`` may be a function of the case; then ``shown`` says it in words."""

    when: str
    holds: Callable[[Any], bool]
    value: Any
    shown: str = ""


class Choice(NamedTuple):
    value: Any
    why: str


@dataclass(frozen=True)
class Case:
    """Parameters and facts, and what is decided so far. ``rows`` are those that a run has."""

    parameters: Mapping[str, Any]
    facts: Facts
    rows: int
    mean: bool = False
    """Whether the mean of several runs is asked about, not one run."""
    thresholds: bool = False
    """Whether an iteration looks at random thresholds."""
    step: StepRule = ConstantStep()  # noqa: RUF009
    rate: float = 1.0
    gram_is_faster: bool = False
    held_out: bool = False
    """Whether there are rows that runs are not fitted to."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.parameters[name]
        except KeyError as fault:
            raise AttributeError(name) from fault

    @property
    def family(self) -> LearnerFamily:
        return family_of(self.parameters["learner"])

    @property
    def is_stumps(self) -> bool:
        return self.family.by_statistics

    @property
    def is_trees(self) -> bool:
        return not self.family.additive

    @property
    def knows_folds(self) -> bool:
        return self.family.knows_folds

    @property
    def plain_stumps(self) -> bool:
        """Whether weak-learners are stumps without constraints."""
        return self.is_stumps and self.parameters["monotone_constraints"] is None

    @property
    def free_leaves(self) -> bool:
        family, free = self.family, self.parameters["monotone_constraints"] is None
        return family.free_leaves and (free or family.keeps_order)

    @property
    def can_be_dense(self) -> bool:
        """Whether rows are dense, or few enough to be."""
        return not self.facts.sparse or self.facts.rows * self.facts.features <= DENSE_CELLS

    @property
    def plain_rows(self) -> bool:
        """Whether rows are numbers without missing values, dense or few enough to be."""
        facts = self.facts
        return self.can_be_dense and not facts.mixed and facts.rows <= MOST_FEW_ROWS

    @property
    def quadratic(self) -> bool:
        """Whether quadratic models of the loss can be run on."""
        facts = self.facts
        return (
            quadratic_obstacle(facts.loss, self.step, SHORT_STEPS, self.engine, facts.in_pieces)
            is None
        )

    @property
    def can_share(self) -> bool:
        """Whether there are rows to hold out: of two groups or more, if there are groups; else of
        two classes or more, if there are classes."""
        facts, share = self.facts, self.parameters["validation_fraction"]
        if facts.n_groups is not None:
            return facts.n_groups >= 2
        if facts.class_rows is None:
            return facts.rows * share >= 1.0
        return sum(n * share >= 1.0 and n > 1 for n in facts.class_rows) >= 2

    @property
    def enough_for_folds(self) -> bool:
        """Whether rows, those of the rarest class and groups can be shared out among folds."""
        facts = self.facts
        if facts.rows < FEW_ROWS or not self.knows_folds:
            return False
        return (
            not isinstance(self.cv, numbers.Integral) or min(facts.rarest, facts.units) >= self.cv
        )

    @property
    def can_hold_out(self) -> bool:
        """Whether a fit that chooses by itself may hold rows out, and has enough of them."""
        return self.chooses_by_itself and self.facts.rows >= FEW_ROWS and self.can_share

    @property
    def chooses_by_itself(self) -> bool:
        return self.max_iter == "auto" and self.early_stopping == "auto"


def quadratic_obstacle(
    loss: Loss, step: StepRule, learning_rate: float, engine: str, in_pieces: bool
) -> str | None:
    """Why a loss has no means of runs on quadratic models of it; None if it has."""
    obstacle = loss_obstacle(loss, step, learning_rate)
    if obstacle is None and loss.outputs > 1 and engine == "auto" and not in_pieces:
        obstacle = "several classes are on quadratic models where engine='quadratic' asks for it"
    if obstacle is None and not loss.newton and loss.outputs == 1:
        obstacle = f"the curvature of {loss!r} vanishes somewhere, or is not known"
    if obstacle is None and engine not in ("auto", "quadratic"):
        obstacle = f"engine={engine!r} is asked for"
    return obstacle


def decide(rules: tuple[Rule, ...], case: Any) -> Choice:
    """The value of the first rule that holds, and what it says."""
    rule = next(rule for rule in rules if rule.holds(case))
    return Choice(rule.value(case) if callable(rule.value) else rule.value, rule.when)


def always(case: Any) -> bool:
    return True


STEP = (
    Rule("trees, and the curvature of the loss does not vanish",
         lambda c: c.is_trees and c.facts.loss.newton and not c.facts.loss.quadratic, NewtonStep()),
    Rule("several classes: sigma is far from their curvature", lambda c: c.facts.several_classes,
         NewtonStep()),
    Rule("the loss is smooth", lambda c: c.facts.loss.smoothness is not None, ConstantStep()),
    Rule("the loss is not smooth, and weak-learners have no free leaves",
         lambda c: not c.free_leaves, LineSearch()),
    Rule("the loss is not smooth, but its curvature does not vanish",
         lambda c: c.facts.loss.newton_limit is not None, NewtonStep()),
    Rule("the curvature of the loss vanishes somewhere", always, LeafSearch()),
)  # fmt: skip

SELECTION = (
    Rule("trees: some of the features for each", lambda c: c.is_trees, ("groups",)),
    Rule("one run", lambda c: not c.mean, ("learners",)),
    Rule("subset_size or always_features is given",
         lambda c: c.subset_size != "auto" or c.always_features is not None, ("learners",)),
    Rule(f"the mean of several runs, from {MANY_ROWS:,} rows on",
         lambda c: c.facts.rows >= MANY_ROWS, ("learners",)),
    Rule("weak-learners are not stumps, or rows are sparse and many",
         lambda c: not (c.plain_stumps and c.can_be_dense), ("learners",)),
    Rule(f"the mean of several runs, below {MANY_ROWS:,} rows of numbers",
         lambda c: c.plain_rows, ("thresholds",)),
    Rule(f"the mean of several runs, below {MANY_ROWS:,} rows with categories or missing values: "
         "the better one on held-out rows", always, ("thresholds", "learners")),
)  # fmt: skip


def sample_size(n_features: int, given: int | None) -> int:
    """How many rows to sample."""
    if given is not None:
        return given
    return min(SAMPLE_ROWS, max(FEWEST_SAMPLED, SAMPLE_CELLS // max(1, n_features)))


def threshold_count(n_rows: int, n_features: int) -> int:
    """How many ``selection="thresholds"`` looks at."""
    return max(1, math.isqrt(n_features) // 2, n_rows // ROWS_PER_THRESHOLD)


LEAVES = (
    Rule("the learner has leaves of one kind, or they are given",
         lambda c: not c.family.open_leaves, (None,), "that kind"),
    Rule("several classes: linear functions are for one score",
         lambda c: c.facts.several_classes, ("constant",)),
    Rule("monotone_constraints: slopes may have either sign",
         lambda c: (c.monotone_constraints is not None
                    or getattr(c.family, "constraints", None) is not None), ("constant",)),
    Rule("the step sets the values of leaves in another way than least squares",
         lambda c: not isinstance(c.step, ConstantStep | NewtonStep), ("constant",)),
    Rule("one run that goes on, or that a callback looks at",
         lambda c: c.facts.goes_on is not None, ("constant",)),
    Rule("no rows are held out that could tell", lambda c: not (c.mean or c.held_out),
         ("constant",)),
    Rule("both are tried, and the better one on held-out rows is kept", always,
         ("constant", "linear"), "constant or linear"),
)  # fmt: skip

SUBSET_SIZE = (
    Rule("trees", lambda c: c.is_trees and not c.thresholds, SHARE_OF_FEATURES),
    Rule('selection="thresholds"', lambda c: c.thresholds,
         lambda c: threshold_count(c.facts.rows, c.facts.features),
         f"one for every {ROWS_PER_THRESHOLD} rows, at least half the square root of the number of "
         "features"),
    Rule("otherwise: few of all splits cost little, and teach nearly as much", always, "sqrt"),
)  # fmt: skip

LEARNING_RATE = (
    Rule("trees", lambda c: c.is_trees, STEPS_OF_TREES),
    Rule('the mean of several runs, squared loss, selection="thresholds"',
         lambda c: c.mean and c.thresholds and c.facts.loss.quadratic, STEPS_OF_THRESHOLDS),
    Rule(f"the mean of several runs of a loss with quadratic models, from {MANY_ROWS:,} rows on",
         lambda c: c.mean and c.quadratic and c.facts.rows >= MANY_ROWS, LONG_STEPS),
    Rule("the mean of several runs of a loss with quadratic models",
         lambda c: c.mean and c.quadratic, SHORT_STEPS),
    Rule(f"several classes, from {MANY_ROWS:,} rows on",
         lambda c: c.facts.several_classes and c.facts.rows >= MANY_ROWS, LONG_STEPS_OF_CLASSES),
    Rule("several classes", lambda c: c.facts.several_classes, STEPS_OF_CLASSES),
    Rule(f"two classes, from {ROWS_OF_TWO_CLASSES:,} rows on, steps are not Newton's",
         lambda c: c.facts.class_rows is not None and c.facts.rows >= ROWS_OF_TWO_CLASSES
         and not isinstance(c.step, NewtonStep), STEPS_OF_TWO_CLASSES),
    Rule("otherwise: many short steps predict better than few long ones", always, SHORT_STEPS),
)  # fmt: skip


def _usual_bins(case: Case, most: int) -> int:
    return min(max(case.rows // ROWS_PER_BIN, FEWEST_BINS), max(BINS_OF_MANY, most))


def _bins_of_many(case: Case) -> int:
    facts = case.facts
    rich = int(((facts.values.distinct > BINS_OF_MANY) & ~facts.categorical).sum())
    return _usual_bins(case, min(MOST_AUTO_BINS, FEW_SPLITS // max(1, rich)))


def _bins_of_few(case: Case) -> int:
    numeric = int((~case.facts.categorical).sum())
    return _usual_bins(case, min(BINS_OF_FEW, FEW_SPLITS // max(1, numeric)))


def _bins_by_rows(case: Case) -> int:
    if case.rows <= ROWS_OF_FEW_BINS:
        return _bins_of_few(case)
    return _usual_bins(case, 0) if case.facts.sparse else _bins_of_many(case)


def paper_bins(n_rows: int) -> int | None:
    """``max_bins="paper"``: the most bins of a feature; None for every value."""
    return PAPER_BINS if n_rows > PAPER_ROWS else None


_BY_ROWS = f"one for {ROWS_PER_BIN} rows, from {FEWEST_BINS} to {BINS_OF_MANY}"
MAX_BINS = (
    Rule("trees: a byte a cell, and a leaf has many rows", lambda c: c.is_trees, BINS_OF_MANY),
    Rule('max_bins="paper"', lambda c: c.max_bins == "paper", lambda c: paper_bins(c.rows),
         f"{PAPER_BINS} above {PAPER_ROWS:,} rows, every distinct value below"),
    Rule("random thresholds of numbers without missing values: more bins cost nothing",
         lambda c: c.mean and c.thresholds and c.plain_rows, BINS_OF_MANY),
    Rule("random thresholds of rows with categories or missing values",
         lambda c: c.mean and c.thresholds,
         lambda c: max(_bins_by_rows(c), min(BINS_OF_MANY, FEW_SPLITS // c.facts.features)),
         f"as without, or up to {BINS_OF_MANY} if that makes at most {FEW_SPLITS:,} splits"),
    Rule(f"at most {ROWS_OF_FEW_BINS:,} rows", lambda c: c.rows <= ROWS_OF_FEW_BINS, _bins_of_few,
         f"{_BY_ROWS}; up to {BINS_OF_FEW} if that makes at most {FEW_SPLITS:,} splits of numbers"),
    Rule("more rows, sparse", lambda c: c.facts.sparse, lambda c: _usual_bins(c, 0), _BY_ROWS),
    Rule("more rows, dense", always, _bins_of_many,
         f"{_BY_ROWS}; up to {MOST_AUTO_BINS:,} if features with more than {BINS_OF_MANY} values "
         f"have at most {FEW_SPLITS:,} splits then"),
)  # fmt: skip

LEAST_SHARE = (
    Rule("trees have min_samples_leaf", lambda c: c.is_trees, 0.0),
    Rule(f"squared loss, from {MANY_ROWS:,} rows on: that of {LEAST_ROWS} rows",
         lambda c: c.facts.loss.quadratic and c.facts.rows >= MANY_ROWS,
         lambda c: (LEAST_ROWS - 0.5) / c.facts.rows,  # shares of whole rows are rounded
         f"{LEAST_ROWS - 0.5:g} / rows"),
    Rule("otherwise: a side may have as few rows as it happens to have", always, 0.0),
)  # fmt: skip


def _patience(least: int) -> Callable[[Case], int]:
    def waits(case: Case) -> int:
        steps = min(USUAL_STEPS / case.rate, LONGEST_WAIT)
        return max(least, math.ceil(PATIENCE * steps))

    return waits


_WAIT = f"{{}}, or {PATIENCE * USUAL_STEPS:g}/learning_rate if that is more"
NO_CHANGE = (
    Rule("trees", lambda c: c.is_trees, PATIENCE_OF_TREES),
    Rule(f"the mean of several runs, from {MANY_ROWS:,} rows on: iterations cost little",
         lambda c: c.mean and c.facts.rows >= MANY_ROWS, _patience(PATIENCE_OF_MEAN),
         _WAIT.format(PATIENCE_OF_MEAN)),
    Rule("otherwise: losses of held-out rows go up and down for a while", always,
         _patience(PATIENCE), _WAIT.format(PATIENCE)),
)  # fmt: skip

VALIDATION, HELD, FOLDS, MEAN, MEAN_OR_HELD, NUMBER, FEW = (
    "validation rows", "held-out rows", "cross-validation", "the mean of several runs",
    "the mean of several runs, if it costs little; else held-out rows", "a number", "few rows",
)  # fmt: skip
"""What tells the number of iterations."""

JUDGE = (
    Rule("validation rows are given", lambda c: c.facts.held_rows is not None, VALIDATION),
    Rule('max_iter="cv"', lambda c: c.max_iter == "cv", FOLDS),
    Rule("early_stopping=True", lambda c: c.early_stopping is True, HELD),
    Rule("max_iter is a number", lambda c: not isinstance(c.max_iter, str), NUMBER),
    Rule(f"from {HOLD_OUT_ROWS:,} rows on, and enough rows of each class (and groups) for folds",
         lambda c: c.chooses_by_itself and c.facts.rows >= HOLD_OUT_ROWS and c.can_share
         and c.enough_for_folds, MEAN_OR_HELD),
    Rule(f"from {FEW_ROWS} rows on, and enough rows of each class (and groups) for folds",
         lambda c: c.enough_for_folds, FOLDS),
    Rule(f"from {FEW_ROWS} rows on, the family of weak-learners knows no folds",
         lambda c: c.can_hold_out and not c.knows_folds, HELD),
    Rule(f"from {FEW_ROWS} rows on, a class is too rare for folds, or groups are too few",
         lambda c: c.can_hold_out, HELD),
    Rule(f"fewer than {FEW_ROWS} rows, or none to hold out", always, FEW,
         f"{FEW_ITERATIONS} iterations"),
)  # fmt: skip


def _budget(case: Case) -> int:
    return gram_budget(case.facts, frugal=isinstance(case.max_iter, str))


_QUARTER = "what the rows leave of a quarter of the memory of the process"
GRAM_MEMORY = (
    Rule("max_iter is a number", lambda c: not isinstance(c.max_iter, str), _budget, _QUARTER),
    Rule("the fit ends by itself", always, _budget,
         f"{_QUARTER}, or of {FRUGAL_TIMES} times the input or {FRUGAL_BYTES // 10**6} MB if that "
         "is less"),
)  # fmt: skip


class Open(NamedTuple):
    """Which engines can run the mean of several runs; ``faster``: those on rows are expected to
    be the fastest, or to be worth their time."""

    rows: bool
    faster: bool
    gram: bool
    quadratic: bool
    needed: bool


ENGINE_OF_MEAN = (
    Rule("few rows of numbers, faster than statistics (or rows times classes are at most "
         f"{MOST_CLASS_SCORES:,}); or trees, on at most {MOST_TREE_CELLS:,} entries of the data",
         lambda o: o.rows and o.faster, "direct"),
    Rule("squared loss, and Gram rows of every fold fit into gram_memory",
         lambda o: o.gram, "gram"),
    Rule("the loss has quadratic models, and one Gram matrix for all runs fits into gram_memory, "
         "in integers of 32 or 16 bits or with fewer bins", lambda o: o.quadratic, "quadratic"),
    Rule(f"cross-validation needs several runs anyway, of at most {MOST_FEW_ROWS:,} rows",
         lambda o: o.rows and o.needed, "direct"),
    Rule("otherwise", always, None, "there is one run"),
)  # fmt: skip

ENGINE = (
    Rule("rows are read piece by piece (Chunks, Dask)", lambda c: c.facts.in_pieces,
         lambda c: "gram" if c.facts.loss.quadratic else "quadratic",
         "gram for the squared loss, quadratic for others"),
    Rule("several classes", lambda c: c.facts.several_classes, "direct"),
    Rule("squared loss, Gram rows fit into gram_memory and are expected to be faster",
         lambda c: c.gram_is_faster, "gram"),
    Rule("otherwise: there are no Gram rows to be had, or they are expected to be slower", always,
         "direct"),
)  # fmt: skip

TABLES: dict[str, tuple[Rule, ...]] = {
    "max_iter": JUDGE, "leaves of trees": LEAVES, "selection": SELECTION,
    "subset_size": SUBSET_SIZE,
    "learning_rate": LEARNING_RATE, "step": STEP, "n_iter_no_change": NO_CHANGE,
    "max_bins": MAX_BINS, "min_weight_fraction_leaf": LEAST_SHARE,
    "engine, the mean of several runs": ENGINE_OF_MEAN, "engine, one run": ENGINE,
    "gram_memory": GRAM_MEMORY,
}  # fmt: skip
"""The rules by the parameter whose ``"auto"`` they say."""
