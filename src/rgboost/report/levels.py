"""How a model does on the parts of the rows that a column tells apart."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.input.labels import missing_objects
from ..explain.page.data import rounded, rounded_list
from .judged import Judged
from .performance import NORMAL

LEVELS_MOST = 30
"""Levels that are shown; the lighter ones are put together."""

NUMBERS_MOST, PARTS = 12, 5
"""A column of more different numbers than this is cut into parts of about as many rows."""

MISSING = "missing"


def by_levels(judged: Judged, name: str, values: Any) -> dict[str, Any]:
    """For each level of a column: rows, mean labels, mean predictions, mean loss."""
    values = np.asarray(values)
    if values.shape != (len(judged),):
        raise ValueError(
            f"by has the shape {values.shape} and y {len(judged)} labels; give a value for each "
            "row."
        )
    codes, texts = levels_of(values)
    return {
        "name": name,
        "loss_name": judged.loss_name,
        "all": _level(judged, np.ones(len(judged), bool), "all rows"),
        "levels": [_level(judged, codes == k, text) for k, text in enumerate(texts)],
    }


def _level(judged: Judged, rows: NDArray[np.bool_], text: str) -> dict[str, Any]:
    w = judged.weight[rows]
    total = w.sum()
    if total == 0.0:
        return {"level": text, "rows": int(rows.sum()), "share": 0.0, "loss": None}
    off = judged.truth[rows] - judged.predicted[rows]
    mean = np.average(off, axis=0, weights=w)
    n = total**2 / (w**2).sum()
    error = np.sqrt(np.average((off - mean) ** 2, axis=0, weights=w) / max(n - 1.0, 1.0))
    return {
        "level": text,
        "rows": int(rows.sum()),
        "share": rounded(total / judged.weight.sum()),
        "truth": rounded_list(np.average(judged.truth[rows], axis=0, weights=w)),
        "predicted": rounded_list(np.average(judged.predicted[rows], axis=0, weights=w)),
        "off": rounded_list(-mean),
        "error": rounded_list(NORMAL * error) if n > 1.0 else [None] * len(mean),
        "loss": rounded(judged.mean_loss(rows)),
    }


def levels_of(values: NDArray) -> tuple[NDArray[np.int64], list[str]]:
    """The number of every row's level, and the levels in words, missing values last."""
    numbers = values.dtype.kind in "iuf"
    missing = np.isnan(values) if numbers else missing_objects(values.astype(object))
    known = values[~missing] if numbers else values[~missing].astype(str)
    found, codes = np.unique(known, return_inverse=True)
    if numbers and len(found) > NUMBERS_MOST:
        edges = np.unique(np.quantile(known, np.arange(1, PARTS) / PARTS, method="lower"))
        codes, texts = np.searchsorted(edges, known), _intervals(edges)
    else:
        texts = [f"{v:g}" if numbers else str(v) for v in found.tolist()]
        if len(texts) > LEVELS_MOST:
            codes, texts = _heaviest(codes, texts)
    out = np.full(len(values), len(texts), np.int64)
    out[~missing] = codes
    kept = np.unique(out)  # an interval may hold no row
    texts = [*texts, MISSING]
    return np.searchsorted(kept, out), [texts[k] for k in kept.tolist()]


def _intervals(edges: NDArray) -> list[str]:
    at = [f"{edge:.6g}" for edge in edges.tolist()]
    inner = [f"above {a}, up to {b}" for a, b in pairwise(at)]
    return [f"up to {at[0]}", *inner, f"above {at[-1]}"]


def _heaviest(codes: NDArray[np.int64], texts: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    """The levels with the most rows, and one for all others."""
    counts = np.bincount(codes, minlength=len(texts))
    kept = np.sort(np.argsort(-counts, kind="stable")[: LEVELS_MOST - 1])
    new = np.full(len(texts), len(kept))
    new[kept] = np.arange(len(kept))
    return new[codes], [*(texts[k] for k in kept), f"({len(texts) - len(kept)} others)"]
