"""Pairs stay within the memory that a fit may add."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from rgboost import RGBMRegressor
from rgboost.estimators.pairs.gains import Gains
from rgboost.losses import Squared
from rgboost.training.plan import facts_of, resolve
from rgboost.training.plan.pair_memory import PairMemory, Tables, bins_of


def rows(n=400, p=12):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * X[:, 1]


def plan_with(memory, X, y, **parameters):
    """The plan of a fit that may add so many bytes."""
    fold = np.arange(len(y)) % 5
    facts = replace(facts_of(X, y, Squared()), memory=memory).with_folds(fold)
    return resolve(RGBMRegressor(**parameters).get_params(deep=False), facts)


def test_the_largest_tables():
    sizes = np.array([3, 5, 5, 9, 2, 9, 9, 4])
    cells = sorted((a * b for a, b in itertools.combinations(sizes, 2)), reverse=True)
    for n in range(len(cells) + 3):
        assert Tables(sizes).largest(n) == sum(cells[:n])


def test_bins_are_those_of_the_fit():
    X, y = rows()
    X[:, 1] = np.arange(len(X)) % 3
    X[:, 2] = np.arange(len(X)) % 7
    categorical = np.arange(12) == 2
    facts = facts_of(X, y, Squared(), categorical=categorical)
    assert bins_of(facts, 64)[:3].tolist() == [65, 4, 8]


def test_runs_rows_and_candidates_are_counted():
    X, y = rows()
    facts = facts_of(X, y, Squared()).with_folds(np.arange(len(y)) % 5)
    one = PairMemory.of(facts, 32, 64, mean=False, held_out=False)
    five = PairMemory.of(facts, 32, 64, mean=True, held_out=False)
    assert five.of_candidates(0) > one.of_candidates(0)
    assert one.of_candidates(66) - one.of_candidates(0) >= 66 * 65 * 65 * 8
    every = np.array(list(itertools.combinations(range(12), 2)))
    assert five.of_list(every) == five.of_candidates(66)
    for memory in (0, five.of_candidates(5), five.of_candidates(66) - 1, 1 << 40):
        facts = replace(facts, memory=memory)
        five = PairMemory.of(facts, 32, 64, mean=True, held_out=False)
        n = five.most_candidates(66)
        assert n == 0 or five.of_candidates(n) <= memory
        assert n == 66 or five.of_candidates(n + 1) > memory


def test_fewer_candidates_where_more_do_not_fit():
    X, y = rows()
    plan = plan_with(1 << 40, X, y)
    assert (plan.pairs.candidates, plan.pairs.screened) == (66, 66)
    memory = PairMemory.of(
        facts_of(X, y, Squared()).with_folds(np.arange(400) % 5), 32, 64, True, False
    )
    for interactions, told in (("auto", "; 20 candidates"), ("all", "20 candidates")):
        plan = plan_with(memory.of_candidates(20), X, y, interactions=interactions)
        assert plan.pairs.candidates == 20
        assert told in plan["interactions"].why
    plan = plan_with(memory.of_candidates(20), X, y, interactions=15)
    assert (plan.pairs.candidates, plan.pairs.count) == (20, 15)
    with pytest.raises(ValueError, match="Ask for at most 20 pairs, or give the process more"):
        plan_with(memory.of_candidates(20), X, y, interactions=30)
    few, many = ([(g, h) for g in range(3) for h in range(3, last)] for last in (6, 12))
    assert plan_with(memory.of_candidates(20), X, y, interactions=few).pairs.candidates == 9
    with pytest.raises(ValueError, match=r"takes too much memory: up to .* MB.* Give fewer pairs"):
        plan_with(memory.of_candidates(20), X, y, interactions=many)


def test_no_pairs_where_not_even_the_rows_fit(monkeypatch):
    X, y = rows()
    monkeypatch.setattr("rgboost.training.plan.pair_memory.BYTES_OF_PAIR_ROW", 1 << 30)
    plan = plan_with(1 << 30, X, y)
    assert plan.pairs is None
    assert "more memory" in plan["interactions"].why
    with pytest.raises(ValueError, match="Use interactions=0, or give the process more memory"):
        plan_with(1 << 30, X, y, interactions=1)


def test_all_pairs_are_as_many_as_there_are():
    X, y = rows(p=30)
    assert plan_with(1 << 40, X, y, interactions="all").pairs.candidates == 435
    assert plan_with(1 << 40, X, y).pairs.candidates == 128
    assert plan_with(1 << 40, X, y, interactions=200).pairs.candidates == 200
    X, y = rows(p=300)
    assert plan_with(1 << 40, X, y, interactions="all").pairs.candidates == 20_000
    with pytest.raises(ValueError, match="more than the 20,000 pairs that are looked at"):
        plan_with(1 << 40, X, y, interactions=30_000)


def test_a_fit_boosts_so_many_candidates_and_screens_so_many(monkeypatch):
    from rgboost.estimators.pairs.stage import PairStage

    X, y = rows()
    boost, seen = PairStage.boost, []

    def watch(self, pairs):
        self.plan = replace(self.plan, candidates=5)
        seen.append(len(pairs))
        return boost(self, pairs)

    possible = PairStage.possible

    def fewer(self):
        self.plan = replace(self.plan, candidates=5, screened=9)
        return possible(self)

    monkeypatch.setattr(PairStage, "boost", watch)
    monkeypatch.setattr(PairStage, "possible", fewer)
    model = RGBMRegressor(random_state=0).fit(X, y)
    assert seen == [5]
    assert len(model.pair_scores_) == 9
    sets = [list(range(12))]
    model = RGBMRegressor(random_state=0, interaction_constraints=sets).fit(X, y)
    assert len(model.pair_scores_) == 9


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_gains_by_blocks_are_gains_of_all_rows(scale):
    rng = np.random.default_rng(0)
    before, weight = rng.exponential(size=500), rng.uniform(0, 2, 500)
    weight[:40] = 0.0
    after = before[:, None] - np.array([0.0, 0.3, 1e-9]) * rng.normal(1.0, 0.5, (500, 3))
    gains = Gains(3)
    for lo in (0, 30, 200, 470):
        hi = {0: 30, 30: 200, 200: 470, 470: 500}[lo]
        gains.add(scale * before[lo:hi], scale * after[lo:hi], weight[lo:hi])
    fall = before[:, None] - after
    mean = np.average(fall, axis=0, weights=weight)
    error = np.sqrt(weight**2 @ (fall - mean) ** 2) / weight.sum()
    np.testing.assert_allclose(gains.gain, scale * mean, rtol=1e-7)
    np.testing.assert_allclose(gains.error, scale * error, rtol=1e-7)
    assert gains.loss == pytest.approx(scale * np.average(before, weights=weight))
