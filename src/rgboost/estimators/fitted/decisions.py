"""Decisions by a fitted model."""

from __future__ import annotations

from typing import Any

from ...decisions import (
    Counterfactuals,
    ReasonCodes,
    Scorecard,
    counterfactual,
    reason_codes,
    to_scorecard,
)


class DecisionsMixin:
    """Methods of both estimators; the work is done in `rgboost.decisions`."""

    def reason_codes(
        self, X: Any, k: int = 3, *, reference: Any = "mean", label: Any = None
    ) -> ReasonCodes:
        """The k terms that cost every row most: that lower its score most against a reference.

        Parameters
        ----------
        X
            Rows.
        k
            How many terms, at most; terms that cost nothing are left out.
        reference
            What rows are compared with. "mean": what a term adds on average over the training rows
            (a row of nothing but averages has the mean score). "best": the most that a term adds to
            any training row. Or rows: what the terms add to these on average.
        label
            The class whose score is looked at. Of two classes by default the second, of more it
            must be given. To find out why a loan was refused, give the class of those who pay.

        Returns
        -------
        ReasonCodes

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rgboost import RGBMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = RGBMClassifier(max_iter=50, interactions=0, random_state=0).fit(X, y)
        >>> reasons = model.reason_codes(X[:1], k=2, label=1)
        >>> reasons.names.shape
        (1, 2)
        """
        return reason_codes(self, X, k, reference=reference, label=label)

    def counterfactual(
        self,
        X: Any,
        feature: str | int,
        threshold: float | None = None,
        *,
        label: Any = None,
        grid: Any = None,
        offset: Any = None,
    ) -> Counterfactuals:
        """The smallest change of one feature that takes every row across a threshold.

        With all other features as they are, what a row is predicted is a step function of this one:
        that of its curve, and of one row or column of each of its pairs. So the closest value on
        the other side is looked up, and is exact: no value in between crosses. Categories are all
        as far from each other: of those that cross, it is the one with the most training rows. A
        row in which a numeric feature is missing has no closest value.

        Parameters
        ----------
        X
            Rows.
        feature
            The feature that may change, by name or index.
        threshold
            A probability of ``label`` (by default 0.5), or a prediction of a regression. Rows at
            the threshold count as above.
        label
            Of a classifier, the class whose probability it is; of two classes by default the
            second, ``classes_[1]``.
        grid
            The values that the feature may have, such as whole numbers or some of the categories.
            By default any.
        offset
            Known parts of the scores, as in ``predict``.

        Returns
        -------
        Counterfactuals

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
        >>> found = model.counterfactual(X[:5], "bmi", threshold=150.0)
        >>> len(found), found.feature
        (5, 'bmi')
        """
        return counterfactual(self, X, feature, threshold, label=label, grid=grid, offset=offset)


class ScorecardMixin:
    """A classifier's table of points."""

    def to_scorecard(
        self, pdo: float = 20.0, odds: float = 50.0, points: float = 600.0, *, label: Any = None
    ) -> Scorecard:
        """The model as a table of points, one for each bin of each term.

        A row's points are added up from the table. ``points`` stand for odds of ``odds`` to one for
        the class ``label`` (by default ``classes_[1]``), and ``pdo`` more points for twice the
        odds. Points are rounded to whole numbers: ``most_off`` of the table is the most that this
        can move a row, ``rounding(X, y)`` what it does to given rows and to their loss.

        Only for two classes and ``loss="logistic"``, whose score is the log-odds.

        Parameters
        ----------
        pdo : float
            How many more points stand for twice the odds.
        odds, points : float
            ``points`` stand for odds of ``odds`` to one.
        label : optional
            The class that points speak for, by default ``classes_[1]``.

        Returns
        -------
        Scorecard

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rgboost import RGBMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = RGBMClassifier(max_iter=50, interactions=0, random_state=0).fit(X, y)
        >>> card = model.to_scorecard()
        >>> bool(abs(card.score(X) - card.exact_score(X)).max() <= card.most_off)
        True
        """
        return to_scorecard(self, pdo, odds, points, label)
