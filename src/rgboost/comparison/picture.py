"""The losses of a comparison as a small picture."""

from __future__ import annotations

from .._core.svg import FAINT, INK, LINE, SECOND, Panel, number
from .compared import Compared, ComparedModel
from .words import digits_for

WIDTH, ROW, MIDDLE, ABOVE, BELOW = 330, 40, 26, 4, 30
"""Pixels; as wide as a phone, where letters are as large as they are meant to be."""


MARKS = " ◂ the smallest that will do", " ◂ the smallest that can be read"


def shown(compared: Compared) -> tuple[ComparedModel, ...]:
    """The models that are drawn: the constant would push all others together."""
    return tuple(one for one in compared.models if one.trees or one.things)


def span(compared: Compared) -> tuple[float, float]:
    """The losses that the picture is to hold, with their standard errors."""
    drawn = shown(compared)
    low = min(one.loss - one.standard_error for one in drawn)
    high = max(one.loss + one.standard_error for one in drawn)
    room = 0.04 * (high - low) or 0.01 * abs(high) or 1.0
    return low - room, high + room


def picture(compared: Compared) -> str:
    """A point for each model at its loss, with one standard error of its difference to the best on
    both sides; a line through the best."""
    drawn, digits = shown(compared), digits_for(compared)
    if not drawn:
        return ""
    n = len(drawn)
    size = (WIDTH, ABOVE + ROW * n + BELOW)
    panel = Panel("", span(compared), (0.0, 1.0), size=size, margins=(8, 8, ABOVE, BELOW))
    best = float(panel.px(min(one.loss for one in drawn)))
    for k, one in enumerate(drawn):
        middle = panel.top + ROW * k + MIDDLE
        panel.rule((best, best), (middle - 8, middle + 9), dashed=True)
        mark = MARKS[0] if one is compared.smallest else ""
        if one is compared.smallest_readable and not mark:
            mark = MARKS[1]
        _draw(panel, one, panel.top + ROW * k, digits, mark)
    panel.rule((panel.left, panel.right), (panel.bottom, panel.bottom))
    for value, place, anchor in zip(
        panel.x, (panel.left, panel.right), ("start", "end"), strict=True
    ):
        panel.text(place, panel.bottom + 13, number(value), anchor=anchor)
    centre, below = (panel.left + panel.right) / 2, panel.bottom + 26
    panel.text(centre, below, f"{compared.measure}, less is better", anchor="middle")
    return panel.render()


def _draw(panel: Panel, one: ComparedModel, top: float, digits: int, mark: str) -> None:
    color = LINE if one.readable else SECOND
    weight = "700" if mark == MARKS[0] else "normal"
    name = f"{one.name}{mark}"
    panel.text(panel.left, top + 12, name, color=INK, weight=weight, most=WIDTH - 80)
    panel.text(
        panel.right, top + 12, f"{one.loss:,.{digits}f}", anchor="end", color=INK, weight=weight
    )
    y, x = float(top + MIDDLE), float(panel.px(one.loss))
    ends = panel.px([one.loss - one.standard_error, one.loss + one.standard_error])
    panel.box(float(ends[0]), y - 1, float(ends[1] - ends[0]), 2, color)
    panel.dot(x, y, color, f"{one.name}: {one.loss:.6g}")
    panel.parts.append(
        f'<line x1="{panel.left}" y1="{y:g}" x2="{panel.right}" y2="{y:g}" stroke="{FAINT}" '
        f'stroke-width="0.4" opacity="0.5"/>'
    )
