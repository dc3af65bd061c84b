"""Frames, labels and weights as users make them, bad ones too; and what must hold of a fit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from rgboost import RGBMClassifier, RGBMRegressor

INTERNAL = (
    "out of bounds", "broadcast", "reshape", "NoneType", "unsupported operand", "has no attribute",
    "unhashable", "not subscriptable", "assert", "numba", "ambiguous", "unexpected keyword",
)  # fmt: skip
"""What a message for users never says."""

CITIES = ["Ulm", "Bonn", "Kiel", "", "Åå", "nan", "0"]


def _floats(rng, n):
    return rng.normal(size=n)


def _specials(rng, n):
    return rng.choice([0.0, -0.0, 1e300, -1e300, 5e-324, 1e-310, np.nan, 1.0, 1e308], n)


def _infinite(rng, n):
    return rng.choice([0.0, 1.0, np.inf], n)


def _integers(rng, n):
    return rng.choice([-(2**62), 0, 1, 2, 2**62], n)


def _missing(rng, n):
    return np.where(rng.random(n) < 0.4, np.nan, rng.integers(0, 5, n))


def _strings(rng, n):
    return [None if rng.random() < 0.1 else str(s) for s in rng.choice(CITIES, n)]


def _identifiers(rng, n):
    return [f"id{i}" for i in rng.permutation(n)]


def _mixed(rng, n):
    return [[1, "a", 2.5, None, True][k] for k in rng.integers(0, 5, n)]


def _dates(rng, n):
    return list((np.datetime64("2020-01-01", "us") + rng.integers(0, 900, n)).astype(object))


COLUMNS = {
    "floats": _floats,
    "singles": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "specials": _specials,
    "infinite": _infinite,
    "integers": _integers,
    "missing": _missing,
    "booleans": lambda rng, n: rng.random(n) < 0.5,
    "strings": _strings,
    "identifiers": _identifiers,
    "mixed": _mixed,
    "dates": _dates,
    "none": lambda rng, n: [None] * n,
    "constant": lambda rng, n: np.full(n, 3.0),
}
USUAL = [
    "floats",
    "singles",
    "specials",
    "integers",
    "missing",
    "booleans",
    "strings",
    "identifiers",
]

LABELS = {
    "floats": _floats,
    "two": lambda rng, n: rng.integers(0, 2, n),
    "flags": lambda rng, n: rng.random(n) < 0.5,
    "strings": lambda rng, n: rng.choice(["yes", "no"], n),
    "objects": lambda rng, n: rng.choice(["yes", "no"], n).astype(object),
    "huge": lambda rng, n: rng.choice([1e300, -1e300, 0.0], n),
    "large": lambda rng, n: rng.choice([1e140, -1e140, 0.0], n),
    "tiny": lambda rng, n: rng.choice([5e-324, 1e-310, 0.0], n),
    "missing": _missing,
    "none": lambda rng, n: _strings(rng, n),
    "one": lambda rng, n: np.ones(n),
    "mixed": _mixed,
    "short": lambda rng, n: rng.normal(size=max(0, n - 1)),
}
WEIGHTS = {
    "whole": lambda rng, n: rng.integers(0, 4, n),
    "tiny": lambda rng, n: np.full(n, 1e-310),
    "huge": lambda rng, n: np.full(n, 1e300),
    "negative": lambda rng, n: -np.ones(n),
    "zero": lambda rng, n: np.zeros(n),
    "missing": _missing,
}


@dataclass
class Case:
    """One call of fit, and other rows to predict."""

    X: Any
    y: Any
    weight: Any
    other: Any
    estimator: Any

    def __repr__(self) -> str:
        return f"{self.estimator!r} of {type(self.X).__name__}:\n{self.X}\ny = {self.y}"


def _container(kind, columns, names):
    if kind == "pandas":
        frame = pd.concat([pd.Series(c) for c in columns], axis=1) if columns else pd.DataFrame()
        return frame.set_axis(names, axis=1) if columns else frame
    if kind == "categories":
        frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
        return frame.astype({k: "category" for k in frame if frame[k].dtype.kind in "OiTU"})
    if kind == "polars":
        return pl.DataFrame(dict(zip(names, columns, strict=True)), strict=False)
    if kind == "pyarrow":
        return pa.Table.from_pandas(_container("pandas", columns, names))
    if kind == "objects":
        out = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
        for g, column in enumerate(columns):
            out[:, g] = list(column)
        return out
    matrix = np.column_stack([np.asarray(c, dtype=float) for c in columns])
    return scipy.sparse.csr_array(matrix) if kind == "sparse" else matrix


@st.composite
def cases(draw, steps=("constant", "line-search"), max_iter=(4, "cv")):
    """Most cases are good, but for one thing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spoiled = draw(st.sampled_from(["nothing", "column", "labels", "weights", "names", "other",
                                    "parameters", "size"]))  # fmt: skip
    n, p = draw(st.integers(4, 40)), draw(st.integers(1, 4))
    if spoiled == "size":
        n, p = draw(st.sampled_from([(0, 2), (1, 2), (20, 0), (0, 0), (300, 2)]))
    kind = draw(st.sampled_from(["pandas", "polars", "pyarrow", "categories", "objects", "array",
                                 "sparse"]))  # fmt: skip
    numeric = kind in ("array", "sparse")
    usual = [k for k in USUAL if not numeric or k not in ("strings", "identifiers")]
    kinds = [draw(st.sampled_from(usual)) for _ in range(p)]
    names = [f"x{g}" for g in range(p)]
    if spoiled == "column" and p and not numeric:
        possible = [k for k in COLUMNS if kind != "pyarrow" or k != "mixed"]  # arrow has no objects
        kinds[0] = draw(st.sampled_from(possible))
    if spoiled == "names" and kind == "pandas":
        names = draw(st.sampled_from([["a"] * p, list(range(p)), ["a", *range(1, p)][:p]]))
    classify = draw(st.booleans())
    target = ["two", "flags", "strings", "objects"] if classify else ["floats", "two", "large"]
    y = LABELS[draw(st.sampled_from(list(LABELS) if spoiled == "labels" else target))](rng, n)
    weight = WEIGHTS["whole"](rng, n) if draw(st.booleans()) else None
    if spoiled == "weights":
        weight = WEIGHTS[draw(st.sampled_from(list(WEIGHTS)))](rng, n)
    listed = [k in ("strings", "identifiers") for k in kinds]
    categorical: list[Any] = [listed] if kind == "objects" else ["from_dtype", listed, [True] * p]
    if spoiled == "parameters":
        categorical = [None, [0], [True] * p, "from_dtype"]
    parameters = {
        "max_iter": draw(st.sampled_from(max_iter)),
        "cv": 2,
        "n_iter_no_change": 10,
        "random_state": 0,
        "learning_rate": draw(st.sampled_from([0.3, 1.0])),
        "max_bins": draw(st.sampled_from([255, 3, None])),
        "binning": draw(st.sampled_from(["quantile", "hybrid"])),
        "categorical_features": draw(st.sampled_from(categorical)),
        "step": draw(st.sampled_from(steps)),
    }
    estimator = (RGBMClassifier if classify else RGBMRegressor)(**parameters)
    make = lambda ks: _container(kind, [COLUMNS[k](rng, n) for k in ks], names)  # noqa: E731
    if p == 0 and numeric:
        X = other = np.empty((n, 0))
    else:
        X, other = make(kinds), make(kinds[::-1] if spoiled == "other" else kinds)
    return Case(X, y, weight, other, estimator)


def check_case(case: Case) -> str:
    """Fit and predict: finite numbers, or an error that a user can read. What happened."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X (has|does not have)", category=UserWarning)
        warnings.filterwarnings("ignore", category=pd.errors.PerformanceWarning)
        warnings.filterwarnings("ignore", category=ConvergenceWarning)  # some labels are noise
        try:
            case.estimator.fit(case.X, case.y, case.weight)
        except (ValueError, TypeError) as error:
            _check_message(error)
            assert not hasattr(case.estimator, "model_")
            return "refused"
        _check_finite(case.estimator, case.X)
        try:
            _check_finite(case.estimator, case.other)
        except (ValueError, TypeError) as error:
            _check_message(error)
            return "fitted, refused other rows"
    return "fitted"


def _check_finite(estimator, X):
    if isinstance(estimator, RGBMClassifier):
        assert np.isfinite(estimator.predict_proba(X)).all()
        assert np.isin(estimator.predict(X), estimator.classes_).all()
    else:
        assert np.isfinite(estimator.predict(X)).all()


def _check_message(error):
    message = str(error)
    assert len(message) > 20, f"{type(error).__name__}: {message}"
    assert not any(word in message for word in INTERNAL), f"{type(error).__name__}: {message}"
