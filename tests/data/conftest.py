"""Settings of the tests of data."""

import pytest


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    """Servers of the tests are on this machine, whatever proxy the user has."""
    monkeypatch.setenv("no_proxy", "*")
