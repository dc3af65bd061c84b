"""A model as one HTML file that needs nothing else, neither files nor a network."""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .data import page_data
from .write import write_html

__all__ = ["page_data", "write_page"]


def write_page(estimator: Any, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write a page about a fitted model: importances, learning curve, shape functions, pairs.

    The page is one file: it works offline and loads nothing. Terms can be searched; pictures
    are drawn when they come into view, so that models of thousands of features open at once.

    Parameters
    ----------
    estimator : a fitted `RGBMRegressor` or `RGBMClassifier` with stumps.
    path : where to write; a file that is there is replaced.
    title : heading of the page; by default the name of the estimator.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.explain.page import write_page
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(model, os.path.join(folder, "model.html"), title="Diabetes")
    """
    check_is_fitted(estimator)
    head = type(estimator).__name__ if title is None else title
    write_html(path, head, page_data(estimator))
