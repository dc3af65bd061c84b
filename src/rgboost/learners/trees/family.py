"""Trees as a family of weak-learners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._core.validation import check_count, check_not_negative, check_option, check_real
from ...data.cuts import make_plan
from ...data.mixed_bins import (
    CategoryPlan,
    MixedCuts,
    columns_with_missing,
    cut_mixed,
    weigh_bins,
    weigh_sparse_bins,
    without_light_thresholds,
)
from ...data.sparse_columns import as_columns
from ...model import Path
from ...selection import Layout, RandomThresholds, SelectionRule
from ..base import LearnerFamily, Prepared, with_sets
from ..credibility import usual_weight
from ..pairs.axes import kinds_of, splits_of
from ..pairs.columns import check_sets
from ..stumps.monotone import check_constraints, check_ordered
from .arrays import MOST_BINS, TreeArrays, bins_of, code_rows, is_dense, take_coded
from .leaf_of import children_of, find_leaves
from .lines import FIRST, MOST_SLOPES, BinTable, make_table
from .path import trees_of
from .search import TreeChoice, TreeSearch
from .stored import split_type

Vector = NDArray[np.float64]

MOST_LEAVES = 256
"""Leaves are numbered by bytes."""


@dataclass(frozen=True)
class Trees(LearnerFamily):
    """Regression trees, grown best leaf first by least squares.

    The best tree cannot be found, so each is grown greedily: of all leaves the one whose best split
    gains most is parted, until there are enough. J are groups of features (Types 0, 2 and 3 of the
    paper), drawn once for a tree; with ``selection="thresholds"`` random thresholds of features, as
    in Extra-Trees. The values of the leaves come from the step rule.

    Parameters
    ----------
    max_leaf_nodes : int
        Leaves of a tree at most, from 2 to 256.
    max_depth : int or None
        Splits on the way to a leaf at most.
    min_samples_leaf : int
        The least number of rows in a leaf, in units of the mean weight.
    l2 : float
        Values of leaves are W / (W + l2) times what they would be, with W the weight of a leaf, and
        splits are chosen by what they gain then.
    subsample : float
        The share of the rows that a tree is looked for on, others at every iteration; its values
        are those of all rows.
    leaves : "constant", "linear" or "auto"
        What a leaf says: a number, or a linear function of the features on the way to it (see
        `rgboost.learners.trees.lines`), which is worth much where the target is smooth. ``"auto"``
        is for the estimators, whose plan tells what it is.
    max_bins : int
        Bins per feature, from 2 to 255.
    binning, categorical, smooth, min_frequency, max_categories
        As in `Stumps`.
    interaction_constraints : list of sets of features, or None
        Features that may act together, which is: be split on the way to the same leaf.
    constraints
        As ``monotone_constraints`` of the estimators, or None.

    Notes
    -----
    Missing values go to the side of each split that gains more; where a leaf had none, with its
    heavier part, and so do categories that it had not. Ties go to the first feature, then to the
    smaller threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.learners import Trees
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> y = X[:, 0] * X[:, 1]
    >>> trees = Trees(max_leaf_nodes=8, min_samples_leaf=10)
    >>> model = RGBMRegressor(learner=trees, max_iter=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    max_leaf_nodes: int = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    l2: float = 0.0
    subsample: float = 1.0
    leaves: Literal["constant", "linear", "auto"] = "constant"
    max_bins: int = MOST_BINS - 1
    binning: Literal["quantile", "hybrid"] = "quantile"
    categorical: tuple[int, ...] = ()
    smooth: bool = False
    min_frequency: int = 1
    max_categories: int = MOST_BINS - 1
    interaction_constraints: Any = None
    constraints: Any = None
    accepts_missing: ClassVar[bool] = True
    knows_folds: ClassVar[bool] = True
    free_leaves: ClassVar[bool] = True  # type: ignore[misc]
    additive: ClassVar[bool] = False
    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        leaves = check_count(self.max_leaf_nodes, "max_leaf_nodes", at_least=2)
        if leaves > MOST_LEAVES:
            raise ValueError(
                f"max_leaf_nodes={leaves} is too large; use at most {MOST_LEAVES}, and more trees."
            )
        if self.max_depth is not None:
            check_count(self.max_depth, "max_depth", at_least=1)
        check_count(self.min_samples_leaf, "min_samples_leaf", at_least=1)
        check_not_negative(self.l2, "l2")
        if not 0.0 < check_real(self.subsample, "subsample") <= 1.0:
            raise ValueError(
                f"subsample={self.subsample} must be above 0 and at most 1: it is a share of the "
                "rows."
            )
        check_option(self.leaves, "leaves", ["constant", "linear", "auto"])
        check_option(self.binning, "binning", ["quantile", "hybrid"])
        check_option(self.smooth, "smooth", [True, False])
        check_count(self.min_frequency, "min_frequency", at_least=1)
        for name in ("max_bins", "max_categories"):
            if check_count(getattr(self, name), name, at_least=2) > MOST_BINS - 1:
                raise ValueError(
                    f"{name}={getattr(self, name)} is too large for trees; use at most "
                    f"{MOST_BINS - 1}."
                )

    def with_categorical(self, features: tuple[int, ...]) -> Trees:
        return replace(self, categorical=features)

    def constrained(self, constraints: Any) -> Trees:
        return replace(self, constraints=constraints)

    @property
    def open_leaves(self) -> bool:
        return self.leaves not in ("constant", "linear")

    def with_leaves(self, leaves: Any) -> Trees:
        return replace(self, leaves=leaves)

    def acting_together(self, sets: Any) -> Trees:
        return with_sets(self, sets)

    @property
    def unconstrained(self) -> Trees:
        return replace(self, constraints=None)

    def prepare(
        self,
        X: Any,
        weight: Vector | None = None,
        *,
        groups: Any = None,
        names: Any = None,
        n_jobs: int = 1,
    ) -> PreparedTrees:
        n_rows, n_features = X.shape
        self._check_leaves()
        signs = np.zeros(n_features, np.int8)
        if self.constraints is not None:
            signs = check_constraints(self.constraints, n_features, names)
            check_ordered(signs, self.categorical, names)
        member, lone = sets_of(self.interaction_constraints, n_features, names)
        total = float(n_rows) if weight is None else float(weight.sum())
        least = self.min_samples_leaf * total / max(1, n_rows) * (1.0 - 1e-9)  # sums are rounded
        X = as_columns(X)
        cuts, bins = self._bins(X, weight, least, n_jobs)
        kinds = kinds_of(cuts.categorical, cuts.has_missing)
        n_splits = splits_of(kinds, cuts.n_values, cuts.has_missing)
        dense = is_dense(bins, n_splits > 0, n_rows)
        coded = code_rows(bins, n_rows, n_splits > 0, dense)
        arrays = TreeArrays(
            **coded._asdict(),
            n_values=cuts.n_values,
            kind=kinds,
            n_levels=cuts.n_values + cuts.has_missing,
            offsets=np.concatenate([[0], np.cumsum(n_splits)]).astype(np.int64),
            sign=signs,
            member=member,
            lone=lone,
            weight=np.empty(0) if weight is None else np.asarray(weight, np.float64),
            total_weight=total,
            lightest=least,
            l2=float(self.l2),
            row_weight=usual_weight(weight) if self.smooth else 0.0,
        )
        layout = Layout.make(arrays.offsets, groups, names)
        if not (cuts.categorical.any() or cuts.has_missing.any()):
            layout = layout.weighed(left_weights(cuts), total)
        cells = 3.0 * (len(coded.codes) + n_rows * int(dense.sum()))  # looks at a row and feature
        table = None
        if self.leaves == "linear":
            table = make_table(X, bins, cuts, weight)
        return PreparedTrees(arrays, layout, cells, cuts, n_splits > 0, dense, self, table)

    def _check_leaves(self) -> None:
        if self.open_leaves:
            raise ValueError(
                f"leaves={self.leaves!r} is for RGBMRegressor and RGBMClassifier, which look at "
                "held-out rows; use leaves='constant' or 'linear'."
            )
        if self.leaves == "linear" and self.constraints is not None:
            raise ValueError(
                "leaves='linear' have slopes of either sign, and monotone_constraints do not allow "
                "them; use leaves='constant', or leave out the constraints."
            )

    def _bins(
        self, X: Any, weight: Vector | None, least: float, n_jobs: int
    ) -> tuple[MixedCuts, Any]:
        """Bins with their weights, of sparse rows those that a leaf can be made of; and those of
        the rows."""
        n_rows, n_features = X.shape
        categorical = np.zeros(n_features, dtype=bool)
        categorical[list(self.categorical)] = True
        total = float(n_rows) if weight is None else float(weight.sum())
        rows = self.min_frequency - 0.5 if self.min_frequency > 1 else 0.0  # sums are rounded
        rare = CategoryPlan(rows * total / max(1, n_rows), self.max_categories)
        plan = make_plan(self.max_bins, self.binning)
        cuts = cut_mixed(X, categorical, columns_with_missing(X), plan, weight, n_jobs, rare)
        bins: Any = bins_of(X, cuts, n_jobs)
        if not scipy.sparse.issparse(X):
            weigh_bins(bins, cuts, weight, n_rows)
            return cuts, bins
        weigh_sparse_bins(bins, cuts, weight, n_rows)
        cuts = without_light_thresholds(cuts, least)
        bins = bins_of(X, cuts, n_jobs)
        weigh_sparse_bins(bins, cuts, weight, n_rows)
        return cuts, bins


def sets_of(
    constraints: Any, n_features: int, names: Any
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(which features are in each set, which are in none); nothing if there are no constraints."""
    if constraints is None:
        return np.empty((0, 0), np.bool_), np.empty(0, np.bool_)
    sets = check_sets(constraints, n_features, names)
    member = np.zeros((len(sets), n_features), np.bool_)
    for k, members in enumerate(sets):
        member[k, members] = True
    lone: NDArray[np.bool_] = np.logical_not(np.any(member, axis=0))
    return member, lone


def left_weights(cuts: MixedCuts) -> Vector:
    """The weight on the left of each threshold of numbers that are never missing."""
    parts = [np.cumsum(cuts.weights_of(g)[:-1])[:-1] for g in range(cuts.n_features)]
    return np.concatenate([*parts, np.empty(0)])


@dataclass
class PreparedTrees(Prepared):
    """Trees on binned training rows. ``useful`` are the features that have a split, ``dense`` those
    that have a bin in every row."""

    arrays: TreeArrays
    layout: Layout
    cells: float
    cuts: MixedCuts
    useful: NDArray[np.bool_]
    dense: NDArray[np.bool_]
    family: Trees
    table: BinTable | None
    """What linear functions in the leaves see of each bin; None if there are none."""

    free_leaves = True
    by_leaves = True
    additive = False
    step_fields = ("values",)

    @property
    def set_bytes(self) -> int:  # type: ignore[override]
        """Bytes that tell which categories are on the left of a split."""
        levels = self.cuts.n_values[self.cuts.categorical] + 1
        return (int(levels.max(initial=0)) + 7) // 8

    @property
    def n_slopes(self) -> int | None:
        """The most slopes of a leaf; None if leaves have a value each."""
        family = self.family
        if self.table is None:
            return None
        deepest = family.max_leaf_nodes - 1 if family.max_depth is None else family.max_depth
        numbers = int((self.useful & ~self.cuts.categorical).sum())
        return min(MOST_SLOPES, deepest, numbers)

    def choice_type(self, n_classes: int | None) -> np.dtype[Any]:
        leaves = self.family.max_leaf_nodes
        values = (leaves,) if n_classes is None else (leaves, n_classes)
        if self.n_slopes is not None:
            values = (leaves, FIRST + self.n_slopes)
        split_bytes = split_type(self.set_bytes).itemsize
        return np.dtype(
            [
                ("learner", np.int64),
                ("values", np.float64, values),
                ("gradient_norm", np.float64),
                ("sets", np.uint8, ((leaves - 1) * split_bytes,)),
            ]
        )

    def selection_obstacle(self, selection: SelectionRule) -> str | None:
        if not selection.by_learner or isinstance(selection, RandomThresholds):
            return None
        return (
            "it draws single weak-learners (Type 1), and trees are too many to be listed; use "
            "selection='all', 'group' or 'groups', which draw features for a tree, or 'thresholds'"
        )

    def arrays_for(self, X: Any, n_jobs: int = 1) -> TreeArrays:
        bins = bins_of(as_columns(X), self.cuts, n_jobs)
        coded = code_rows(bins, X.shape[0], self.useful, self.dense)
        return self.arrays._replace(**coded._asdict())

    def lasting(self, arrays: TreeArrays) -> Any:
        fields = arrays._asdict()
        del fields["weight"]  # a part of the data, which are known
        seen = np.empty(0) if self.table is None else self.table.z
        return tuple(fields.values()), self.cuts.edges, seen, repr(self.family).encode()

    def on_some_rows(
        self, rows: NDArray[np.int64], weight: Vector | None, others: NDArray[np.int64]
    ) -> tuple[TreeArrays, TreeArrays]:
        whole = self.arrays
        total = float(len(rows)) if weight is None else float(weight.sum())
        least = self.family.min_samples_leaf * total / max(1, len(rows)) * (1.0 - 1e-9)
        mine = whole._replace(
            **take_coded(whole, rows),
            weight=np.empty(0) if weight is None else np.asarray(weight, np.float64),
            total_weight=total,
            lightest=least,
        )
        return mine, whole._replace(**take_coded(whole, others))

    def searcher(self, arrays: TreeArrays, n_outputs: int, seed: int) -> TreeSearch:
        if n_outputs > 1 and arrays.sign.any():
            raise ValueError(
                "monotone_constraints are for one score, and several classes have one each; use "
                "monotone_constraints=None, or two classes."
            )
        if n_outputs > 1 and self.n_slopes is not None:
            raise ValueError(
                "leaves='linear' are for one score, and several classes have one each; use "
                "leaves='constant', or two classes."
            )
        family = self.family
        return TreeSearch(
            arrays, n_outputs, family.max_leaf_nodes, family.max_depth, family.subsample,
            self.set_bytes, seed, self.table, self.n_slopes,
        )  # fmt: skip

    def leaves_of(self, arrays: TreeArrays, choice: TreeChoice, team: Any) -> NDArray[np.uint8]:
        leaf = np.empty(arrays.n_rows, np.uint8)
        tree = choice.tree
        team.run(find_leaves, arrays, tree, children_of(tree.leaf), leaf)
        return leaf

    def lines_on(self, arrays: TreeArrays, choice: TreeChoice) -> Any:
        lines = choice.leaves.lines
        return None if lines is None else lines._replace(arrays=arrays)

    def bins(self) -> MixedCuts:
        return self.cuts

    def model(self, path: Path, intercept: Any) -> Any:
        return trees_of(self.arrays, self.cuts, self.table, path, intercept, self.set_bytes)
