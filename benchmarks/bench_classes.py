"""Trees of several classes: one tree with a value for each class in its leaves, or a tree for each.

    python -m benchmarks.bench_classes
    python -m benchmarks.bench_classes --sets digits --rate 0.05 --splits 2
    python -m benchmarks.bench_classes --sets sleep --data-dir DIR --splits 2

Both grow by the same search on 0.7 of the features, with Newton's values, for as long as held-out
rows gain: what differs is whether classes share their splits. The loss is the log-loss of the rows
that are held out, at its least; the mean of some random splits. rgboost has the first kind; the
second is made here, from the same search.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split

from rgboost._core.team import Team
from rgboost.learners import Trees
from rgboost.selection import RandomGroups

MOST_ROUNDS, PATIENCE, LIMIT, SHARE = 1000, 40, 4.0, 0.7
SLEEP_ROWS = 20_000


class Found(NamedTuple):
    loss: float
    rounds: int
    trees: int


def made(n_classes: int, n_rows: int = 6000) -> tuple[NDArray, NDArray]:
    """Every class has a product and a sum of features of its own."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, 12))
    scores = np.stack([X[:, k] * X[:, k + 1] + X[:, k + 2] for k in range(n_classes)])
    return X, np.argmax(scores + 0.3 * rng.gumbel(size=scores.shape), axis=0)


def read(name: str, folder: Path | None) -> tuple[NDArray, NDArray]:
    if name != "sleep":
        own = {"digits": load_digits, "wine": load_wine}
        return own[name](return_X_y=True) if name in own else made(int(name.split()[1]))
    if folder is None:
        raise SystemExit("sleep needs --data-dir, or RGBOOST_DATA")
    import pandas

    table = pandas.read_csv(folder / "sleep" / "sleep.tsv.gz", sep="\t")
    labels = np.unique(table.pop("target"), return_inverse=True)[1]
    some = np.random.default_rng(0).permutation(len(labels))[:SLEEP_ROWS]
    return table.to_numpy(float)[some], labels[some]


def probabilities(scores: NDArray) -> NDArray:
    found = np.exp(scores - scores.max(axis=0))
    return found / found.sum(axis=0)


def values_of(leaf: Any, residual: NDArray, curvature: NDArray) -> NDArray:
    """Newton's, as far as they are bounded."""
    sums, below = np.bincount(leaf, residual), np.bincount(leaf, curvature)
    return np.clip(sums / np.maximum(below, 1e-9), -LIMIT, LIMIT)


def boosted(train: Any, held: Any, apart: bool, rate: float, seed: int) -> Found:
    """Fit until the loss of held-out rows has not fallen for a while; ``apart``: a tree a class."""
    (X, y), (X_held, y_held) = train, held
    n_classes, rows = int(y.max()) + 1, np.arange(len(y_held))
    prepared = Trees(min_samples_leaf=20 if len(y) > 1000 else 5).prepare(X)
    arrays, arrays_held = prepared.arrays, prepared.arrays_for(X_held)
    start = np.log(np.bincount(y) / len(y))[:, None]
    score, score_held = np.tile(start, len(y)), np.tile(start, len(y_held))
    is_class = np.eye(n_classes)[y].T
    parts = [[k] for k in range(n_classes)] if apart else [list(range(n_classes))]
    searches = [prepared.searcher(arrays, len(part), seed) for part in parts]
    draws = [
        RandomGroups(SHARE).subsets(prepared.layout, np.random.default_rng([seed, k]), MOST_ROUNDS)
        for k in range(len(parts))
    ]
    best = Found(np.inf, 0, 0)
    with Team(1) as team:
        for m in range(MOST_ROUNDS):
            p = probabilities(score)
            residual, curvature = is_class - p, p * (1.0 - p)
            for part, search, draw in zip(parts, searches, draws, strict=True):
                choice = search(np.ascontiguousarray(residual[part]), draw, m, team)
                if choice.learner < 0:
                    continue
                leaf = choice.leaves.leaf
                leaf_held = prepared.leaves_of(arrays_held, choice, team)
                for c in part:
                    values = rate * values_of(leaf, residual[c], curvature[c])
                    score[c] += values[leaf]
                    score_held[c] += values[leaf_held]
            found = probabilities(score_held)[y_held, rows]
            loss = float(-np.log(np.maximum(found, 1e-15)).mean())
            if loss < best.loss:
                best = Found(loss, m + 1, (m + 1) * len(parts))
            if m + 1 - best.rounds > PATIENCE:
                break
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ["digits", "wine", "made 3", "made 7", "sleep"]
    parser.add_argument("--sets", nargs="+", choices=known, default=known[:-1])
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("RGBOOST_DATA"))
    given = parser.parse_args()
    for name in given.sets:
        X, y = read(name, given.data_dir)
        for apart in (False, True):
            found = []
            for seed in range(given.splits):
                parts = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y)
                train, held = (parts[0], parts[2]), (parts[1], parts[3])
                found.append(boosted(train, held, apart, given.rate, seed))
            loss, rounds, trees = np.mean(found, axis=0)
            kind = "a tree for each class" if apart else "values of all classes in a leaf"
            print(f"{name}, {kind}: log-loss {loss:.4f}, {rounds:.0f} rounds, {trees:.0f} trees")


if __name__ == "__main__":
    main()
