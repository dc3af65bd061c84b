"""What is known of a Minimal Cosine Angle, and how it is found from singular values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._core.one_line import one_line
from .._validation import Floats
from ..distance import Factors
from ..norms import StructuredNorm
from .ascent import ascend
from .enumeration import enumerate_angle
from .spectral import lower_bound

ORTHOGONAL = 1e-9
"""Largest Frobenius norm of B'B - I that counts as orthonormal."""


@one_line
@dataclass(frozen=True, eq=False)
class MinimalCosineAngle:
    """An interval that holds Theta, and how each end was got.

    Attributes
    ----------
    lower, upper : float
        lower <= Theta <= upper, up to rounding.
    lower_method, upper_method : str
        The closed form, enumeration or bound that gave each end.
    witness : ndarray of shape (n,)
        A unit vector c in Range(B) with ||B'c||_F = upper (B with unit columns; with weights,
        inner products and lengths are weighted).

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import AllLearners
    >>> from rgboost.theory import minimal_cosine_angle
    >>> found = minimal_cosine_angle(np.eye(4), AllLearners())
    >>> found.exact
    True
    """

    lower: float
    upper: float
    lower_method: str
    upper_method: str
    witness: Floats

    @property
    def exact(self) -> bool:
        """Whether both ends agree to eight digits."""
        return bool(self.upper - self.lower <= 1e-8 * self.upper)


@dataclass(frozen=True, eq=False)
class Ends:
    """A lower bound, and a direction x (c = Ux) whose value is an upper bound."""

    lower: float
    lower_method: str
    upper_method: str
    x: Floats


def angle_of_factors(
    factors: Factors, norm: StructuredNorm, n_starts: int, rng: np.random.Generator
) -> Ends:
    """Theta by enumeration where it is affordable, else its bounds."""
    exact = enumerate_angle(factors, norm)
    if exact is not None:
        return Ends(exact.value, exact.method, exact.method, exact.x)
    bound = lower_bound(factors, norm)
    x = ascend(factors, norm, rng, n_starts)
    return Ends(bound.value, bound.method, "ascent", x)
