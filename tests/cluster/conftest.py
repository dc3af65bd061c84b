"""A cluster of two workers in this process, for the tests of a file. ``make cluster`` runs them."""

from pathlib import Path

import pytest
from dask.distributed import Client, LocalCluster

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.cluster)


def cluster_of(n_workers):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )


@pytest.fixture(scope="module")
def client():
    with cluster_of(2) as cluster, Client(cluster) as found:
        yield found
