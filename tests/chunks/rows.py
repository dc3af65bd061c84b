"""Rows in pieces, and the same rows in memory."""

import numpy as np
import pandas
from sklearn.utils import check_random_state

from rgboost import Chunks
from rgboost.statistics.base import fold_of_rows


def mixed_frame(n=12_000, seed=0):
    """Numbers, some of them missing, and categories, some of them rare; a score that follows."""
    rng = np.random.default_rng(seed)
    names = np.array([f"town {k:02d}" for k in range(30)])
    share = np.append(np.full(25, 1.0), np.full(5, 0.002))
    town = rng.choice(len(names), n, p=share / share.sum())
    X = pandas.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "income": rng.normal(size=n).round(3),
            "town": names[town],
            "height": rng.normal(size=n),
        }
    )
    X.loc[rng.random(n) < 0.1, "income"] = np.nan
    X.loc[rng.random(n) < 0.05, "town"] = None
    score = np.sin(X["age"] / 10) + X["income"].fillna(0.7) + 0.5 * (town % 3)
    return X, score.to_numpy() + 0.3 * rng.normal(size=n)


def pieces_of(*parts, size):
    """A function that gives the rows in pieces of so many."""

    def pieces():
        for lo in range(0, len(parts[1]), size):
            yield tuple(part[lo : lo + size] for part in parts)

    return pieces


def chunks_of(*parts, size=1000, **options):
    return Chunks(pieces_of(*parts, size=size), **options)


def folds_of_chunks(n_rows, random_state, n_folds=5):
    """The folds that `Chunks` has, for a fit of the same rows in memory."""
    seed = int(check_random_state(random_state).randint(2**31 - 1, size=2)[0])
    fold = fold_of_rows(0, n_rows, n_folds, seed)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
