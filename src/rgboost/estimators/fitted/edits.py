"""Editing a fitted model: what needs rows, or the estimator."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from sklearn.base import clone

from ..._core.team import check_n_jobs
from ...editing import Editor
from ...editing.apply import put_parts
from ...editing.terms import Features, Parts
from ..held_out import TrainingRows
from .labelled import labelled, mean_loss, to_fit
from .refit import constant_but, free_terms, merged

_OF_A_FIT = (
    "n_iter_", "best_iteration_", "n_learners_", "subset_size_", "trace_", "cv_loss_", "plan_",
    "pair_scores_", "pair_trace_",
)  # fmt: skip
"""Attributes that tell how a model was fitted."""


class EditsMixin:
    """``model.edit()``, and what `rgboost.editing` asks of an estimator."""

    n_jobs: Any
    model_: Any
    coverage_: Any
    loss_: Any
    input_: Any
    plan_: Any
    intercept_: Any

    def edit(self) -> Editor:
        """An editor of the model, which makes other models of it and never changes it.

        See `rgboost.editing.Editor`, which has the edits: set, flatten, clip, smooth, monotone,
        drop, add, recentre, refit. Importances and explanations of an edited model are those of
        its tables, exactly; it has no stages and no certificate, which are of boosting.

        Returns
        -------
        Editor

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
        >>> edited = model.edit().drop("sex", reason="not allowed to matter").model
        >>> bool(edited.feature_importances_[1] == 0)
        True
        """
        return Editor(self)

    def unedited(self) -> Self:
        """The model before its first edit, for a look at the curves before and after; without a
        path, bands and bags. A model that was not edited is itself.

        Returns
        -------
        An estimator.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
        >>> edited = model.edit().drop("sex", reason="not allowed to matter").model
        >>> bool((edited.unedited().predict(X) == model.predict(X)).all())
        True
        """
        other, history = copy.copy(self), getattr(self, "edits_", None)
        if history is not None:
            for name in ("edits_", "bands_"):
                vars(other).pop(name, None)
            other.model_, other.coverage_ = history.model, history.coverage
            other.intercept_ = other.model_.intercept
        return other

    def _mean_loss(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> float:
        """The mean loss of rows."""
        rows = labelled(self, X, y, sample_weight, offset)
        return mean_loss(self, rows, self.model_.score(rows.X, check_n_jobs(self.n_jobs)))

    def _with_intercept_for(self, given: Any) -> Self:
        """The same terms, with the intercept that has the smallest loss on rows."""
        rows = to_fit(self, given)
        parts = Parts.of(self.model_, self.coverage_)
        alone, _ = replace(parts, intercept=0.0 * parts.intercept).model()
        score = alone.score(rows.X, check_n_jobs(self.n_jobs))
        score = score if rows.offset is None else score + rows.offset
        best: Any = self.loss_.best_constant(rows.y, rows.weight, score)
        other = copy.copy(self)
        other.model_, _ = replace(parts, intercept=0.0 * parts.intercept + best).model()
        return other

    def _with_terms_for(self, given: Any, parts: Parts, kept: Sequence[Features]) -> Self:
        """The kept terms, and the others fitted to rows beside what these say."""
        rows = to_fit(self, given)
        free = free_terms(parts, kept)
        fixed = replace(
            parts,
            intercept=0.0 * parts.intercept,
            terms={key: term for key, term in parts.terms.items() if key not in free},
        )
        offset = fixed.model()[0].score(rows.X, check_n_jobs(self.n_jobs))
        offset = self._check_offset(offset, len(rows.y))  # type: ignore[attr-defined]
        offset = offset if rows.offset is None else offset + rows.offset
        pairs = [key for key in free if len(key) == 2]
        fit = clone(self).set_params(
            callbacks=None, warm_start=False, verbose=0, interactions=pairs or 0, bags=0
        )
        for name in ("input_", "n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self, name):
                setattr(fit, name, getattr(self, name))
        X = constant_but(rows.X, [key[0] for key in free if len(key) == 1], self.input_)
        training = TrainingRows(
            X, rows.y, rows.weight, None, offset, None, stratified=hasattr(self, "classes_")
        )
        try:
            interrupted = fit._fit_score(training, self.loss_, None)
        except ValueError as error:
            raise ValueError(
                f"the other terms cannot be fitted to these rows: {error} (A refit leaves pairs "
                "alone that are in keep, and takes no groups: set_params(cv=5) needs none.)"
            ) from error
        if interrupted:
            raise KeyboardInterrupt
        found = Parts.of(fit.model_, fit.coverage_, getattr(fit, "bands_", None))
        other = copy.copy(self)
        for name in _OF_A_FIT:
            vars(other).pop(name, None)
            if hasattr(fit, name):
                setattr(other, name, getattr(fit, name))
        names = self._feature_names()  # type: ignore[attr-defined]
        told = [" x ".join(str(names[g]) for g in key) for key in fixed.terms]
        other.plan_.events.append(f"a refit; kept as they were: {', '.join(told) or 'no terms'}")
        put_parts(other, merged(found, fixed, rows))
        return other
