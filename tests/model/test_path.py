"""Parts of a path, and what they add up to."""

import numpy as np
import pytest

from rgboost import Dictionary, Stumps, boost
from rgboost.losses import Squared
from rgboost.selection import AllLearners
from rgboost.steps import ConstantStep

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3)).round(1)
y = X[:, 0] + np.abs(X[:, 1])
CODES = np.column_stack([rng.integers(0, 5, 80), X[:, 1:]]).astype(float)


@pytest.mark.parametrize(
    ("rows", "family"),
    [
        (X, Stumps(max_bins=8)),
        (X, Stumps(max_bins=8, leaves="signed")),
        (CODES, Stumps(max_bins=8, categorical=(0,))),
        (X, Dictionary.from_functions([lambda X: X])),
    ],
    ids=["free", "signed", "categories", "dictionary"],
)
def test_the_parts_of_a_path_add_up_to_it(rows, family):
    boosted = boost(
        rows, y, loss=Squared(), learner=family, selection=AllLearners(), step=ConstantStep(),
        n_iter=30, random_state=0,
    )  # fmt: skip
    path, model = boosted.trace.path(), boosted.prepared.model
    parts = [path.part(0, 7), path.part(7, 30)]
    assert [len(part) for part in parts] == [7, 23]
    total = sum(model(part, 0.0).score(rows) for part in parts)
    np.testing.assert_allclose(total, model(path, 0.0).score(rows), rtol=0, atol=1e-12)
    stages = list(boosted.model.staged_score(rows))
    start = boosted.model.intercept
    np.testing.assert_allclose(start + model(parts[0], 0.0).score(rows), stages[6], atol=1e-12)
