"""The table of `benchmarks.quality` as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
BEHIND = "rgboost - EBM"
Results = dict[str, dict[str, dict[str, Any]]]


def renew(path: Path, results: Results) -> None:
    """Replace what stands between the two marks of a file."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n\n{table(results)}\n\n{END}{after}", encoding="utf-8")


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
    if not both:
        return ""
    return (
        f"Of {len(both)} sets with both, rgboost has at most the test loss of EBM on "
        f"{len(both) - len(worse)} (not: {', '.join(worse) or 'none'}); it is larger by two "
        f"standard errors or more on {len(clearly)} ({', '.join(clearly) or 'none'}). "
        f"Of {len(timed)} where both "
        f"were timed, it takes less than a hundredth of the time of EBM on "
        f"{len(timed) - len(slow)} (not: {', '.join(slow) or 'none'})."
    )


def _is_clear(behind: list[float] | None) -> bool:
    """Whether a difference is at least two standard errors."""
    return behind is not None and behind[0] >= 2.0 * behind[1]


def _seconds(results: Results, names: list[str]) -> list[list[str]]:
    body = []
    for which, found in results.items():
        cells = [_number(found.get(name, {}).get("seconds")) for name in names]
        ours, ebm = (found.get(name, {}).get("seconds") for name in ("rgboost", "EBM"))
        body.append([which, *cells, f"{ebm / ours:,.0f}" if ours and ebm else ""])
    return body


def _sizes(results: Results, names: list[str]) -> list[list[str]]:
    return [
        [which, *(_kibibytes(found.get(name, {}).get("bytes")) for name in names)]
        for which, found in results.items()
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _kibibytes(value: float | None) -> str:
    return "" if value is None else f"{value / 1024:,.0f}"
