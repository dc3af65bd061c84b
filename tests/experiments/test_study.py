"""All runs of a set: none twice, none lost."""

import numpy as np
import pytest

from rgboost.data.datasets import Dataset
from rgboost.experiments import study as module
from rgboost.experiments.protocol import Budget, make_plan
from rgboost.experiments.store import Store
from rgboost.experiments.study import digest_of, run_study


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, size=(80, 6)).astype(float)
    y = X[:, 0] - 0.3 * X[:, 1] + rng.normal(size=80)
    return Dataset("embedded-digits", "regression", X, y, (), is_papers=False)


@pytest.fixture
def plan():
    return make_plan("embedded-digits", seeds=2, budget=Budget("iterations", 30))


def test_interrupted_and_continued(data, plan, tmp_path, monkeypatch):
    ran = []
    real = module.run_cell

    def count(cell, *arguments):
        if len(ran) == 7:
            raise KeyboardInterrupt
        ran.append(cell)
        return real(cell, *arguments)

    monkeypatch.setattr(module, "run_cell", count)
    with pytest.raises(KeyboardInterrupt):
        run_study(plan, data, Store(tmp_path))
    first = list(ran)

    def go_on(cell, *arguments):
        ran.append(cell)
        return real(cell, *arguments)

    monkeypatch.setattr(module, "run_cell", go_on)
    study = run_study(plan, data, Store(tmp_path))
    assert len(ran) == len(set(ran)) == len(study["cells"]) == 2 * (2 * len(study["grid"]) + 1)
    assert ran[:7] == first

    def never(*_):
        raise AssertionError("a finished cell ran again")

    monkeypatch.setattr(module, "run_cell", never)
    monkeypatch.setattr(module, "find_optimum", never)
    again = run_study(plan, data, Store(tmp_path))
    assert again["cells"] == study["cells"]


@pytest.mark.parametrize("change", ["version", "budget", "data"])
def test_other_settings_are_other_cells(data, plan, tmp_path, monkeypatch, change):
    run_study(plan, data, Store(tmp_path))
    before = len(list(tmp_path.iterdir()))
    if change == "version":
        monkeypatch.setattr(module, "versions", lambda: {"rgboost": "99"})
    elif change == "budget":
        plan = make_plan("embedded-digits", seeds=2, budget=Budget("iterations", 31))
    else:
        data = Dataset(data.name, data.task, data.X + 1.0, data.y, (), is_papers=False)
    run_study(plan, data, Store(tmp_path))
    assert len(list(tmp_path.iterdir())) == 2 * before


def test_progress_and_settings(data, plan, tmp_path):
    told = []
    study = run_study(plan, data, Store(tmp_path), lambda *what: told.append(what))
    done = [d for d, _, _ in told]
    assert done == sorted(done)
    assert told[-1][0] == told[-1][1] == 2 * (2 * len(study["grid"]) + 2)
    assert study["settings"]["budget"] == "30 iterations a run"
    assert study["settings"]["loss"].startswith("squared")
    assert "80 % training (64 rows)" in study["settings"]["split"]
    for entry in study["optima"]:
        lowest = min(c["train_loss"][-1] for c in study["cells"] if c["seed"] == entry["seed"])
        assert entry["loss"] <= lowest


def test_digest_sees_every_number(data):
    other = data.X.copy()
    other[3, 2] += 1e-9
    changed = Dataset(data.name, data.task, other, data.y, (), is_papers=False)
    assert digest_of(data) != digest_of(changed)
    assert digest_of(data) == digest_of(data)
