"""What the readers return."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..._core.one_line import one_line

Format = Literal["csv", "parquet", "libsvm"]


@one_line
@dataclass(frozen=True)
class Table:
    """Rows of a file: features, and the target when there is one.

    Attributes
    ----------
    X : pandas.DataFrame or scipy.sparse.csr_array
        A data frame from CSV and Parquet, a sparse matrix from LIBSVM.
    y : array of shape (n_rows,) or None
        The target: float64 from LIBSVM, the column's own type from the others. None where no
        target was asked for (CSV, Parquet).
    feature_names : tuple of str or None
        Names of the columns of X; None for LIBSVM, whose features only have numbers.
    path : pathlib.Path
    format : {"csv", "parquet", "libsvm"}
    query_ids : int64 array of shape (n_rows,) or None
        The ``qid`` of every row of a LIBSVM file that has them. They are kept, never used.
    zero_based : bool or None
        Whether the feature numbers of a LIBSVM file start at 0; column 0 of X is the file's
        feature 0 then, and its feature 1 otherwise.
    """

    X: Any
    y: NDArray[Any] | None
    feature_names: tuple[str, ...] | None
    path: Path
    format: Format
    query_ids: NDArray[np.int64] | None = None
    zero_based: bool | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])
