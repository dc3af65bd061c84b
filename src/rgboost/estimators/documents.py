"""What the docstrings of the regressor and the classifier share: parameters, attributes, `fit`."""

from __future__ import annotations

_PARAMETERS = """
    loss : str or Loss
        What is made small: {losses}
        or an object of `rgboost.losses`, also one of your own.
    learner : "stumps", "trees" or LearnerFamily
        Stumps give curves that can be read; trees often predict better and cannot be.
        An object of `rgboost.learners` has settings of its own.
    selection : {{"auto", "all", "learners", "group", "groups", "thresholds"}} or SelectionRule
        What an iteration looks at: every weak-learner, a random part (Types 0 to 3 of the paper),
        or random thresholds of all features. Leave it, unless you repeat the paper.
    subset_size : int, float, "sqrt", "all" or "auto"
        t, how many are looked at: a count, a fraction, the square root, or all. Smaller is faster
        per iteration and regularises.
    groups : list of lists of features, optional
        A partition of the features, by index or name, for ``selection`` ``"group"`` and
        ``"groups"``: columns that belong together. Default: every feature is a group.
    feature_weights : dict or array-like, optional
        How often features are drawn, relative to each other, by ``"group"`` and ``"groups"``: for
        costly or doubtful columns. 0: never. See `rgboost.selection.WeightedGroups`.
    always_features : list of features, optional
        Features, by name or index, that are in every subset: those that you trust most. The others
        are drawn besides.
    monotone_constraints : dict or array-like of {{-1, 0, 1}}, optional
        1: the prediction may not fall along the feature, whatever the others are; -1: not rise.
        For what one knows, and to take out noise. Not for categories, nor more than two classes.
    interactions : "auto", int, "all" or list of pairs
        Pairs of features beside the curves. ``"auto"``: if held-out rows gain by them. A number:
        so many, the strongest, for people to read. A list: these. ``"all"``, or 0 for curves only.
    interaction_constraints : list of lists of features, optional
        Who may act together: a pair, or the splits on the way to a leaf of a tree, lies in one of
        the lists. For pairs that nobody could explain. Default: all may.
    step : {{"auto", "constant", "line-search", "leaf-search", "newton"}} or StepRule
        How far an iteration goes: 1/sigma, the best along the weak-learner, the best value of each
        side, or Newton's. ``"auto"`` takes what suits the loss; see `rgboost.steps`.
    learning_rate : float or "auto"
        Multiplies the step. Smaller ones need more iterations and predict a little better; 1 is
        the paper's.
    max_iter : int, "auto" or "cv"
        How many iterations. ``"auto"``: until held-out rows no longer gain. ``"cv"``: the same, by
        cross-validation. A number: exactly so many, for benchmarks and for the paper's fits.
    cv : int, splitter or list of (train, test) rows
        The folds of cross-validation. Give a splitter where rows belong together, or ``groups`` to
        ``fit``, which folds do not part then. Every row is held out once.
    ensemble : bool
        After cross-validation: True is the mean of its models, an additive model that predicts
        better than one of them. False is one fit to all rows.
    bags : int
        How many times the model is fitted again, to rows weighed anew at random, for bands of
        curves and ``predict(X, return_std=True)``. Two dozen are enough for most; 0: none.
    early_stopping : {{"auto", True, False}}
        Whether rows are held out to end the fit. ``"auto"``: where nothing else tells when to stop.
        With rows that are held out, the model is that of the best iteration.
    validation_fraction : float
        The share of the training rows that is held out, if ``fit`` is given no validation rows.
        More of them tell better when to stop, and are missing for the fit.
    n_iter_no_change : int or "auto"
        How many iterations to wait for the loss of held-out rows to fall. More cost time, and find
        late gains.
    tol : float
        The smallest relative fall of that loss that counts. 0: any.
    max_bins : int, None, "auto" or "paper"
        How many values a curve takes at most. Few are coarse and easy to read, many follow the
        data; None: a threshold between every two values.
    binning : {{"quantile", "hybrid"}}
        Thresholds at quantiles; or half of them there and half evenly spaced, where the far ends
        of a skewed feature matter.
    categorical_features : "from_dtype", None, or list of names, indices or booleans
        Features that are split into sets of categories. ``"from_dtype"``: columns of a frame that
        hold categories or strings. Name those that are coded by numbers.
    min_weight_fraction_leaf : float or "auto"
        The least share of the rows on either side of a split. Larger ones have no steps at the ends
        that few rows are behind.
    init : {{"zero", "best"}}
        Where the score starts: at the best constant, or at 0 as in the paper.
    ridge : float
        ridge/2 f^2 is added to a loss given by name. A little makes the loss strongly convex, and
        the guarantees of the paper hold.
    engine : {{"auto", "direct", "gram", "quadratic"}}
        How iterations are computed: on the rows, on statistics of them (squared loss), or on
        quadratic models of the loss. Leave it: ``"auto"`` takes the fastest that can be had.
    gram_memory : int or None
        Bytes that statistics may take. None: a share of what the process may use. Less is slower,
        and the model may be another one: ``plan_`` says so.
    n_jobs : int or None
        Threads. None: as many as the process may use. Results do not depend on it.
    device : {{"cpu", "cuda", "cuda:1", ...}}
        Where sums over the rows are made: in memory, or on an NVIDIA card, for many rows. The
        model is the same up to rounding. Predictions of a stored model need no card.
    device_memory : int or None
        Bytes on the card that may be used. None: most of those that are free. Rows that are too
        many pass over the card in pieces.
    random_state : int, RandomState or None
        Seed of the random subsets and folds. An integer makes fits repeatable, bit for bit.
    warm_start : bool
        Go on with the fit before, with the same data, until ``max_iter`` iterations are done in
        all. It is the model of one longer fit, bit for bit.
    callbacks : list of callables, optional
        Called while fitting, to watch or to stop: see `rgboost.callbacks`.
    verbose : int
        0: quiet. 1: a progress bar with the losses. 2: a line every second instead, by the logger
        ``rgboost`` if that shows such messages, else on standard error. Quiet inside joblib.
"""


def parameters(losses: str) -> str:
    """The section of parameters."""
    return _PARAMETERS.format(losses=losses)


ATTRIBUTES = """
    model_
        The fitted additive model: tables per feature, and the path of weak-learners.
    coverage_
        Where the training rows lie on the features that the model uses; None for a dictionary.
    feature_importances_, term_importances_, term_names_, term_features_
        See the properties.
    trace_ : Trace
        ``trace_.train_loss`` has ``n_iter_ + 1`` entries, after loading a stored model those of
        ``trace_.iteration``.
    n_iter_ : int
        Number of iterations done. Of the mean of several runs (``ensemble``) they are rounds: an
        iteration is one of every run, and losses of ``trace_`` are means over the runs, whose
        number is ``trace_.n_runs``.
    best_iteration_ : int
        The iteration that the model is of: where the validation loss was smallest, or ``n_iter_``
        if there were no validation rows. Stages end there.
    pair_scores_ : dict
        Where pairs were looked at: from pairs of names to the share of what the curves leave that
        one cut of both features explains, the strongest pair first.
    pair_trace_ : Trace
        The losses of the rounds that pairs were fitted in; see ``plan_.events``.
    cv_loss_ : ndarray
        After cross-validation, the mean loss of held-out rows after 0, 1, ... iterations.
    bands_
        How far the runs of a mean (or the bags) are apart, in every bin of every curve and pair:
        standard deviations. None where there was one run.
    bags_
        The models of the bags, if there are any.
    edits_
        The edits of a model that came from ``edit()``.
    has_offset_ : bool
        Whether the fit had an offset.
    loss_ : Loss
        The loss that was minimised.
    intercept_ : float, or ndarray of shape (classes,)
        The score that the iterations started from.
    n_learners_ : int
        K, the number of weak-learners.
    subset_size_ : int
        t as a number.
    plan_ : Plan
        The value of every setting of the fit, given or by which rule, the engines that were
        considered, and what changed on the way; ``plan(X, y)`` says it without a fit.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    input_
        Names of the features and labels of their categories.
"""


FIT = """Fit the model to rows and their labels.

        Ctrl-C ends the fit after the iterations that are under way: the estimator is left fitted
        with what was done until then, and KeyboardInterrupt is raised. If nothing was done yet, or
        if the fit fails, the estimator is left as it was.

        Parameters
        ----------
        X : data frame, array, sparse matrix or Chunks
            The rows. A `rgboost.Chunks` has rows that are read piece by piece, with their labels,
            weights and offsets. With ``device="cuda"`` also an array on that card (CuPy, torch),
            whose rows stay there.
        y : array-like
            Their labels.
        sample_weight : array-like, optional
            Numbers that are not negative; a row without weight is not there. Rules of ``"auto"``
            and folds count rows, whatever their weights.
        offset : array-like, optional
            A known part of the score, one number for each row (with more than two classes, (rows,
            classes)): the logarithm of the exposure of a count, or the score of another model. The
            model is what is added to it; hand the offset of new rows to ``predict``.
        groups : array-like, optional
            Groups of rows (not of features, which are a parameter): folds of ``cv`` and rows that
            are held out have whole groups.
        X_val, y_val, sample_weight_val, offset_val : optional
            Validation rows for early stopping; none of the training rows is held out then.
            ``X_val`` may be a `rgboost.Chunks`, too.
        resume : path, optional
            The file of a checkpoint (`rgboost.callbacks.Checkpoint`) of a fit to the same data
            with the same parameters: it goes on from there.

        Returns
        -------
        The estimator itself.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=20, interactions=0, random_state=0)
        >>> model.fit(X, y).n_iter_
        20
        """
