"""Step rules: how far to go along the chosen weak-learner (step 4 of Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.optimize import brentq

from ._validation import check_positive
from .losses import Loss
from .losses.base import Vector


@dataclass(frozen=True)
class StepRule:
    """Base of the two rules."""

    def constant(self, loss: Loss) -> float | None:
        """rho of the constant step for this loss, or None for a line search."""
        raise NotImplementedError


@dataclass(frozen=True)
class ConstantStep(StepRule):
    """rho_m = rho <b_j, r>, with rho = 1/sigma unless given.

    sigma is the smoothness of the loss: the step needs no tuning, and the guarantees of the paper
    hold for it. A loss without smoothness (the exponential loss) needs an explicit rho.
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


def check_step(step: str | StepRule) -> StepRule:
    """A rule from its name ("constant", "line-search"), or the rule itself."""
    if isinstance(step, StepRule):
        return step
    if step == "constant":
        return ConstantStep()
    if step == "line-search":
        return LineSearch()
    raise ValueError(
        f"step={step!r} is not known; use 'constant', 'line-search' or a rule from rgboost.steps."
    )
