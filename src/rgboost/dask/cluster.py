"""Tasks on a cluster: how they are named, sent, added up and waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from itertools import count
from typing import Any
from uuid import uuid4

from dask.delayed import Delayed, delayed
from distributed import Client, Future, get_client

from ..statistics.pieces import TOGETHER
from .partitions import configured

LARGE_GRAPH = "1 GiB"
"""Dask warns of graphs beyond. Models of all runs are sent once, and may have some megabytes."""


def find_client(given: Any) -> Client:
    """The client that was given, or the default one."""
    if given is not None:
        if not isinstance(given, Client):
            raise TypeError(
                f"client={given!r} is no dask.distributed.Client; give one, or None for the "
                "default client."
            )
        return given
    try:
        return get_client()
    except ValueError as fault:
        raise ValueError(
            "there is no Dask client; make one before (Client(address), or Client() for the cores "
            "of this machine), or give client=."
        ) from fault


class Tasks:
    """Makes tasks. Their keys begin with what they do: ``rgboost-gram-...``."""

    def __init__(self) -> None:
        self._token = uuid4().hex
        self._numbers = count()

    def task(
        self, what: str, function: Callable[..., Any], *args: Any, **constants: Any
    ) -> Delayed:
        """A task, not yet sent. ``args`` are partitions, other tasks and futures."""
        key = f"rgboost-{what}-{self._token}-{next(self._numbers)}"
        # Dask would look for tasks in constants.
        call = partial(function, **constants) if constants else function
        return delayed(call, pure=False, traverse=False)(*args, dask_key_name=key)

    def value(self, what: str, value: Any) -> Delayed:
        """A constant that many tasks are given, sent once; a worker that is lost does not take it
        along."""
        return self.task(what, itself, value=value)

    def tree(self, what: str, merge: Callable[..., Any], parts: Sequence[Delayed]) -> Delayed:
        """Parts merged in their order, so many at a time (`rgboost.statistics.pieces`)."""
        while True:
            groups = [parts[k : k + TOGETHER] for k in range(0, len(parts), TOGETHER)]
            parts = [self.task(what, merge, *group) for group in groups]
            if len(parts) == 1:
                return parts[0]


class Cluster(Tasks):
    """Sends the tasks of one fit, and waits for them."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.client = client
        self.passes = 0
        """How often something was asked of all rows in bins."""
        self.received = 0
        """Bytes that came of it."""

    def start(self, tasks: Sequence[Delayed]) -> list[Future]:
        """Send tasks whose results stay on the workers for as long as somebody has the futures."""
        with configured("distributed.admin.large-graph-warning-threshold", LARGE_GRAPH):
            return list(self.client.compute(list(tasks)))

    def results(self, futures: Sequence[Future]) -> list[Any]:
        """What came of tasks. If one fails, or at Ctrl-C, the others are cancelled."""
        try:
            return list(self.client.gather(list(futures)))
        except BaseException as fault:
            self.cancel(futures)
            if isinstance(fault, CancelledError):
                raise RuntimeError(
                    "the cluster has lost rows that it cannot compute again: they were put on a "
                    "worker that is gone (scatter), or their futures were cancelled, or the "
                    "connection to the scheduler ended. Let tasks read or make the rows "
                    "(dask.dataframe.read_parquet, dask.array.from_delayed): "
                    f"those of a lost worker are run again. ({str(fault).strip()})"
                ) from fault
            raise

    def answer(self, futures: Sequence[Future]) -> Any:
        """The sums that one task came to; they are counted."""
        (found,) = self.results(futures)
        self.received += sum(part.nbytes for part in found)
        return found

    def cancel(self, futures: Sequence[Future]) -> None:
        """Tasks that are not done are given up, and results forgotten."""
        if self.client.status == "running":
            self.client.cancel(list(futures), force=False)


def itself(*, value: Any) -> Any:
    """What a task for a constant runs."""
    return value
