"""Rows piece by piece: what `rgboost.Chunks` is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..._core.validation import check_count
from .files import BATCH_ROWS, CsvFiles, ParquetFiles, PathLike
from .piece import Piece, as_piece

Watch = Callable[[str, int, int], None]


class Chunks:
    """Rows that are read piece by piece, because they need not fit into memory.

    ``fit``, ``predict``, ``predict_proba``, ``decision_function``, ``score`` and ``plan`` of the
    estimators take it in place of X; labels, weights and offsets are in it. `from_parquet` and
    `from_csv` read files.

    Parameters
    ----------
    factory : callable
        A function without arguments that gives an iterator of pieces, a new one at every call: the
        rows are read more than once, and must be the same each time. A piece is ``(X, y)``,
        ``(X, y, weight)``, or a dict of ``X``, ``y``, ``weight`` and ``offset``, each of any kind
        that ``fit`` takes; to predict, X alone will do. Pieces may have any number of rows, also
        none. The columns of all pieces must be the same.
    work_dir : path, optional
        A folder with room for the bins of the rows, about a byte for each value. Default: the
        system's folder for temporary files. Nothing stays there, however the fit ends.
    sample_rows : int, optional
        Thresholds follow from so many rows, drawn by the ``random_state`` of the estimator; from
        all of them if there are no more. Default: 200,000, fewer if there are more than 167
        features.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import Chunks, RGBMRegressor
    >>> def pieces():
    ...     for seed in range(10):
    ...         X = np.random.default_rng(seed).normal(size=(1000, 5))
    ...         yield X, np.sin(X[:, 0]) + X[:, 1]
    >>> model = RGBMRegressor(max_iter=200, random_state=0).fit(Chunks(pieces))
    >>> bool(model.score(Chunks(pieces)) > 0.95)
    True
    """

    def __init__(
        self,
        factory: Callable[[], Iterable[Any]],
        *,
        work_dir: str | os.PathLike[str] | None = None,
        sample_rows: int | None = None,
    ) -> None:
        if not callable(factory):
            raise TypeError(
                f"Chunks needs a function that makes an iterator of pieces, not the "
                f"{type(factory).__name__} itself: the rows are read more than once. Give a "
                "function that makes a new one, such as the generator function without its "
                "brackets, or lambda: iter(pieces)."
            )
        self.factory = factory
        self.folder = Path(tempfile.gettempdir() if work_dir is None else work_dir)
        if not self.folder.is_dir():
            raise ValueError(
                f"work_dir={str(work_dir)!r} is not a folder; make it, or name another."
            )
        if sample_rows is not None:
            check_count(sample_rows, "sample_rows", at_least=1)
        self.sample_rows = sample_rows
        self.watch: Watch = lambda what, done, total: None
        """Is told of every pass while a fit reads: what it is for, how many bytes were read, and of
        how many (0: not known). Put a function here to show progress."""
        self.n_rows = 0
        """How many rows there are, once they were read."""

    @classmethod
    def from_parquet(
        cls,
        paths: PathLike | Sequence[PathLike],
        target: str | None = None,
        weight: str | None = None,
        features: Sequence[str] | None = None,
        *,
        offset: str | None = None,
        batch_rows: int = BATCH_ROWS,
        work_dir: str | os.PathLike[str] | None = None,
        sample_rows: int | None = None,
    ) -> Chunks:
        """Rows of Parquet files, by pyarrow (``pip install 'rgboost[frames]'``).

        Columns of texts and of dictionaries are categories, nulls are missing values.

        Parameters
        ----------
        paths : path or list of paths
            A file, a folder (also with partitions such as ``year=2024/``, which are columns), a
            pattern such as ``"data/*.parquet"``, or a list of files.
        target, weight, offset : str, optional
            Names of the columns with labels, weights and offsets.
        features : list of str, optional
            Names of the features; all other columns if they are not named.
        batch_rows : int
            How many rows are read at a time.
        work_dir, sample_rows
            As in `Chunks`.

        Returns
        -------
        Chunks

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> import pandas as pd
        >>> from rgboost import Chunks, RGBMRegressor
        >>> rng = np.random.default_rng(0)
        >>> rows = pd.DataFrame(rng.normal(size=(1000, 3)), columns=["a", "b", "y"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "rows.parquet")
        ...     rows.to_parquet(path)
        ...     chunks = Chunks.from_parquet(path, target="y")
        ...     model = RGBMRegressor(max_iter=20, random_state=0).fit(chunks)
        >>> list(model.feature_names_in_)
        ['a', 'b']
        """
        columns = target, weight, offset, features
        return cls(
            ParquetFiles(paths, *columns, batch_rows), work_dir=work_dir, sample_rows=sample_rows
        )

    @classmethod
    def from_csv(
        cls,
        paths: PathLike | Sequence[PathLike],
        target: str | None = None,
        weight: str | None = None,
        features: Sequence[str] | None = None,
        *,
        offset: str | None = None,
        batch_rows: int = BATCH_ROWS,
        work_dir: str | os.PathLike[str] | None = None,
        sample_rows: int | None = None,
        **options: Any,
    ) -> Chunks:
        """Rows of CSV files, also compressed.

        Types of columns are inferred piece by piece: where a column has few texts among numbers,
        say ``dtypes={name: "str"}``.

        Parameters
        ----------
        paths, target, weight, features, offset, batch_rows, work_dir, sample_rows
            As in `from_parquet`.
        **options
            Those of `rgboost.data.readers.CsvOptions`.

        Returns
        -------
        Chunks

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> import pandas as pd
        >>> from rgboost import Chunks, RGBMRegressor
        >>> rng = np.random.default_rng(0)
        >>> rows = pd.DataFrame(rng.normal(size=(1000, 3)), columns=["a", "b", "y"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "rows.csv")
        ...     rows.to_csv(path, index=False)
        ...     chunks = Chunks.from_csv(path, target="y")
        ...     model = RGBMRegressor(max_iter=20, random_state=0).fit(chunks)
        >>> list(model.feature_names_in_)
        ['a', 'b']
        """
        columns = target, weight, offset, features
        return cls(
            CsvFiles(paths, *columns, batch_rows, options),
            work_dir=work_dir,
            sample_rows=sample_rows,
        )

    @property
    def n_bytes(self) -> int:
        """What one pass reads, if that is known; else 0."""
        return int(getattr(self.factory, "n_bytes", 0))

    def __iter__(self) -> Iterator[Piece]:
        """The pieces, from the first one on."""
        try:
            pieces = iter(self.factory())
        except TypeError as fault:
            if "is not iterable" not in str(fault):
                raise
            raise TypeError(
                f"The function that Chunks was given must make an iterator of pieces ({fault})."
            ) from fault
        n_rows = 0
        for k, given in enumerate(pieces):
            piece = given if isinstance(given, Piece) else as_piece(given, k)
            n_rows += piece.n_rows
            yield piece
        self.n_rows = n_rows
