"""A comparison as HTML: the table, the figure, and one page that needs nothing else."""

from __future__ import annotations

import os
from html import escape as escape_markup
from importlib.resources import files

from .._core.atomic import write_atomically
from .._core.svg import row_of
from .compared import Compared
from .picture import picture
from .words import COLUMNS, about_loss, about_rows, cells, left_out, plain_numbers, sentence

NOTES = {
    "Held out": "Every loss is of rows that the model was not fitted to. All models were fitted to "
    "the same rows and judged by the same others.",
    "One standard error": "How much of a difference between two models may be chance: the standard "
    "error of the differences between their losses, row by row, to the best model. The bars in the "
    "figure are one standard error long on each side: a model whose bar reaches the dashed line "
    "through the best cannot be told from it by these rows. It says nothing about what models of "
    "other training rows would do.",
    "Curves, heat maps": "What there is to look at. A curve is what one feature adds to the "
    "prediction, a heat map is what two features add together, and their sum is the model: nothing "
    "else goes into a prediction.",
    "5 pairs, all pairs": "So many pairs are the strongest ones, whether they help or not. All "
    "pairs: those of all that have something to say, which may be few, or none.",
    "Trees": "Nobody can look through hundreds of trees: such a model predicts, and that is all.",
    "Seconds, size": "The time of one fit on the machine that made this page, and the file of the "
    "model. Where there are several folds, all that is told of a model is the mean of its fits.",
}


def escape(text: str) -> str:
    """A text that is no markup; measures and per cents are not broken at the end of a line."""
    found = escape_markup(text).replace("1 - ", "1\u00a0-\u00a0")
    return found.replace(" %", "\u00a0%")


def table_html(compared: Compared) -> str:
    """The table, with the chosen model marked."""
    head = [COLUMNS[0], compared.measure, *COLUMNS[2:]]
    rows = ["<tr>" + "".join(f"<th>{escape(name)}</th>" for name in head) + "</tr>"]
    for one, texts in zip(compared.models, cells(compared), strict=True):
        kind = ' class="chosen"' if one is compared.smallest else ""
        rows.append(f"<tr{kind}>" + "".join(f"<td>{escape(text)}</td>" for text in texts) + "</tr>")
    return f"<table>{''.join(rows)}</table>"


def notebook_html(compared: Compared) -> str:
    """What a notebook shows."""
    return (
        f"<div>{table_html(compared)}{row_of([picture(compared)])}"
        f"<p>{escape(sentence(compared))}</p></div>"
    )


def write_page(compared: Compared, path: str | os.PathLike[str], title: str | None = None) -> None:
    """Write the page; a file that is there is replaced."""
    if title is None:
        of = f" to predict {compared.target}" if compared.target else ""
        title = f"What a readable model costs{of}"
    parts = {
        "title": escape(title),
        "rows": escape(about_rows(compared)),
        "sentence": escape(sentence(compared)),
        "numbers": escape(plain_numbers(compared)),
        "figure": _figure(compared),
        "table": table_html(compared),
        "left_out": "".join(f'<p class="faint">{escape(one)}</p>' for one in left_out(compared)),
        "notes": "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
            for name, text in {"Loss": about_loss(compared), **NOTES}.items()
        ),
    }
    template = files("rgboost.comparison").joinpath("page.html").read_text(encoding="utf-8")
    pieces = template.split("{{")
    text = pieces[0]
    for piece in pieces[1:]:  # once, from left to right: a title may look like a placeholder
        name, _, rest = piece.partition("}}")
        text += parts[name] + rest
    write_atomically(path, [text.encode(errors="replace")])


def _figure(compared: Compared) -> str:
    drawn = picture(compared)
    keys = '<span style="--own:var(--line)">can be read</span>'
    if any(not one.readable for one in compared.models):
        keys += '<span style="--own:var(--second)">cannot</span>'
    return f'<div class="figure">{drawn}</div><p class="keys faint">{keys}</p>'
