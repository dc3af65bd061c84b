"""The absolute error."""

from __future__ import annotations

from .quantile import PinballLoss, PinballTerms


class AbsoluteError(PinballLoss):
    """l(y, f) = |y - f|: its minimiser is a median.

    Not smooth; see `PinballLoss` for the steps that are allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.losses import AbsoluteError
    >>> AbsoluteError().best_constant(np.array([1.0, 2.0, 50.0]))
    2.0
    """

    terms = PinballTerms(1.0, 1.0)
