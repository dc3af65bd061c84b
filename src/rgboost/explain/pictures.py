"""Explanations as small pictures, which notebooks show in place of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.one_line import shortened
from .._core.svg import (
    COLOURS,
    DENSITY,
    FAINT,
    LINE,
    SECOND,
    WIDTH,
    Panel,
    bars,
    number,
    range_of,
    row_of,
)

if TYPE_CHECKING:
    from .global_explanation import GlobalExplanation
    from .local_explanation import LocalExplanation
    from .shape_function import ShapeFunction

FUNCTIONS_MOST = 6
"""Shape functions of a model that are drawn, the most important ones."""
ROWS_MOST = 3
"""Rows of a local explanation that are drawn, the first ones."""
_BARS_MOST = 8
_BAR = 15
_DENSITY_HEIGHT = 16


def model_pictures(estimator: Any) -> str:
    """A fitted estimator: its most important shape functions, if it has any, and its trace."""
    curve = estimator.trace_.picture()
    if estimator.coverage_ is None:
        return row_of([curve])
    pictures, note, classes = global_pictures(estimator.explain_global())
    return row_of([*pictures, curve], note, classes)


def global_pictures(explanation: GlobalExplanation) -> tuple[list[str], str, Iterable[Any]]:
    """The most important terms, centered, a note about the others, and the classes."""
    importances = np.sort(explanation.term_importances)[::-1]
    shown = explanation.centered().terms_by_importance()
    pictures: list[str] = []
    for term, share in zip(shown[:FUNCTIONS_MOST], importances, strict=False):
        pictures += term.pictures(share)
    note = f"What features add to the {explanation.scale}. "
    note += f"{len(explanation)} of {len(explanation.names)} features are used"
    note += f", in {len(explanation.pairs)} pairs too" if explanation.pairs else ""
    if len(shown) > FUNCTIONS_MOST:
        note += f"; the {FUNCTIONS_MOST} most important are shown"
    return pictures, f"{note}.", () if explanation.classes is None else explanation.classes


def shape_picture(shape: ShapeFunction, importance: float | None = None) -> str:
    """One function: steps with the density of the data below, or a bar for each category."""
    title = shape.name if importance is None else f"{shape.name} ({100 * importance:.1f} %)"
    if shape.categories is not None:
        return _category_picture(shape, title)
    has_missing = shape.missing_weight > 0
    shown = [shape.values, shape.missing] if has_missing else [shape.values]
    margins = (52, 56 if has_missing else 10, 24, 30 + _DENSITY_HEIGHT)
    panel = Panel(title, shape.plot_range, range_of(*shown, zero=True), margins=margins)
    panel.axes(gap=_DENSITY_HEIGHT)
    _draw_density(panel, shape)
    edges = np.concatenate([panel.x[:1], shape.cuts, panel.x[1:]])
    x = np.repeat(edges, 2)[1:-1]
    for c, values in enumerate(np.atleast_2d(shape.values.T)):
        color = COLOURS[c % len(COLOURS)]
        panel.line(x, np.repeat(values, 2), color)
        missing = float(np.atleast_1d(shape.missing)[c])
        if has_missing and np.isfinite(missing):
            panel.dot(
                panel.right + 28, float(panel.py(missing)), color, f"missing: {number(missing)}"
            )
    if has_missing:
        panel.text(panel.right + 28, panel.bottom + 14, "missing", anchor="middle")
    return panel.render()


def _draw_density(panel: Panel, shape: ShapeFunction) -> None:
    """Weights of the training rows per unit of the feature, below the axis."""
    ends = panel.px(np.concatenate([panel.x[:1], shape.density_edges, panel.x[1:]]))
    width = np.diff(ends)
    height = shape.density / np.maximum(width, 0.5)
    most = float(height.max(initial=0.0)) or 1.0
    for x, w, h in zip(ends[:-1], width, _DENSITY_HEIGHT * height / most, strict=True):
        panel.box(x, panel.bottom + 1, w, h, DENSITY)


def _category_picture(shape: ShapeFunction, title: str) -> str:
    """The values of the heaviest categories, by size, and of missing values."""
    assert shape.categories is not None
    has_missing = shape.missing_weight > 0
    kept = np.argsort(-shape.weights, kind="stable")[: _BARS_MOST - has_missing]
    first = shape.values if shape.values.ndim == 1 else shape.values[:, 0]
    kept = kept[np.argsort(-first[kept], kind="stable")]
    labels = [str(label) for label in shape.categories[kept]]
    values = shape.values[kept]
    if has_missing:
        labels.append("missing")
        values = np.concatenate(
            [values, np.atleast_1d(shape.missing)[None].reshape(1, *values.shape[1:])]
        )
    left_out = len(shape.values) - len(kept)
    colors = COLOURS if values.ndim == 2 else (LINE,)
    panel = Panel(title, range_of(values, zero=True), (0.0, 1.0), margins=(88, 10, 24, 24))
    bars(panel, labels, values, colors, 26)
    if left_out:
        panel.text(6, panel.height - 6, f"{left_out:,} more", most=84)
    for value, place, anchor in zip(
        panel.x, (panel.left, panel.right), ("start", "end"), strict=True
    ):
        panel.text(place, panel.height - 6, f"{value:.3g}", anchor=anchor)
    return panel.render()


def local_pictures(explanation: LocalExplanation) -> tuple[list[str], str]:
    """What moves the scores of the first rows away from the mean score."""
    n = len(explanation.values)
    pictures = [_row_picture(explanation, row) for row in range(min(n, ROWS_MOST))]
    note = f"The first {len(pictures)} of {n:,} rows. " if n > len(pictures) else ""
    return pictures, f"{note}Bars are contributions less their means over the training rows."


def _row_picture(explanation: LocalExplanation, row: int) -> str:
    """The largest contributions to the score of a row; of several classes, to the largest."""
    if explanation.classes is not None:
        explanation = explanation.of_class(explanation.classes[explanation.score()[row].argmax()])
    centered = explanation.centered()
    score, found, start = centered.score()[row], centered.contributions[row], centered.intercept
    order = np.argsort(-np.abs(found), kind="stable")
    shown = order if len(order) <= _BARS_MOST else order[: _BARS_MOST - 1]
    values = centered.shown_values()[row]
    labels = [f"{centered.names[k]} = {in_words(values[k])}" for k in shown]
    steps = found[shown]
    if len(shown) < len(order):
        steps = np.append(steps, found[order[len(shown) :]].sum())
        labels.append(f"{len(order) - len(shown)} others")
    height = 62 + _BAR * len(steps)
    panel = Panel(
        f"row {row}: {shortened(str(centered.scale), 34)} {number(score)}",
        range_of(steps, zero=True), (0.0, 1.0),
        size=(WIDTH + 90, height), margins=(150, 10, 24, 24),
    )  # fmt: skip
    colors = [LINE if step >= 0 else SECOND for step in steps]
    bars(panel, labels, steps, colors or [LINE], 26)
    for value, place, anchor in zip(
        panel.x, (panel.left, panel.right), ("start", "end"), strict=True
    ):
        panel.text(place, panel.height - 6, f"{value:+.3g}", anchor=anchor)
    panel.text(6, panel.height - 6, f"mean {number(start)}", color=FAINT, most=130)
    return panel.render()


def in_words(value: Any) -> str:
    """A value of a feature: a number, a label, or nothing; of a pair, both."""
    if isinstance(value, tuple):
        return ", ".join(in_words(one) for one in value)
    if value is None or value != value:
        return "missing"
    return str(value) if isinstance(value, str) else number(value)
