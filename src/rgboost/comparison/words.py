"""A comparison in plain words."""

from __future__ import annotations

import math

from .compared import Compared, ComparedModel
from .measure import D2, LOG_LOSS, R2

COLUMNS = (
    "model", "loss", "above the best", "curves", "heat maps", "trees", "seconds", "size",
)  # fmt: skip


def digits_for(compared: Compared) -> int:
    """Digits behind the point of losses: two of the smallest standard error."""
    errors = [one.standard_error for one in compared.models]
    errors = [error for error in errors if 0.0 < error < math.inf]
    if not errors:
        return 4
    return min(max(1 - math.floor(math.log10(min(errors))), 0), 6)


def size_in_words(model: ComparedModel) -> str:
    """What there is to look at."""
    if model.trees:
        return f"{model.trees:,} trees, which nobody can look through"
    if not model.things:
        return "one answer for all rows"
    parts = [_count(model.curves, "curve"), _count(model.heat_maps, "heat map")]
    return " and ".join(filter(None, parts)) + " to look at"


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}" if n else ""


def sentence(compared: Compared) -> str:
    """The smallest model whose loss is within one standard error of the best."""
    best, chosen, digits = compared.best, compared.smallest, digits_for(compared)
    loss = f"a loss ({compared.measure}) of {chosen.loss:,.{digits}f}"
    if chosen.readable and not chosen.things:
        return (
            f"No model predicts these rows better than one answer for all of them, {loss}, by more "
            "than one standard error."
        )
    close = compared.smallest_close(compared.models)
    start = "The smallest model whose loss is within one standard error of the best"
    what = f"{size_in_words(chosen)}, and {loss}"
    if chosen is best:
        found = f"{start} is {best.name}, which is the best itself: {what}"
    elif chosen is close:
        found = f"{start} is {chosen.name}: {what}, {_above(chosen, digits)} above that of the "
        found += f"best, {best.name}"
    else:
        found = f"{start}, {best.name}, is {close.name}, and {chosen.name} is smaller still with a "
        found += f"smaller loss: {what}, {_above(chosen, digits)} above the best"
    if chosen.readable:
        return f"{found}."
    readable = compared.smallest_readable
    return (
        f"{found}; of those that can be read, by the same rule, it is {readable.name}: "
        f"{size_in_words(readable)}, and a loss {_above(readable, digits)} above the best."
    )


def _above(model: ComparedModel, digits: int) -> str:
    return f"{model.difference:,.{digits}f} ± {model.standard_error:,.{digits}f}"


def cells(compared: Compared) -> list[list[str]]:
    """The table as texts, in the order of `COLUMNS`."""
    digits, best = digits_for(compared), compared.best
    return [
        [
            one.name,
            f"{one.loss:,.{digits}f}",
            "the best" if one is best else _above(one, digits),
            *(f"{n:,}" if n else "" for n in (one.curves, one.heat_maps, one.trees)),
            seconds_in_words(one.seconds),
            bytes_in_words(one.bytes),
        ]
        for one in compared.models
    ]


def seconds_in_words(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.2g}" if seconds >= 0.1 else "< 0.1"


def bytes_in_words(n: float) -> str:
    """Bytes with a unit; nothing of a model that cannot be stored."""
    if math.isnan(n):
        return ""
    for unit in ("B", "kB", "MB"):
        if n < 999.5:
            return f"{n:.3g} {unit}" if unit != "B" else f"{n:.0f} B"
        n /= 1000.0
    return f"{n:,.3g} GB"


def about_rows(compared: Compared) -> str:
    """What the losses are of."""
    n, held = compared.n_rows, compared.n_held_out
    rows = f"{n:,} rows of {_count(compared.n_features, 'feature')}"
    if compared.n_fits == 1:
        return f"{rows}; each model was fitted once, without {held:,} rows that were held out"
    if held == n:
        return f"{rows}; each was held out once, in {compared.n_fits} folds"
    return f"{rows}; {held:,} of them were held out, in {compared.n_fits} folds"


def about_loss(compared: Compared) -> str:
    """What the loss means."""
    return ABOUT.get(
        compared.measure,
        f"The loss is the {compared.measure} of the held-out rows; less is better.",
    )


ABOUT = {
    R2: "The loss is 1 - R²: the share of the differences between the labels (of their variance) "
    "that a model does not explain. 0 is perfect; 1 is no better than the same answer for every "
    "row.",
    D2: "The loss is 1 - D²: the share of the differences between the labels (of their deviance) "
    "that a model does not explain. 0 is perfect; 1 is no better than the same answer for every "
    "row.",
    LOG_LOSS: "The loss is the log-loss: minus the logarithm of the probability that a model gave "
    "to what came true, on average. 0 is perfect; the constant has that of somebody who knows how "
    "frequent the classes are, and nothing else.",
}


def plain_numbers(compared: Compared) -> str:
    """What the losses are in per cent, for those that know no losses; nothing of other measures."""
    if compared.measure == LOG_LOSS:
        what = "Probability that was given to what came true, on (geometric) average"
        shares = [math.exp(-one.loss) for one in compared.models]
    elif compared.measure in (R2, D2):
        what = "Share of the differences between the labels that is explained"
        shares = [max(1.0 - one.loss, 0.0) for one in compared.models]
    else:
        return ""
    found = zip(compared.models, shares, strict=True)
    told = [f"{one.name} {100.0 * share:.1f} %" for one, share in found]
    return f"{what}: {', '.join(told)}."


def left_out(compared: Compared) -> list[str]:
    """Who is left out, a line for each reason."""
    names: dict[str, list[str]] = {}
    for name, why in compared.left_out.items():
        names.setdefault(why, []).append(name)
    return [f"left out: {', '.join(those)} ({why.rstrip('.')})" for why, those in names.items()]


def as_lines(compared: Compared) -> list[str]:
    """All of it, as text."""
    rows = [[COLUMNS[0], compared.measure, *COLUMNS[2:]], *cells(compared)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    told = ["", *left_out(compared)] if compared.left_out else []
    return [about_rows(compared), "", *lines, *told, "", sentence(compared)]
