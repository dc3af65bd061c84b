"""A tree as bytes, for the record of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import MOST_BINS
from .grow import Tree


def split_type(set_bytes: int) -> np.dtype[Any]:
    """A split: its number (-1: there is none), the leaf that it parts, whether missing values go to
    the left; its gain, the weight on the right, and which categories are on the left (bits of
    bins; of numbers, the split tells)."""
    return np.dtype(
        [
            ("learner", "<i4"),
            ("leaf", "u1"),
            ("missing_left", "u1"),
            ("gain", "<f8"),
            ("weight", "<f8", (2,)),
            ("set", "u1", (set_bytes,)),
        ]
    )


def write_tree(
    tree: Tree, offsets: NDArray[np.int64], n_values: NDArray[np.int64], out: NDArray[Any]
) -> None:
    """Write the splits of a tree to entries of `split_type`."""
    n = len(tree.leaf)
    out["learner"] = -1
    out["learner"][:n] = offsets[tree.column] + tree.split
    out["leaf"][:n], out["gain"][:n], out["weight"][:n] = tree.leaf, tree.gain, tree.weight
    out["missing_left"][:n] = tree.left[np.arange(n), n_values[tree.column]]
    set_bytes = out.dtype["set"].shape[0]
    if set_bytes:
        bits = np.packbits(tree.left[:n], axis=1, bitorder="little")
        out["set"][:n] = bits[:, :set_bytes]


def no_splits(n_splits: int, set_bytes: int) -> NDArray[Any]:
    out = np.zeros(n_splits, split_type(set_bytes))
    out["learner"] = -1
    return out


assert MOST_BINS == 256  # bits of a set are those of the codes
