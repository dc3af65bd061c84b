"""Curves and the table of times, on runs whose numbers are known."""

import numpy as np
import pytest

from rgboost.experiments.summary import curves, engine_check, table, time_text

from .studies import cell, falls_along, medium_is_best, study


def row_of(rows, t, engine="direct"):
    return next(r for r in rows if r["t"] == t and r["engine"] == engine)


def test_table():
    rows = table(medium_is_best())
    whole, medium, one = (row_of(rows, t) for t in (30, 5, 1))
    assert whole["iterations"] == [231, 461, 691]
    assert whole["epochs"] == pytest.approx([231, 461, 691])
    assert whole["seconds"] == pytest.approx([0.231 * 1.1, 0.461 * 1.1, 0.691 * 1.1])
    assert medium["epochs"] == pytest.approx([256 / 6, 512 / 6, 768 / 6])
    assert medium["best"] == medium["best_epochs"] == [True, True, True]
    assert medium["gain"] == pytest.approx([w / m for w, m in zip((231, 461, 691), (51.2, 102.4, 153.6), strict=True)])  # fmt: skip  # noqa: E501
    assert one["seconds"] == [None, None, None]
    assert one["gain"] == [None, None, None]
    assert not any(one["best"])


def test_a_gap_that_few_seeds_reach_has_no_time():
    slow = [cell(30, s, rate=0.001, cost=1.0, test=falls_along) for s in range(2)]
    fast = [cell(30, 2, rate=0.1, cost=1.0, test=falls_along)]
    assert table(study(slow + fast, grid=[30]))[0]["seconds"] == [None, None, None]
    fast += [cell(30, 3, rate=0.1, cost=1.0, test=falls_along)]
    fast += [cell(30, 4, rate=0.1, cost=1.0, test=falls_along)]
    assert table(study(slow + fast, grid=[30]))[0]["iterations"] == [24, 47, 70]


def test_an_engine_beyond_the_paper_is_not_the_best_t():
    made = medium_is_best()
    made["cells"].append(cell(30, 0, rate=0.01, cost=1e-9, test=falls_along, engine="gram"))
    rows = table(made)
    gram = row_of(rows, 30, "gram")
    assert gram["best"] == [False] * 3
    assert min(gram["gain"]) > 1e5
    assert row_of(rows, 5)["best"] == [True] * 3


def test_curves_have_a_band_around_the_median():
    made = medium_is_best()
    for c in made["cells"]:
        c["test_loss"] = [v + c["seed"] for v in c["test_loss"]]
    for one in curves(made):
        for axis in ("iterations", "epochs"):  # in seconds the seeds are at different iterations
            curve = one[axis]
            assert (np.diff(curve["x"]) > 0).all()
            median, low, high = (np.array(curve[k]) for k in ("test", "test_low", "test_high"))
            assert median - low == pytest.approx(np.ones(len(low)), abs=1e-5)  # 6 digits are kept
            assert high - median == pytest.approx(np.ones(len(low)), abs=1e-5)
        x = np.array(one["iterations"]["x"])
        rate = {30: 0.01, 5: 0.009, 1: 0.001}[one["t"]]
        gap = np.log(one["iterations"]["gap"])
        assert gap == pytest.approx(-rate * x, abs=1e-4)


def test_engine_check():
    made = medium_is_best()
    assert engine_check(made) is None
    twin = cell(30, 0, rate=0.01, cost=1e-9, test=falls_along, engine="gram", n_iter=100)
    twin["train_loss"][3] += 1e-7
    made["cells"].append(twin)
    check = engine_check(made)
    assert check["largest"] == pytest.approx(1e-7, rel=1e-6)
    assert 1 < check["iterations"] <= 100


def test_time_text():
    assert [time_text(s) for s in (None, 0.0123456, 2.3456)] == ["–", "12.3 ms", "2.35 s"]
