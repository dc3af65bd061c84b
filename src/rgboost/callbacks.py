"""Callbacks for `fit` and `boost`: what to do while a model is being fitted.

A callback is called between blocks of iterations (about every 50 milliseconds) with a `Progress`.
A function of your own will do; if it returns True, the fit stops there and keeps what it has.

>>> from sklearn.datasets import load_diabetes
>>> from rgboost import RGBMRegressor
>>> X, y = load_diabetes(return_X_y=True)
>>> def good_enough(progress):
...     return progress.train_loss < 1500
>>> model = RGBMRegressor(max_iter=10_000, callbacks=[good_enough]).fit(X, y)
>>> bool(model.trace_.train_loss[-1] < 1500)
True
"""

from .training.callbacks import Callback, LogProgress, ProgressBar, TimeLimit
from .training.checkpoint import Checkpoint
from .training.stopping import EarlyStopping
from .training.trace import Progress

__all__ = [
    "Callback",
    "Checkpoint",
    "EarlyStopping",
    "LogProgress",
    "Progress",
    "ProgressBar",
    "TimeLimit",
]
