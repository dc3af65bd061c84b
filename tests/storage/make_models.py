"""Small models of all kinds, for changed files."""

from functools import cache

import numpy as np
import pandas as pd

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.learners import Trees
from rgboost.losses import Huber, Ridged

from ..pairs import add_pairs


@cache
def some_models():
    """(model, rows): numbers, two classes, categories and missing values, three classes, both,
    objects, pairs, pairs and three classes; trees of all that, and with linear functions; an
    edited one, one with bags."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + np.sin(3 * X[:, 1])
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.loc[::7, "a"] = np.nan
    frame["b"] = np.array(["x", "yy", "z", None], object)[np.arange(60) % 4]
    frame["c"] = pd.Categorical(np.array([2.5, 7.0, 1e9])[np.arange(60) % 3])
    effect = y + np.arange(60) % 4 + 3.0 * (np.arange(60) % 3)
    classes = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
    pairs = dict.fromkeys([(0, 1), (0, 2), (1, 2)], "random")
    small = Trees(max_leaf_nodes=5, min_samples_leaf=4)
    lines = Trees(max_leaf_nodes=5, min_samples_leaf=4, leaves="linear")
    mixed = RGBMRegressor(max_iter=12, selection="all", max_bins=8).fit(frame, effect)
    several = RGBMClassifier(max_iter=12, selection="all", max_bins=8).fit(frame, classes)
    edited = mixed.edit().set("b", [1.0, 2.0], (0, 1), reason="a test").drop("c", reason="another")
    return [
        (RGBMRegressor(max_iter=12, groups=[[0, 1], [2]], random_state=0).fit(X, y), X),
        (RGBMClassifier(max_iter=12, max_bins=8).fit(X, np.where(y > 0, "yes", "no")), X),
        (RGBMRegressor(max_iter=12, selection="all", max_bins=8).fit(frame, effect), frame),
        (RGBMClassifier(max_iter=12, max_bins=8).fit(X, classes), X),
        (RGBMClassifier(max_iter=12, selection="all", max_bins=8).fit(frame, classes), frame),
        (RGBMRegressor(loss=Ridged(Huber(0.5), 0.1), max_iter=5).fit(X, y), X),
        (add_pairs(mixed, frame, pairs, max_bins=8), frame),
        (add_pairs(several, frame, pairs, max_bins=8), frame),
        (RGBMRegressor(max_iter=6, learner=small, selection="all").fit(X, y), X),
        (RGBMRegressor(max_iter=6, learner="trees", random_state=0).fit(frame, effect), frame),
        (RGBMClassifier(max_iter=6, learner=small, selection="all").fit(frame, classes), frame),
        (RGBMRegressor(max_iter=6, learner=lines, selection="all").fit(frame, effect), frame),
        (edited.model, frame),
        (RGBMRegressor(max_iter=6, max_bins=4, bags=2, random_state=0).fit(X, y), X),
    ]


def stored_models(path):
    """(model, rows, bytes of its file): all with their paths, then all without."""
    for full in (True, False):
        for model, rows in some_models():
            model.save(path, full=full)
            yield model, rows, path.read_bytes()
