"""A report about a model and rows: one HTML file, to be read and to be tried."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core.validation import check_count
from ..editing import FORMAT, VERSION, checksum
from ..explain.page import page_data
from ..explain.page.data import rounded, rounded_list
from ..explain.page.write import read_asset, write_html
from ..export.extract import extract
from ..training.plan.report import shown
from .exact import Inputs, exact_tables
from .judged import Judged, judge
from .levels import by_levels
from .performance import performance

ROWS_MOST = 200
"""Rows whose values go into the file, at most."""

SECTIONS = {
    "before": ("contents", "performance", "levels"),
    "between": ("what_if",),
    "above": ("edit",),
    "after": ("edits", "plan"),
}
SCRIPTS = ("plan", "performance", "levels", "score", "what_if", "drag", "edits")


def write_report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    by: Any = None,
    rows: int = 0,
    sample_weight: Any = None,
    offset: Any = None,
    title: str | None = None,
) -> None:
    """Write a report about a fitted model and rows with labels, as one HTML file.

    It shows what the model is and how it was fitted, how well it does on these rows (losses,
    calibration, lift or residuals), on the levels of a column if one is named, and its curves and
    pairs. Fields for all features answer with the prediction and what every term contributes;
    curves can be dragged, and what was changed is downloaded for ``rgboost edit``. The file loads
    nothing: what it computes, it computes by itself, from the model's tables.

    The file holds the model, and of the rows sums and quantiles. The values of rows are in it only
    if ``rows`` asks for them: then whoever has the file has these rows.

    Parameters
    ----------
    model
        A fitted `RGBMRegressor` or `RGBMClassifier` with stumps.
    X, y
        Rows and labels; best those that the model was not fitted to.
    path
        Where to write; a file that is there is replaced.
    by
        The name of a column of X, or a value for each row: losses, mean labels and mean predictions
        are shown for each of its levels. Many numbers are cut into five parts.
    rows
        How many rows go into the file with their values, the first ones; 200 at most.
    sample_weight, offset
        As for ``fit``.
    title
        Heading of the page; by default the name of the estimator.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.report import write_report
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X[:300], y[:300])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model, X[300:], y[300:], os.path.join(folder, "report.html"), by="sex")
    """
    check_is_fitted(model)
    check_count(rows, "rows", at_most=ROWS_MOST)
    data = report_data(model, X, y, by, rows, sample_weight, offset)
    more = {
        place: "".join(read_asset(__package__, f"{name}.html") for name in names)
        for place, names in SECTIONS.items()
    }
    more["style"] = read_asset(__package__, "report.css")
    more["scripts"] = "\n".join(read_asset(__package__, f"{name}.js") for name in SCRIPTS)
    write_html(path, type(model).__name__ if title is None else title, data, more)


def report_data(
    model: Any, X: Any, y: Any, by: Any, rows: int, sample_weight: Any, offset: Any
) -> dict[str, Any]:
    """What the report shows, as plain values."""
    data = page_data(model)
    judged = judge(model, X, y, sample_weight, offset)
    terms = extract(model)
    inputs = Inputs(model, terms)
    data["plan"] = plan_data(model)
    data["performance"] = performance(judged, model)
    data["levels"] = None if by is None else by_levels(judged, *column_of(X, by))
    data["model"] = exact_tables(terms, inputs)
    data["inputs"] = inputs.to_list(judged.X)
    data["rows"] = _rows(judged, inputs, rows)
    classes = getattr(model, "classes_", None)
    data["class_names"] = None if classes is None else [str(label) for label in classes.tolist()]
    data["edit_cost"] = None
    if hasattr(model, "edits_"):
        old = judge(model.unedited(), X, y, sample_weight, offset).mean_loss()
        data["edit_cost"] = [judged.loss_name, rounded(old), rounded(judged.mean_loss())]
    data["has_offset"] = offset is not None
    data["edits"] = {"format": FORMAT, "version": VERSION, "model": checksum(model)}
    return data


def _rows(judged: Judged, inputs: Inputs, n: int) -> list[dict[str, Any]]:
    first = inputs.values(judged.X[:n]) if n else np.empty((0, 0))
    predicted = judged.predicted[:n]
    return [
        {
            "values": [None if np.isnan(x) else x for x in values],
            "label": str(label) if judged.of_classes else rounded(label),
            "predicted": rounded_list(p),
            "loss": rounded(loss),
        }
        for values, label, p, loss in zip(
            first.tolist(), judged.labels[:n].tolist(), predicted, judged.losses[:n], strict=True
        )
    ]


def column_of(X: Any, by: Any) -> tuple[str, Any]:
    """Name and values of what rows are told apart by."""
    if not isinstance(by, str):
        return str(getattr(by, "name", None) or "the given column"), by
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise ValueError(
            f"by={by!r} is the name of a column, and X has no names; give the values instead, one "
            "for each row."
        )
    if by not in frame.columns:
        some = ", ".join(repr(name) for name in frame.columns[:10])
        raise ValueError(
            f"by={by!r} is no column of X, whose columns are {some}; give one of them, or a value "
            "for each row."
        )
    return by, frame[by].to_numpy()


def plan_data(model: Any) -> dict[str, Any]:
    """How the model was fitted: settings, engines, events, and the last certificate."""
    plan = getattr(model, "plan_", None)
    entries = () if plan is None else plan.entries
    found = getattr(model.trace_, "certificates", ())
    certificate = None
    if found:
        iteration, last = found[-1]
        certificate = {
            "iteration": int(iteration),
            "loss": rounded(last.loss),
            "gap": rounded(last.gap),
            "relative": rounded(last.relative_gap),
        }
    return {
        "entries": [[e.name, shown(e.value), e.source, e.why] for e in entries],
        "events": [] if plan is None else list(plan.events),
        "certificate": certificate,
    }
