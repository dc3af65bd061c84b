"""Room for what is written in a picture: measured, since it depends on fonts and sizes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

SMALLEST = 5.0
"""Labels do not get smaller, in points."""

LINE_HEIGHT = 1.5
"""Of a line of text, for each point of its size, with what rounding to pixels adds."""

STRIP, GAP = 16.0, 2.0
"""Height of the strip above a picture, and what is between them, in points."""


def points_wide(ax: Any) -> float:
    """The width of axes in points."""
    return float(ax.get_window_extent().width * 72.0 / ax.figure.dpi)


def labels_most(ax: Any) -> int:
    """So many labels have room side by side if they are turned and small."""
    return max(1, int(points_wide(ax) / (LINE_HEIGHT * SMALLEST)))


def fit_labels(ax: Any) -> None:
    """Labels of the horizontal axis, one at each whole number: as they are if there is room, else
    turned, and as small as they must be."""
    labels = ax.get_xticklabels()
    begin, end = ax.transData.transform([(0.0, 0.0), (1.0, 0.0)])[:, 0]
    room = 0.95 * (end - begin)
    if max(one.get_window_extent().width for one in labels) <= room:
        return
    for one in labels:
        one.set_rotation(90.0)
        while one.get_window_extent().width > room and one.get_size() > SMALLEST:
            one.set_size(max(SMALLEST, 0.95 * one.get_size()))


def fit_numbers(ax: Any, limits: tuple[float, float]) -> None:
    """At most four ticks within the limits, and so few that their labels do not meet."""
    from matplotlib.ticker import MaxNLocator

    low, high = limits
    for n in (4, 3, 2, 1):
        ticks = MaxNLocator(n).tick_values(low, high)
        ax.set_xticks([tick for tick in ticks if low <= tick <= high])
        boxes = [one.get_window_extent() for one in ax.get_xticklabels()]
        if all(a.x1 + 4.0 <= b.x0 for a, b in pairwise(boxes)):
            return


def strip_above(ax: Any) -> Any:
    """Axes of a fixed height right above others, which share their horizontal axis. The title
    moves up by itself; in a figure without a layout, which would make room, the axes give some of
    theirs."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    if ax.figure.get_layout_engine() is None:
        x, y, width, height = ax.get_position().bounds
        taken = (STRIP + GAP) / 72.0 * ax.figure.dpi / ax.figure.bbox.height
        ax.set_position((x, y, width, max(height - taken, 0.5 * height)))
        ax.set_in_layout(True)  # which setting a position ends
    inches_above = ax.figure.dpi_scale_trans + ScaledTranslation(0.0, 1.0, ax.transAxes)
    place = blended_transform_factory(ax.transAxes, inches_above)
    strip = ax.inset_axes([0.0, GAP / 72.0, 1.0, STRIP / 72.0], transform=place, sharex=ax)
    strip.set_axis_off()
    return strip


def strip_beside(ax: Any) -> Any:
    """`strip_above` at the right, sharing the vertical axis; a colour bar makes room for it."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    inches_beside = ax.figure.dpi_scale_trans + ScaledTranslation(1.0, 0.0, ax.transAxes)
    place = blended_transform_factory(inches_beside, ax.transAxes)
    strip = ax.inset_axes([GAP / 72.0, 0.0, STRIP / 72.0, 1.0], transform=place, sharey=ax)
    strip.set_axis_off()
    return strip


def clear_of_curves(ax: Any, legend: Any) -> float:
    """The upper limit of the vertical axis that keeps what is drawn below a legend at the top."""
    low, high = ax.get_ylim()
    whole = ax.get_window_extent().height
    taken = min(legend.get_window_extent().height + 4.0, 0.7 * whole)
    return float(low + (high - low) * whole / (whole - taken))
