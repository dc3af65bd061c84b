"""Figures about rows, against loops over them."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.losses import Quantile
from rgboost.report.judged import judge
from rgboost.report.levels import LEVELS_MOST, by_levels, levels_of
from rgboost.report.performance import (
    SHARES,
    groups_of_similar,
    interval,
    lift,
    performance,
    residuals,
    weighted_quantiles,
)

rng = np.random.default_rng(0)
N = 300
X = pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N)})
SCORE = X["a"].to_numpy() + 0.5 * rng.normal(size=N)
WEIGHT = rng.integers(0, 4, N).astype(float)
FEW = dict(max_iter=20, interactions=0, random_state=0)
THREE = np.array(["low", "mid", "top"])[np.digitize(SCORE, [-0.5, 0.5])]


@pytest.fixture(scope="module")
def regressor():
    return RGBMRegressor(**FEW).fit(X, SCORE)


@pytest.fixture(scope="module")
def two():
    return RGBMClassifier(**FEW).fit(X, SCORE > 0)


@pytest.fixture(scope="module")
def three():
    return RGBMClassifier(**FEW).fit(X, THREE)


def measures(model, y, weight=None):
    found = performance(judge(model, X, y, weight, None), model)["measures"]
    return {one["name"]: (one["value"], one["constant"]) for one in found}


def repeated(weight):
    """Rows as often as they weigh."""
    return np.repeat(np.arange(N), weight.astype(int))


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_measures_of_numbers(regressor, weight):
    rows = np.arange(N) if weight is None else repeated(weight)
    y, predicted = SCORE[rows], regressor.predict(X)[rows]
    found = measures(regressor, SCORE, weight)
    root, constant = found["root of the mean squared error"]
    assert root == pytest.approx(np.sqrt(np.mean((y - predicted) ** 2)), rel=1e-5)
    assert constant == pytest.approx(y.std(), rel=1e-5)
    assert found["R²"][0] == pytest.approx(1 - root**2 / constant**2, rel=1e-4)
    assert found["mean absolute error"][0] == pytest.approx(np.abs(y - predicted).mean(), rel=1e-5)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_measures_of_two_classes(two, weight):
    rows = np.arange(N) if weight is None else repeated(weight)
    y, p = (SCORE > 0)[rows], two.predict_proba(X)[rows, 1]
    found = measures(two, SCORE > 0, weight)
    assert found["log-loss"][0] == pytest.approx(log_loss(y, p), rel=1e-5)
    assert found["log-loss"][1] == pytest.approx(log_loss(y, np.full(len(y), y.mean())), rel=1e-5)
    assert found["accuracy"][0] == pytest.approx(np.mean((p > 0.5) == y), rel=1e-5)
    assert found["Brier score"][0] == pytest.approx(np.mean((p - y) ** 2), rel=1e-5)
    assert found["Brier score"][1] == pytest.approx(y.mean() * (1 - y.mean()), rel=1e-5)
    above = p[y][:, None] - p[~y]
    area = np.mean((above > 0) + 0.5 * (above == 0))
    assert found["area under the ROC curve"][0] == pytest.approx(area, rel=1e-5)


def test_measures_of_three_classes(three):
    p = three.predict_proba(X)
    found = performance(judge(three, X, THREE, None, None), three)
    told = {one["name"]: one["value"] for one in found["measures"]}
    assert told["log-loss"] == pytest.approx(log_loss(THREE, p), rel=1e-5)
    assert told["accuracy"] == pytest.approx(three.score(X, THREE), rel=1e-5)
    predicted = three.predict(X)
    for k, one in enumerate(found["classes"]):
        own = one["name"] == THREE
        assert one["rows"] == own.sum()
        assert one["found"] == pytest.approx(np.mean(predicted[own] == one["name"]), rel=1e-5)
        assert one["right"] == pytest.approx(np.mean(own[predicted == one["name"]]), rel=1e-5)
        assert one["predicted"] == pytest.approx(p[:, k].mean(), rel=1e-5)
    assert found["lift"] is None
    assert len(found["calibration"]) == 3


def test_losses_with_names_of_their_own():
    model = RGBMRegressor(loss=Quantile(0.8), **FEW).fit(X, SCORE)
    judged = judge(model, X, SCORE, None, None)
    found = performance(judged, model)
    told = {one["name"]: one for one in found["measures"]}
    predicted = model.predict(X)
    share = told["share of rows at or below their prediction"]["value"]
    assert share == pytest.approx(np.mean(predicted >= SCORE), rel=1e-5)
    own = told[f"mean loss, {model.loss_!r}"]
    assert own["value"] == pytest.approx(model.loss_.value(SCORE, predicted).mean(), rel=1e-5)
    best = np.quantile(SCORE, 0.8, method="inverted_cdf")
    constant = model.loss_.value(SCORE, np.full(N, best)).mean()
    assert own["constant"] == pytest.approx(constant, rel=1e-5)
    assert found["calibration"] == []  # quantiles are no means


def test_offsets_are_part_of_predictions():
    offset = np.where(np.arange(N) % 2, 1.0, -1.0)
    counts = rng.poisson(np.exp(0.3 * SCORE + offset))
    model = RGBMRegressor(loss="poisson", **FEW).fit(X, counts, offset=offset)
    judged = judge(model, X, counts, None, offset)
    np.testing.assert_array_equal(judged.predicted[:, 0], model.predict(X, offset=offset))
    with pytest.raises(ValueError, match="was fitted with offsets"):
        judge(model, X, counts, None, None)


def test_groups_hold_similar_rows():
    values = rng.integers(0, 40, N).astype(float)
    groups = groups_of_similar(values, WEIGHT, 10)
    assert 5 < len(groups) <= 10
    assert sorted(np.concatenate(groups).tolist()) == list(range(N))
    for before, after in pairwise(groups):
        assert values[before].max() < values[after].min()
    weights = [WEIGHT[group].sum() for group in groups]
    assert max(weights) < 2 * WEIGHT.sum() / len(groups)


@pytest.mark.parametrize("values", [np.zeros(N), np.arange(19.0)])
def test_one_group_of_equal_or_few_rows(values):
    (group,) = groups_of_similar(values, np.ones(len(values)), 10)
    assert len(group) == len(values)


def test_calibration_is_of_the_groups(two):
    judged = judge(two, X, SCORE > 0, WEIGHT, None)
    (points,) = performance(judged, two)["calibration"]
    p = judged.predicted[:, 0]
    for point, rows in zip(points, groups_of_similar(p, WEIGHT, 10), strict=True):
        each = np.repeat(rows, WEIGHT[rows].astype(int))
        assert point["observed"] == pytest.approx(np.mean(SCORE[each] > 0), abs=1e-5)
        assert point["predicted"] == pytest.approx(p[each].mean(), rel=1e-5)
        assert point["low"] <= point["observed"] <= point["high"]


def test_intervals_hold_what_they_say():
    """19 of 20, of many means and shares."""
    draw = np.random.default_rng(1)
    hits = 0
    for _ in range(2000):
        low, high = interval(draw.random(60) < 0.15, np.ones(60), True)
        hits += low <= 0.15 <= high
    assert 0.93 < hits / 2000 < 0.97
    hits = 0
    for _ in range(2000):
        low, high = interval(draw.normal(2.0, 3.0, 60), np.ones(60), False)
        hits += low <= 2.0 <= high
    assert 0.93 < hits / 2000 < 0.965


def test_equal_weights_change_no_interval():
    values = rng.normal(size=50)
    alike = interval(values, np.ones(50), False)
    assert interval(values, np.full(50, 7.0), False) == pytest.approx(alike)


def test_lift(two):
    judged = judge(two, X, SCORE > 0, WEIGHT, None)
    found, p = lift(judged), judged.predicted[:, 0]
    assert found["share"] == pytest.approx(np.average(SCORE > 0, weights=WEIGHT), rel=1e-5)
    for least, share, got in zip(found["least"], found["rows"], found["found"], strict=True):
        taken = p >= least - 1e-6
        assert share == pytest.approx(WEIGHT[taken].sum() / WEIGHT.sum(), abs=1e-5)
        hits = WEIGHT[taken & (SCORE > 0)].sum()
        assert got == pytest.approx(hits / WEIGHT[SCORE > 0].sum(), abs=1e-5)
    assert (found["rows"][-1], found["found"][-1]) == (1.0, 1.0)


def test_lift_of_one_class_alone(two):
    rows = SCORE <= 0
    judged = judge(two, X[rows], SCORE[rows] > 0, None, None)
    assert lift(judged)["rows"] == []
    names = [one["name"] for one in performance(judged, two)["measures"]]
    assert "area under the ROC curve" not in names


def test_residuals(regressor):
    judged = judge(regressor, X, SCORE, WEIGHT, None)
    p = judged.predicted[:, 0]
    for one, rows in zip(residuals(judged), groups_of_similar(p, WEIGHT, 20), strict=True):
        off = np.sort(np.repeat(SCORE[rows] - p[rows], WEIGHT[rows].astype(int)))
        wanted = [np.quantile(off, share, method="inverted_cdf") for share in SHARES]
        np.testing.assert_allclose(one["quantiles"], wanted, rtol=1e-5)


def test_quantiles_of_equal_weights():
    values = rng.normal(size=101)
    found = weighted_quantiles(values, np.ones(101), SHARES)
    wanted = np.quantile(values, SHARES, method="inverted_cdf")
    np.testing.assert_array_equal(found, wanted)


def test_levels(two):
    group = np.where(X["b"] > 0, "right", "left").astype(object)
    group[:5] = None
    judged = judge(two, X, SCORE > 0, WEIGHT, None)
    found = by_levels(judged, "side", group)
    assert [level["level"] for level in found["levels"]] == ["left", "right", "missing"]
    p = two.predict_proba(X)[:, 1]
    for level in found["levels"]:
        rows = pd.isna(group) if level["level"] == "missing" else group == level["level"]
        each = np.repeat(np.flatnonzero(rows), WEIGHT[rows].astype(int))
        y = SCORE[each] > 0
        assert level["rows"] == rows.sum()
        assert level["truth"] == pytest.approx([y.mean()], rel=1e-5)
        assert level["predicted"] == pytest.approx([p[each].mean()], rel=1e-5)
        assert level["off"] == pytest.approx([p[each].mean() - y.mean()], rel=1e-3, abs=1e-6)
        assert level["loss"] == pytest.approx(log_loss(y, p[each], labels=[0, 1]), rel=1e-5)
    assert found["all"]["rows"] == N


def test_levels_of_squared_errors_are_told_in_units_of_labels(regressor):
    judged = judge(regressor, X, SCORE, None, None)
    (level,) = by_levels(judged, "one", np.ones(N))["levels"]
    assert level["loss"] == pytest.approx(
        np.sqrt(np.mean((SCORE - regressor.predict(X)) ** 2)), 1e-5
    )


def test_levels_without_weight_have_no_means(two):
    weight = np.where(X["b"] > 0, 1.0, 0.0)
    judged = judge(two, X, SCORE > 0, weight, None)
    left, _ = by_levels(judged, "side", np.where(X["b"] > 0, "right", "left"))["levels"]
    assert (left["loss"], left["share"]) == (None, 0.0)


def test_many_numbers_are_cut_into_parts():
    values = rng.normal(size=N).round(3)
    values[0] = np.nan
    codes, texts = levels_of(values)
    assert len(texts) == 6
    assert texts[-1] == "missing"
    assert codes[0] == 5
    assert np.bincount(codes)[:5].tolist() == [60, 60, 59, 60, 60]
    edge = float(texts[0].removeprefix("up to "))
    assert (values[codes == 0] <= edge + 1e-9).all()


def test_few_numbers_and_truths_are_levels():
    assert levels_of(np.array([3, 1, 3, 2]))[1] == ["1", "2", "3"]
    assert levels_of(np.array([True, False]))[1] == ["False", "True"]
    codes, texts = levels_of(pd.Series(["b", pd.NA, "a"], dtype="string").to_numpy())
    assert (codes.tolist(), texts) == ([1, 2, 0], ["a", "b", "missing"])


def test_light_levels_are_put_together():
    values = np.repeat([f"level {k:02}" for k in range(60)], np.arange(60) + 1)
    codes, texts = levels_of(values)
    assert len(texts) == LEVELS_MOST
    assert texts[0] == "level 31"
    assert texts[-1] == "(31 others)"
    assert (codes == LEVELS_MOST - 1).sum() == sum(range(32))


def test_levels_must_be_as_many_as_rows(two):
    judged = judge(two, X, SCORE > 0, None, None)
    with pytest.raises(ValueError, match=r"by has the shape \(3,\) and y 300 labels"):
        by_levels(judged, "b", np.zeros(3))


def test_a_class_whose_rows_have_no_weight():
    labels = np.digitize(SCORE, [-0.5, 0.5])
    model = RGBMClassifier(**FEW).fit(X, labels)
    judged = judge(model, X, labels, (labels > 0).astype(float), None)
    first = performance(judged, model)["classes"][0]
    assert first["found"] is None
    assert first["share"] == 0.0
