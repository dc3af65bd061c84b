"""A pair of features as a small heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.one_line import shortened
from .._core.svg import LINE, SECOND, Panel, number

if TYPE_CHECKING:
    from .pair_axis import PairAxis
    from .pair_function import PairFunction

_STEPS = 40
"""Numbers are drawn at so many places."""
_CATEGORIES_MOST = 8
_SHADES = 16
"""Of either sign."""
_FAINT = 0.15
"""Share of their colour that cells have which no training row is near."""
_MISSING = 0.1
"""Share of an axis that missing values take."""


class Span(NamedTuple):
    """A part of an axis, from 0 to 1, that is drawn with the values of one bin."""

    start: float
    end: float
    bin: int


def spans(axis: PairAxis) -> list[Span]:
    """Where the bins of an axis are drawn: numbers to scale, categories (the heaviest) and missing
    values (if there were any) at equal parts."""
    end = 1.0 - _MISSING - 0.02 if axis.has_missing else 1.0
    if axis.categories is None:
        low, high = axis.plot_range
        share = (np.arange(_STEPS) + 0.5) / _STEPS
        bins = axis.bins((1.0 - share) * low + share * high)
        begins = np.flatnonzero(np.append(True, bins[1:] != bins[:-1]))
        ends = end * np.append(begins[1:], _STEPS) / _STEPS
        found = [
            Span(float(end * a / _STEPS), float(b), int(bins[a]))
            for a, b in zip(begins, ends, strict=True)
        ]
    else:
        kept = np.sort(np.argsort(-axis.weights[:-1], kind="stable")[:_CATEGORIES_MOST])
        size = end / max(1, len(kept))
        found = [Span(size * i, size * (i + 1), int(k)) for i, k in enumerate(kept)]
    missing = Span(1.0 - _MISSING, 1.0, len(axis.weights) - 1)
    return [*found, missing] if axis.has_missing else found


def heat_maps(pair: PairFunction, importance: float | None = None) -> list[str]:
    """A picture, or one for each of several classes."""
    title = pair.name if importance is None else f"{pair.name} ({100 * importance:.1f} %)"
    if pair.classes is None:
        return [_heat_map(pair, title)]
    several = [(label, pair.of_class(label)) for label in pair.classes.tolist()]
    return [_heat_map(one, f"{shortened(str(label), 12)}: {title}") for label, one in several]


def _heat_map(pair: PairFunction, title: str) -> str:
    """The first feature from left to right, the second one from bottom to top."""
    across, up = pair.axes
    by_name = up.categories is not None
    panel = Panel(title, (0.0, 1.0), (0.0, 1.0), margins=(88 if by_name else 52, 10, 24, 46))
    most = pair.most
    values = np.where(pair.near, pair.values, _FAINT * np.clip(pair.values, -most, most))
    for column in spans(across):
        _draw_column(panel, column, spans(up), values[column.bin], most)
    _name_bins(panel, across, up)
    panel.text(6, panel.height - 5, f"{number(-most)} is orange, {number(most)} blue")
    return panel.render()


def _draw_column(panel: Panel, column: Span, rows: list[Span], values: Any, most: float) -> None:
    """Boxes of one bin of the first feature; neighbours of one shade are one box."""
    x, end = (panel.left + (panel.right - panel.left) * s for s in (column.start, column.end))
    shades = [_shade(float(values[row.bin]), most) for row in rows]
    first = 0
    for k in range(1, len(rows) + 1):
        together = k < len(rows) and shades[k] == shades[first] and rows[k - 1].end == rows[k].start
        if not together:
            low, high = (
                panel.bottom - (panel.bottom - panel.top) * s
                for s in (rows[first].start, rows[k - 1].end)
            )
            # A little wider, for no light is to shine through between neighbours.
            panel.box(x, high - 0.3, end - x + 0.3, low - high + 0.3, shades[first])
            first = k


def _shade(value: float, most: float) -> str:
    """White at zero, blue above, orange below; grey for what is no number."""
    if not np.isfinite(value):
        return "#bbbbbb"
    share = round(_SHADES * max(-1.0, min(1.0, value / most))) / _SHADES
    full = LINE if share > 0 else SECOND
    channels = [int(full[i : i + 2], 16) for i in (1, 3, 5)]
    mixed = [round(245 + abs(share) * (channel - 245)) for channel in channels]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _ends(axis: PairAxis) -> list[tuple[float, str]]:
    """Where the numbers of an axis begin and end; none of categories."""
    if axis.categories is not None:
        return []
    numbers = [span for span in spans(axis) if span.bin < len(axis.weights) - 1]
    low, high = axis.plot_range
    return [(numbers[0].start, number(low)), (numbers[-1].end, number(high))]


def _names(axis: PairAxis) -> list[tuple[Span, str]]:
    """Categories, and missing values."""
    texts, last = axis.texts(), len(axis.weights) - 1
    return [(s, texts[s.bin]) for s in spans(axis) if axis.categories is not None or s.bin == last]


def _name_bins(panel: Panel, across: PairAxis, up: PairAxis) -> None:
    """Ends of numbers, categories and missing values along both axes."""
    width, height = panel.right - panel.left, panel.bottom - panel.top
    below, beside = panel.bottom + 14, panel.left - 5
    for (share, text), anchor in zip(_ends(across), ("start", "end"), strict=False):
        panel.text(panel.left + share * width, below, text, anchor=anchor)
    for span, text in _names(across):
        room = max(18.0, (span.end - span.start) * width)
        middle = panel.left + 0.5 * (span.start + span.end) * width
        if across.categories is None:  # below the numbers
            panel.text(panel.right, below + 12, text, anchor="end")
        else:
            panel.text(middle, below, text, anchor="middle", most=room)
    for (share, text), down in zip(_ends(up), (0, 8), strict=False):
        place = panel.bottom - share * height + down
        panel.text(beside, place, text, anchor="end", most=beside)
    for span, text in _names(up):
        middle = panel.bottom - 0.5 * (span.start + span.end) * height + 4
        panel.text(beside, middle, text, anchor="end", most=beside)
