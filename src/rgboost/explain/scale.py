"""What a score is, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses import Loss


@dataclass(frozen=True)
class Scale:
    """``str(scale)`` is what the score is called, such as ``log-odds of class yes``.

    Attributes
    ----------
    name
        The scale, such as ``log-odds``; ``score`` where it has no other name.
    label
        The class that the score speaks for: of two classes the second, whose rows have positive
        scores. None of a regression, and where there is a score for each class.
    other
        Of two classes, the one whose rows have negative scores.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rgboost import RGBMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RGBMClassifier(max_iter=20, interactions=0, random_state=0).fit(X, y)
    >>> str(model.explain_global().scale)
    'log-odds of class 1'
    """

    name: str = "score"
    label: Any = None
    other: Any = None

    @classmethod
    def of(cls, loss: Loss, classes: NDArray | None) -> Scale:
        """That of the scores of a fitted model.

        Parameters
        ----------
        loss
            The loss that was fitted.
        classes
            The labels of its classes, None of a regression.

        Returns
        -------
        Scale
            The scale.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost.explain import Scale
        >>> from rgboost.losses import Logistic
        >>> str(Scale.of(Logistic(), np.array(["no", "yes"])))
        'log-odds of class yes'
        """
        if classes is None or len(classes) > 2:
            return cls(loss.score_name)
        other, label = classes.tolist()
        return cls(loss.score_name, label, other)

    def __str__(self) -> str:
        return self.name if self.label is None else f"{self.name} of class {self.label}"

    def choose(
        self, label: Any, classes: NDArray | None
    ) -> tuple[Scale, Callable[[Any], NDArray[np.float64]]]:
        """The scale of a class's own score, and what takes it from an array of scores.

        Of more than two classes the last axis of the array has them all; of two, the score of the
        one is that of the other with its sign turned.

        Parameters
        ----------
        label
            One of the classes.
        classes
            The labels of more than two classes, or None.

        Returns
        -------
        tuple
            The scale, and a function of scores.

        Examples
        --------
        >>> from rgboost.explain import Scale
        >>> scale, take = Scale("log-odds", label="yes", other="no").choose("no", None)
        >>> str(scale), take([2.0]).tolist()
        ('log-odds of class no', [-2.0])
        """
        pair = [] if self.other is None else [self.other, self.label]
        known = pair if classes is None else classes.tolist()
        if not known:
            what = f"of class {self.label!r} only" if self.label is not None else "of no class"
            raise ValueError(f"this is the explanation of one score, {what}; label={label!r}.")
        if label not in known:
            raise ValueError(f"label={label!r} is none of the classes {known}.")
        c = known.index(label)
        if classes is not None:
            return Scale(self.name, known[c]), lambda scores: np.asarray(scores)[..., c]
        sign = 1.0 if known[c] == self.label else -1.0
        return Scale(self.name, known[c], known[1 - c]), lambda scores: sign * np.asarray(scores)


SCORE = Scale()
"""A score without a name of its own."""
