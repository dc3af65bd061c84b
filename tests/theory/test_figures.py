import subprocess
import sys
from math import cos, pi, sin, sqrt

import numpy as np
import pytest

from rgboost.theory import (
    beta_limit,
    draw_limit,
    draw_spread,
    draw_theta,
    figure_limit,
    figure_spread,
    figure_theta,
    selection_probability,
)


def test_limit_numbers():
    figure = figure_limit(t=10, K=(12, 40, 4_000))
    for K, (q, value) in figure.profiles.items():
        np.testing.assert_allclose(q, np.arange(1, K + 1) / K)
        np.testing.assert_allclose(value, K * selection_probability(K, 10))
        assert value.mean() == pytest.approx(1.0, rel=1e-12)
        # The largest difference is the first one.
        assert figure.largest_error[K] == pytest.approx(10 - 10 * (1 - 1 / K) ** 9, rel=1e-12)
    np.testing.assert_allclose(figure.density, beta_limit(figure.q, 10))
    assert np.trapezoid(figure.density, figure.q) == pytest.approx(1.0, abs=1e-3)
    assert figure.largest_error[40] == pytest.approx(2.0376, abs=1e-4)
    assert figure.largest_error[4_000] < 0.0226


def test_theta_numbers():
    figure = figure_theta(t=(5, 50), p=np.unique(np.geomspace(1, 1e5, 40).astype(int)))
    for t, (p, theta, closed) in figure.curves.items():
        assert p[0] >= t
        expected = np.where(p <= t**2, 1 / np.sqrt(p), t / p)
        np.testing.assert_allclose(theta, expected, rtol=1e-12)
        np.testing.assert_allclose(closed, expected, rtol=1e-12)


def test_theta_defaults_have_the_bends():
    figure = figure_theta()
    assert list(figure.curves) == [5, 50, 500]
    for t, (p, theta, _) in figure.curves.items():
        bend = np.flatnonzero(p == t**2)
        assert theta[bend] == pytest.approx(1 / t, rel=1e-12)
        slopes = np.diff(np.log(theta)) / np.diff(np.log(p))
        np.testing.assert_allclose(slopes[: bend[0]], -0.5, rtol=1e-6)
        np.testing.assert_allclose(slopes[bend[0] :], -1.0, rtol=1e-6)


def test_spread_numbers():
    poor, moderate, dense = figure_spread()
    assert poor.theta == pytest.approx(sin(pi / 60), rel=1e-10)
    assert moderate.theta == pytest.approx(1 / sqrt(2), rel=1e-12)
    assert dense.theta == pytest.approx(cos(pi / 12), rel=1e-12)
    assert poor.theta**2 < 0.003
    assert dense.theta**2 == pytest.approx(0.933, abs=5e-4)
    for panel in (poor, moderate, dense):
        assert np.abs(panel.B.T @ panel.witness).max() == pytest.approx(panel.theta, rel=1e-12)


SMALL = {
    draw_limit: lambda: figure_limit(3, (5, 9)),
    draw_theta: lambda: figure_theta((2, 3), range(1, 30)),
    draw_spread: figure_spread,
}


@pytest.mark.parametrize("draw", SMALL, ids=lambda f: f.__name__)
def test_drawings_are_written_and_reproducible(draw, tmp_path):
    pytest.importorskip("matplotlib")
    png, svg = draw(tmp_path / "folder" / "name.v1", SMALL[draw]())
    assert png == tmp_path / "folder" / "name.v1.png"
    assert svg == tmp_path / "folder" / "name.v1.svg"
    assert png.read_bytes().startswith(b"\x89PNG")
    assert png.stat().st_size > 5_000
    assert "</svg>" in svg.read_text()
    other_png, other_svg = draw(tmp_path / "again", SMALL[draw]())
    assert other_svg.read_bytes() == svg.read_bytes()
    assert other_png.read_bytes() == png.read_bytes()


def test_numbers_do_not_need_matplotlib():
    code = (
        "import sys; import rgboost.theory as t; t.figure_spread(); t.figure_limit();"
        "assert not any(name.startswith('matplotlib') for name in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_matplotlib_is_explained(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"needs matplotlib.*rgboost\[plot\]"):
        draw_spread(tmp_path / "x")


def test_impossible_arguments_are_named():
    with pytest.raises(ValueError, match="t=20 is impossible; pass a subset size from 1 to K=12"):
        figure_limit(20, (12,))
    with pytest.raises(ValueError, match="t=0 is impossible"):
        figure_theta((0,))
