"""Made-up studies, whose tables and verdicts are known."""

import numpy as np

from rgboost.experiments.protocol import GAPS


def cell(t, seed, *, rate, cost, test, n_iter=1000, step="constant", engine="direct", p=30):
    """A run whose gap is exp(-rate m), with ``cost`` seconds an iteration."""
    m = np.unique(np.round(np.geomspace(1, n_iter, 60)).astype(int))
    m = np.append(0, m)
    gap = np.exp(-rate * m)
    reached = []
    for target in GAPS:
        first = int(np.ceil(-np.log(target) / rate - 1e-9))
        known = first <= n_iter
        reached.append(
            {
                "gap": target,
                "iterations": first if known else None,
                "epochs": first * t / p if known else None,
                "seconds": first * cost if known else None,
            }
        )
    return {
        "step": step,
        "t": t,
        "seed": seed,
        "engine": engine,
        "epochs_per_iteration": t / p,
        "n_iter": n_iter,
        "iterations": m.tolist(),
        "seconds": (m * cost).tolist(),
        "train_loss": (0.25 + gap).tolist(),
        "test_loss": [float(test(g)) for g in gap],
        "test_error": None,
        "lowest_gap": float(gap.min()),
        "reached": reached,
    }


def study(cells, *, name="embedded", grid=(30, 5, 1), n_train=3000, n_features=30):
    seeds = sorted({c["seed"] for c in cells})
    return {
        "set": name,
        "title": "made <up>",
        "note": "",
        "settings": {"data": "made up </script>"},
        "versions": {"rgboost": "0"},
        "machine": {"processor": "none", "cores": "1", "system": "none"},
        "finished": "never",
        "grid": list(grid),
        "steps": list(dict.fromkeys(c["step"] for c in cells)),
        "seeds": seeds,
        "n_train": n_train,
        "n_features": n_features,
        "task": "classification",
        "is_papers": False,
        "optima": [{"seed": seed, "loss": 0.25, "certified_gap": 1e-12} for seed in seeds],
        "cells": cells,
    }


def falls_along(g):
    return 0.3 + g


def medium_is_best(test=falls_along, **options):
    """t = 5 is nearly as good per iteration as t = 30, and much cheaper; t = 1 is poor."""
    kinds = {30: (0.01, 1e-3), 5: (0.009, 2e-4), 1: (0.001, 1e-4)}
    cells = [
        cell(t, seed, rate=rate, cost=cost * (1 + 0.1 * seed), test=test)
        for seed in range(3)
        for t, (rate, cost) in kinds.items()
    ]
    return study(cells, **options)
