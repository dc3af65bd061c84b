"""The contract of a loss, and what follows from it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from . import kernels
from .conjugates.base import Conjugate

Vector = NDArray[np.float64]

_LARGEST_CONSTANT = 2.0**1023
"""The largest power of two that is finite."""


class Link(NamedTuple):
    """What makes a prediction of a score, where no code can say it: in files for other programs.

    ``identity``: the score itself; ``log``: exp(score), with exponents from -700 to 700;
    ``logistic``: 1 / (1 + exp(-scale * score)), the probability of the second class; ``softmax``:
    the probabilities of several classes.

    Examples
    --------
    >>> from rgboost.losses import Poisson
    >>> Poisson().exported_link.name
    'log'
    """

    name: Literal["identity", "log", "logistic", "softmax"] = "identity"
    scale: float = 1.0


class Loss(ABC):
    """A convex loss l(y, f), differentiable in the score f.

    To write one of your own, define `value` and `residual` on arrays and set `smoothness`; the
    rest has defaults. Set `strong_convexity` if there is any, and `inverse_link` if predictions
    are not the scores themselves.

    Examples
    --------
    The pseudo-Huber loss, which is 1-smooth:

    >>> import numpy as np
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.losses import Loss
    >>> class PseudoHuber(Loss):
    ...     smoothness = 1.0
    ...     def value(self, y, f):
    ...         return np.sqrt(1 + (y - f) ** 2) - 1
    ...     def residual(self, y, f):
    ...         return (y - f) / np.sqrt(1 + (y - f) ** 2)
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> model = RGBMRegressor(loss=PseudoHuber(), max_iter=200, random_state=0)
    >>> model = model.fit(X, np.sin(6 * X[:, 0]))
    >>> bool(model.trace_.train_loss[-1] < 0.01 * model.trace_.train_loss[0])
    True
    """

    smoothness: float | None = None
    """sigma: l(y, .) has a sigma-Lipschitz derivative; None if there is no such sigma."""

    strong_convexity: float = 0.0
    """mu: l(y, .) - mu/2 f^2 is convex; 0 if the loss is not strongly convex."""

    newton_limit: float | None = None
    """The largest leaf value that a Newton step takes; None if the curvature can vanish, so that
    there is no Newton step. Losses that have it and `curvature` have means of several runs on
    quadratic models (`rgboost.engines.quadratic`)."""

    score_name: str = "score"
    """What pictures call the score."""

    exported_link: Link | None = Link("identity")
    """`inverse_link` for other programs; None if it is code that has no such name."""

    outputs: int = 1
    """How many scores a row has: 1, or one for each class."""

    labels_are_classes: bool = False
    """Whether labels are numbers of classes, or -1 and +1."""

    quadratic: bool = False
    """Whether l(y, f) = (y - f)^2 / 2: models then depend on the labels by sums over rows alone."""

    translation_invariant: bool = False
    """Whether l(y + c, f + c) = l(y, f) for all c: labels can be centred before they are summed."""

    quantile_leaves: bool = False
    """Whether the best value of a leaf is a quantile of its errors, which are sorted for it."""

    terms: Any = None
    """What compiled code needs to evaluate the loss; None for a loss written in Python."""

    @abstractmethod
    def value(self, y: Vector, f: Vector) -> Vector:
        """l(y_i, f_i) for each row."""

    @abstractmethod
    def residual(self, y: Vector, f: Vector) -> Vector:
        """r_i = -dl(y_i, f_i)/df, the pseudo-residual of each row."""

    def curvature(self, y: Vector, f: Vector) -> Vector:
        """d^2 l(y_i, f_i)/df^2 for each row."""
        raise NotImplementedError(f"{type(self).__name__} defines no curvature")

    @property
    def has_curvature(self) -> bool:
        """Whether `curvature` is defined."""
        return type(self).curvature is not Loss.curvature

    @property
    def newton(self) -> bool:
        """Whether there are Newton steps: curvature, and a limit to go by where it is small."""
        return self.newton_limit is not None and self.has_curvature

    def model_curvature(self, y: Vector, f: Vector) -> Vector:
        """h of the quadratic model l(y, f + d) ~ l(y, f) - r d + h/2 d^2.

        The curvature, but so large that no step r/h is beyond the ``newton_limit``: there the
        quadratic model is far from the loss. Of a loss without Newton steps it is the smoothness
        sigma: the quadratic model then lies above the loss.
        """
        if not self.newton:
            assert self.smoothness is not None
            return np.full(len(y), self.smoothness)
        residual, curvature = self._derivatives(y, f)
        return np.maximum(curvature, np.abs(residual) / self.newton_limit)

    def _derivatives(self, y: Vector, f: Vector) -> tuple[Vector, Vector]:
        """(residual, curvature) of each row."""
        return self.residual(y, f), self.curvature(y, f)

    def convexity_on(
        self, low: float, high: float, y_min: float, y_max: float
    ) -> tuple[float, float]:
        """(mu, sigma) for scores in [low, high] and labels in [y_min, y_max].

        Bounds of the curvature there; for a loss with such constants everywhere, these.
        """
        sigma = self.smoothness
        return self.strong_convexity, math.inf if sigma is None else sigma

    def best_constant(
        self, y: Vector, weight: Vector | None = None, offset: Vector | None = None
    ) -> float:
        """The constant score with the smallest (weighted) loss, beside the ``offset`` of every
        row."""
        w = np.ones_like(y) if weight is None else weight

        def slope(c: float) -> float:
            score = np.full_like(y, c) if offset is None else c + offset
            # Not a dot product: BLAS sums differently for different numbers of threads.
            return float(np.sum(w * self.residual(y, score)))

        low, high = -1.0, 1.0
        while slope(high) > 0.0 and high < _LARGEST_CONSTANT:
            low, high = high, 2.0 * high
        while slope(low) < 0.0 and low > -_LARGEST_CONSTANT:
            low, high = 2.0 * low, low
        if slope(low) < 0.0 or slope(high) > 0.0:
            raise ValueError(
                f"{self!r} has no best constant for these labels; use init='zero', or scale y."
            )
        error = 1e-14 * min(1.0, float(np.abs(y).max(initial=0.0))) or 1e-14
        return float(brentq(slope, low, high, xtol=error, rtol=1e-14, maxiter=2000))

    def link(self, mean: Vector) -> Vector:
        """The score that belongs to a mean response."""
        return mean

    def inverse_link(self, f: Vector) -> Vector:
        """The mean response that belongs to a score."""
        return f

    def check_labels(self, y: Vector) -> None:
        """Raise ValueError if the loss is not defined for these labels."""
        return

    def conjugate(self) -> Conjugate:
        r"""The conjugate :math:`l^*(y, u) = \sup_f\, (u f - l(y, f))`, for certificates."""
        raise ValueError(
            f"the conjugate of {self!r} is not known; use Squared, Huber, Logistic or Exponential "
            "of rgboost.losses, or one of them inside Ridged."
        )

    def for_classes(self, n_classes: int) -> Loss | None:
        """The loss of more than two classes that this one is the case of two of; None: none."""
        return None

    def __init_subclass__(cls, **options: Any) -> None:
        """What a loss says of its formulas does not hold for a subclass that has others."""
        super().__init_subclass__(**options)
        if vars(cls).keys() & {"value", "residual", "curvature", "terms"}:
            for name in ("quadratic", "conjugate", "for_classes"):
                if name not in vars(cls):
                    setattr(cls, name, vars(Loss)[name])
        if "inverse_link" in vars(cls) and "exported_link" not in vars(cls):
            cls.exported_link = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *sorted(self.__dict__.items())))


class CompiledLoss(Loss):
    """A loss whose formulas are a scalar kernel, registered with `kernels.evaluate`."""

    def value(self, y: Vector, f: Vector) -> Vector:
        return kernels.evaluate_rows(self.terms, *_as_rows(y, f))[0]

    def residual(self, y: Vector, f: Vector) -> Vector:
        return kernels.evaluate_rows(self.terms, *_as_rows(y, f))[1]

    def curvature(self, y: Vector, f: Vector) -> Vector:
        return kernels.evaluate_rows(self.terms, *_as_rows(y, f))[2]

    def _derivatives(self, y: Vector, f: Vector) -> tuple[Vector, Vector]:
        _, residual, curvature = kernels.evaluate_rows(self.terms, *_as_rows(y, f))
        return residual, curvature


class BinaryLoss(CompiledLoss):
    """A loss for labels -1 and +1."""

    labels_are_classes = True

    def check_labels(self, y: Vector) -> None:
        wrong = y[(y != 1.0) & (y != -1.0)]
        if len(wrong):
            raise ValueError(
                f"{self!r} expects labels -1 and +1, got {wrong[0]:g}; "
                "encode the labels as -1/+1, or use RGBMClassifier, which does it."
            )


def _as_rows(y: Any, f: Any) -> tuple[Vector, Vector]:
    y, f = np.broadcast_arrays(y, f)
    return np.array(y, np.float64, order="C"), np.array(f, np.float64, order="C")


SYNONYMS = {"squared_error": "squared", "absolute_error": "absolute", "log_loss": "logistic"}
"""Names of scikit-learn, and ours."""


def check_loss(loss: str | Loss, named: Mapping[str, Callable[[], Loss]]) -> Loss:
    """A loss from its name or scikit-learn's, or the loss itself."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and SYNONYMS.get(loss, loss) in named:
        return named[SYNONYMS.get(loss, loss)]()
    names = ", ".join(repr(name) for name in named)
    raise ValueError(
        f"loss={loss!r} is not known; use {names} or an object of rgboost.losses.Loss."
    )
