"""Losses l(y, f): value, residual, curvature, smoothness, strong convexity, link.

All share one scale, stated by the formula in each docstring.

====================  ==============  ====================  ======================================
loss                  sigma           mu                    steps
====================  ==============  ====================  ======================================
`Squared`             1               1                     all
`Huber`               1               0                     constant, line search, leaf search
`LogCosh`             1               0                     constant, line search, leaf search
`Logistic`            1/4 + ridge     ridge                 all
`Softmax`             1/2 + ridge     ridge                 constant, Newton
`Exponential`         e^b             e^-b                  line search, leaf search, Newton
`Poisson`             e^b             e^a                   line search, leaf search, Newton
`Gamma`               v e^-a          u e^-b                line search, leaf search, Newton
`Tweedie`             convexity_on    convexity_on          line search, leaf search, Newton
`Quantile`            none            0                     line search, leaf search
`AbsoluteError`       none            0                     line search, leaf search
====================  ==============  ====================  ======================================

Constants that contain a, b, u, v hold for scores in [a, b] (for `Exponential` in [-b, b]) and
labels in [u, v]; see `Loss.convexity_on`. A constant step with a rho of one's own works with all.
"""

from .absolute import AbsoluteError
from .base import Link, Loss
from .exponential import Exponential
from .gamma import Gamma
from .huber import Huber
from .log_cosh import LogCosh
from .logistic import Logistic
from .poisson import Poisson
from .quantile import Quantile
from .ridged import Ridged
from .softmax import Softmax
from .squared import Squared
from .tweedie import Tweedie

__all__ = [
    "AbsoluteError",
    "Exponential",
    "Gamma",
    "Huber",
    "Link",
    "LogCosh",
    "Logistic",
    "Loss",
    "Poisson",
    "Quantile",
    "Ridged",
    "Softmax",
    "Squared",
    "Tweedie",
]
