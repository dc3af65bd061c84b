"""Estimators whose rows are on a Dask cluster."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..estimators import RGBMClassifier, RGBMRegressor
from .cluster import Cluster, find_client
from .partitions import is_collection
from .predictions import lazily, score
from .rows import partitioned_rows, refuse_early


def _with_client(local: Any) -> Callable[[Any], Any]:
    """Gives ``__init__`` the parameters of the local estimator, and ``client``."""
    theirs = inspect.signature(local.__init__)
    client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = [*theirs.parameters.values(), client]

    def signed(method: Any) -> Any:
        method.__signature__ = theirs.replace(parameters=parameters)
        return method

    return signed


class OnDask:
    """What both estimators do with Dask collections; with rows in memory they predict as the local
    estimators do."""

    client: Any
    _local: Any

    def to_local(self) -> Any:
        """The plain estimator, fitted if this one is: it needs no cluster."""
        local = self._local.__new__(self._local)
        vars(local).update({name: one for name, one in vars(self).items() if name != "client"})
        return local

    def _cluster(self) -> Cluster:
        return Cluster(find_client(self.client))

    def _training_rows(
        self: Any, X: Any, y: Any, sample_weight: Any, given: Any, resume: Any
    ) -> Any:
        refuse_early(self, y, given, resume)
        bare = clone(self.to_local().set_params(callbacks=None, verbose=0))
        rows = X, y, sample_weight, given.offset
        held = None
        if given.X_val is not None:
            held = given.X_val, given.y_val, given.sample_weight_val, given.offset_val
        labels, seed = self._labels_of_chunks(), self._seeds_of_fit()[1]
        return partitioned_rows(self, bare, self._cluster(), labels, seed, rows, held)

    def _predict(self, method: str, X: Any, offset: Any, **more: Any) -> Any:
        check_is_fitted(self)
        if not is_collection(X):
            return getattr(super(), method)(X, offset, **more)
        if more.get("return_std"):
            raise TypeError(
                "return_std=True needs the tables of bags, which are fitted to rows in memory: "
                "leave it out for a Dask collection."
            )
        return lazily(self.to_local(), method, X, offset)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> float:
        """As of the local estimator. Rows of Dask collections stay where they are."""
        check_is_fitted(self)
        if is_collection(X):
            return score(self.to_local(), self._cluster(), X, y, sample_weight, offset)
        return super().score(X, y, sample_weight, offset)  # type: ignore[misc]

    def _check_rows(self, X: Any) -> Any:
        if is_collection(X):
            raise TypeError(
                "X is a Dask collection, and this takes rows in memory: compute some of it first, "
                "X.partitions[0].compute() or X.blocks[0].compute()."
            )
        return super()._check_rows(X)  # type: ignore[misc]

    def save(self, path: Any, *, full: bool = False) -> None:
        """Store the fitted model as that of the local estimator, which `rgboost.load` gives."""
        check_is_fitted(self)
        self.to_local().save(path, full=full)

    def __getstate__(self) -> dict[str, Any]:
        """A pickle has no client: what it gives finds the default one."""
        state: Any = super().__getstate__()
        return {**state, "client": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self.client)] = self.client  # nobody copies a connection
        return super().__deepcopy__(memo)  # type: ignore[misc]

    def __sklearn_clone__(self) -> Self:
        local = clone(self.to_local())
        other = type(self)(client=self.client, **local.get_params(deep=False))  # type: ignore[call-arg]
        if hasattr(local, "_metadata_request"):
            other._metadata_request = local._metadata_request  # type: ignore[attr-defined]
        return other


_PARAMETERS = """\
    client : dask.distributed.Client, optional
        Where tasks are sent. Default: the client that was made last in this process. It is no part
        of a pickle, and nobody copies it.

    Other parameters, and what `fit` leaves in the estimator, are those of the local one. ``n_jobs``
    are threads of the client, which runs the iterations; a task on a worker has one."""

_FIT = """\
    `fit` takes Dask arrays or Dask data frames (X, y, sample_weight, offset, and the same of
    validation rows) that are partitioned alike; chunks of arrays are made alike. Partitions may
    have any number of rows, also none. `predict` of a Dask collection is a lazy one."""


class DaskRGBMRegressor(OnDask, RGBMRegressor):
    __doc__ = f"""`rgboost.RGBMRegressor` for rows on a Dask cluster.

{_FIT}

    Parameters
    ----------
{_PARAMETERS}

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from rgboost.dask import DaskRGBMRegressor
    >>> X = da.random.default_rng(0).normal(size=(4000, 3), chunks=(1000, 3))
    >>> y = X[:, 0] + X[:, 1] ** 2
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskRGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    ...     bool(model.score(X, y) > 0.8)
    True
    >>> model.to_local().predict(X[:5].compute()).shape
    (5,)
    """
    _local = RGBMRegressor

    @_with_client(RGBMRegressor)
    def __init__(self, *, client: Any = None, **parameters: Any) -> None:
        _refuse_device(parameters)
        super().__init__(**parameters)
        self.client = client

    def predict(self, X: Any, offset: Any = None, return_std: bool = False) -> Any:
        """Predictions; for a Dask collection, a lazy one. That of an array is an array; that of a
        data frame is a column with its index."""
        return self._predict("predict", X, offset, return_std=return_std)


class DaskRGBMClassifier(OnDask, RGBMClassifier):
    __doc__ = f"""`rgboost.RGBMClassifier` for rows on a Dask cluster.

{_FIT} Probabilities for a data frame are a frame with a column
    for each class.

    Parameters
    ----------
{_PARAMETERS}

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from rgboost.dask import DaskRGBMClassifier
    >>> X = da.random.default_rng(0).normal(size=(4000, 3), chunks=(1000, 3))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskRGBMClassifier(max_iter=50, random_state=0).fit(X, y)
    ...     model.predict_proba(X).compute().shape
    (4000, 2)
    """
    _local = RGBMClassifier

    @_with_client(RGBMClassifier)
    def __init__(self, *, client: Any = None, **parameters: Any) -> None:
        _refuse_device(parameters)
        super().__init__(**parameters)
        self.client = client

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Labels; for a Dask collection, a lazy one. That of an array is an array; that of a data
        frame is a column with its index."""
        return self._predict("predict", X, offset)

    def predict_proba(self, X: Any, offset: Any = None, return_std: bool = False) -> Any:
        """Probabilities of the classes; for a Dask collection, a lazy one."""
        return self._predict("predict_proba", X, offset, return_std=return_std)

    def decision_function(self, X: Any, offset: Any = None) -> Any:
        """The additive score of every row; for a Dask collection, a lazy one."""
        return self._predict("decision_function", X, offset)


def _refuse_device(parameters: dict[str, Any]) -> None:
    if parameters.get("device", "cpu") != "cpu":
        raise TypeError(
            f"device={parameters['device']!r} is not for rows on a cluster: workers keep bins in "
            "their memory, and a task runs on one thread of a processor; leave it out."
        )
