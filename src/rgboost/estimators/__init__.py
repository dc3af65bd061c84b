"""scikit-learn estimators."""

from .classifier import RGBMClassifier
from .load import load
from .regressor import RGBMRegressor

__all__ = ["RGBMClassifier", "RGBMRegressor", "load"]
