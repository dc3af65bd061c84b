"""Pictures of fitted models, in the manner of scikit-learn's displays, on matplotlib.

Every display has ``from_estimator``, which computes and draws, and ``plot``, which draws again on
the axes that it is given; afterwards ``figure_`` and ``ax_`` hold what was drawn on.
"""

from .comparison import ComparisonDisplay
from .importances import ImportanceDisplay
from .interactions import InteractionDisplay
from .learning_curve import LossCurveDisplay
from .shape_functions import ShapeFunctionDisplay
from .waterfall import WaterfallDisplay

__all__ = [
    "ComparisonDisplay",
    "ImportanceDisplay",
    "InteractionDisplay",
    "LossCurveDisplay",
    "ShapeFunctionDisplay",
    "WaterfallDisplay",
]
