"""Fits on a card, against those in memory and those of the same rows from the host."""

from functools import cache

import numpy as np
import pytest

from rgboost import Chunks, RGBMRegressor
from rgboost.cuda import kernels, source
from rgboost.cuda.matrix import CardMatrix

from .rows import N_ROWS, estimator, labels, mixed_rows, raw, send, weights

GRAM = dict(engine="gram", interactions=0)
STOPPED = dict(early_stopping=True, validation_fraction=0.3, max_iter=15, **GRAM)
HELD = dict(early_stopping=True, max_iter=10, engine="quadratic", interactions=0)
PAIRS = dict(early_stopping=True, interactions=[(0, 1)], n_iter_no_change=3, learning_rate=1.0)
CASES = {
    "regression": ("regression", dict(max_iter=12, early_stopping=False, **GRAM)),
    "stopped": ("regression", STOPPED),
    "mean of runs": ("regression", dict(cv=2, n_iter_no_change=3, **GRAM)),
    "two classes": ("two classes", HELD),
    "three classes": ("three classes", HELD),
    "pairs": ("regression", PAIRS),
}
BY_SUMS = ("two classes", "three classes", "pairs")
"""In memory they would be fitted to the rows; by sums they are, if rows come in pieces."""
HELD_ROWS = slice(0, N_ROWS // 3)


def extra(case):
    """What else there is of the rows."""
    found = {}
    if case in ("mean of runs", "two classes"):
        found["sample_weight"] = weights()
    if case in ("stopped", "two classes"):
        found["offset"] = np.random.default_rng(5).normal(size=N_ROWS)
    return found


def given(case, device):
    """Arguments of `fit`; validation rows are some of the training rows."""
    y = labels(CASES[case][0])
    rows = {"X": mixed_rows()[0], "y": y, **extra(case)}
    if case not in BY_SUMS:
        return rows
    names = {"X": "X_val", "y": "y_val", "sample_weight": "sample_weight_val"}
    held = {names.get(k, "offset_val"): v[HELD_ROWS] for k, v in rows.items()}
    if device == "cuda":
        return rows | held
    parts = [rows, dict(zip(rows, held.values(), strict=True))]
    for part in parts:
        if "sample_weight" in part:
            part["weight"] = part.pop("sample_weight")
    return {"X": Chunks(lambda: [parts[0]]), "X_val": Chunks(lambda: [parts[1]])}


@cache
def fitted(case, device):
    kind, parameters = CASES[case]
    return estimator(kind, device=device, **parameters).fit(**given(case, device))


@pytest.mark.parametrize("case", CASES)
def test_a_card_fits_what_memory_does(case):
    """Sums differ by rounding; so do the models."""
    host, on_card, X = fitted(case, "cpu"), fitted(case, "cuda"), mixed_rows()[0]
    assert host.plan_["engine"].value == on_card.plan_["engine"].value
    np.testing.assert_allclose(raw(on_card, X), raw(host, X), rtol=1e-9, atol=1e-9)
    assert on_card.n_iter_ == host.n_iter_
    assert (on_card.model_.wide.pairs is not None) == (case == "pairs")


@pytest.mark.parametrize("case", ["stopped", "mean of runs", "three classes"])
def test_rows_that_are_on_the_card_stay_there(case, monkeypatch):
    """The same bits as from the host; what travels is a sample."""
    kind, parameters = CASES[case]
    X = mixed_rows()[0]
    seen, plain = [], CardMatrix.to_host
    monkeypatch.setattr("rgboost.estimators.on_card.sample_size", lambda *_: 17)
    monkeypatch.setattr("rgboost.training.plan.facts.FEWEST", 9)
    monkeypatch.setattr("rgboost.training.plan.facts.CELLS", 9)

    def watched(matrix):
        seen.append(len(matrix))
        return plain(matrix)

    monkeypatch.setattr(CardMatrix, "to_host", watched)
    made = [estimator(kind, device="cuda", **parameters) for _ in range(2)]
    rows = given(case, "cuda")
    made[0].fit(**rows)
    made[1].fit(**{name: send(np.asfortranarray(values)) for name, values in rows.items()})
    assert seen
    assert max(seen) <= 17
    np.testing.assert_array_equal(raw(made[1], X), raw(made[0], X))
    assert made[1].n_features_in_ == 3
    assert made[1].input_.categorical.tolist() == [False, False, True]


def test_validation_rows():
    X, y = mixed_rows()[0], labels("regression")
    parameters = dict(early_stopping=True, max_iter=8, device="cuda", **GRAM)
    made = [estimator("regression", **parameters) for _ in range(3)]
    made[0].fit(X[10:], y[10:], X_val=X[:10], y_val=y[:10])
    made[1].fit(X[10:], y[10:], X_val=send(X[:10]), y_val=send(y[:10]))
    made[2].fit(send(X[10:]), y[10:], X_val=X[:10], y_val=y[:10])
    np.testing.assert_array_equal(raw(made[1], X), raw(made[0], X))
    np.testing.assert_array_equal(raw(made[2], X), raw(made[0], X))


def test_rows_without_weight_are_not_there():
    X, y, w = mixed_rows()[0], labels("regression"), weights().copy()
    w[::3] = 0.0
    parameters = dict(max_iter=5, early_stopping=False, device="cuda", **GRAM)
    a = estimator("regression", **parameters).fit(send(X), y, sample_weight=w)
    b = estimator("regression", **parameters).fit(X[w > 0], y[w > 0], sample_weight=w[w > 0])
    np.testing.assert_allclose(raw(a, X), raw(b, X), rtol=1e-12, atol=1e-12)


def test_the_same_bits_again():
    X = mixed_rows()[0]
    again = estimator("regression", device="cuda", **STOPPED).fit(**given("stopped", "cuda"))
    np.testing.assert_array_equal(raw(again, X), raw(fitted("stopped", "cuda"), X))


@pytest.mark.parametrize(
    ("case", "there"), [("stopped", False), ("stopped", True), ("three classes", True)]
)
def test_rows_that_do_not_fit_pass_in_pieces(case, there, monkeypatch):
    kind, parameters = CASES[case]
    X, rows = mixed_rows()[0], given(case, "cuda")
    monkeypatch.setattr(kernels, "STRETCH", max(8, N_ROWS // 5))
    monkeypatch.setattr(source, "INPUT_BYTES", 100 * N_ROWS // 40)
    made = estimator(kind, device="cuda", device_memory=1, **parameters)
    made.fit(**({**rows, "X": send(X)} if there else rows))
    assert any("did not fit on the card at once" in event for event in made.plan_.events)
    np.testing.assert_allclose(raw(made, X), raw(fitted(case, "cuda"), X), rtol=1e-9, atol=1e-9)


def test_a_card_without_memory_takes_pieces(monkeypatch):
    X, y = mixed_rows()[0], labels("regression")
    monkeypatch.setattr(kernels, "STRETCH", max(8, N_ROWS // 5))
    plain, asked = source.CardBinner.rows, []

    def rows(binner, parts, fold):
        asked.append(len(fold))
        if len(fold) > N_ROWS // 2:
            raise MemoryError
        return plain(binner, parts, fold)

    monkeypatch.setattr(source.CardBinner, "rows", rows)
    made = estimator("regression", device="cuda", **STOPPED).fit(X, y)
    assert max(asked) > N_ROWS // 2 >= min(asked)
    expected = estimator("regression", device="cpu", **STOPPED).fit(X, y)
    np.testing.assert_allclose(raw(made, X), raw(expected, X), rtol=1e-9, atol=1e-9)


def test_the_plan_of_rows_on_the_card():
    X, y = mixed_rows()[0], labels("regression")
    made = RGBMRegressor(device="cuda", max_bins=4, interactions=0)
    assert str(made.plan(send(X), send(y))) == str(made.plan(X, y))
    assert not hasattr(made, "model_")
