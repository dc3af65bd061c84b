"""How sure a curve is: how far the runs of a mean, or bags, are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

LEVEL = 0.9
"""Of intervals, unless another one is asked for."""


class Band(NamedTuple):
    """``low`` and ``high`` ends for every value of a function; of a curve the value for missing
    values comes last. ``text`` says what they are.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(interactions=0, random_state=0).fit(X, y)
    >>> band = model.explain_global()["bmi"].band
    >>> band.text, bool((band.low <= band.high).all())
    ('one standard deviation over 5 runs (no interval)', True)
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    text: str


@dataclass(frozen=True)
class Deviation:
    """Standard deviations of the values of a function over ``n`` runs or bags; of a curve that of
    its value for missing values comes last.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(interactions=0, random_state=0).fit(X, y)
    >>> deviation = model.explain_global()["bmi"].deviation
    >>> deviation.of, deviation.n
    ('runs', 5)
    """

    of: Literal["runs", "bags"]
    n: int
    values: Any

    def band(self, values: Any, level: float | None = None) -> Band:
        """Ends around some values: one standard deviation of runs, an interval of bags.

        Parameters
        ----------
        values
            Of the function; of a curve that for missing values last.
        level
            Of the interval, 0.9 by default; bags alone have one.

        Returns
        -------
        Band
            ``low``, ``high`` and ``text``.

        Examples
        --------
        >>> from rgboost.explain import Deviation
        >>> Deviation("runs", 5, [0.5, 1.0]).band([10.0, 20.0]).low.tolist()
        [9.5, 19.0]
        """
        if self.of == "runs":
            if level is not None:
                raise ValueError(
                    "the runs of a mean share most of their rows, and make no intervals; fit with "
                    "bags=20, say."
                )
            times, text = 1.0, f"one standard deviation over {self.n} runs (no interval)"
        else:
            level = LEVEL if level is None else level
            if not 0.0 < level < 1.0:
                raise ValueError(f"level={level} must be between 0 and 1.")
            times = float(stdtrit(self.n - 1, 0.5 + level / 2.0))
            text = f"{100 * level:g} % interval (nominal) from {self.n} bags"
        with np.errstate(over="ignore"):  # around the largest numbers
            off = times * np.asarray(self.values, np.float64)
            return Band(values - off, values + off, text)
