"""One page with the plots, tables and verdicts of all studies; it needs no network."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from .cells import CONVERGED
from .figures import colour_of, label_of, limits_of_test_loss, linear_ends
from .protocol import GAPS
from .summary import AXES, curves, engine_check, table, time_text
from .verdicts import ALL, NOT_TESTED, verdicts


def make_page(studies: list[dict[str, Any]]) -> str:
    """The page as HTML."""
    assets = files(__package__) / "assets"
    data = json.dumps([_plot_data(study) for study in studies], separators=(",", ":"))
    judged = [verdicts(study) for study in studies]
    sections = [_section(k, s, v) for k, (s, v) in enumerate(zip(studies, judged, strict=True))]
    links = [f'<a href="#{escape(s["set"])}">{escape(s["title"])}</a>' for s in studies]
    return Template((assets / "page.html").read_text("utf-8")).substitute(
        css=(assets / "page.css").read_text("utf-8"),
        js=(assets / "page.js").read_text("utf-8"),
        data=data.replace("</", "<\\/"),
        version=escape(studies[-1]["versions"]["rgboost"]) if studies else "",
        contents="".join(links),
        overview=_overview(studies, judged),
        sections="\n".join(sections),
    )


def _plot_data(study: dict[str, Any]) -> dict[str, Any]:
    grid = study["grid"]
    series = curves(study)
    for one in series:
        one["label"] = label_of(grid, one)
        one["short"] = f"t = {one['t']}" if one["engine"] == "direct" else one["engine"]
        one["colour"] = colour_of(grid, one)
        one["beyond"] = one["engine"] != "direct"
    steps = study["steps"]
    limits = {step: limits_of_test_loss([s for s in series if s["step"] == step]) for step in steps}
    ends = {step: linear_ends(grid, series, step) for step in steps}
    return {"steps": steps, "series": series, "test_limits": limits, "linear_ends": ends}


def _overview(studies: list[dict[str, Any]], judged: list[list[dict[str, str]]]) -> str:
    """All verdicts in one table: claims down, sets and step rules across."""
    columns = [(k, step) for k, study in enumerate(studies) for step in study["steps"]]
    claims = {v["claim"]: v["about"] for found in judged for v in found}
    head = "".join(f'<th colspan="{len(s["steps"])}">{escape(s["title"])}</th>' for s in studies)
    steps = "".join(f"<th>{escape(step)}</th>" for _, step in columns)
    rows = []
    for claim, about in claims.items():
        found = {
            (k, v["step"]): v["status"]
            for k, _ in columns
            for v in judged[k]
            if v["claim"] == claim
        }
        cells = "".join(f"<td>{_mark(found[column])}</td>" for column in columns)
        name = f"{escape(claim)}<small>about {escape(about)}</small>"
        rows.append(f"<tr><td>{name}</td>{cells}</tr>")
    return (
        '<h3>What the paper claims, and what these runs say</h3><div class="scroll"><table>'
        f"<thead><tr><th></th>{head}</tr><tr><th>claim</th>{steps}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        "<p>✓ confirmed, ✗ not confirmed, ? undecided, – not tested here: the claim is about "
        f"other data (<code>rgboost reproduce {' '.join(ALL)}</code>). Rules and figures are "
        "below.</p>"
    )


_SIGNS = {"confirmed": "✓", "not confirmed": "✗", "undecided": "?", NOT_TESTED: "–"}


def _mark(status: str) -> str:
    """A badge of one sign: the table may have many columns."""
    kind = status.replace(" ", "-")
    label = f'title="{status}" aria-label="{status}"'
    return f'<span class="badge {kind}" {label}>{_SIGNS[status]}</span>'


def _badge(status: str) -> str:
    return f'<span class="badge {status.replace(" ", "-")}">{escape(status)}</span>'


def _section(k: int, study: dict[str, Any], judged: list[dict[str, str]]) -> str:
    parts = [f'<section id="{escape(study["set"])}"><h2>{escape(study["title"])}</h2>']
    if study["note"]:
        parts.append(f'<p class="note">{escape(study["note"])}</p>')
    parts.append(_plots(k, " ".join(AXES), log=True, only_paper=False))
    if study["set"] == "a9a":
        parts.append("<h3>Figure loss1, on linear axes as in the paper</h3>")
        parts.append(_plots(k, "iterations seconds", log=False, only_paper=True))
    parts.append("<h3>Time and epochs to a gap</h3>" + _table(study))
    parts.append("<h3>Verdicts</h3>" + _verdicts(judged))
    parts.append(_settings(study))
    parts.append("</section>")
    return "\n".join(parts)


def _plots(k: int, axes: str, log: bool, only_paper: bool) -> str:
    flags = f'data-log="{str(log).lower()}" data-paper="{str(only_paper).lower()}"'
    return f'<div class="plots" data-study="{k}" data-axes="{axes}" {flags}></div>'


def _table(study: dict[str, Any]) -> str:
    gaps = "".join(f"<th>{gap:g}</th>" for gap in GAPS)
    span = len(GAPS)
    head = (
        f'<thead><tr><th></th><th></th><th colspan="{span}">time to a gap of</th>'
        f'<th colspan="{span}">epochs to a gap of</th>'
        f'<th colspan="{span}">times faster than t = {study["grid"][0]:,}</th></tr>'
        f"<tr><th>step rule</th><th>series</th>{gaps * 3}</tr></thead>"
    )
    rows = []
    for row in table(study):
        beyond = row["engine"] != "direct"
        name = f"beyond: {row['engine']}" if beyond else label_of(study["grid"], row)
        times = zip(map(time_text, row["seconds"]), row["best"], strict=True)
        epochs = zip(map(_number, row["epochs"]), row["best_epochs"], strict=True)
        cells = [_marked(text, best) for text, best in (*times, *epochs)]
        cells += [f"<td>{'–' if gain is None else f'{gain:.2g}'}</td>" for gain in row["gain"]]
        kind = ' class="beyond"' if beyond else ""
        step = escape(row["step"])
        rows.append(f"<tr{kind}><td>{step}</td><td>{escape(name)}</td>{''.join(cells)}</tr>")
    body = f"<tbody>{''.join(rows)}</tbody>"
    return (
        f'<div class="scroll"><table class="times">{head}{body}</table></div>'
        "<p>Medians over the seeds; the best t of the paper’s runs is marked. "
        "– : not reached by half of the seeds within the budget.</p>" + _beyond(study)
    )


def _marked(text: str, best: bool) -> str:
    kind = ' class="best"' if best else ""
    return f"<td{kind}>{text}{' ★' if best else ''}</td>"


def _number(value: float | None) -> str:
    """Three digits, without an exponent for the sizes that epochs have."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _beyond(study: dict[str, Any]) -> str:
    """What the extra series are; clearly not the paper's."""
    check = engine_check(study)
    if check is not None:
        return (
            "<p><b>Beyond the paper.</b> The Gram engine looks at all features at a cost that "
            "does not depend on the number of rows: same iterates, other cost. Its losses differ "
            f"from those of the direct engine by at most {check['largest']:.1e} over the first "
            f"{check['iterations']:,} iterations.</p>"
        )
    if any(cell["engine"] == "quadratic" for cell in study["cells"]):
        return (
            "<p><b>Beyond the paper.</b> The Gram engine needs the squared loss. For this loss the "
            "quadratic engine is shown: quadratic models of the loss on Gram statistics, all "
            "features, other iterates, the same optimum. Its training loss is known at the ends "
            "of stretches of iterations; between them it is what the quadratic models tell.</p>"
        )
    return (
        "<p><b>Beyond the paper.</b> No other engine is shown: the Gram and quadratic engines are "
        "for more rows than features, and at most 256 different values or bins of each.</p>"
    )


def _verdicts(judged: list[dict[str, str]]) -> str:
    """Those that were tested, one by one; the others in a list."""
    tested = [_verdict(v) for v in judged if v["status"] != NOT_TESTED]
    others = {v["claim"]: v["about"] for v in judged if v["status"] == NOT_TESTED}
    items = [f"<li>{escape(c)}: about {escape(about)}.</li>" for c, about in others.items()]
    if items:
        tested.append(f"<p>{_badge(NOT_TESTED)}</p><ul>{''.join(items)}</ul>")
    return "".join(tested)


def _verdict(verdict: dict[str, str]) -> str:
    return (
        f'<div class="verdict"><p>{_badge(verdict["status"])}<b>{escape(verdict["claim"])}</b> '
        f"({escape(verdict['step'])})</p><p>{escape(verdict['figures'])}</p>"
        f'<p class="quote">Paper: “{escape(verdict["quote"])}”</p>'
        f'<p class="rule">Rule: {escape(verdict["rule"])}</p></div>'
    )


def _settings(study: dict[str, Any]) -> str:
    optima = ", ".join(f"{entry['loss']:.8g}" for entry in study["optima"])
    certified = [entry["certified_gap"] for entry in study["optima"]]
    sure = "" if None in certified else f" (certified to {max(certified):.1e})"
    lowest = min(cell["lowest_gap"] for cell in study["cells"])
    if lowest < -CONVERGED:
        sure += f"; a run went below it by {-lowest:.1e}, so that gaps are wrong by as much"
    machine = study["machine"]
    facts = {
        **study["settings"],
        "smallest training loss": f"{optima}{sure}",
        "versions": ", ".join(f"{name} {v}" for name, v in study["versions"].items()),
        "machine": ", ".join(
            [machine["processor"], f"{machine['cores']} cores", machine["system"]]
        ),
        "finished": study["finished"],
    }
    items = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(v))}</dd>" for name, v in facts.items()
    )
    return (
        f"<details open><summary>Settings, versions and machine</summary><dl>{items}</dl></details>"
    )
