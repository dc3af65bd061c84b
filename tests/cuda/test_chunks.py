"""Rows that are read piece by piece, with sums on a card."""

import numpy as np
import pytest

from rgboost import Chunks
from rgboost.cuda.chunks import BlocksOnCard
from rgboost.statistics import chunks

from .rows import N_ROWS, estimator, labels, mixed_rows, raw, weights

STOPPED = dict(early_stopping=True, max_iter=8, interactions=0)
CASES = {
    "regression": ("regression", dict(max_iter=12, interactions=0, early_stopping=False), False),
    "three classes": ("three classes", STOPPED, True),
}


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(chunks, "SHORTEST_BLOCK", N_ROWS // 3)
    monkeypatch.setattr(chunks, "BLOCK_CELLS", 3)


def pieces(kind, has_offset):
    X, y, w = mixed_rows()[0], labels(kind), weights()
    shape = (N_ROWS, 3) if kind == "three classes" else N_ROWS
    offset = np.random.default_rng(6).normal(size=shape) if has_offset else None

    def read():
        for a in range(0, N_ROWS, N_ROWS // 4 + 1):
            now = slice(a, a + N_ROWS // 4 + 1)
            known = None if offset is None else offset[now]
            yield {"X": X[now], "y": y[now], "weight": w[now], "offset": known}

    return Chunks(read)


@pytest.mark.parametrize("case", CASES)
def test_pieces_are_summed_on_the_card(case, monkeypatch):
    kind, parameters, has_offset = CASES[case]
    kept, plain = [], BlocksOnCard.piece

    def piece(self, k, block, weighting):
        found = plain(self, k, block, weighting)
        kept.append(len(self.kept))
        return found

    monkeypatch.setattr(BlocksOnCard, "piece", piece)
    rows, X = pieces(kind, has_offset), mixed_rows()[0]
    host = estimator(kind, **parameters).fit(rows)
    assert not kept
    found = estimator(kind, device="cuda", **parameters).fit(rows)
    assert max(kept) == -(-N_ROWS // chunks.block_rows(3))
    np.testing.assert_allclose(raw(found, X), raw(host, X), rtol=1e-9, atol=1e-9)
    kept.clear()
    few = estimator(kind, device="cuda", device_memory=1, **parameters).fit(rows)
    assert max(kept) == 0
    np.testing.assert_array_equal(raw(few, X), raw(found, X))


def test_missing_values_that_were_not_there():
    X, y = np.nan_to_num(mixed_rows()[0]), labels("regression")
    made = estimator("regression", device="cuda", max_iter=3, interactions=0)
    made.set_params(categorical_features=None)
    times = []

    def read():
        times.append(len(times))
        now = X.copy()
        now[5, 1] = np.nan if len(times) > 1 else 0.0
        yield now, y

    with pytest.raises(ValueError, match=r"missing values where they had none|changed"):
        made.fit(Chunks(read))
