"""Fits on a card, against those in memory and those of the same rows from the host."""

from functools import cache

import numpy as np
import pytest

from rgboost import RGBMRegressor
from rgboost.cuda import kernels, source
from rgboost.cuda.matrix import CardMatrix

from .rows import KINDS, N_ROWS, estimator, labels, mixed_rows, raw, send, weights

STOPPED = dict(early_stopping=True, validation_fraction=0.3, max_iter=15, interactions=0)
CASES = {
    "regression": ("regression", dict(max_iter=12, early_stopping=False, interactions=0), {}),
    "stopped": ("regression", STOPPED, {}),
    "mean of runs": ("regression", dict(cv=2, interactions=0), {"sample_weight": weights()}),
    "two classes": ("two classes", STOPPED, {"sample_weight": weights()}),
    "three classes": ("three classes", STOPPED, {}),
    "folds": ("two classes", dict(cv=2, max_iter="auto", interactions=0), {}),
    "pairs": ("regression", {**STOPPED, "max_iter": "auto", "interactions": [(0, 1)]}, {}),
}


def extra(case):
    """Offsets, which weights go with."""
    found = dict(CASES[case][2])
    if case in ("stopped", "two classes"):
        found["offset"] = np.random.default_rng(5).normal(size=N_ROWS)
    return found


@cache
def fitted(case, device):
    kind, parameters, _ = CASES[case]
    made = estimator(kind, device=device, **parameters)
    return made.fit(mixed_rows()[0], labels(kind), **extra(case))


@pytest.mark.parametrize("case", CASES)
def test_a_card_fits_what_memory_does(case):
    """Sums differ by rounding; so do the models."""
    host, on_card, X = fitted(case, "cpu"), fitted(case, "cuda"), mixed_rows()[0]
    if host.plan_["engine"].value != on_card.plan_["engine"].value:
        assert on_card.plan_["engine"].value == "quadratic"
        assert on_card.score(X, labels(CASES[case][0])) > 0.5
        return
    np.testing.assert_allclose(raw(on_card, X), raw(host, X), rtol=1e-9, atol=1e-9)
    assert on_card.n_iter_ == host.n_iter_
    assert (on_card.model_.wide.pairs is None) == (host.model_.wide.pairs is None)


@pytest.mark.parametrize("case", CASES)
def test_rows_that_are_on_the_card_stay_there(case, monkeypatch):
    """The same bits as from the host; what travels is a sample."""
    kind, parameters, _ = CASES[case]
    X, y = mixed_rows()[0], labels(kind)
    seen, plain = [], CardMatrix.to_host
    monkeypatch.setattr("rgboost.estimators.on_card.sample_size", lambda *_: 17)
    monkeypatch.setattr("rgboost.training.plan.facts.FEWEST", 9)
    monkeypatch.setattr("rgboost.training.plan.facts.CELLS", 9)

    def watched(matrix):
        seen.append(len(matrix))
        return plain(matrix)

    monkeypatch.setattr(CardMatrix, "to_host", watched)
    made = [estimator(kind, device="cuda", **parameters) for _ in range(2)]
    made[0].fit(X, y, **extra(case))
    given = {name: send(values) for name, values in extra(case).items()}
    made[1].fit(send(np.asfortranarray(X)), send(y), **given)
    assert seen
    assert max(seen) <= 17
    np.testing.assert_array_equal(raw(made[1], X), raw(made[0], X))
    assert made[1].n_features_in_ == 3


@pytest.mark.parametrize("which", ["both", "X", "X_val"])
def test_validation_rows(which):
    X, y = mixed_rows()[0], labels("regression")
    parameters = dict(max_iter=8, interactions=0, early_stopping=True, device="cuda")
    a, b = estimator("regression", **parameters), estimator("regression", **parameters)
    a.fit(X[10:], y[10:], X_val=X[:10], y_val=y[:10])
    there = [send(X[10:]) if which != "X_val" else X[10:], send(X[:10]) if which != "X" else X[:10]]
    b.fit(there[0], y[10:], X_val=there[1], y_val=send(y[:10]))
    np.testing.assert_array_equal(raw(a, X), raw(b, X))


def test_rows_without_weight_are_not_there():
    X, y, w = mixed_rows()[0], labels("regression"), weights().copy()
    w[::3] = 0.0
    parameters = dict(max_iter=5, interactions=0, early_stopping=False, device="cuda")
    a = estimator("regression", **parameters).fit(send(X), y, sample_weight=w)
    b = estimator("regression", **parameters).fit(X[w > 0], y[w > 0], sample_weight=w[w > 0])
    np.testing.assert_allclose(raw(a, X), raw(b, X), rtol=1e-12, atol=1e-12)


def test_the_same_bits_again():
    X, y = mixed_rows()[0], labels("regression")
    found = [raw(estimator("regression", device="cuda", **STOPPED).fit(X, y), X) for _ in range(2)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("case", ["stopped", "three classes"])
@pytest.mark.parametrize("there", [False, True])
def test_rows_that_do_not_fit_pass_in_pieces(case, there, monkeypatch):
    kind, parameters, _ = CASES[case]
    X, y = mixed_rows()[0], labels(kind)
    monkeypatch.setattr(kernels, "STRETCH", max(8, N_ROWS // 5))
    monkeypatch.setattr(source, "INPUT_BYTES", 100 * N_ROWS // 40)
    made = estimator(kind, device="cuda", device_memory=1, **parameters)
    made.fit(send(X) if there else X, y, **extra(case))
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


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_learned_of_the_input(kind):
    found = fitted({"regression": "regression"}.get(kind, kind), "cuda")
    assert found.n_features_in_ == 3
    assert found.input_.categorical.tolist() == [False, False, True]
