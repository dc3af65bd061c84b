"""Edits by somebody who knows the format: they are refused in words, or can be stored."""

import numpy as np
import pytest

import rgboost
from rgboost.editing import apply_edits, checksum

from .models import classes, pairs, scores

GOOD = [
    {"do": "set", "term": ["a"], "value": 1.0, "bins": [0, 1], "class": 0},
    {"do": "flatten", "term": ["a", "b"], "bins": [[0, 1], [0, 1]]},
    {"do": "clip", "term": ["b"], "low": -1.0, "high": 1.0},
    {"do": "smooth", "term": ["b"], "width": 1},
    {"do": "monotone", "term": ["a", "b"], "direction": "increasing", "along": "a"},
    {"do": "drop", "term": ["a"]},
    {"do": "recentre", "term": ["a"]},
    {"do": "intercept", "value": 1.0},
    {"do": "refit", "what": "intercept", "keep": []},
    {"do": "add", "term": ["a", "d"], "cuts": [[0.0], [0.0]], "value": np.ones((3, 3)).tolist(),
     "weights": np.ones((3, 3)).tolist()},
]  # fmt: skip

HOSTILE = [
    None, True, -1, 0, 2, 10**400, 1.5, float("nan"), float("inf"), "", "a", "zz", [], [0], ["a"],
    ["a", "a"], [["a"]], [[]], [[0, 1]], [0, 10**9], ["x", 1], {}, {"a": 1}, [[[[1.0]]]], "1",
    [True, False], [None], "[3, 5]",
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(GOOD)), ids=[edit["do"] for edit in GOOD])
def test_any_value_of_any_key(k, tmp_path):
    good, (model, X, y) = GOOD[k], (pairs, classes)[k % 2]()
    own, refused, wrong = checksum(model), 0, 0
    for key in [*good, "reason", "class", "other"]:
        for value in HOSTILE:
            edit = {"reason": "why", **good, key: value}
            document = {"format": "rgboost-edits", "version": 1, "model": own, "edits": [edit]}
            try:
                edited = apply_edits(model, document, X, y)
            except (ValueError, TypeError) as error:
                refused += len(str(error)) > 15
                wrong += len(str(error)) <= 15
                continue
            edited.save(tmp_path / "edited.rgb")
            loaded = rgboost.load(tmp_path / "edited.rgb")
            assert np.isfinite(scores(loaded, X)).all()
            assert str(loaded.edits_)
            assert checksum(loaded) == checksum(edited)
    assert refused > 20
    assert not wrong
    assert checksum(model) == own
