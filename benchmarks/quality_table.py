"""The table of `benchmarks.quality` as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
BEHIND = "rgboost - EBM"
Results = dict[str, dict[str, dict[str, Any]]]


def renew(path: Path, results: Results, order: Iterable[str]) -> None:
    """Replace what stands between the two marks of a file, which is made if it is not there.

    The figures are kept next to it (``.json``): those that were not measured this time stay. Sets
    come in this order.
    """
    figures = path.with_suffix(".json")
    every = json.loads(figures.read_text(encoding="utf-8")) if figures.exists() else {}
    for which, found in results.items():
        kept = every.get(which, {})
        every[which] = kept | found
        if _same(kept.get("rgboost"), found.get("rgboost")):
            every[which]["rgboost"]["behind"] = kept["rgboost"].get("behind")
    every = {which: every[which] for which in order if which in every}
    text = path.read_text(encoding="utf-8") if path.exists() else f"{BEGIN}{END}\n"
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.parent.mkdir(parents=True, exist_ok=True)
    figures.write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    path.write_text(f"{before}{BEGIN}\n\n{table(every)}\n\n{END}{after}", encoding="utf-8")


def _same(kept: dict[str, Any] | None, found: dict[str, Any] | None) -> bool:
    """Whether a difference to EBM that cannot be had anew (its losses of test rows are not here)
    is still that of the model: to the digits of the table."""
    if kept is None or found is None or found.get("behind") is not None:
        return False
    return "loss" in found and f"{kept.get('loss', 0.0):.4f}" == f"{found['loss']:.4f}"


def table(results: Results) -> str:
    names = list(dict.fromkeys(name for found in results.values() for name in found))
    parts = [
        "Test loss (the best additive model in bold):",
        _lines(["set", "training rows x features", *names, BEHIND], _losses(results, names)),
        _verdict(results),
        "Seconds of a fit:",
        _lines(["set", *names, "EBM / rgboost"], _seconds(results, names)),
        "Size of the pickled model in KiB:",
        _lines(["set", *names], _sizes(results, names)),
    ]
    return "\n\n".join(part for part in parts if part)


def _lines(head: list[str], body: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _losses(results: Results, names: list[str]) -> list[list[str]]:
    body = []
    for which, found in results.items():
        shape = next((one["shape"] for one in found.values() if "shape" in one), "")
        additive = {
            name: one["loss"]
            for name, one in found.items()
            if "loss" in one and name not in ("LightGBM", "HistGB")
        }
        best = min(additive, key=lambda name: additive[name]) if len(additive) > 1 else ""
        cells = []
        for name in names:
            one = found.get(name, {})
            cell = f"{one['loss']:.4f}" if "loss" in one else one.get("error", "")
            cells.append(f"**{cell}**" if name == best else cell)
        body.append([which, shape, *cells, _behind(found)])
    return body


def _behind(found: dict[str, dict[str, Any]]) -> str:
    """The difference to EBM with its standard error, in percent of the loss of EBM."""
    behind = found.get("rgboost", {}).get("behind")
    if behind is None:
        return ""
    return "{:+.1f} ± {:.1f} %".format(*(100.0 * one / found["EBM"]["loss"] for one in behind))


def _verdict(results: Results) -> str:
    """How often we are at least as good as EBM, and in less than a hundredth of its time."""
    both = {
        which: (found["rgboost"], found["EBM"])
        for which, found in results.items()
        if all("loss" in found.get(name, {}) for name in ("rgboost", "EBM"))
    }
    worse = [which for which, (ours, ebm) in both.items() if ours["loss"] > ebm["loss"]]
    clearly = [which for which in worse if _is_clear(both[which][0].get("behind"))]
    timed = {which: pair for which, pair in both.items() if "seconds" in pair[0]}
    slow = [which for which, (o, ebm) in timed.items() if o["seconds"] > ebm["seconds"] / 100]
    sized = {which: pair for which, pair in both.items() if all("bytes" in one for one in pair)}
    large = [which for which, (ours, ebm) in sized.items() if ours["bytes"] > ebm["bytes"]]
    given_up = [which for which, found in results.items() if "longer_than" in found.get("EBM", {})]
    if not both:
        return ""
    return (
        f"Of {len(both)} sets with both, rgboost has at most the test loss of EBM on "
        f"{len(both) - len(worse)} (not: {', '.join(worse) or 'none'}); it is larger by two "
        f"standard errors or more on {len(clearly)} ({', '.join(clearly) or 'none'}). "
        f"Of {len(timed)} where both "
        f"were timed, it takes less than a hundredth of the time of EBM on "
        f"{len(timed) - len(slow)} (not: {', '.join(slow) or 'none'}). "
        f"The pickled model is at most the size of EBM's on {len(sized) - len(large)} of "
        f"{len(sized)} (not: {', '.join(large) or 'none'}). "
        f"EBM was given up on: {', '.join(given_up) or 'none'}."
    )


def _is_clear(behind: list[float] | None) -> bool:
    """Whether a difference is at least two standard errors."""
    return behind is not None and behind[0] >= 2.0 * behind[1]


def _seconds(results: Results, names: list[str]) -> list[list[str]]:
    body = []
    for which, found in results.items():
        cells = [_time(found.get(name, {})) for name in names]
        body.append([which, *cells, _ratio(found.get("rgboost", {}), found.get("EBM", {}))])
    return body


def _ratio(ours: dict[str, Any], ebm: dict[str, Any]) -> str:
    """How many times longer EBM takes, or how many at least."""
    seconds = ebm.get("seconds", ebm.get("longer_than"))
    if "seconds" not in ours or seconds is None:
        return ""
    return ("" if "seconds" in ebm else "> ") + f"{seconds / ours['seconds']:,.0f}"


def _sizes(results: Results, names: list[str]) -> list[list[str]]:
    return [
        [which, *(_kibibytes(found.get(name, {}).get("bytes")) for name in names)]
        for which, found in results.items()
    ]


def _time(found: dict[str, Any]) -> str:
    if "longer_than" in found:
        return f"> {found['longer_than']:.3g}"
    return f"{found['seconds']:.3g}" if "seconds" in found else ""


def _kibibytes(value: float | None) -> str:
    return "" if value is None else f"{value / 1024:,.0f}"
