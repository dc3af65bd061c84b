"""scikit-learn estimators."""

from .classifier import RGBMClassifier
from .loading import from_json, load
from .regressor import RGBMRegressor

__all__ = ["RGBMClassifier", "RGBMRegressor", "from_json", "load"]
