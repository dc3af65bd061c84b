"""A plan: every setting with its value and why, the engines that were considered, and events."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...selection import SelectionRule
from ...steps import StepRule

if TYPE_CHECKING:
    from .pair_rules import PairPlan


NO_EFFECT = "no effect: "


class Entry(NamedTuple):
    """A setting. ``source`` is "given" or "auto"; ``why`` may be empty where it is given."""

    name: str
    value: Any
    source: str
    why: str

    @property
    def by_itself(self) -> bool:
        """Whether a rule has set it."""
        return self.source == "auto"

    @property
    def idle(self) -> str:
        """Why the setting has no effect; empty if it has one."""
        return self.why.removeprefix(NO_EFFECT) if self.why.startswith(NO_EFFECT) else ""


class Considered(NamedTuple):
    """An engine: the seconds that it is expected to take, if it can do it, and why it is not
    taken; None: it is."""

    engine: str
    n_runs: int
    seconds: float | None
    obstacle: str | None


@dataclass(frozen=True)
class Way:
    """Settings of one run, or of the mean of several, with nothing left to decide."""

    engine: Literal["direct", "gram", "quadratic"]
    n_runs: int
    selection: SelectionRule
    step: StepRule
    learning_rate: float
    max_bins: int | None
    min_weight_fraction_leaf: float
    n_iter: int
    """The most iterations."""
    patience: int | None
    """Iterations without a fall of the validation loss that end the run; None: nothing does."""
    gram_type: str | None = None
    """The type of the one Gram matrix of all runs, on quadratic models."""
    why: str = ""
    """Why this engine."""
    newton: bool = False
    """Whether runs on the rows take the steps of a quadratic model at their own scores."""
    leaves: str | None = None
    """What leaves say, if the plan has to tell."""
    few_bins: bool = False
    """Whether there are fewer bins than usual, for Gram rows to fit."""


@dataclass
class Plan:
    """What a fit will do, or has done. ``print`` it, or look at it in a notebook.

    ``judge`` is what tells the number of iterations. ``ways`` are the settings of the runs; if
    there are two, both are fitted and the one with the smaller loss of held-out rows is kept.
    ``cv_engine`` is that of the k runs of cross-validation which one fit follows. A plan that was
    loaded from a file has no ways.
    """

    judge: str
    entries: tuple[Entry, ...]
    engines: tuple[Considered, ...]
    events: list[str] = field(default_factory=list)
    ways: tuple[Way, ...] = field(default=(), compare=False)
    cv_engine: Literal["direct", "gram"] | None = field(default=None, compare=False)
    gram_memory: int = field(default=0, compare=False)
    pairs: PairPlan | None = field(default=None, compare=False)
    """How pairs of features are fitted; None: there are none."""

    @property
    def mean(self) -> bool:
        """Whether the model is the mean of several runs."""
        return bool(self.ways) and self.ways[0].n_runs > 1

    def __getitem__(self, name: str) -> Entry:
        """The entry of a setting."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        names = ", ".join(entry.name for entry in self.entries)
        raise KeyError(f"the plan has no setting {name!r}; it has {names}")

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "judge": self.judge,
            "entries": [list(entry) for entry in self.entries],
            "engines": [list(engine) for engine in self.engines],
            "events": list(self.events),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Plan:
        """The plan of `to_dict`; ValueError if it is none."""
        if set(values) != {"judge", "entries", "engines", "events"}:
            raise ValueError(f"a plan has other keys than {sorted(values)}")
        entries = tuple(_checked(Entry, _ENTRY, one) for one in values["entries"])
        engines = tuple(_checked(Considered, _CONSIDERED, one) for one in values["engines"])
        judge, events = values["judge"], list(values["events"])
        if not all(isinstance(text, str) for text in (judge, *events)):
            raise ValueError("events of a plan are texts")
        return cls(judge, entries, engines, events)

    def __str__(self) -> str:
        head = ["", "engines considered"]
        parts = [_aligned(self._entry_rows()), head, _aligned(self._engine_rows())]
        if self.events:
            parts += [["", "events"], self.events]
        return "\n".join(line for part in parts for line in part)

    __repr__ = __str__

    def _entry_rows(self) -> list[tuple[str, ...]]:
        return [(e.name, shown(e.value), e.source, e.why) for e in self.entries]

    def _engine_rows(self) -> list[tuple[str, ...]]:
        return [
            (
                engine.engine + (f", {engine.n_runs} runs" if engine.n_runs > 1 else ""),
                "" if engine.seconds is None else f"{engine.seconds:.2g} s",
                "taken" if engine.obstacle is None else engine.obstacle,
            )
            for engine in self.engines
        ]

    def _repr_html_(self) -> str:
        tables = [
            _table(["setting", "value", "", "why"], self._entry_rows()),
            _table(["engine", "expected", ""], self._engine_rows()),
        ]
        if self.events:
            tables.append(_table(["events"], [(event,) for event in self.events]))
        return "".join(tables)


_NUMBER = int | float
_ENTRY = (str, str | bool | _NUMBER | None, str, str)
_CONSIDERED = (str, int, _NUMBER | None, str | None)


def _checked(kind: Any, types: Sequence[Any], values: Sequence[Any]) -> Any:
    """A named tuple of values that have these types."""
    if len(values) != len(types) or not all(map(isinstance, values, types)):
        raise ValueError(f"{kind.__name__} of a plan is not {values!r:.60}")
    return kind(*values)


def shown(value: Any) -> str:
    """A value for people."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _aligned(rows: Sequence[tuple[str, ...]], width: int = 100) -> list[str]:
    """Columns of text; the last one is wrapped."""
    if not rows:
        return []
    sizes = [min(max(len(row[i]) for row in rows), 40) for i in range(len(rows[0]) - 1)]
    indent = sum(sizes) + 2 * len(sizes)
    lines = []
    for row in rows:
        head = "".join(f"{cell:<{size}}  " for cell, size in zip(row, sizes, strict=False))
        text = textwrap.wrap(row[-1], max(30, width - indent)) or [""]
        lines.append((head + text[0]).rstrip())
        lines += [" " * indent + more for more in text[1:]]
    return lines


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    style = ' style="text-align:left"'
    top = "".join(f"<th{style}>{html.escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td{style}>{html.escape(cell)}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
