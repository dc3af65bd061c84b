"""Pairs of features as heat maps, or as curves of one feature for values of the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..explain import GlobalExplanation, PairAxis, PairFunction
from ..explain.pair_function import SLICES_MOST, Slice
from .room import fit_labels, fit_numbers, strip_above, strip_beside
from .shape_functions import (
    draw_bars,
    draw_steps,
    finish_bars,
    finish_steps,
    heaviest,
    lay_out,
    short_labels,
    what_it_adds_to,
)
from .style import DENSITY, FAINT, LINE, MORE, SECOND, axes_for, diverging, shortened, tidy

CATEGORIES_MOST = 20
"""A feature with more categories is drawn with the heaviest of them."""

_MISSING = 0.06
"""Width of the strip of missing values, as a share of the range of numbers."""

_FAINT = 0.15
"""Opacity of cells that no training row is near."""

_FAINT_LINE = 0.35

Kind = Literal["heat map", "slices", "band"]


class InteractionDisplay:
    """What a pair of features adds to the score, beyond what each of them does.

    A heat map: one feature from left to right, the other from bottom to top, both to scale;
    categories side by side (the heaviest, if there are many), missing values in a strip of their
    own. Blue adds, orange takes away, white is zero. Colours are faint where no training row is
    near, and the strips above and at the right show how many rows lie where. ``kind="slices"``:
    curves of one feature, for some values of the other, faint where no training row is near.
    ``kind="band"``: a heat map of how sure each cell is, the half width of its band.

    The function is pure: the mean over the training rows is zero along every row and every column
    of the picture, and what either feature does by itself is in its own curve
    (`ShapeFunctionDisplay`). So with monotone constraints neither the picture nor that curve need
    be monotone, although their sum, the model, is. ``with_curves=True`` draws the pair with both
    curves added: what the two features say in all.

    Parameters
    ----------
    pair
        PairFunction, of one score: of more than two classes, see ``label`` of `from_estimator`.

    Attributes
    ----------
    figure_, ax_
        What was drawn on.
    mesh_
        The cells of the heat map, a list of one mesh for each block of them (values, missing
        values); None of slices.
    lines_
        The curves, if slices were drawn; else None.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.plot import InteractionDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(interactions=[("bmi", "bp")], random_state=0).fit(X, y)
    >>> display = InteractionDisplay.from_estimator(model, ("bmi", "bp"))
    >>> display.ax_.get_xlabel()
    'bmi'
    """

    figure_: Any
    ax_: Any
    mesh_: Any
    lines_: Any

    def __init__(self, pair: PairFunction) -> None:
        if pair.classes is not None:
            raise ValueError(
                "this pair has a function for each of several classes; draw pair.of_class(label), "
                f"one of {pair.classes.tolist()}."
            )
        self.pair = pair

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        pair: tuple[str | int, str | int] | None = None,
        *,
        label: Any = None,
        with_curves: bool = False,
        kind: Kind = "heat map",
        along: int | str = 0,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a pair of a fitted model.

        Parameters
        ----------
        estimator
            A fitted `RGBMRegressor` or `RGBMClassifier` with pairs.
        pair
            Two features, by name or index. None: the strongest pair.
        label
            The class whose score is drawn. None: of two classes the second, of more the first.
        with_curves
            Whether the curves of both features are added: what the two say in all.
        kind, along, ax, options
            See `plot`.
        """
        explanation = estimator.explain_global()
        return cls.from_explanation(
            explanation, pair, label=label, with_curves=with_curves, kind=kind, along=along, ax=ax,
            **options,
        )  # fmt: skip

    @classmethod
    def from_explanation(
        cls,
        explanation: GlobalExplanation,
        pair: tuple[str | int, str | int] | None = None,
        *,
        label: Any = None,
        with_curves: bool = False,
        kind: Kind = "heat map",
        along: int | str = 0,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """The same from an explanation of the model."""
        if pair is None and not explanation.pairs:
            raise ValueError(
                "the model has no pairs of features (plan_ says why); fit it with interactions=10, "
                "or another number."
            )
        if pair is not None and (isinstance(pair, str | int) or len(pair) != 2):
            raise ValueError(f"pair={pair!r} is not two features, such as ('age', 'income').")
        found = explanation.pairs[0] if pair is None else explanation[pair[0], pair[1]]
        found = explanation.together(*found.features) if with_curves else found
        if label is None and found.classes is not None:
            label = found.classes[0]
        found = found if label is None else found.of_class(label)
        return cls(found).plot(ax, kind=kind, along=along, **options)

    def plot(
        self, ax: Any = None, *, kind: Kind = "heat map", along: int | str = 0, **options: Any
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax
            None, or the axes to draw on.
        kind
            ``"heat map"``, ``"slices"`` or ``"band"``.
        along
            The feature from left to right: 0 or 1, or its name.
        options
            Of ``Axes.pcolormesh``, such as ``cmap``; of the lines, if these are slices.
        """
        if kind not in ("heat map", "slices", "band"):
            raise ValueError(f"kind={kind!r} is not known; use 'heat map', 'slices' or 'band'.")
        k = self.pair.place(along)
        categorical = self.pair.axes[k].categories is not None
        size = (6.4, 3.6 + 0.4 * categorical) if kind == "slices" else (5.6, 4.6)
        ax = axes_for(ax, size)
        self.mesh_ = self.lines_ = None
        if kind == "heat map":
            self.mesh_ = draw_heat_map(ax, self.pair, k, **options)
        elif kind == "band":
            self.mesh_ = draw_band(ax, self.pair, k, **options)
        else:
            self.lines_ = draw_slices(ax, self.pair, k, **options)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class Cells(NamedTuple):
    """A block of neighbouring bins along an axis: its ends as numbers, and which bins they are."""

    edges: NDArray[np.float64]
    bins: NDArray[np.int64]


def blocks_of(axis: PairAxis) -> list[Cells]:
    """Where the bins of an axis are drawn: those of values, then that of missing values if there
    were any."""
    last = len(axis.weights) - 1
    if axis.categories is None:
        low, high = axis.plot_range
        values = Cells(np.concatenate([[low], axis.cuts, [high]]), np.arange(last))
        room = _MISSING * (high - low)
    else:
        kept = np.sort(np.argsort(-axis.weights[:-1], kind="stable")[:CATEGORIES_MOST])
        values = Cells(np.arange(len(kept) + 1, dtype=np.float64) - 0.5, kept)
        room = 1.0
    if not axis.has_missing:
        return [values]
    start = values.edges[-1] + room * (0.5 if axis.categories is None else 0.15)
    return [values, Cells(np.array([start, start + room]), np.array([last]))]


def draw_band(ax: Any, pair: PairFunction, along: int, **options: Any) -> list[Any]:
    """A heat map of half the width of the band: white cells are sure."""
    band = pair.band
    if band is None:
        raise ValueError(
            f"{pair.name} has no band: there was one run, it was edited, or curves were added; fit "
            "the mean of several runs (ensemble=True), or with bags=20."
        )
    half = replace(pair, values=band.high - pair.values, deviation=None)
    look = {"cmap": "Greys", "vmin": 0.0, **options}
    return draw_heat_map(ax, half, along, f"\N{PLUS-MINUS SIGN}, {band.text}", **look)


def draw_heat_map(
    ax: Any, pair: PairFunction, along: int, title: str | None = None, **options: Any
) -> list[Any]:
    """Cells of values and of missing values, a colour bar with this title, and where the rows
    lie."""
    across, up = pair.axes[along], pair.axes[1 - along]
    values = np.moveaxis(pair.values, along, 0)
    near = np.moveaxis(pair.near, along, 0)
    look = {"cmap": diverging(), "vmin": -pair.most, "vmax": pair.most, **options}
    meshes = []
    for x in blocks_of(across):
        for y in blocks_of(up):
            cells = np.ix_(x.bins, y.bins)
            mesh = ax.pcolormesh(x.edges, y.edges, values[cells].T, rasterized=True, **look)
            mesh.set_alpha(np.where(near[cells], 1.0, _FAINT).T)
            meshes.append(mesh)
    _name_bins(ax, across, up)
    _add_colour_bar(ax, pair, meshes, title or what_it_adds_to(pair).replace("\n", " "))
    lay_out(ax)
    _show_rows(strip_above(ax).bar, across)
    _show_rows(strip_beside(ax).barh, up)
    if across.categories is None:
        fit_numbers(ax, across.plot_range)
    else:
        fit_labels(ax)
    return meshes


def _name_bins(ax: Any, across: PairAxis, up: PairAxis) -> None:
    """Names of features, categories and missing values, and the limits of both axes."""
    for axis, own in ((ax.xaxis, across), (ax.yaxis, up)):
        blocks = blocks_of(own)
        axis.set_label_text(_title(own, len(blocks[0].bins)))
        axis.set_view_interval(blocks[0].edges[0], blocks[-1].edges[-1], ignore=True)
        if own.categories is not None:
            labels = short_labels([str(label) for label in own.categories[blocks[0].bins]])
            places = [*range(len(labels)), *(b.edges.mean() for b in blocks[1:])]
            axis.set_ticks(places, [*labels, *("missing" for _ in blocks[1:])], fontsize="small")
        else:
            axis.set_ticks([tick for tick in axis.get_ticklocs() if _within(tick, own.plot_range)])
            places = [b.edges.mean() for b in blocks[1:]]
            axis.set_ticks(places, ["missing"] * len(places), minor=True, fontsize="x-small")
            axis.set_tick_params(which="minor", length=0.0, labelcolor=FAINT)
    ax.tick_params(axis="x", which="minor", pad=16.0)
    ax.tick_params(axis="both", length=2.0)
    for side in ax.spines.values():
        side.set_visible(False)


def _title(axis: PairAxis, n_drawn: int) -> str:
    """The name of an axis, and how many categories are drawn if not all are."""
    n = len(axis.weights) - 1
    some = f" (the {n_drawn} heaviest of {n})" if n_drawn < n else ""
    return shortened(axis.name, 40) + some


def _within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1]


def _add_colour_bar(ax: Any, pair: PairFunction, meshes: list[Any], title: str) -> None:
    from matplotlib.cm import ScalarMappable

    norm = meshes[0].norm
    solid = ScalarMappable(norm, meshes[0].cmap)  # the cells may be faint
    seen = pair.values[pair.weights > 0]
    beyond = bool((seen < norm.vmin).any()), bool((seen > norm.vmax).any())
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}
    bar = ax.figure.colorbar(
        solid, ax=ax, pad=0.1, fraction=0.06, aspect=24, extend=extend.get(beyond, "neither")
    )
    bar.set_label(title)
    bar.outline.set_visible(False)


def _show_rows(bars: Any, axis: PairAxis) -> None:
    """Weights of the training rows along an axis, as bars: of numbers per unit, of categories by
    themselves."""
    blocks = blocks_of(axis)
    if axis.categories is None:
        low, high = axis.plot_range
        edges = np.concatenate([[low], axis.density_edges, [high]])
        width = np.diff(edges)
        height = axis.density / np.where(width > 0, width, 1.0)
        places = edges[:-1] + 0.5 * width
    else:
        places = np.concatenate([0.5 * (b.edges[1:] + b.edges[:-1]) for b in blocks])
        width = np.concatenate([np.diff(b.edges) for b in blocks]) * 0.8
        height = np.concatenate([axis.weights[b.bins] for b in blocks])
    bars(places, height / (height.max() or 1.0), width, color=DENSITY)


def draw_slices(ax: Any, pair: PairFunction, along: int, **line: Any) -> list[Any]:
    """The curves of one feature for typical values of the other."""
    own, other = pair.axes[along], pair.axes[1 - along]
    slices = pair.slices(along)
    whole = replace(
        slices[0].function, name=own.name, weights=own.weights[:-1],
        missing_weight=float(own.weights[-1]),
    )  # fmt: skip
    kept = heaviest(whole, ax) if own.categories is not None else None
    near = np.moveaxis(pair.near, along, 0)[:-1, other.typical_bins(SLICES_MOST)]
    drawn = []
    for c, (one, color) in enumerate(zip(slices, _slice_colours(other, slices), strict=True)):
        options = {"color": color, "label": shortened(one.label), **line}
        function = replace(one.function, missing_weight=whole.missing_weight)
        if kept is None:
            values = np.where(near[:, c], function.values, np.nan)
            drawn.append(draw_steps(ax, replace(function, values=values), **options))
            guess = {**options, "linewidth": 1.0, "alpha": _FAINT_LINE, "label": None, "zorder": 1}
            draw_steps(ax, function, **guess)
        else:
            drawn.append(draw_bars(ax, function, kept, (c, len(slices)), **options))
    ax.axhline(0.0, color=FAINT, linewidth=0.8, linestyle=(0, (3, 3)), zorder=0)
    ax.set_ylabel(what_it_adds_to(pair))
    ax.legend(
        title=shortened(other.name), frameon=False, fontsize="small", title_fontsize="small",
        loc="upper left", bbox_to_anchor=(1.0, 1.0),
    )  # fmt: skip
    tidy(ax)
    lay_out(ax)
    if kept is None:
        finish_steps(ax, whole)
        fit_numbers(ax, own.plot_range)
    else:
        finish_bars(ax, whole, kept)
        fit_labels(ax)
    n_drawn = len(own.weights) - 1 if kept is None else len(kept)
    ax.set_xlabel(_title(own, n_drawn), fontsize="medium", color="black")
    return drawn


def _slice_colours(other: PairAxis, slices: list[Slice]) -> list[Any]:
    """Numbers from light to dark, categories each its own; grey for missing values."""
    colors: list[Any] = [(LINE, SECOND, *MORE)[c % 6] for c in range(len(slices))]
    if other.categories is None:
        from matplotlib import colormaps

        colors = list(colormaps["viridis"](np.linspace(0.9, 0.05, len(slices))))
    return [*colors[:-1], FAINT] if other.has_missing else colors
