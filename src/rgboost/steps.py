"""Step rules: how far to go along the chosen weak-learner (step 4 of Algorithm 2)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

from scipy.optimize import brentq

from ._core.validation import check_not_negative, check_positive
from .losses import Loss
from .losses.base import Vector


@dataclass(frozen=True)
class StepRule:
    """Base of the rules.

    Estimators take a rule by its name, or an object of one of the classes here.

    Examples
    --------
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.steps import LineSearch
    >>> model = RGBMRegressor(step=LineSearch())
    """

    def constant(self, loss: Loss) -> float | None:
        """rho of the constant step for this loss, or None for a line search."""
        raise NotImplementedError


@dataclass(frozen=True)
class ConstantStep(StepRule):
    """rho_m = rho <b_j, r>, with rho = 1/sigma unless given.

    sigma is the smoothness of the loss: the step needs no tuning, and the guarantees of the paper
    hold for it. A loss without smoothness (the exponential loss) needs an explicit rho.

    Parameters
    ----------
    rho : float, optional
        The step, instead of 1/sigma.

    Examples
    --------
    >>> from rgboost.losses import Logistic
    >>> from rgboost.steps import ConstantStep
    >>> ConstantStep().constant(Logistic(ridge=0.0))
    4.0
    """

    rho: float | None = None

    def __post_init__(self) -> None:
        if self.rho is not None:
            check_positive(self.rho, "rho")

    def constant(self, loss: Loss) -> float:
        if self.rho is not None:
            return float(self.rho)
        if loss.smoothness is None:
            raise ValueError(
                f"{loss!r} is not smooth: there is no constant step 1/sigma for it; "
                "use step='line-search', or ConstantStep(rho=...) with a rho of your own."
            )
        return 1.0 / loss.smoothness


@dataclass(frozen=True)
class LineSearch(StepRule):
    """rho_m = argmin over rho of the loss of f + rho b_j.

    Closed form for the squared loss, and for the exponential loss with signed stumps; otherwise a
    safeguarded Newton method, exact to 1e-10 relative.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.losses import Squared
    >>> from rgboost.steps import LineSearch
    >>> b = np.array([1.0, 1.0, 0.0])
    >>> round(LineSearch().find(Squared(), np.array([1.0, 3.0, 0.0]), np.zeros(3), b), 6)
    2.0
    """

    def constant(self, loss: Loss) -> None:
        return None

    def find(
        self, loss: Loss, y: Vector, f: Vector, b: Vector, weight: Vector | None = None
    ) -> float:
        """The step along any b, by a root of the slope. Where no compiled search is needed.

        If the loss falls for ever along b, the step ends where the slope has fallen by 13 orders
        of magnitude.
        """
        bw = b if weight is None else b * weight

        def slope(rho: float) -> float:
            return -float((bw * loss.residual(y, f + rho * b)).sum())

        start = slope(0.0)
        if start == 0.0:
            return 0.0
        sign = -1.0 if start > 0.0 else 1.0
        end = abs(start)
        while sign * slope(sign * end) < -1e-13 * abs(start) and end < 1e150:
            end *= 2.0
        if sign * slope(sign * end) <= 0.0:
            return sign * end
        return float(brentq(slope, 0.0, sign * end, xtol=1e-300, rtol=1e-13, maxiter=1000))


@dataclass(frozen=True)
class LeafStep(StepRule):
    """Base of the rules that set the two values of a stump by themselves, not along its b."""

    def constant(self, loss: Loss) -> None:
        raise ValueError(
            f"{self!r} sets the values of leaves: it is for boosting stumps; "
            "use ConstantStep or LineSearch."
        )


@dataclass(frozen=True)
class NewtonStep(LeafStep):
    """Leaf value = S / (H + l2): the sums of residuals and of curvatures in the leaf.

    What the tree libraries do (``l2`` is their ``reg_lambda``). The split is chosen as always, by
    the largest <b, r>. It needs a loss whose curvature does not vanish (`Loss.newton_limit`).

    Parameters
    ----------
    l2
        Added to the sum of curvatures.
    max_value
        Largest absolute value of a leaf, before the learning rate. None: the limit of the loss. A
        Newton step goes far astray where the curvature is small (XGBoost and LightGBM have
        ``max_delta_step`` and ``min_child_weight`` for the same reason).

    Examples
    --------
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.steps import NewtonStep
    >>> model = RGBMRegressor(loss="poisson", step=NewtonStep(l2=1.0))
    """

    l2: float = 0.0
    max_value: float | None = None

    def __post_init__(self) -> None:
        check_not_negative(self.l2, "l2")
        if self.max_value is not None:
            check_positive(self.max_value, "max_value")

    def limit(self, loss: Loss) -> float:
        if loss.newton_limit is None:
            raise ValueError(
                f"{loss!r} has no Newton step: its curvature vanishes somewhere (or newton_limit "
                "is not set); use step='constant', 'line-search' or 'leaf-search'."
            )
        return float(loss.newton_limit if self.max_value is None else self.max_value)


@dataclass(frozen=True)
class NewtonGain(LeafStep):
    """Newton leaf values, and the split is chosen by what they gain: the largest S^2/H.

    What XGBoost does. For few rows of numbers, and rules that draw single weak-learners.

    Examples
    --------
    >>> from rgboost import RGBMClassifier
    >>> from rgboost.steps import NewtonGain
    >>> model = RGBMClassifier(step=NewtonGain(), selection="thresholds")
    """


@dataclass(frozen=True)
class LeafSearch(LeafStep):
    """Each leaf gets the value with the smallest loss over its rows.

    For the absolute error and the quantile loss these are weighted quantiles of y - f; for the
    squared loss means; otherwise a safeguarded Newton method in each leaf, exact to 1e-10
    relative.

    Examples
    --------
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.steps import LeafSearch
    >>> model = RGBMRegressor(loss="absolute", step=LeafSearch())
    """


_NAMED: dict[str, StepRule] = {
    "constant": ConstantStep(),
    "line-search": LineSearch(),
    "leaf-search": LeafSearch(),
    "newton": NewtonStep(),
}


def check_step(step: str | StepRule) -> StepRule:
    """A rule from its name, or the rule itself."""
    if isinstance(step, StepRule):
        return step
    if isinstance(step, str) and step in _NAMED:
        return _NAMED[step]
    raise ValueError(
        f"step={step!r} is not known; use 'constant', 'line-search', 'leaf-search', 'newton' "
        "or a rule from rgboost.steps."
    )


def check_step_of_classes(step: StepRule) -> None:
    """Raise if a step is not for several classes."""
    if not isinstance(step, ConstantStep | NewtonStep):
        raise ValueError(
            f"step={step!r} is not for more than two classes; use step='constant' (sigma is 1/2 "
            "there) or 'newton'."
        )


class ConstantRule(NamedTuple):
    """learning_rate * rho <b, r>."""

    learning_rate: float
    rho: float


class SearchRule(NamedTuple):
    """learning_rate times the argmin over the line."""

    learning_rate: float


@functools.singledispatch
def make_rule(step: StepRule, loss: Loss, learning_rate: float, n_rows: int) -> Any:
    """The rule as compiled code reads it; raises if the loss does not go with it."""
    raise TypeError(f"step={step!r} is not a rule from rgboost.steps.")


@make_rule.register
def _(step: ConstantStep, loss: Loss, learning_rate: float, n_rows: int) -> ConstantRule:
    return ConstantRule(learning_rate, step.constant(loss))


@make_rule.register
def _(step: LineSearch, loss: Loss, learning_rate: float, n_rows: int) -> SearchRule:
    return SearchRule(learning_rate)


@make_rule.register
def _(step: NewtonGain, loss: Loss, learning_rate: float, n_rows: int) -> None:
    return None  # made for the rows of a problem: `rgboost.engines.direct.few_rows_loop`
