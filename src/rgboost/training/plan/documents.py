"""The tables of rules in the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .pair_rules import INTERACTIONS
from .rules import TABLES, Rule

BEGIN, END = "<!-- rules: begin -->", "<!-- rules: end -->"


def tables() -> str:
    """The rules of all settings as Markdown; of each setting, the first that holds is taken."""
    parts = []
    for name, rules in (TABLES | {"interactions": INTERACTIONS}).items():
        parts += [f"**{name}**", "", "| if | value |", "| --- | --- |"]
        parts += [f"| {rule.when} | {value_of(rule)} |" for rule in rules]
        parts.append("")
    return "\n".join(parts)


def value_of(rule: Rule) -> str:
    """The value of a rule in words."""
    if rule.shown:
        return rule.shown
    value: Any = rule.value
    if isinstance(value, tuple):
        return " and ".join(value)
    if isinstance(value, str | float | int):
        return str(value)
    return type(value).__name__


def with_tables(text: str) -> str:
    """A document with the rules between its two marks."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def write(path: Path) -> None:
    path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
