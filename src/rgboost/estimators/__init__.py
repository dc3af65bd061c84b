"""scikit-learn estimators."""

from .classifier import RGBMClassifier
from .loading import load
from .regressor import RGBMRegressor

__all__ = ["RGBMClassifier", "RGBMRegressor", "load"]
