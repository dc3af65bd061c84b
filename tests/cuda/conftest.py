"""Tests of cards. `make cuda` runs them where Numba plays a card on the processor, on tiny data;
`make test-gpu` on a real one. The rest of the suite never sees that."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_ignore_collect(config):
    """They are not even imported by a run without the marker: that would look for a card."""
    return True if config.option.markexpr.strip() != "cuda" else None


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.cuda)
