"""scikit-learn estimators."""

from .classifier import RGBMClassifier
from .regressor import RGBMRegressor

__all__ = ["RGBMClassifier", "RGBMRegressor"]
