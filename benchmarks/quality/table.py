"""The tables of `benchmarks.quality` as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from .contestants import ADDITIVE, CONTESTANTS, ONE_SPLIT, RIVALS
from .verdicts import Found, Results, figure, is_known, verdicts

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
ADDITIVE_MODELS = (ADDITIVE, "EBM, additive", "LightGBM stumps", "HistGB stumps")
OTHER_MODELS = tuple(
    name
    for name, contestant in CONTESTANTS.items()
    if name not in ADDITIVE_MODELS and not contestant.one_split
)


def figures_beside(path: Path) -> Results:
    """The figures that are kept next to a table."""
    figures = path.with_suffix(".json")
    return json.loads(figures.read_text(encoding="utf-8")) if figures.exists() else {}


def renew(path: Path, results: Results, order: Iterable[str]) -> None:
    """Replace what stands between the two marks of a file, which is made if it is not there.

    The figures are kept next to it (``.json``): those that were not measured this time stay. Sets
    come in this order.
    """
    every = figures_beside(path)
    for which, found in results.items():
        kept = every.get(which, {})
        together = kept | found
        for name in RIVALS:
            if _same(kept.get(name), found.get(name)):
                together[name]["behind"] = kept[name].get("behind")
        every[which] = {name: together[name] for name in CONTESTANTS if name in together}
    every = {which: every[which] for which in order if which in every}
    text = path.read_text(encoding="utf-8") if path.exists() else f"{BEGIN}{END}\n"
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.parent.mkdir(parents=True, exist_ok=True)
    figures = path.with_suffix(".json")
    figures.write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    path.write_text(f"{before}{BEGIN}\n\n{table(every)}\n\n{END}{after}", encoding="utf-8")


def _same(kept: Found | None, found: Found | None) -> bool:
    """Whether a difference that cannot be had anew (the other's losses of test rows are not here)
    is still that of the model: to the digits of the table."""
    if kept is None or found is None or found.get("behind") is not None:
        return False
    if "same_as" in found:
        return kept.get("same_as") == found["same_as"]
    return "loss" in found and f"{kept.get('loss', 0.0):.4f}" == f"{found['loss']:.4f}"


def table(results: Results) -> str:
    every = [name for name in (*OTHER_MODELS, *ADDITIVE_MODELS) if _anywhere(results, name)]
    others = [name for name in OTHER_MODELS if name in every]
    additive = [name for name in ADDITIVE_MODELS if name in every]
    first, last = ["set", "training rows x features"], "EBM / rgboost, additive"
    said = verdicts(results)
    parts = [
        "Test loss with interactions, at the defaults (the best in bold; `as additive`: the "
        "defaults fit no pairs of so many features):",
        _lines([*first, *others, "rgboost - additive"], _losses(results, others, "rgboost")),
        *said["interactions"],
        "Test loss of additive models (the best in bold):",
        _lines([*first, *additive, "rgboost - EBM"], _losses(results, additive, ADDITIVE)),
        *said["additive"],
        "With pairs, on one split:",
        _one_split(results),
        *said["one split"],
        "Seconds of a fit:",
        _lines(["set", *every, last], _seconds(results, every)),
        "Size of the pickled model in KiB:",
        _lines(["set", *every], _sizes(results, every)),
    ]
    return "\n\n".join(part for part in parts if part)


def _anywhere(results: Results, name: str) -> bool:
    return any(name in found for found in results.values())


def _lines(head: list[str], body: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _losses(results: Results, names: list[str], ours: str) -> list[list[str]]:
    body = []
    for which, found in results.items():
        losses = {name: loss for name in names if (loss := figure(found, name, "loss")) is not None}
        best = min(losses, key=lambda name: losses[name]) if len(losses) > 1 else ""
        cells = []
        for name in names:
            cell = _loss(found.get(name, {}))
            cells.append(f"**{cell}**" if name == best else cell)
        body.append([which, _shape(found), *cells, _behind(found, ours)])
    return body


def _loss(one: Found) -> str:
    if "same_as" in one:
        return "as additive"
    return f"{one['loss']:.4f}" if "loss" in one else one.get("error", "")


def _shape(found: dict[str, Found]) -> str:
    split = ("one_split", "same_as")
    shapes = [
        one["shape"]
        for one in found.values()
        if "shape" in one and not any(s in one for s in split)
    ]
    return shapes[0] if shapes else ""


def _behind(found: dict[str, Found], name: str) -> str:
    """The difference to the rival with its standard error, in percent of the loss of the rival;
    without one if losses of test rows are not known."""
    theirs = figure(found, RIVALS[name], "loss")
    behind = found.get(name, {}).get("behind")
    if theirs is None or not is_known(found, name):
        return ""
    if behind is not None:
        return "{:+.1f} ± {:.1f} %".format(*(100.0 * one / theirs for one in behind))
    if name == ONE_SPLIT:
        return f"{100.0 * (figure(found, name, 'loss') / theirs - 1.0):+.1f} %"
    return ""


def _one_split(results: Results) -> str:
    body = []
    for which, found in results.items():
        if "EBM" not in found and "loss" not in found.get(ONE_SPLIT, {}):
            continue
        ours, ebm = figure(found, ONE_SPLIT, "loss"), found.get("EBM", {})
        body.append([
            which, "" if ours is None else f"{ours:.4f}", _loss(ebm), _behind(found, ONE_SPLIT),
            _count(figure(found, ONE_SPLIT, "pairs")), _count(ebm.get("pairs")),
            _short(figure(found, ONE_SPLIT, "seconds")), _time(ebm),
            _ratio(figure(found, ONE_SPLIT, "seconds"), ebm),
        ])  # fmt: skip
    both = ("rgboost", "EBM")
    head = ["set", *both, "rgboost - EBM", *(f"pairs, {name}" for name in both)]
    return _lines([*head, *(f"seconds, {name}" for name in both), "EBM / rgboost"], body)


def _seconds(results: Results, names: list[str]) -> list[list[str]]:
    return [
        [
            which,
            *(_time(found.get(name, {})) for name in names),
            _ratio(figure(found, ADDITIVE, "seconds"), found.get("EBM, additive", {})),
        ]
        for which, found in results.items()
    ]


def _ratio(ours: float | None, ebm: Found) -> str:
    """How many times longer EBM takes, or how many at least."""
    seconds = ebm.get("seconds", ebm.get("longer_than"))
    if ours is None or seconds is None:
        return ""
    return ("" if "seconds" in ebm else "> ") + f"{seconds / ours:,.0f}"


def _sizes(results: Results, names: list[str]) -> list[list[str]]:
    return [
        [which, *(_kibibytes(found.get(name, {}).get("bytes")) for name in names)]
        for which, found in results.items()
    ]


def _time(found: Found) -> str:
    if "longer_than" in found:
        return f"> {found['longer_than']:.3g}"
    return _short(found.get("seconds"))


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _kibibytes(value: float | None) -> str:
    return "" if value is None else f"{value / 1024:,.0f}"
