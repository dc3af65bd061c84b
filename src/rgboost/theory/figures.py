"""The paper's Figures limit, Theta and spread: their numbers, and drawings of them.

``figure_*`` compute the numbers, ``draw_*`` draw them as PNG and SVG. Only the drawings need
matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._core.one_line import one_line
from .._core.validation import check_count
from ..plot.style import save, tidy
from ..selection import AllLearners
from ._validation import Floats
from .angle.closed_forms import orthogonal_angle, random_learners_angle
from .angle.cosine import minimal_cosine_angle
from .norms import ordered_l1_norm
from .procedure import Indices, beta_limit, selection_probability

# Okabe and Ito's colours, told apart with any colour vision.
BLUE, VERMILLION, GREEN, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9"
COLOURS = (ORANGE, GREEN, BLUE, VERMILLION, "#CC79A7", SKY)
MARKERS = ("o", "s", "^", "D", "v", "P")
INK = "#333333"


@one_line
@dataclass(frozen=True, eq=False)
class LimitFigure:
    """K gamma_t^K(j) at q = j/K for several K, and the density of Beta(1, t).

    ``largest_error[K]`` is the largest difference between the two over j = 1, ..., K.
    """

    t: int
    profiles: dict[int, tuple[Floats, Floats]]
    q: Floats
    density: Floats
    largest_error: dict[int, float]


def figure_limit(t: int = 10, K: Sequence[int] = (12, 20, 40)) -> LimitFigure:
    """The numbers of Figure limit: the chosen quantile's distribution and its Beta(1, t) limit.

    Parameters
    ----------
    t : int
        The size of the subset.
    K : sequence of int
        Numbers of coordinates.

    Examples
    --------
    >>> from rgboost.theory import figure_limit
    >>> numbers = figure_limit(t=10, K=(12, 40))
    >>> sorted(numbers.profiles)
    [12, 40]
    """
    profiles, error = {}, {}
    for size in K:
        gamma = selection_probability(size, t)
        q = np.arange(1, size + 1) / size
        profiles[size] = (q, size * gamma)
        error[size] = float(np.abs(size * gamma - beta_limit(q, t)).max())
    grid = np.linspace(0.0, 1.0, 401)
    return LimitFigure(t, profiles, grid, beta_limit(grid, t), error)


@one_line
@dataclass(frozen=True, eq=False)
class ThetaFigure:
    """Theta_S of p orthogonal weak-learners for several t: formula and closed form.

    ``curves[t]`` is (p, Theta by the formula of Example 2, min(t/p, 1/sqrt(p))), for p >= t.
    """

    curves: dict[int, tuple[Indices, Floats, Floats]]


def figure_theta(
    t: Sequence[int] = (5, 50, 500), p: Sequence[int] | Indices | None = None
) -> ThetaFigure:
    """The numbers of Figure Theta: how Theta_S falls with the dimension p.

    By default p runs over about 60 values from 1 to 1e6, evenly on a logarithmic scale, with the
    bends p = t^2 among them.

    Parameters
    ----------
    t : sequence of int
        Sizes of the subset.
    p : sequence of int, optional
        Numbers of weak-learners.

    Examples
    --------
    >>> from rgboost.theory import figure_theta
    >>> p, angle, closed_form = figure_theta(t=(5,), p=(5, 25, 100)).curves[5]
    >>> angle.round(3)
    array([0.447, 0.2  , 0.05 ])
    """
    if p is None:
        p = np.unique(np.rint(np.geomspace(1, 1e6, 61)).astype(np.int64))
        p = np.union1d(p, [size**2 for size in t if size**2 <= p[-1]])
    curves = {}
    for size in t:
        check_count(size, "t", at_least=1, remedy="pass subset sizes of at least 1")
        own = np.array([int(value) for value in p if value >= size], dtype=np.int64)
        by_formula = [
            orthogonal_angle(ordered_l1_norm(selection_probability(int(value), size)))
            for value in own
        ]
        closed = [random_learners_angle(int(value), size) for value in own]
        curves[size] = (own, np.array(by_formula), np.array(closed))
    return ThetaFigure(curves)


@one_line
@dataclass(frozen=True, eq=False)
class SpreadPanel:
    """Weak-learners in the plane (one column each), Theta under Type 0 and a worst direction."""

    title: str
    B: Floats
    theta: float
    witness: Floats


def figure_spread() -> tuple[SpreadPanel, SpreadPanel, SpreadPanel]:
    """The numbers of Figure spread: Theta^2 of nearly 0, of 1/2 and of about 0.933.

    Poorly spread: four directions within 6 degrees. Moderately: an orthogonal pair. Densely: six
    directions 30 degrees apart, so that none is farther than 15 degrees from one of them and
    Theta^2 = cos(15 degrees)^2.

    Examples
    --------
    >>> from rgboost.theory import figure_spread
    >>> [round(panel.theta**2, 3) for panel in figure_spread()]
    [0.003, 0.5, 0.933]
    """
    poor = _panel("Poorly spread", [42.0, 44.0, 46.0, 48.0])
    moderate = _panel("Moderately spread", [0.0, 90.0])
    dense = _panel("Densely spread", [0.0, 30.0, 60.0, 90.0, 120.0, 150.0])
    return poor, moderate, dense


def _panel(title: str, degrees: Sequence[float]) -> SpreadPanel:
    angle = np.deg2rad(degrees)
    B = np.vstack([np.cos(angle), np.sin(angle)])
    result = minimal_cosine_angle(B, AllLearners())
    return SpreadPanel(title, B, result.upper, result.witness)


def draw_limit(
    path_stem: str | PathLike[str], figure: LimitFigure | None = None
) -> tuple[Path, Path]:
    """Draw Figure limit into ``path_stem``.png and .svg; return both paths.

    Parameters
    ----------
    path_stem : str or path-like
        Where to, without an ending.
    figure : LimitFigure, optional
        The numbers, by default those of `figure_limit`.

    Returns
    -------
    Both paths.

    Examples
    --------
    >>> import os, tempfile
    >>> from rgboost.theory import draw_limit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     png, svg = draw_limit(os.path.join(folder, "figure"))
    >>> png.name, svg.name
    ('figure.png', 'figure.svg')
    """
    numbers = figure_limit() if figure is None else figure
    canvas = _canvas(6.4, 4.2)
    axes = canvas.add_subplot()
    for i, (K, (q, value)) in enumerate(numbers.profiles.items()):
        style = _style(i)
        axes.plot(q, value, markersize=4.5, linewidth=1.2, label=f"$K={K}$", clip_on=False, **style)
    label = rf"Beta$(1,{numbers.t})$ density"
    axes.plot(numbers.q, numbers.density, color="black", linewidth=1.8, label=label)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel(r"quantile $q=j/K$ of the chosen coordinate")
    axes.set_ylabel(r"$K\,\gamma_t^K(j)$")
    axes.set_title(f"Random-then-greedy choice, $t={numbers.t}$")
    axes.legend(frameon=False)
    return _save(canvas, path_stem)


def draw_theta(
    path_stem: str | PathLike[str], figure: ThetaFigure | None = None
) -> tuple[Path, Path]:
    """Draw Figure Theta into ``path_stem``.png and .svg; return both paths.

    Parameters
    ----------
    path_stem : str or path-like
        Where to, without an ending.
    figure : ThetaFigure, optional
        The numbers, by default those of `figure_theta`.

    Returns
    -------
    Both paths.

    Examples
    --------
    >>> import os, tempfile
    >>> from rgboost.theory import draw_theta
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     png, svg = draw_theta(os.path.join(folder, "figure"))
    >>> png.name, svg.name
    ('figure.png', 'figure.svg')
    """
    numbers = figure_theta() if figure is None else figure
    canvas = _canvas(6.4, 4.6)
    axes = canvas.add_subplot()
    for i, (t, (p, theta, _)) in enumerate(numbers.curves.items()):
        style = _style(i)
        axes.plot(p, theta, markersize=3.5, linewidth=1.4, label=f"$t={t}$", **style)
        if p[0] <= t**2 <= p[-1]:
            axes.axvline(t**2, color=style["color"], linestyle=":", linewidth=1.2)
            axes.annotate(
                "$p=t^2$", (t**2, 0.985), xycoords=("data", "axes fraction"), xytext=(3, 0),
                textcoords="offset points", color=INK, fontsize=9, va="top",
            )  # fmt: skip
    everything = np.unique(np.concatenate([p for p, _, _ in numbers.curves.values()]))
    root = 1.0 / np.sqrt(everything)
    axes.plot(everything, root, color="black", linestyle="--", linewidth=1.0, label=r"$1/\sqrt{p}$")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("number of orthogonal weak-learners $p$")
    axes.set_ylabel(r"$\Theta_{\mathcal{S}}$")
    axes.set_title(r"Minimal Cosine Angle: $\min(t/p,\ 1/\sqrt{p})$")
    axes.legend(loc="lower left", framealpha=1.0, edgecolor="none")
    return _save(canvas, path_stem)


def draw_spread(
    path_stem: str | PathLike[str], panels: Sequence[SpreadPanel] | None = None
) -> tuple[Path, Path]:
    """Draw Figure spread into ``path_stem``.png and .svg; return both paths.

    Parameters
    ----------
    path_stem : str or path-like
        Where to, without an ending.
    panels : sequence of SpreadPanel, optional
        The numbers, by default those of `figure_spread`.

    Returns
    -------
    Both paths.

    Examples
    --------
    >>> import os, tempfile
    >>> from rgboost.theory import draw_spread
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     png, svg = draw_spread(os.path.join(folder, "figure"))
    >>> png.name, svg.name
    ('figure.png', 'figure.svg')
    """
    chosen = figure_spread() if panels is None else panels
    canvas = _canvas(3.1 * len(chosen), 4.1)
    grid = canvas.subplots(1, len(chosen), squeeze=False)
    for axes, panel, letter in zip(grid[0], chosen, "abcdefgh", strict=False):
        _draw_panel(axes, panel, letter)
    handles, labels = canvas.axes[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return _save(canvas, path_stem)


def _draw_panel(axes: Any, panel: SpreadPanel, letter: str) -> None:
    circle = np.linspace(0.0, 2.0 * np.pi, 361)
    axes.plot(np.cos(circle), np.sin(circle), color="#BBBBBB", linewidth=1.0)
    arrow = {"arrowstyle": "-|>", "shrinkA": 0.0, "shrinkB": 0.0, "mutation_scale": 12}
    for column in panel.B.T:
        axes.plot([0.0, -column[0]], [0.0, -column[1]], color=SKY, linewidth=1.0)
        style = arrow | {"color": BLUE, "linewidth": 1.8}
        axes.annotate("", xy=column, xytext=(0.0, 0.0), arrowprops=style)
    axes.plot([], [], color=BLUE, linewidth=1.8, label="weak-learners")
    axes.plot([], [], color=SKY, linewidth=1.0, label="their negatives")
    ends = np.vstack([-panel.witness, panel.witness])
    axes.plot(*ends.T, color=VERMILLION, linestyle="--", linewidth=1.6, label="worst direction $c$")
    axes.set_aspect("equal")
    axes.set_xlim(-1.15, 1.15)
    axes.set_ylim(-1.15, 1.15)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.set_title(f"({letter}) {panel.title}", fontsize=11)
    axes.set_xlabel(rf"$\Theta_\infty^2={panel.theta**2:.3f}$", fontsize=11)


def _style(i: int) -> dict[str, Any]:
    return {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}


def _canvas(width: float, height: float) -> Any:
    """An empty figure that belongs to no global state and needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib, which is not installed; run pip install 'rgboost[plot]', "
            "or use the figure_* functions for the numbers alone."
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def _save(canvas: Any, path_stem: str | PathLike[str]) -> tuple[Path, Path]:
    for axes in canvas.axes:
        tidy(axes)
    return save(canvas, Path(path_stem), dpi=160)
