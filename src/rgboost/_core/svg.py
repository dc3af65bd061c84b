"""Small pictures as SVG for notebooks: text that needs no library, no script and no network.

A `Panel` has a scale from numbers to pixels and collects what is drawn; `row_of` puts several side
by side. All text is escaped. What is not finite is left out.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .one_line import shortened

LINE = "#1f5fa8"
SECOND = "#c2571a"
MORE = ("#2e7d4f", "#8a4fa3", "#a3851a", "#5b6b7b")
DENSITY = "#c3cad4"
FAINT = "#667085"
INK = "#1d2530"
COLOURS = (LINE, SECOND, *MORE)

Vector = NDArray[np.float64]
Range = tuple[float, float]

WIDTH, HEIGHT = 250, 170
_LETTER = 6.0
"""Pixels of a letter, about."""


class Panel:
    """A picture with a title. ``x`` and ``y`` are the ranges of what is drawn.

    ``margins`` are the pixels left, right, above and below the drawing.
    """

    def __init__(
        self,
        title: str,
        x: Range,
        y: Range,
        *,
        size: tuple[int, int] = (WIDTH, HEIGHT),
        margins: tuple[int, int, int, int] = (52, 10, 24, 30),
    ) -> None:
        self.width, self.height = size
        self.left, right, self.top, below = margins
        self.right, self.bottom = self.width - right, self.height - below
        self.x, self.y = _wide(x), _wide(y)
        self.parts: list[str] = []
        self.text(6, 15, title, color=INK, most=self.width - 12, weight="600")

    def px(self, x: Any) -> Vector:
        """Where numbers lie from left to right, to half a pixel."""
        return np.round(2 * (self.left + (self.right - self.left) * _share(x, self.x))) / 2

    def py(self, y: Any) -> Vector:
        """Where numbers lie from top to bottom, to a tenth of a pixel."""
        return np.round(self.bottom - (self.bottom - self.top) * _share(y, self.y), 1)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        color: str = FAINT,
        most: float | None = None,
        weight: str = "normal",
    ) -> None:
        """A text at a place in pixels, cut off where it would take more than ``most`` of them."""
        whole = str(text)
        shown = whole if most is None else shortened(whole, max(3, int(most / _LETTER)))
        hint = "" if shown == whole else f"<title>{_escape(whole)}</title>"
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{color}" '
            f'font-weight="{weight}">{_escape(shown)}{hint}</text>'
        )

    def line(self, x: Any, y: Any, color: str = LINE) -> None:
        """A line through points; many in one column of pixels are drawn as their range."""
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        seen = np.isfinite(x) & np.isfinite(y)
        if not seen.any():
            return
        points = _thinned(self.px(x[seen]), self.py(y[seen]))
        self.parts.append(
            f'<polyline points="{" ".join(f"{a:g},{b:g}" for a, b in points)}" fill="none" '
            f'stroke="{color}" stroke-width="1.8" stroke-linejoin="round"/>'
        )

    def box(self, x: float, y: float, width: float, height: float, color: str) -> None:
        """A filled rectangle, in pixels."""
        if width > 0 and height > 0:
            self.parts.append(
                f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}" '
                f'fill="{color}"/>'
            )

    def dot(self, x: float, y: float, color: str, hint: str = "") -> None:
        """A point, in pixels."""
        title = f"<title>{_escape(hint)}</title>" if hint else ""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="3.2" fill="{color}">{title}</circle>')

    def rule(self, x: Range, y: Range, *, dashed: bool = False) -> None:
        """A thin line from (x[0], y[0]) to (x[1], y[1]), in pixels."""
        dash = ' stroke-dasharray="3 3"' if dashed else ""
        self.parts.append(
            f'<line x1="{x[0]:g}" y1="{y[0]:g}" x2="{x[1]:g}" y2="{y[1]:g}" stroke="{FAINT}" '
            f'stroke-width="0.7"{dash}/>'
        )

    def axes(self, gap: float = 0.0) -> None:
        """The ends of both ranges as numbers, a rule below and one at zero. ``gap`` pixels below
        the rule are kept free."""
        self.rule((self.left, self.right), (self.bottom, self.bottom))
        self.name_ends(self.bottom + 14 + gap)
        for value, place in zip(self.y, (self.bottom, self.top + 8), strict=True):
            self.text(self.left - 5, place, number(value), anchor="end", most=self.left - 2)
        if self.y[0] < 0 < self.y[1]:
            zero = float(self.py(0.0))
            self.rule((self.left, self.right), (zero, zero), dashed=True)

    def name_ends(self, y: float) -> None:
        """The ends of the range from left to right as numbers, at a height in pixels."""
        self.text(self.left, y, number(self.x[0]))
        self.text(self.right, y, number(self.x[1]), anchor="end")

    def render(self) -> str:
        """The picture as an SVG element."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
            f'height="{self.height}" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'style="font:11px system-ui,sans-serif">{"".join(self.parts)}</svg>'
        )


def row_of(pictures: Iterable[str], note: str = "", classes: Iterable[Any] = ()) -> str:
    """Pictures side by side on white, as wide as there is room; below a line of text, and the
    labels of classes in their colours."""
    words = [f"<span>{_escape(note)}</span>"] if note else []
    for c, label in enumerate(classes):
        color = COLOURS[c % len(COLOURS)]
        words.append(f'<span style="color:{color};font-weight:600">{_escape(str(label))}</span>')
    below = f'<div style="color:{FAINT};padding:0 6px 4px">{" ".join(words)}</div>'
    return (
        f'<div style="display:inline-block;background:#fff;color:{INK};border-radius:6px;'
        f'padding:4px;font:12px system-ui,sans-serif"><div style="display:flex;flex-wrap:wrap;'
        f'gap:6px 10px">{"".join(pictures)}</div>{below if words else ""}</div>'
    )


def range_of(*values: Any, zero: bool = False) -> Range:
    """The least and the largest of finite numbers; of none, from 0 to 1."""
    every = np.concatenate([np.ravel(np.asarray(v, np.float64)) for v in values])
    every = every[np.isfinite(every)]
    if zero:
        every = np.append(every, 0.0)
    return (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)


def number(value: float) -> str:
    """A number to about four digits."""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.4g}"


def bars(
    panel: Panel, labels: Sequence[str], values: Vector, colors: Sequence[str], first: float
) -> None:
    """Lying bars from zero, one below the other from pixel ``first`` on, named on the left.

    With a column of values for each of several classes these are points.
    """
    zero = float(panel.px(0.0))
    height = 15
    for k, label in enumerate(labels):
        y = first + height * k
        panel.text(panel.left - 6, y + 10, label, anchor="end", most=panel.left - 8)
        if values.ndim == 2:
            for c, value in enumerate(values[k]):
                if np.isfinite(value):
                    panel.dot(float(panel.px(value)), y + 6.5, colors[c % len(colors)])
        elif np.isfinite(values[k]):
            end = float(panel.px(values[k]))
            panel.box(min(zero, end), y + 1, abs(end - zero), height - 4, colors[k % len(colors)])
    last = first + height * len(labels)
    panel.rule((zero, zero), (first - 2, last), dashed=True)


def _escape(text: str) -> str:
    """Text that cannot be markup, with spaces for characters that a document may not hold."""
    return html.escape("".join(c if c.isprintable() else " " for c in text))


def _wide(limits: Range) -> Range:
    """A range that is not empty."""
    low, high = limits
    if low < high:
        return low, high
    room = 0.5 * abs(low) or 0.5
    return low - room, high + room


def _share(values: Any, limits: Range) -> Vector:
    """Where numbers lie in a range: 0 at its begin, 1 at its end; also for very large ones."""
    size = max(abs(limits[0]), abs(limits[1]))
    low, high = limits[0] / size, limits[1] / size
    return np.clip((np.asarray(values, np.float64) / size - low) / (high - low), 0.0, 1.0)


def _thinned(x: Vector, y: Vector) -> list[tuple[float, float]]:
    """Of the points of a column of pixels the first, the lowest, the highest and the last."""
    begins = np.flatnonzero(np.append(True, x[1:] != x[:-1]))
    ends = np.append(begins[1:], len(x)) - 1
    most, least = np.maximum.reduceat(y, begins), np.minimum.reduceat(y, begins)
    points: list[tuple[float, float]] = []
    for k in range(len(begins)):
        column = x[begins[k]]
        for value in (y[begins[k]], least[k], most[k], y[ends[k]]):
            if not points or points[-1] != (column, value):
                points.append((column, value))
    return points
