"""What cannot be done with `Chunks`: said before anything is read, which may take long."""

from __future__ import annotations

from typing import Any

from ...training.plan.pieces import IN_MEMORY, obstacles
from .given import in_pieces


def refuse_early(estimator: Any, X_val: Any, **given: Any) -> None:
    """Raise for arguments of `fit`, and parameters of an estimator, that do not go with Chunks.

    Runs touch no row: they ask statistics, which are sums over the rows. So it needs stumps, and a
    loss that has quadratic models.
    """
    if X_val is not None and not in_pieces(X_val):
        raise ValueError(
            "X is Chunks, and X_val is not: give Chunks for both (rows in memory are one piece: "
            "Chunks(lambda: [(X_val, y_val)]))."
        )
    for name, value in given.items():
        if value is not None:
            where = "in the pieces" if name in ("y", "sample_weight", "offset") else None
            where = "in the pieces of X_val" if name.endswith("_val") else where
            remedy = f"its values belong {where}" if where else f"leave it out, or {IN_MEMORY}"
            raise ValueError(f"{name} is given beside Chunks: {remedy}.")
    found = next(obstacles(estimator.get_params(deep=False)), None)
    if found is not None:
        what, why, remedy = found
        raise ValueError(f"{what} is not for Chunks: {why}. {remedy[:1].upper()}{remedy[1:]}.")
