"""Stored models, and models from JSON documents."""

from __future__ import annotations

import os
from typing import Any

from .._core.validation import check_count
from ..export import read_document
from ..storage import MOST_BYTES, read_model
from .classifier import RGBMClassifier
from .regressor import RGBMRegressor


def load(path: str | os.PathLike[str], *, max_bytes: int = MOST_BYTES) -> Any:
    """Load a model that was stored by ``estimator.save(path)``.

    Files from anywhere may be given: loading runs no code from them, and a file that is cut off,
    damaged, too large, of another version or made up raises `rgboost.storage.StorageError`
    before memory is taken for its content.

    Parameters
    ----------
    path : str or path-like
    max_bytes : int
        Size of the largest file that is accepted, by default 4 GiB.

    Returns
    -------
    RGBMRegressor or RGBMClassifier, fitted.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> import rgboost
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = rgboost.RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "diabetes.safetensors")
    ...     model.save(path)
    ...     same = rgboost.load(path)
    >>> bool((same.predict(X) == model.predict(X)).all())
    True
    """
    check_count(max_bytes, "max_bytes", at_least=1)
    return read_model(path, (RGBMRegressor, RGBMClassifier), max_bytes)


def from_json(text: str | bytes) -> Any:
    """The model in a JSON document that ``estimator.to_json()`` gave.

    It predicts and explains the same bits. Parameters have their defaults, except the loss; plan,
    bands, edits and stages are not in the document: `load` has them. As `load` does, it takes
    documents from anywhere: no code of theirs is run, and one that is damaged or made up raises
    `rgboost.export.ExportError`.

    Parameters
    ----------
    text : str or bytes

    Returns
    -------
    RGBMRegressor or RGBMClassifier, fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import rgboost
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = rgboost.RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> same = rgboost.from_json(model.to_json())
    >>> bool((same.predict(X) == model.predict(X)).all())
    True
    """
    return read_document(text, (RGBMRegressor, RGBMClassifier))
