"""The figures: which ones, how far their axes reach, and their colours."""

import pytest

from rgboost.experiments.figures import (
    colour_of,
    draw_figures,
    label_of,
    limits_of_test_loss,
    linear_ends,
    linear_limits,
)
from rgboost.experiments.summary import curves

from .studies import cell, falls_along, medium_is_best, study


def test_loss1_is_drawn_for_a9a_only(tmp_path):
    names = {path.name for path in draw_figures(medium_is_best(name="a9a"), tmp_path)}
    kinds = ("png", "svg")
    assert names == {f"{stem}-constant.{k}" for stem in ("a9a", "loss1") for k in kinds}
    assert all((tmp_path / name).stat().st_size > 10_000 for name in names)
    others = {path.name for path in draw_figures(medium_is_best(), tmp_path)}
    assert others == {f"embedded-constant.{k}" for k in kinds}


def test_a_t_has_one_colour_and_what_is_beyond_the_paper_is_black():
    made = medium_is_best()
    made["cells"].append(cell(30, 0, rate=0.01, cost=1e-9, test=falls_along, engine="gram"))
    series = curves(made)
    colours = [colour_of(made["grid"], one) for one in series]
    assert len(set(colours)) == len(colours) == 4
    assert colours[-1] == "#222222"
    labels = [label_of(made["grid"], one) for one in series]
    assert labels[:3] == ["t = 30 (GBM)", "t = 5", "t = 1"]
    assert labels[3].startswith("beyond the paper: gram")


def test_linear_axes_end_when_gbm_is_done():
    made = medium_is_best()
    ends = linear_ends(made["grid"], curves(made), "constant")
    assert ends["iterations"] == pytest.approx(921, rel=0.08)  # exp(-0.01 m) = 0.0001
    assert ends["seconds"] == pytest.approx(0.1, rel=1e-3)  # t = 1 ends before


def test_linear_axes_of_runs_that_stop_before():
    cells = [cell(t, 0, rate=0.001, cost=t * 1e-3, test=falls_along) for t in (30, 5, 1)]
    made = study(cells)
    ends = linear_ends(made["grid"], curves(made), "constant")
    assert (ends["iterations"], ends["seconds"]) == pytest.approx((1000, 1.0))


def test_limits_hold_the_medians():
    series = curves(medium_is_best())
    low, high = limits_of_test_loss(series)
    assert low < 0.3 < high
    low, high = linear_limits(series, "iterations", 900.0)
    inside = [
        v
        for one in series
        for x, v in zip(one["iterations"]["x"], one["iterations"]["test"], strict=True)
        if 18 <= x <= 900
    ]
    assert low < min(inside) <= max(inside) < high
