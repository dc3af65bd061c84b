"""Trees beside LightGBM at equal settings: ratios within one run, the best of some.

    python -m benchmarks.bench_trees                    370,972 x 90, a9a's shape, 1,000 x 20
    python -m benchmarks.bench_trees --rows 20000       smaller, for a quick look

Made data, 31 leaves, 255 bins, learning rate 0.1, 20 rows in a leaf at least. Seconds are those of
iterations after the first one, which both compile, bin or load in; predictions are of all rows.
"""

import argparse
import time

import numpy as np
import scipy.sparse

from rgboost.learners import Trees
from rgboost.losses import Logistic, Squared
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep, NewtonStep
from rgboost.training import boost


def made(n_rows, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    return X, X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + X[:, 3:10].sum(axis=1) + rng.normal(size=n_rows)


def made_sparse(n_rows, n_features, ones=14):
    """Categories of 14 features as columns of zeros and ones: the shape of a9a."""
    rng = np.random.default_rng(0)
    width = n_features // ones
    columns = np.arange(ones) * width + rng.integers(0, width, size=(n_rows, ones))
    rows = np.repeat(np.arange(n_rows), ones)
    entries = np.ones(rows.size), (rows, columns.ravel())
    X = scipy.sparse.csr_array(entries, shape=(n_rows, n_features))
    return X, X[:, :50] @ rng.normal(size=50) + rng.normal(size=n_rows)


def ours(X, y, logistic, selection, n_trees, n_jobs):
    """(seconds, model)."""
    fit = boost(
        X, np.where(y > 0, 1.0, -1.0) if logistic else y, learner=Trees(),
        loss=Logistic(0.0) if logistic else Squared(), selection=selection,
        step=NewtonStep() if logistic else ConstantStep(), n_iter=n_trees + 1, learning_rate=0.1,
        start_score=None, n_jobs=n_jobs, random_state=0, engine="direct",
    )  # fmt: skip
    seconds = fit.trace.seconds
    return float(seconds[-1] - seconds[1]), fit.model


def theirs(X, y, logistic, share, n_trees, n_jobs):
    import lightgbm

    settings = {
        "objective": "binary" if logistic else "regression", "num_leaves": 31, "max_bin": 255,
        "learning_rate": 0.1, "min_data_in_leaf": 20, "feature_fraction": share,
        "num_threads": n_jobs, "verbose": -1,
    }  # fmt: skip
    data = lightgbm.Dataset(X, (y > 0) * 1.0 if logistic else y, params=settings)
    model = lightgbm.Booster(settings, data)
    model.update()
    begun = time.perf_counter()
    for _ in range(n_trees):
        model.update()
    return time.perf_counter() - begun, model


def best(function, *args, times):
    """The least seconds, and the last of what else there is."""
    found = [function(*args) for _ in range(times)]
    return min(one[0] for one in found), found[-1][1]


def predicted(function, times):
    """The least seconds of some predictions."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        function()
        found.append(time.perf_counter() - begun)
    return min(found)


def compare(X, y, given):
    n_rows, n_features = X.shape
    for name, logistic, selection, share in (
        ("squared", False, AllLearners(), 1.0),
        ("logistic", True, AllLearners(), 1.0),
        ("squared, a tenth", False, RandomGroups(0.1), 0.1),
    ):
        ours(X[:500], y[:500], logistic, selection, 1, given.n_jobs)  # compiles
        mine, model = best(
            ours, X, y, logistic, selection, given.trees, given.n_jobs, times=given.times
        )
        peer, other = best(
            theirs, X, y, logistic, share, given.trees, given.n_jobs, times=given.times
        )
        print(f"{n_rows:,} x {n_features} {name}: {mine:.3f} s, LightGBM {peer:.3f} s, "
              f"ratio {peer / mine:.2f}")  # fmt: skip
    model.score(X, given.n_jobs)
    mine = predicted(lambda: model.score(X, given.n_jobs), given.times)
    peer = predicted(lambda: other.predict(X, num_threads=given.n_jobs), given.times)
    print(f"  predictions: {n_rows / mine:,.0f} rows/s, ratio {peer / mine:.2f}")
    mine = predicted(lambda: model.score(X[:1]), 20)
    peer = predicted(lambda: other.predict(X[:1], num_threads=1), 20)
    print(f"  one row: {1e6 * mine:,.0f} microseconds, ratio {peer / mine:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=370_972)
    parser.add_argument("--features", type=int, default=90)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, default=2)
    given = parser.parse_args()
    compare(*made(given.rows, given.features), given)
    compare(*made_sparse(32_561, 123), given)
    compare(*made(1000, 20), given)


if __name__ == "__main__":
    main()
