"""Fits whose loss paths, or final losses, stay as they are written down in ``paths.json``.

- `PATHS`: explicit settings; the loss after every iteration, and sums of the final scores.
- `QUADRATIC`: fits on quadratic models and means of several runs; the final loss.
- `DEFAULTS`: estimators at their defaults; the loss of rows that they did not see.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from rgboost.learners import Dictionary, Monotone, Stumps
from rgboost.losses import (
    AbsoluteError,
    Exponential,
    Gamma,
    Huber,
    LogCosh,
    Logistic,
    Loss,
    Poisson,
    Quantile,
    Ridged,
    Softmax,
    Squared,
    Tweedie,
)
from rgboost.selection import (
    AllLearners,
    RandomGroup,
    RandomGroups,
    RandomLearners,
    RandomLearnersAndAlways,
    RandomThresholds,
    WeightedGroups,
)
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep

from .data import GROUPS
from .runs import DIRECT, GRAM, QUADRATIC_ENGINE, Coordinate, Default, Estimated, Run

CONSTANT, SEARCH, LEAVES, NEWTON = ConstantStep(), LineSearch(), LeafSearch(), NewtonStep()
SIGNED = Stumps(leaves="signed", max_bins=24)
CATEGORIES = Stumps(max_bins=24, categorical=(1, 2))
SMOOTH = Stumps(max_bins=24, categorical=(1, 2), smooth=True, min_frequency=3, max_categories=12)


class PseudoHuber(Loss):
    """A loss of a user's own."""

    smoothness = 1.0
    newton_limit = 2.0

    def value(self, y, f):
        return np.sqrt(1.0 + (y - f) ** 2) - 1.0

    def residual(self, y, f):
        return (y - f) / np.sqrt(1.0 + (y - f) ** 2)

    def curvature(self, y, f):
        return (1.0 + (y - f) ** 2) ** -1.5


def bumps(X):
    """Products of neighbouring features, as columns of a dictionary."""
    return X[:, :-1] * X[:, 1:]


def linear(X):
    return X - 0.5


LINEAR = Dictionary.from_functions([linear, bumps])
ALWAYS = RandomLearnersAndAlways(12, (1,))
WEIGHTED = WeightedGroups(2, {0: 3.0, 1: 0.5, 5: 0.0}, (2,))

RUNS = {
    # selection rules on the squared loss
    "all": Run(selection=AllLearners(), n_iter=300),
    "learners": Run(selection=RandomLearners(20), n_iter=300, held=True),
    "learners, a share": Run(selection=RandomLearners(0.3), learning_rate=1.0),
    "group": Run(selection=RandomGroup()),
    "groups": Run(selection=RandomGroups("sqrt"), held=True),
    "groups that are given": Run(selection=RandomGroups(2), groups=GROUPS, weighted=True),
    "thresholds": Run(selection=RandomThresholds(4), held=True),
    "thresholds, several of a feature": Run(selection=RandomThresholds(19), weighted=True),
    "weighted groups": Run(selection=WEIGHTED, start_score=0.0),
    "learners and always": Run(selection=ALWAYS, offset=True),
    # the Gram engine
    "gram, all": Run(engine=GRAM, selection=AllLearners(), n_iter=300, held=True),
    "gram, learners, line search": Run(engine=GRAM, selection=RandomLearners(20), step=SEARCH),
    "gram, groups, weights": Run(engine=GRAM, weighted=True, held=True, n_iter=300),
    "gram, offset": Run(engine=GRAM, offset=True, held=True, selection=RandomGroup()),
    "gram, signed": Run(engine=GRAM, learner=SIGNED),
    "gram, thresholds": Run(engine=GRAM, selection=RandomThresholds(4)),
    "gram, weighted groups": Run(engine=GRAM, selection=WEIGHTED),
    "gram, always": Run(engine=GRAM, selection=ALWAYS, weighted=True),
    "gram, sparse": Run(engine=GRAM, data="sparse", held=True),
    "gram, missing": Run(engine=GRAM, data="missing", held=True),
    "gram, categories": Run(engine=GRAM, data="categories", learner=CATEGORIES, weighted=True),
    "gram, categories, smooth": Run(
        engine=GRAM, data="mixed", learner=SMOOTH, selection=RandomLearners(20), held=True
    ),
    "gram, little memory": Run(engine=GRAM, memory=60_000, selection=RandomLearners(20)),
    "gram, goes on": Run(engine=GRAM, resume_at=37, weighted=True),
    # losses and steps
    "signed": Run(learner=SIGNED, selection=RandomLearners(30)),
    "squared, leaf search": Run(step=LEAVES, offset=True),
    "squared, newton": Run(step=NewtonStep(l2=3.0, max_value=0.8)),
    "logistic": Run(Logistic(1e-3), labels="sign", learning_rate=1.0, held=True, n_iter=300),
    "logistic, line search": Run(Logistic(1e-3), step=SEARCH, labels="sign", weighted=True),
    "logistic, newton": Run(
        Logistic(0.0), RandomLearners(20), NEWTON, labels="sign", offset=True, held=True
    ),
    "logistic, leaf search, few values": Run(
        Logistic(0.0), RandomThresholds(4), LEAVES, labels="sign", data="few values"
    ),
    "exponential, signed, line search": Run(
        Exponential(), step=SEARCH, labels="sign", learner=SIGNED, held=True
    ),
    "exponential, newton": Run(Exponential(), ALWAYS, NEWTON, labels="sign", weighted=True),
    "exponential, rho": Run(Exponential(), step=ConstantStep(0.4), labels="sign"),
    "huber": Run(Huber(0.4), WEIGHTED, held=True, weighted=True),
    "huber, leaf search": Run(Huber(0.4), RandomGroup(), LEAVES),
    "log-cosh, line search": Run(LogCosh(0.5), RandomLearners(20), SEARCH, offset=True),
    "ridged huber": Run(Ridged(Huber(0.4), 0.05), AllLearners()),
    "ridged log-cosh, line search": Run(Ridged(LogCosh(0.5), 0.1), step=SEARCH, weighted=True),
    "absolute, leaf search": Run(AbsoluteError(), step=LEAVES, held=True),
    "absolute, line search": Run(AbsoluteError(), RandomLearners(20), SEARCH, weighted=True),
    "quantile, leaf search": Run(Quantile(0.8), RandomThresholds(4), LEAVES, weighted=True),
    "poisson, newton": Run(Poisson(), step=NEWTON, labels="count", offset=True, held=True),
    "poisson, line search": Run(Poisson(), RandomGroup(), SEARCH, labels="count"),
    "gamma, newton": Run(Gamma(), RandomLearners(20), NEWTON, labels="positive", weighted=True),
    "gamma, leaf search": Run(Gamma(), step=LEAVES, labels="positive", held=True),
    "tweedie, newton": Run(Tweedie(1.4), step=NEWTON, labels="sums", offset=True),
    "tweedie, leaf search": Run(Tweedie(1.6), AllLearners(), LEAVES, labels="sums"),
    "own loss": Run(PseudoHuber(), held=True),
    "own loss, line search": Run(PseudoHuber(), RandomLearners(20), SEARCH, weighted=True),
    "own loss, newton": Run(PseudoHuber(), RandomThresholds(4), NEWTON),
    # data
    "every value": Run(learner=Stumps(max_bins=None), selection=RandomLearners("sqrt")),
    "hybrid bins, no light sides": Run(
        learner=Stumps(max_bins=40, binning="hybrid", min_weight_fraction_leaf=0.06), weighted=True
    ),
    "sparse": Run(Logistic(1e-3), data="sparse", labels="sign", learning_rate=1.0, held=True),
    "sparse, newton": Run(Poisson(), RandomLearners(20), NEWTON, data="sparse", labels="count"),
    "missing": Run(Huber(0.4), data="missing", held=True),
    "missing, newton": Run(
        Logistic(0.0), RandomLearners(20), NEWTON, data="missing", labels="sign", weighted=True
    ),
    "categories": Run(data="categories", learner=CATEGORIES, held=True),
    "categories, smooth": Run(
        Logistic(0.0), step=LEAVES, data="mixed", learner=SMOOTH, labels="sign"
    ),
    "categories, sparse": Run(data="sparse mixed", learner=SMOOTH, selection=RandomLearners(20)),
    "monotone": Run(learner=Monotone(Stumps(max_bins=24), {0: -1, 1: 1, 3: 1}), held=True),
    "monotone, missing": Run(
        Logistic(1e-3), AllLearners(), SEARCH, data="missing", labels="sign", weighted=True,
        learner=Monotone(Stumps(max_bins=24), [1, 0, -1, 0, 0, 0, 0, 0]),
    ),
    "dictionary": Run(learner=LINEAR, selection=RandomLearners(6), start_score=0.0, held=True),
    "dictionary, line search": Run(
        Logistic(1e-3), AllLearners(), SEARCH, learner=LINEAR, labels="sign", weighted=True
    ),
    # several classes
    "classes": Run(Softmax(3, 1e-3), labels="class of 3", held=True, n_iter=200),
    "classes, newton": Run(
        Softmax(4, 0.0), RandomLearners(20), NEWTON, labels="class of 4", weighted=True
    ),
    "classes, thresholds": Run(
        Softmax(3, 1e-3), RandomThresholds(4), NEWTON, labels="class of 3", offset=True, held=True
    ),
    "classes, sparse": Run(Softmax(3, 1e-3), RandomGroup(), labels="class of 3", data="sparse"),
    "classes, mixed": Run(
        Softmax(4, 1e-3), step=NEWTON, labels="class of 4", data="mixed", learner=CATEGORIES
    ),
    "classes, mixed, smooth": Run(
        Softmax(3, 1e-3), RandomLearners(20), labels="class of 3", data="mixed", learner=SMOOTH
    ),
    # going on
    "goes on": Run(Logistic(1e-3), labels="sign", resume_at=41, held=True),
    "goes on, line search": Run(Exponential(), ALWAYS, SEARCH, labels="sign", resume_at=20),
    "classes go on": Run(
        Softmax(3, 1e-3), step=NEWTON, labels="class of 3", data="mixed", learner=CATEGORIES,
        resume_at=33,
    ),
}  # fmt: skip

ONE_RUN = dict(
    selection="groups", subset_size=3, step="constant", learning_rate=0.3, max_iter=100,
    max_bins=24, min_weight_fraction_leaf=0.0, early_stopping=False, engine=DIRECT,
)  # fmt: skip

ESTIMATED = {
    "regressor": Estimated(ONE_RUN | dict(engine=GRAM), weighted=True, held=True),
    "regressor, categories": Estimated(
        ONE_RUN | dict(loss=Huber(0.4), categorical_features=[1, 2], init="zero"),
        "mixed", held=True,
    ),
    "regressor, monotone": Estimated(
        ONE_RUN | dict(loss="poisson", step="line-search", monotone_constraints={0: 1}),
        "missing", "count", offset=True,
    ),
    "regressor goes on": Estimated(ONE_RUN | dict(step="leaf-search"), "sparse", resume_at=30),
    "classifier": Estimated(
        ONE_RUN | dict(always_features=[2], feature_weights={0: 2.0}, step="newton"),
        labels="sign", held=True,
    ),
    "classifier of classes": Estimated(
        ONE_RUN | dict(selection="thresholds", step="newton", ridge=0.01),
        labels="class of 3", weighted=True,
    ),
}  # fmt: skip

COORDINATE = {
    "coordinates": Coordinate(Squared(), AllLearners(), CONSTANT),
    "coordinates, groups": Coordinate(Squared(), RandomGroups(2), SEARCH, weighted=True),
    "coordinates, sparse": Coordinate(
        Logistic(0.01), RandomLearners(3), CONSTANT, "sparse", "sign"
    ),
}  # fmt: skip

PATHS = RUNS | ESTIMATED | COORDINATE

FEW = Stumps(max_bins=6)
"""Few enough splits for a run to come to the optimum."""
TO_THE_END = dict(engine=QUADRATIC_ENGINE, learner=FEW, n_iter=20_000, tol=1e-13, learning_rate=1.0)
MEAN = dict(
    selection="groups", subset_size=3, step="constant", learning_rate=0.3, max_iter="cv", cv=3,
    max_bins=16, min_weight_fraction_leaf=0.0, n_iter_no_change=50, tol=1e-4,
)  # fmt: skip
LONG = MEAN | dict(max_bins=6, n_iter_no_change=400, tol=1e-12)

QUADRATIC = {
    "squared": Run(**TO_THE_END),
    "logistic": Run(Logistic(0.01), labels="sign", **TO_THE_END),
    "logistic, weights, all": Run(
        Logistic(0.05), AllLearners(), labels="sign", weighted=True, **TO_THE_END
    ),
    "logistic, sparse": Run(Logistic(0.02), labels="sign", data="sparse", **TO_THE_END),
    "logistic, offset, learners": Run(
        Logistic(0.02), RandomLearners(12), labels="sign", offset=True, **TO_THE_END
    ),
    "ridged huber": Run(Ridged(Huber(0.4), 0.05), **TO_THE_END),
    "ridged log-cosh, signed": Run(
        Ridged(LogCosh(0.5), 0.05), **TO_THE_END | dict(learner=Stumps(leaves="signed", max_bins=6))
    ),
    "many features": Run(
        Logistic(0.05), labels="sign", n_features=60,
        **TO_THE_END | dict(learner=Stumps(max_bins=3)),
    ),
    "mean at the optimum, logistic": Estimated(
        LONG | dict(ridge=0.02), labels="sign", n=400, copies=3
    ),
    "mean at the optimum, logistic, mixed": Estimated(
        LONG | dict(ridge=0.05, learner=FEW, categorical_features=[1, 2]),
        "mixed", "sign", n=400, copies=2,
    ),
    "mean at the optimum, poisson": Estimated(
        LONG | dict(loss="poisson", step="newton", ridge=0.02),
        "missing", "count", offset=True, n=400, copies=3,
    ),
    "mean at the optimum, exponential": Estimated(
        LONG | dict(loss=Ridged(Exponential(), 0.02), step="newton"),
        "sparse", "sign", weighted=True, n=400, copies=3,
    ),
    "mean at the optimum, squared": Estimated(LONG | dict(ridge=0.0), n=400, copies=3),
    "mean, squared": Estimated(MEAN, weighted=True),
    "mean, squared, mixed": Estimated(MEAN | dict(categorical_features=[1, 2]), "mixed"),
    "mean, squared, thresholds": Estimated(MEAN | dict(selection="thresholds")),
    "mean, logistic": Estimated(MEAN, labels="sign"),
    "mean, logistic, mixed": Estimated(
        MEAN | dict(categorical_features=[1, 2], ridge=0.01), "mixed", "sign", weighted=True
    ),
    "mean, logistic, sparse": Estimated(MEAN, "sparse", "sign"),
    "mean, logistic, thresholds": Estimated(MEAN | dict(selection="thresholds"), labels="sign"),
    "mean, exponential": Estimated(MEAN | dict(loss="exponential", step="newton"), labels="sign"),
    "mean, poisson": Estimated(MEAN | dict(loss="poisson", step="newton"), labels="count"),
    "mean, gamma": Estimated(
        MEAN | dict(loss="gamma", step="newton"), "missing", "positive", offset=True
    ),
    "mean, tweedie": Estimated(MEAN | dict(loss="tweedie", step="newton"), labels="sums"),
    "mean, huber": Estimated(MEAN | dict(loss=Huber(0.4))),
    "mean, absolute": Estimated(MEAN | dict(loss="absolute", step="leaf-search")),
    "mean, classes": Estimated(MEAN | dict(step="newton"), labels="class of 3"),
    "one run of classes after folds": Estimated(
        MEAN | dict(step="newton", categorical_features=[1, 2]), "mixed", "class of 4"
    ),
    "held out": Estimated(MEAN | dict(max_iter=3000, early_stopping=True), labels="sign", n=1500),
    "one run after folds": Estimated(MEAN | dict(ensemble=False, engine=GRAM), weighted=True),
}  # fmt: skip


DEFAULTS = {
    "diabetes": Default(load_diabetes),
    "breast cancer": Default(load_breast_cancer, labels="sign"),
    "wine": Default(load_wine, labels="class of 3"),
    "numbers": Default(),
    "more numbers": Default(n=4500),
    "mixed": Default(data="mixed", settings=dict(categorical_features=[1, 2])),
    "sparse": Default(data="sparse"),
    "counts": Default(labels="count", settings=dict(loss="poisson")),
    "absolute": Default(settings=dict(loss="absolute"), data="missing", n=600),
    "two classes": Default(labels="sign"),
    "two classes, mixed": Default(
        labels="sign", data="mixed", settings=dict(categorical_features=[1, 2]), n=3000
    ),
    "four classes": Default(labels="class of 4"),
}
