"""Fits give what is written down in ``paths.json``, whatever computes them and however many threads
there are."""

import json

import numpy as np
import pytest

from .make_paths import FILE, GROUPS, found

KEPT = json.loads(FILE.read_text())
SAME, CLOSE, WORSE = 1e-10, 1e-6, 1.005


@pytest.mark.parametrize("group", GROUPS)
def test_all_cases_are_written_down(group):
    assert list(KEPT[group]) == list(GROUPS[group][0])


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", KEPT["paths"])
def test_path(name, n_jobs):
    kept, path = KEPT["paths"][name], found("paths", name, n_jobs)
    assert list(path) == list(kept)
    for part, values in path.items():
        slack = dict(rtol=SAME, atol=0.0)
        if part == "scores":  # an inner product, which may be small, and the norm
            slack = dict(rtol=0.0, atol=SAME * kept[part][1])
        np.testing.assert_allclose(values, kept[part], **slack, err_msg=part)


@pytest.mark.parametrize("name", KEPT["quadratic"])
def test_final_loss(name):
    loss = found("quadratic", name, 2)["loss"]
    assert loss == pytest.approx(KEPT["quadratic"][name]["loss"], rel=CLOSE, abs=0.0)


@pytest.mark.parametrize("name", KEPT["defaults"])
def test_defaults_are_not_worse(name):
    assert found("defaults", name, 2)["loss"] <= WORSE * KEPT["defaults"][name]["loss"]
