"""What the docstrings of the regressor and the classifier share: parameters, attributes, `fit`."""

from __future__ import annotations

from ..training.plan import costs, rules

_PARAMETERS = """
    loss : str or Loss
        {losses}
        or an object of `rgboost.losses`, also one of your own.
    learner : "stumps", "trees" or LearnerFamily
        ``"stumps"`` are `Stumps` with free leaves, ``max_bins`` and ``binning``; ``"trees"`` are
        `Trees`, which often predict better and cannot be shown as curves; or a family
        object of `rgboost.learners`, to which these two do not apply.
    selection : {{"auto", "all", "learners", "group", "groups", "thresholds"}} or SelectionRule
        Which weak-learners an iteration looks at. Types 0 to 3 of the paper: ``"all"``: every one
        (the Gradient Boosting Machine). ``"learners"``: ``subset_size`` of them. ``"group"``: those
        of one group. ``"groups"``: those of ``subset_size`` groups. Besides, ``"thresholds"``:
        ``subset_size`` of them, spread evenly over the features. Or a rule object of
        `rgboost.selection`, which brings its own t. ``"auto"``: ``"learners"``; but
        ``"thresholds"`` for the mean of several runs (see ``ensemble``) below {MANY_ROWS:,} rows,
        if neither ``subset_size`` nor ``always_features`` is given. With categories or missing
        values both are fitted then, and the one with the smaller loss of held-out rows is kept.
        Trees have features drawn for each: ``"groups"``, and none of the rules that draw single
        weak-learners but ``"thresholds"``.
    subset_size : int, float, "sqrt", "all" or "auto"
        t: a count; a fraction, rounded to the nearest integer, at least 1; the integer part of
        the square root; or all. Smaller is faster per iteration and regularises. ``"auto"``: the
        square root; with ``selection="thresholds"`` half that of the number of features, or one
        for every {ROWS_PER_THRESHOLD} rows, whichever is more. Trees: {SHARE_OF_FEATURES:g} of all.
    groups : list of lists of features, optional
        A partition of the features by index or name. Default: every feature is a group.
    feature_weights : dict or array-like, optional
        Weights with which features are drawn: by name or index (1 for the others), or one for
        each feature. The ``subset_size`` groups are drawn one after the other without
        replacement, each time with probabilities proportional to the weights of the groups that
        are left; a group's weight is the sum of those of its features; 0 is never drawn. For
        ``selection`` ``"group"`` and ``"groups"``. Default: the uniform draws of the paper.
    always_features : list of features, optional
        Features, by name or index, that are in every subset: with ``selection="learners"`` all
        their weak-learners, with ``"group"`` and ``"groups"`` their groups; ``subset_size`` of the
        others are drawn besides.
    monotone_constraints : dict or array-like of {{-1, 0, 1}}, optional
        By name or index, or one for each feature. 1: the function of the feature may not fall;
        -1: it may not rise; 0: no constraint. They hold for the whole model: whatever the values
        of the others, the prediction rises or falls along the feature. The value of missing
        entries is free; a categorical feature cannot be constrained. Not for more than two
        classes, and stumps take constant steps or line search.
    interactions : "auto", int, "all" or list of pairs
        Pairs of features that act together, beside the curves. ``"auto"``: as many as earn their
        place on held-out rows, none where they gain no more than noise, or where something does
        not go with pairs (``plan_`` says what). A number: so many, the strongest, fitted anew
        without the others, and a list: these pairs, by name or index; both whatever held-out rows
        gain by them, but for a pair that is never the best of a random subset. ``"all"``: every
        pair that has something to say. 0: a strictly additive model.
    interaction_constraints : list of lists of features, optional
        Features, by name or index, that may act together: a pair is looked at if one of the lists
        has both of its features; in trees, all that are split on the way to a leaf are in one of
        the lists. Default: all may.
    step : {{"auto", "constant", "line-search", "leaf-search", "newton"}} or StepRule
        ``"constant"``: 1/sigma, sigma the smoothness of the loss. ``"line-search"``: the best
        step along the weak-learner. ``"leaf-search"``: the best value for each side of a stump.
        ``"newton"``: sum of residuals over sum of curvatures on each side, as tree libraries do
        (with several classes over twice that sum, so that classes do not overshoot together).
        ``"auto"``: constant if the loss is smooth, but for several classes; else Newton if it has a
        Newton step, else leaf search (line search if the learner is not stumps with free leaves).
    learning_rate : float or "auto"
        Multiplies the step. ``"auto"``: {SHORT_STEPS:g}; but for the mean of several runs (see
        ``ensemble``) {LONG_STEPS:g} from {MANY_ROWS:,} rows on, and {STEPS_OF_THRESHOLDS:g} with
        the squared loss and ``selection="thresholds"``; for a single run of two classes
        {STEPS_OF_TWO_CLASSES:g} from {ROWS_OF_TWO_CLASSES:,} rows on, where the step 1/sigma is
        small already; and for several classes {STEPS_OF_CLASSES:g}, or {LONG_STEPS_OF_CLASSES:g}
        from {MANY_ROWS:,} rows on. Trees: {STEPS_OF_TREES:g}.
    max_iter : int, "auto" or "cv"
        Number of iterations, at most. ``"cv"``: as many as have the smallest loss in
        cross-validation with ``cv`` folds, at most {MOST_ITERATIONS:,}, or {MOST_ROUNDS:,} of a
        mean of runs; see ``ensemble`` for what follows. A fit that ends at that limit, or learns
        nothing, raises a ``ConvergenceWarning``. With the squared loss and stumps the folds cost
        one pass over the data, and bins come from all rows. Rows are not held out besides;
        ``n_iter_no_change`` and ``tol`` end the search. ``"auto"``: ``"cv"`` below
        {HOLD_OUT_ROWS:,} rows, and with losses whose mean of the folds' models costs little (see
        ``ensemble``); else, and where a class has fewer rows than there are folds, up to
        {MOST_ITERATIONS:,} until early stopping ends the fit; and {FEW_ITERATIONS} if there are
        fewer than {FEW_ROWS} rows.
    cv : int, splitter or list of (train, test) rows
        The folds of ``max_iter="cv"``: their number, for folds at random (of each class the same
        share), which do not part ``groups`` of rows that ``fit`` is given; or folds of yours that
        hold out every row once, as scikit-learn's GroupKFold does with these groups.
    ensemble : bool
        What follows cross-validation. True: the mean of the ``cv`` models, each of the rows outside
        a fold. It predicts better than one of them and needs no further fit, and the mean of
        additive models is an additive model like others. It comes from statistics with the squared
        loss, and, by quadratic models, with losses that have a Newton step (the logistic one of two
        classes, exponential, Poisson, gamma, Tweedie); from the rows where these are few, of
        several classes if rows times classes are at most {MOST_CLASS_SCORES:,}, and, after
        ``max_iter="cv"`` of at most {MOST_FEW_ROWS:,} rows of numbers, with every loss but those in
        Python. False, and in all other cases (``warm_start``, ``resume``, callbacks that look at
        one run: ``Checkpoint``, ``EarlyStopping``, certificates): a fit to all rows.
    bags : int
        How many times the model is fitted again, to rows that are weighed anew at random (the
        Bayesian bootstrap): for intervals of curves, and for ``predict(X, return_std=True)``. The
        model itself stays as it is, and a fit takes ``bags`` + 1 times as long. 0: none; some two
        dozen are enough for most.
    early_stopping : {{"auto", True, False}}
        Stop when the loss of validation rows no longer falls. ``"auto"``: if ``fit`` is given
        ``X_val, y_val``, or if ``max_iter="auto"`` says so. True holds rows out for that, False
        holds none out; where cross-validation tells when to stop (see ``max_iter``), False changes
        nothing. With validation rows of either kind the fitted model is the one of the best
        iteration, whether the fit stopped early or not.
    validation_fraction : float
        The share of the training rows that is held out, if no validation rows are given.
    n_iter_no_change : int or "auto"
        How many iterations to wait for the validation loss to fall. ``"auto"``: {PATIENCE},
        and {PATIENCE_OF_MEAN} for means of several runs from {MANY_ROWS:,} rows on; or
        {WAIT:g}/``learning_rate`` if that is more. Trees: {PATIENCE_OF_TREES}.
    tol : float
        The smallest relative fall of the validation loss that counts.
    max_bins : int, None, "auto" or "paper"
        Bins per feature. ``"auto"``: one for {ROWS_PER_BIN} rows, at least {FEWEST_BINS} and at
        most {BINS_OF_MANY}. But up to {BINS_OF_FEW} if that makes at most {FEW_SPLITS:,} splits of
        numbers and there are at most {ROWS_OF_FEW_BINS:,} rows; above {ROWS_OF_FEW_BINS:,} rows
        (dense) up to {MOST_AUTO_BINS:,} if features with more than {BINS_OF_MANY} values have at
        most {FEW_SPLITS:,} splits then; and {BINS_OF_MANY} where runs go by rows because these are
        few. None: every distinct value is a split. ``"paper"``: {PAPER_BINS} above {PAPER_ROWS:,}
        rows, None below.
    binning : {{"quantile", "hybrid"}}
        Thresholds at quantiles; or half of them there and half evenly spaced.
    categorical_features : "from_dtype", None, or list of names, indices or booleans
        Features that are split into sets of categories. ``"from_dtype"``: the columns of a data
        frame that hold categories or strings. A category that was not there at fit time counts as
        a missing value. Missing values (NaN, None, null) need no preparation: each split learns
        which side they take; a feature that had none at fit time adds its average where one is
        missing.
    min_weight_fraction_leaf : float or "auto"
        The least share of the weight of all rows on either side of a split. ``"auto"``: that of
        {LEAST_ROWS} rows with the squared loss from {MANY_ROWS:,} rows on, else 0.
    init : {{"zero", "best"}}
        Start from the score 0, or from the constant with the smallest loss.
    ridge : float
        ridge/2 f^2 is added to a loss given by name.
    engine : {{"auto", "direct", "gram", "quadratic"}}
        How the iterations are computed. ``"direct"``: on the rows. ``"gram"``: on statistics of
        the rows (squared loss, stumps); the same iterates at a cost that does not depend on the
        number of rows. ``"auto"``: the one of these two that is expected to be faster; but see
        ``ensemble`` for means on quadratic models.
        ``"quadratic"``: stretches of iterations on quadratic models of a smooth loss; the fastest
        way to the optimum, by other iterates.
    gram_memory : int or None
        Bytes that the statistics of the Gram and quadratic engines may take. None: so many that all
        that a fit adds is at most a quarter of what the process may use; and, if it ends by itself
        (``max_iter`` is no number), {FRUGAL_TIMES} times its input, or {FRUGAL_MB} MB if that is
        more. If it is used up, the direct engine goes on. Means of several runs do with less: they
        share one matrix, of shorter integers, of fewer bins if ``max_bins="auto"``; else there are
        runs on the rows, if these are few, or there is one run.
    n_jobs : int or None
        Threads. None: as many as the process may use. Results do not depend on it.
    random_state : int, RandomState or None
        Seed of the random subsets.
    warm_start : bool
        Go on with the fit before, with the same data, until ``max_iter`` iterations are done in
        all: bit for bit the model of one longer fit with the engine that it began with. The scores
        of the rows are kept in the estimator for that.
    callbacks : list of callables, optional
        Called while fitting; see `rgboost.callbacks`.
    verbose : int
        0: quiet. 1: a progress bar with the losses. 2: a line every second instead, by the logger
        ``rgboost`` if that shows such messages, else on standard error. Quiet inside joblib.
"""


def parameters(losses: str) -> str:
    """The section of parameters; numbers are those of the rules."""
    numbers = {name: value for name, value in vars(rules).items() if name.isupper()}
    return _PARAMETERS.format(
        losses=losses,
        WAIT=rules.PATIENCE * rules.USUAL_STEPS,
        FRUGAL_MB=costs.FRUGAL_BYTES // 10**6,
        **numbers,
    )


ATTRIBUTES = """
    model_ : the fitted additive model: tables per feature, and the path of weak-learners.
    coverage_ : where the training rows lie on the features that the model uses; None for a
        dictionary.
    feature_importances_, term_importances_, term_names_, term_features_ : see the properties.
    trace_ : Trace. ``trace_.train_loss`` has ``n_iter_ + 1`` entries, after loading a stored model
        those of ``trace_.iteration``.
    n_iter_ : number of iterations done. Of the mean of several runs (``ensemble``) they are rounds:
        an iteration is one of every run, and losses of ``trace_`` are means over the runs, whose
        number is ``trace_.n_runs``.
    pair_scores_ : where pairs were looked at, a dict from pairs of names to the share of what the
        curves leave that one cut of both features explains, the strongest pair first.
    pair_trace_ : the losses of the rounds that pairs were fitted in; see ``plan_.events``.
    term_names_, term_features_, term_importances_ : see the properties.
    cv_loss_ : after cross-validation, the mean loss of held-out rows after 0, 1, ... iterations.
    has_offset_ : whether the fit had an offset.
    best_iteration_ : the iteration that the model is of: where the validation loss was smallest,
        or ``n_iter_`` if there were no validation rows. Stages end there.
    bands_ : how far the runs of a mean (or the bags) are apart, in every bin of every curve and
        pair: standard deviations. There is none where there was one run.
    bags_ : the models of the bags, if there are any.
    edits_ : the edits of a model that came from ``edit()``.
    loss_ : the loss that was minimised.
    intercept_ : the score that the iterations started from.
    n_learners_ : K, the number of weak-learners.
    subset_size_ : t as a number.
    plan_ : the value of every setting of the fit, given or by which rule, the engines that were
        considered, and what changed on the way; ``plan(X, y)`` says it without a fit.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    input_ : names of the features and labels of their categories.
"""


FIT = """Fit the model to the rows of X and their labels y, optionally with weights.

        In place of X, a `rgboost.Chunks` has rows that are read piece by piece, with their labels,
        weights and offsets; and in place of ``X_val``, validation rows.

        ``sample_weight`` are any numbers that are not negative; a row without weight is not there.
        Rules of ``"auto"`` and folds count rows, whatever their weights.

        ``offset`` is a known part of the score, one number for each row (with more than two
        classes, (rows, classes)): the logarithm of the exposure of a count, or the score of another
        model. The model is what is added to it; hand the offset of new rows to ``predict``.

        ``groups`` are groups of rows (not of features, which are a parameter): folds of ``cv`` and
        rows that are held out have whole groups.

        ``X_val, y_val`` (and ``sample_weight_val``, ``offset_val``) are validation rows for early
        stopping; none of the training rows is held out then. ``resume`` is the file of a checkpoint
        (`rgboost.callbacks.Checkpoint`) of a fit to the same data with the same parameters: it
        goes on from there.

        Ctrl-C ends the fit after the iterations that are under way: the estimator is left fitted
        with what was done until then, and KeyboardInterrupt is raised. If nothing was done yet, or
        if the fit fails, the estimator is left as it was.
        """
