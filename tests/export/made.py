"""Small models of all kinds that can be exported, and rows that probe them: exact thresholds and
the numbers beside them, missing values, rare and unknown categories."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.losses import Exponential, Huber, Ridged

from ..pairs import add_pairs

N = 160

NUMBER = 'a "number"; it\'s <1>'
TEXT = "job\\title"
"""Names that want to be something else in SQL, JavaScript and Python."""
SHADES = ["it's", 'a "b"', "back\\slash", "</script>", "naïve ☃", "line\nbreak"]
CLASSES = np.array(["it's", "-- no", "</script>"], object)


NAMES = ["regression", "two classes", "three classes", "poisson", "exponential", "codes", "huber",
         "integers", "constant"]  # fmt: skip


class Made(NamedTuple):
    model: object
    frame: pd.DataFrame
    """Rows that the model is asked for."""


def _training_rows():
    rng = np.random.default_rng(0)
    number = rng.normal(size=N).round(2)
    number[::9] = np.nan
    text = np.array(SHADES, object)[rng.integers(0, len(SHADES), N)]
    text[:6] = [f"rare {k}" for k in range(6)]
    text[10:14] = None
    frame = pd.DataFrame(
        {
            NUMBER: number,
            TEXT: text,
            "code": pd.Categorical(np.array([2.5, 7.0, 1e9])[rng.integers(0, 3, N)]),
            "select": rng.integers(0, 2, N).astype(bool),
            "single": rng.normal(size=N).astype(np.float32),
            "unused": np.zeros(N),
        }
    )
    score = np.nan_to_num(number) + np.sin(3 * frame["single"].to_numpy(np.float64))
    score += 0.5 * (frame[TEXT] == "it's") - 0.7 * frame["select"]
    return frame, score.to_numpy(np.float64)


PAIRS = {(0, 1): "random", (0, 4): "random", (1, 2): "random"}
SMALL = dict(max_iter=15, selection="all", max_bins=8, interactions=0, random_state=0)


@cache
def made_models():
    """By name."""
    frame, score = _training_rows()
    X = np.column_stack([score, np.arange(N) % 5, frame["single"]])
    three = CLASSES[np.digitize(score, [-0.5, 0.5])]
    rates, halves = np.exp(score), score > 0
    numeric = RGBMRegressor(categorical_features=[1], **SMALL)
    models = {
        "regression": RGBMRegressor(**SMALL).fit(frame, score),
        "two classes": RGBMClassifier(**SMALL).fit(frame, CLASSES[halves.astype(int)]),
        "three classes": RGBMClassifier(**SMALL).fit(frame, three),
    }
    for one in models.values():
        add_pairs(one, frame, PAIRS, max_bins=8, rare=5.0)
    models |= {
        "poisson": RGBMRegressor(loss="poisson", **SMALL).fit(frame, rates),
        "exponential": RGBMClassifier(loss=Exponential(), **SMALL).fit(frame, halves),
        "codes": numeric.fit(X, score),
        "huber": RGBMRegressor(loss=Ridged(Huber(0.5), 0.1), **SMALL).fit(X, score),
        "integers": RGBMClassifier(**SMALL).fit(X, 3 * (np.digitize(score, [-0.5, 0.5]) - 1)),
        "constant": RGBMRegressor(**SMALL).fit(np.zeros((N, 3)), score),
    }
    return {name: Made(models[name], _rows_for(models[name])) for name in NAMES}


def _rows_for(model, n=240):
    """Rows of a frame; of a model without names, its columns are called x0, x1, ..."""
    rng = np.random.default_rng(1)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        columns = [_numbers(model, g, rng, n) for g in range(3)]
        columns[1] = rng.integers(0, 7, n).astype(float)
        return pd.DataFrame(dict(zip(["x0", "x1", "x2"], columns, strict=True)))
    texts = np.array([*SHADES, "rare 1", "rare 5", "never seen", None], object)
    codes = pd.Categorical(np.array([2.5, 7.0, 1e9, 3.0, np.nan])[rng.integers(0, 5, n)])
    return pd.DataFrame(
        {
            NUMBER: _numbers(model, 0, rng, n),
            TEXT: texts[rng.integers(0, len(texts), n)],
            "code": codes,
            "select": rng.integers(0, 2, n).astype(bool),
            "single": _numbers(model, 4, rng, n).astype(np.float32),
            "unused": rng.normal(size=n),
        }
    )


def _numbers(model, g, rng, n):
    wide = model.model_.wide
    edges = [wide.table(g)[0]]
    if wide.pairs is not None:
        sides = np.argwhere(wide.pairs.features == g)
        edges += [wide.pairs.edges_of(j, side) for j, side in sides]
    at = np.concatenate([*edges, [0.0]])
    near = [at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf), [-1e30, 1e30]]
    found = rng.choice(np.concatenate([*near, rng.normal(size=40)]), n)
    found[rng.random(n) < 0.15] = np.nan
    return found


def rows_of(made):
    """What `predict` is given."""
    named = hasattr(made.model, "feature_names_in_")
    return made.frame if named else made.frame.to_numpy(np.float64)


def python_rows(frame):
    """The rows as dictionaries of plain Python values; missing values are None."""
    missing = frame.isna()
    found = frame.astype(object).where(~missing, None).to_dict("records")
    plain = lambda v: v.item() if isinstance(v, np.generic) else v  # noqa: E731
    return [{name: plain(value) for name, value in row.items()} for row in found]
