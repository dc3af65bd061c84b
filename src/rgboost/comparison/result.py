"""What `rgboost.compare` gives."""

from __future__ import annotations

import os
from typing import Any

from .compared import Compared
from .page import notebook_html, write_page
from .words import as_lines, sentence


class Comparison(Compared):
    """Models compared on the same held-out rows, the smallest first.

    Printed, it is a table that ends with a sentence; a notebook shows the figure, too.

    Attributes
    ----------
    models
        A `ComparedModel` for each, in the order of their size: by the number of curves and heat
        maps, then by bytes; those that nobody can look through come last.
    best
        The model with the smallest loss.
    smallest
        The smallest model whose loss is within one standard error of the best.
    smallest_readable
        The same among those that can be looked through.
    table
        A list of dicts, one for each model; `to_frame` makes a data frame of it.
    sentence
        Which model that is, and what it costs, in one sentence.
    measure
        What the loss is called: ``1 - R²``, ``log-loss``, or a mean loss.
    n_rows, n_features, n_held_out, n_fits
        What models were compared on: ``n_fits`` is how often each was fitted, once for every fold.
    left_out
        Models that cannot be had on these rows, and why.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import rgboost
    >>> found = rgboost.compare(*load_diabetes(return_X_y=True), pairs=[3], cv=2)
    >>> len(found.models), found.measure
    (4, '1 - R²')
    """

    @property
    def sentence(self) -> str:
        """The smallest model whose loss is within one standard error of the best, in words."""
        return sentence(self)

    def __repr__(self) -> str:
        return "\n".join(as_lines(self))

    def _repr_html_(self) -> str:
        return notebook_html(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the losses with matplotlib: a `rgboost.plot.ComparisonDisplay`."""
        from ..plot import ComparisonDisplay

        return ComparisonDisplay(self).plot(ax)

    def page(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write the comparison as one HTML file in plain words, for whoever decides.

        It has the sentence, the figure, the table, and how to read them. It loads nothing from
        elsewhere and needs no JavaScript. A file that is there is replaced.
        """
        write_page(self, path, title)
