"""Fits of rows that are partitions of Dask collections, on the workers that have them."""

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError("rgboost.dask needs dask.distributed: pip install 'rgboost[dask]'") from error

from .estimators import DaskRGBMClassifier, DaskRGBMRegressor

__all__ = ["DaskRGBMClassifier", "DaskRGBMRegressor"]
