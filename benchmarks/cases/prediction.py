"""Rows predicted per second with 1,000 stumps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from .. import data
from ..ours import Rgboost
from ..peers import ALL, Peer
from .base import Bench, Case
from .dense import P

STUMPS = 1000
FIT_ROWS = 10_000
"""Rows to fit on: what the model has cost does not matter here."""


def dense(bench: Bench) -> None:
    n = 370_972 if bench.is_full else 100_000
    X, y = data.dense(n, P)
    spec = bench.spec(X)
    peers = [Rgboost(), *_peers(bench)]
    _predict(bench, peers, X, X, y, spec, f"made {n:,} x {P}", "dense")


def sparse(bench: Bench) -> None:
    X, y = data.named("a9a", bench.data_dir)
    spec = bench.spec(X, task="logistic")
    peers = [Rgboost("direct"), *_peers(bench)]
    _predict(bench, peers, X, X.toarray(), y, spec, "a9a 32,561 x 123", "sparse")


def _peers(bench: Bench) -> list[Peer]:
    return list(ALL.values()) if bench.is_full else [ALL["LightGBM"], ALL["XGBoost"]]


def _predict(
    bench: Bench, peers: list[Peer], X: Any, as_dense: Any, y: Any, spec: Any, name: str, row: str
) -> None:
    contestants = {}
    given = []
    for peer in peers:
        rows = X if peer.takes_sparse else as_dense
        bench.say(f"fitting {peer.name}")
        bench.note_settings(peer, spec)
        few = slice(0, 2000 if peer.name == "EBM" else FIT_ROWS)
        try:
            model = peer.fit(rows[few], y[few], replace(spec, threads=1), STUMPS)
        except Exception as error:
            bench.say(f"{peer.name}: {error}")
            continue
        if row == "sparse" and not peer.takes_sparse:
            given.append(peer.name)
        contestants[peer.name] = partial(peer.score, model, rows, spec)
    timings = bench.race(contestants, "predicting")
    note = f"{' and '.join(given)} take no sparse input and were given dense rows" if given else ""
    what = f"{'CSR' if row == 'sparse' else 'dense'} rows predicted per second, {STUMPS:,} stumps"
    bench.add(timings, X.shape[0], row=row, data=name, what=what, unit="rows/s", note=note)


CASES = (
    Case("predict-sparse", "Prediction, sparse rows", sparse),
    Case("predict-dense", "Prediction, dense rows", dense),
)
