"""Edits against loops over bins, and what is kept of them."""

import copy
import json

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

import rgboost
from rgboost.editing import Editor, apply_edits, checksum
from rgboost.editing.terms import Parts
from rgboost.theory import certificate

from .models import SETTINGS, binary, classes, frame, pairs, scores

MODELS = {"pairs": pairs, "binary": binary, "classes": classes}
WHY = "because"


@pytest.fixture(params=MODELS)
def case(request):
    return MODELS[request.param]()


def curve(model, name):
    """Values with that for missing ones last, and weights."""
    shape = model.explain_global()[name]
    return np.concatenate([shape.values, np.asarray(shape.missing)[None]]), np.append(
        shape.weights, shape.missing_weight
    )


def contributions(model, X):
    found = model.explain_local(X)
    return dict(zip(found.names, np.moveaxis(found.contributions, 1, 0), strict=True))


def test_taken_apart_and_put_together_a_model_is_the_same(case):
    model, X, _ = case
    parts = Parts.of(model.model_, model.coverage_)
    again = copy.copy(model)
    again.model_, again.coverage_ = parts.model()
    assert checksum(again) == checksum(model)
    assert (scores(again, X) == scores(model, X)).all()
    for name, values in vars(model.coverage_).items():
        assert np.array_equal(values, getattr(again.coverage_, name)), name


def test_the_model_before_is_never_changed(case):
    model, X, y = case
    before, score = checksum(model), scores(model, X)
    editor = model.edit().set("a", 5.0, reason=WHY).drop("b", reason=WHY).recentre(reason=WHY)
    editor.refit_intercept(X, y, reason=WHY)
    assert checksum(model) == before
    assert not hasattr(model, "edits_")
    assert (scores(model, X) == score).all()
    kept = editor.model
    now = checksum(kept)
    editor.clip("a", high=0.0, reason=WHY)
    assert checksum(kept) == now
    assert len(kept.edits_) == 4
    assert [edit["do"] for edit in kept.edits_] == ["set", "drop", "recentre", "refit"]


def test_set_moves_the_rows_in_the_bins_and_no_others(case):
    model, X, _ = case
    editor = model.edit()
    bins = editor.bins("a", -0.5, 0.5)
    edited = editor.set("a", 2.5, bins, reason=WHY).model
    shape = model.explain_global()["a"]
    inside = (X.a > shape.edges[bins[0]]) & (X.a <= shape.edges[bins[1] + 1])
    assert 0 < inside.sum() < len(X)
    old, new = contributions(model, X), contributions(edited, X)
    assert (new["a"][inside] == 2.5).all()
    assert (new["a"][~inside] == old["a"][~inside]).all()
    assert all((new[name] == old[name]).all() for name in old if name != "a")
    np.testing.assert_array_equal(scores(edited, X), edited.explain_local(X).score())


def test_the_bin_after_the_last_is_that_of_missing_values(case):
    model, X, _ = case
    last = len(model.explain_global()["a"].values)
    edited = model.edit().set("a", -1.0, (last, last), reason=WHY).model
    missing = X.a.isna().to_numpy()
    assert (contributions(edited, X)["a"][missing] == -1.0).all()
    np.testing.assert_array_equal(scores(edited, X)[~missing], scores(model, X)[~missing])


def test_a_value_for_each_bin_and_for_one_class():
    model, _, _ = classes()
    edited = model.edit().set("b", [1.0, 2.0], (0, 1), reason=WHY, label="top").model
    old, new = curve(model, "b")[0], curve(edited, "b")[0]
    assert new[:2, 2].tolist() == [1.0, 2.0]
    assert (new[:, :2] == old[:, :2]).all()
    assert (new[2:] == old[2:]).all()
    assert edited.edits_.edits[0]["class"] == 2


def test_cells_of_a_pair_whichever_feature_is_named_first():
    model, X, _ = pairs()
    one = model.edit().set(("a", "b"), [[1.0], [2.0]], [(0, 1), (1, 1)], reason=WHY).model
    other = model.edit().set(("b", "a"), [[1.0, 2.0]], [(1, 1), (0, 1)], reason=WHY).model
    assert checksum(one) == checksum(other)
    values = one.explain_global()["a", "b"].values
    assert values[:2, 1].tolist() == [1.0, 2.0]
    untouched = np.ones(values.shape, bool)
    untouched[:2, 1] = False
    assert (values[untouched] == model.explain_global()["a", "b"].values[untouched]).all()
    np.testing.assert_allclose(scores(one, X), one.explain_local(X).score(), rtol=0, atol=1e-12)


def test_flatten_is_the_mean_over_the_rows(case):
    model, _, _ = case
    values, weights = curve(model, "b")
    edited = model.edit().flatten("b", (1, 4), reason=WHY).model
    mean = sum(weights[k] * values[k] for k in range(1, 5)) / weights[1:5].sum()
    now = curve(edited, "b")[0]
    np.testing.assert_allclose(now[1:5], np.broadcast_to(mean, now[1:5].shape), atol=1e-14)
    assert (now[5:] == values[5:]).all()
    old, new = (np.average(v, axis=0, weights=weights) for v in (values, now))
    np.testing.assert_allclose(new, old, atol=1e-14)  # so the mean score stays


def test_clip(case):
    model, _, _ = case
    values = curve(model, "b")[0]
    edited = model.edit().clip("b", -0.1, 0.2, reason=WHY).model
    np.testing.assert_array_equal(curve(edited, "b")[0], np.clip(values, -0.1, 0.2))
    above = model.edit().clip("b", low=0.0, bins=(0, 2), reason=WHY).model
    assert (curve(above, "b")[0][:3] >= 0.0).all()
    assert (curve(above, "b")[0][3:] == values[3:]).all()


def naive_smooth(values, weights, width):
    """By loops over bins, missing values apart."""
    out, n = values.copy(), len(values) - 1
    for k in range(n):
        near = range(max(0, k - width), min(n - 1, k + width) + 1)
        out[k] = sum(weights[i] * values[i] for i in near) / sum(weights[i] for i in near)
    return out


def test_smooth(case):
    model, _, _ = case
    values, weights = curve(model, "b")
    edited = model.edit().smooth("b", 2, reason=WHY).model
    np.testing.assert_allclose(
        curve(edited, "b")[0], naive_smooth(values, weights, 2), rtol=0, atol=1e-13
    )


def test_smooth_of_a_pair_along_its_numbers():
    model, _, _ = pairs()
    pair = model.explain_global()["b", "c"]
    edited = model.edit().smooth(("b", "c"), 1, reason=WHY).model
    expected = np.empty_like(pair.values)
    for j in range(pair.values.shape[1]):
        weights = pair.weights[:, j]
        for i in range(len(weights)):
            last = len(weights) - 2
            near = range(max(0, i - 1), min(last, i + 1) + 1) if i <= last else [i]
            w = [weights[k] for k in near] if weights[near].any() else [1.0] * len(near)
            expected[i, j] = np.average(pair.values[near, j], weights=w)
    found = edited.explain_global()["b", "c"].values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def closest_rising(values, weights):
    """min sum w (z - v)^2 with z rising: z is a start plus rises of 0 or more (least squares)."""
    n = len(values)
    rises = np.tril(np.ones((n, n)))
    rises = np.column_stack([rises, -rises[:, :1]])  # the start may be negative
    root = np.sqrt(weights)
    found, _ = scipy.optimize.nnls(rises * root[:, None], values * root)
    return rises @ found


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
def test_monotone_is_the_closest_curve(case, direction):
    model, _, _ = case
    values, weights = curve(model, "b")
    assert (weights[:-1] > 0).all()
    edited = model.edit().monotone("b", direction, reason=WHY).model
    found = curve(edited, "b")[0]
    sign = 1.0 if direction == "increasing" else -1.0
    for c in range(np.atleast_2d(values.T).shape[0]):
        v, f = (np.atleast_2d(x.T)[c] for x in (values, found))
        expected = sign * closest_rising(sign * v[:-1], weights[:-1])
        np.testing.assert_allclose(f[:-1], expected, rtol=0, atol=1e-9)
        assert (sign * np.diff(f[:-1]) >= 0).all()
        assert f[-1] == v[-1]


def test_monotone_along_a_feature_of_a_pair():
    model, _, _ = pairs()
    edited = model.edit().monotone(("b", "c"), "decreasing", "b", reason=WHY).model
    before, after = (m.explain_global()["b", "c"] for m in (model, edited))
    assert (np.diff(after.values[:-1], axis=0) <= 0).all()
    j = int(np.argmax(before.weights[:-1].min(axis=0)))
    weights = before.weights[:-1, j]
    if (weights > 0).all():
        expected = -closest_rising(-before.values[:-1, j], weights)
        np.testing.assert_allclose(after.values[:-1, j], expected, rtol=0, atol=1e-8)
    with pytest.raises(ValueError, match="along"):
        model.edit().monotone(("b", "c"), "increasing", reason=WHY)
    with pytest.raises(ValueError, match="order of the bins"):
        model.edit().monotone(("b", "c"), "increasing", "c", reason=WHY)


def test_drop_keeps_the_mean_score(case):
    model, X, _ = case
    edited = model.edit().drop("a", reason=WHY).model
    assert "a" not in edited.term_names_
    old, new = (m.explain_global().centered().intercept for m in (model, edited))
    np.testing.assert_allclose(new, old, atol=1e-12)
    gone = contributions(model, X)["a"] - model.explain_global()["a"].mean
    np.testing.assert_allclose(scores(edited, X), scores(model, X) - gone, rtol=0, atol=1e-12)
    importances = edited.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    if len(edited.model_.wide.pairs.features if edited.model_.wide.pairs else ()) == 0:
        assert importances[0] == 0.0


def test_recentre_keeps_scores_everywhere():
    model, X, _ = pairs()
    edited = (
        model.edit()
        .set(("a", "b"), 1.0, [(0, 3), (0, 2)], reason=WHY)
        .set(("b", "c"), -0.5, [(1, 2), (0, 1)], reason=WHY)
    )
    before = edited.model
    after = edited.recentre(reason=WHY).model
    for rows in (X, frame(300, seed=8)[0]):  # also in cells without training rows
        np.testing.assert_allclose(scores(after, rows), scores(before, rows), rtol=0, atol=1e-11)
    for term in after.explain_global().terms:
        assert abs(np.max(np.abs(term.mean))) < 1e-11
    for pair in after.explain_global().pairs:
        for axis in (0, 1):
            sums = (pair.weights * pair.values).sum(axis=axis)
            assert np.abs(sums).max() < 1e-8
    one = model.edit().recentre("a", reason=WHY).model
    assert abs(one.explain_global()["a"].mean) < 1e-12
    assert one.explain_global()["b"].mean == model.explain_global()["b"].mean


def test_recentre_makes_a_curve_where_it_was_dropped():
    model, X, _ = pairs()
    editor = model.edit().drop("a", reason=WHY).set(("a", "b"), 1.0, [(0, 2), (0, 8)], reason=WHY)
    before = editor.model
    after = editor.recentre(("a", "b"), reason=WHY).model
    assert "a" in after.term_names_
    np.testing.assert_allclose(scores(after, X), scores(before, X), rtol=0, atol=1e-11)


def test_add_terms():
    model, X, _ = pairs()
    editor = model.edit().drop("d", reason=WHY).drop("c", reason=WHY)
    editor.add("d", [1.0, 2.0, 0.0], cuts=[0.5], weights=[3, 1, 0], reason=WHY)
    editor.add(
        "c", [0.5, -0.5, 0.0], categories=["red", "blue"], weights=[2, 1, 1], reason="another"
    )
    table = [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 0.0]]
    editor.add(
        ("c", "d"), table, cuts=[["red", "blue"], [0.0]], weights=np.ones((3, 3)), reason=WHY
    )
    before = model.edit().drop("d", reason=WHY).drop("c", reason=WHY).model
    gained = scores(editor.model, X) - scores(before, X)
    of_c = {"red": 0.5, "blue": -0.5}
    rows = {"red": 0, "blue": 1}
    expected = [
        (1.0 if d <= 0.5 else 2.0)
        + of_c.get(c, 0.0)
        + (table[rows[c]][int(d > 0.0)] if c in rows else 0.0)
        for c, d in zip(X.c, X.d, strict=True)
    ]
    np.testing.assert_allclose(gained, expected, rtol=0, atol=1e-12)
    shape = editor.after("c")
    assert dict(zip(shape.categories, shape.weights, strict=True)) == {"red": 2.0, "blue": 1.0}


def test_set_intercept(case):
    model, _, _ = case
    edited = model.edit().set_intercept(1.5, reason=WHY).model
    assert np.all(edited.model_.intercept == 1.5)
    assert np.all(edited.intercept_ == 1.5)


def test_refit_intercept_has_the_smallest_loss(case):
    model, X, y = case
    editor = model.edit().set_intercept(0.7, reason=WHY).refit_intercept(X, y, reason=WHY)
    best, found = editor.cost(X, y).after, np.atleast_1d(editor.model.intercept_)
    for c in range(len(found)):
        for step in (-1e-3, 1e-3):
            moved = found.copy()
            moved[c] += step
            value = moved if len(moved) > 1 else moved[0]
            again = model.edit().set_intercept(value, reason=WHY)
            assert again.cost(X, y).after > best


@pytest.mark.parametrize("name", ["binary", "pairs"])
def test_refit_keeps_what_it_is_told_to_keep(name):
    model, X, y = MODELS[name]()
    editor = model.edit().flatten("a", reason=WHY)
    flat = editor.model
    refitted = editor.refit(X, y, keep=["a"], reason="the others make up for it").model
    old, new = contributions(flat, X), contributions(refitted, X)
    assert (new["a"] == old["a"]).all()
    assert any((new[name] != old[name]).any() for name in old if name in new)
    assert refitted._mean_loss(X, y, None, None) <= flat._mean_loss(X, y, None, None)
    if name == "pairs":  # those of a kept curve are kept
        assert (new["a x b"] == old["a x b"]).all()
        assert (new["b x c"] != old["b x c"]).any()
    assert "kept as they were" in refitted.plan_.events[-1]
    np.testing.assert_allclose(scores(refitted, X), refitted.explain_local(X).score(), atol=1e-12)
    again = type(model)(**model.get_params()).fit(X, y)
    assert not hasattr(again, "edits_")


def test_a_refit_weighs_classes_as_the_fit_did():
    _, X, labels = binary()
    balanced = rgboost.RGBMClassifier(**SETTINGS, interactions=0, class_weight="balanced")
    labels = np.where((labels == "yes") & (np.arange(len(labels)) % 3 == 0), "yes", "no")
    model = balanced.fit(X, labels)
    weight = np.where(
        labels == "yes", 0.5 / (labels == "yes").mean(), 0.5 / (labels == "no").mean()
    )
    plain = copy.copy(model).set_params(class_weight=None)
    found, expected = (
        (
            one.edit().refit(*rows, keep=["a"], reason=WHY),
            one.edit().refit_intercept(*rows, reason=WHY),
        )
        for one, rows in ((model, (X, labels)), (plain, (X, labels, weight)))
    )
    for one, other in zip(found, expected, strict=True):
        assert scores(one.model, X) == pytest.approx(scores(other.model, X), abs=1e-9)
    one = model.edit().refit_intercept(X, np.full(len(X), "yes"), reason=WHY).model
    assert np.isfinite(scores(one, X)).all()  # a class without rows has no weight


def test_a_band_of_bags_is_not_called_one_of_runs():
    X, y = frame()
    settings = {"max_bins": 8, "random_state": 0, "interactions": 0}
    model = rgboost.RGBMRegressor(**settings, bags=2).fit(X, y)
    edited = model.edit().refit(X, y, keep=["b"], reason=WHY).model.explain_global()
    assert edited["b"].deviation is None
    assert edited["a"].deviation.of == "runs"
    model = rgboost.RGBMRegressor(**settings).fit(X, y)
    edited = model.edit().refit(X, y, keep=["b"], reason=WHY).model.explain_global()
    before = model.explain_global()["b"].deviation.values
    assert edited["b"].deviation.values == pytest.approx(before, rel=1e-6)


def test_rows_that_pairs_cannot_be_fitted_to():
    model, X, y = pairs()
    with pytest.raises(ValueError, match=r"too few rows .* leaves pairs alone that are in keep"):
        model.edit().refit(X[:5], y[:5], keep=[], reason=WHY)
    kept = [name for name in model.term_features_ if len(name) == 2]
    edited = model.edit().refit(X[:5], y[:5], keep=kept, reason=WHY).model
    assert np.isfinite(scores(edited, X)).all()


def test_rows_of_a_model_with_offsets_need_theirs():
    X, y = frame()
    offset = X.d.to_numpy()
    model = rgboost.RGBMRegressor(**SETTINGS, interactions=0).fit(X, y + offset, offset=offset)
    editor = model.edit().drop("c", reason=WHY)
    for method in (
        editor.cost,
        lambda X, y: editor.refit(X, y, keep=["a"], reason=WHY),
        lambda X, y: editor.refit_intercept(X, y, reason=WHY),
    ):
        with pytest.raises(ValueError, match="fitted with offsets; give those"):
            method(X, y)
    assert editor.cost(X, y + offset, offset=offset).change > 0


def test_a_refit_does_not_bring_back_what_was_dropped():
    model, X, y = pairs()
    edited = model.edit().drop("d", reason=WHY).refit(X, y, keep=["a"], reason=WHY).model
    assert "d" not in edited.term_names_


def test_cost_is_the_mean_loss(case):
    model, X, y = case
    cost = model.edit().drop("a", reason=WHY).cost(X, y)
    if hasattr(model, "classes_"):
        p = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        # but for the ridge of the loss
        assert cost.before == pytest.approx(-np.log(p).mean(), rel=0.01)
    else:
        assert cost.before == pytest.approx(((y - model.predict(X)) ** 2).mean() / 2)
    assert cost.change > 0


def test_what_is_stored(case, tmp_path):
    model, X, _ = case
    editor = model.edit().flatten("b", (0, 2), reason="few rows").drop("a", reason="not allowed")
    editor.model.save(tmp_path / "edited.rgb")
    loaded = rgboost.load(tmp_path / "edited.rgb")
    assert (scores(loaded, X) == scores(editor.model, X)).all()
    assert loaded.edits_.edits == editor.model.edits_.edits
    assert [edit["reason"] for edit in loaded.edits_.edits] == ["few rows", "not allowed"]
    first, second = (edit["before"] for edit in loaded.edits_.edits)
    assert first == checksum(model)
    assert second == checksum(model.edit().flatten("b", (0, 2), reason="x").model)
    original = loaded.unedited()
    assert checksum(original) == checksum(model)
    assert (scores(original, X) == scores(model, X)).all()
    assert not hasattr(original, "edits_")
    original.save(tmp_path / "original.rgb")
    assert checksum(model.unedited()) == checksum(model)
    more = loaded.edit().set("b", 0.0, reason="more").model
    assert len(more.edits_) == 3
    assert checksum(more) != checksum(loaded)
    assert "drop a: not allowed" in str(more.edits_)


def test_a_file_of_edits_does_what_the_editor_did(case, tmp_path):
    model, X, y = case
    editor = (
        model.edit()
        .smooth("b", 1, reason=WHY)
        .clip("a", high=np.float64(1.0), bins=np.array([0, 3]), reason=WHY)
        .monotone("b", "increasing", reason=WHY)
        .refit_intercept(X, y, reason=WHY)
    )
    editor.save(tmp_path / "edits.json")
    assert json.loads(editor.to_json())["model"] == checksum(model)
    same = apply_edits(model, tmp_path / "edits.json", X, y)
    assert checksum(same) == checksum(editor.model)
    with pytest.raises(ValueError, match="another model"):
        apply_edits(same, tmp_path / "edits.json", X, y)
    with pytest.raises(ValueError, match=r"edit 3: a refit needs rows"):
        apply_edits(model, tmp_path / "edits.json")


def test_undo():
    model, _, _ = binary()
    editor = model.edit().drop("a", reason=WHY).drop("b", reason=WHY).undo()
    assert checksum(editor.model) == checksum(model.edit().drop("a", reason=WHY).model)
    with pytest.raises(ValueError, match="nothing to undo"):
        editor.undo().undo()


def test_before_and_after():
    model, _, _ = pairs()
    editor = model.edit().set("a", 1.0, reason=WHY).drop(("a", "b"), reason=WHY)
    assert (editor.before("a").values == model.explain_global()["a"].values).all()
    assert (editor.after("a").values == 1.0).all()
    assert editor.before(("a", "b")).name == "a x b"


def test_what_an_edit_makes_false_is_refused():
    model, X, _ = binary()
    assert len(list(model.staged_predict(X))) == 40
    edited = model.edit().set("a", 1.0, reason=WHY).model
    with pytest.raises(AttributeError, match="edited model has no stages"):
        next(edited.staged_predict(X))
    labels = np.where(X.b > 0, "yes", "no")
    with pytest.raises(ValueError, match="was edited"):
        certificate(edited, X, labels)


def test_a_fit_of_an_edited_model_begins_anew():
    X, y = frame(100)
    model = rgboost.RGBMRegressor(max_iter=5, interactions=0, warm_start=True, random_state=0)
    edited = model.fit(X, y).edit().set("a", 1.0, reason=WHY).model
    edited.set_params(max_iter=10)
    with pytest.warns(UserWarning, match="edited"):
        edited.fit(X, y)
    assert not hasattr(edited, "edits_")


BAD = {
    "no such feature": ({"do": "drop", "term": ["z"]}, "no feature has the name 'z'"),
    "no such term": ({"do": "drop", "term": ["a", "d"]}, "has no term 'a x d'; its terms are"),
    "no such do": ({"do": "polish", "term": ["a"]}, "do='polish' is not known"),
    "no reason": ({"do": "drop", "term": ["a"], "reason": " "}, "has no reason"),
    "no value": ({"do": "set", "term": ["a"]}, "needs 'value'"),
    "an unknown key": ({"do": "drop", "term": ["a"], "bins": [0, 1]}, "has the key 'bins'"),
    "bins beyond": ({"do": "flatten", "term": ["a"], "bins": [0, 99]}, "counted from 0"),
    "bins turned": ({"do": "flatten", "term": ["a"], "bins": [3, 1]}, "first <= last"),
    "bins of a pair": ({"do": "flatten", "term": ["a", "b"], "bins": [0, 1]}, "first, last"),
    "too many values": ({"do": "set", "term": ["a"], "value": [1, 2, 3], "bins": [0, 1]}, "2 bins"),
    "not a number": ({"do": "set", "term": ["a"], "value": "x"}, "no number"),
    "not finite": ({"do": "set", "term": ["a"], "value": float("inf")}, "finite"),
    "class of one score": ({"do": "set", "term": ["a"], "value": 1, "class": 0}, "one score"),
    "no bound": ({"do": "clip", "term": ["a"]}, "low and high are missing"),
    "bounds turned": ({"do": "clip", "term": ["a"], "low": 2, "high": 1}, "above high"),
    "no width": ({"do": "smooth", "term": ["a"], "width": 0}, "width=0"),
    "no order": ({"do": "smooth", "term": ["c"], "width": 1}, "categories have none"),
    "direction": ({"do": "monotone", "term": ["a"], "direction": "up"}, "direction='up'"),
    "there already": (
        {"do": "add", "term": ["a"], "cuts": [0], "value": [0, 1, 0], "weights": [1, 1, 0]},
        "has such a term already",
    ),
    "three features": ({"do": "drop", "term": ["a", "b", "c"]}, "one feature or two"),
    "nothing to refit": ({"do": "refit", "what": "terms", "keep": [["a"], ["b"], ["c"], ["d"]]},
                         "no term to fit anew"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_an_edit_that_does_not_apply_says_what_is_wrong(name):
    model, X, y = pairs()
    edit, message = BAD[name]
    document = {
        "format": "rgboost-edits",
        "version": 1,
        "model": checksum(model),
        "edits": [{"reason": "why", **edit}],
    }
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        apply_edits(model, document, X, y)


def test_what_is_no_file_of_edits(tmp_path):
    model, _, _ = binary()
    path = tmp_path / "edits.json"
    path.write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        apply_edits(model, path)
    with pytest.raises(ValueError, match="no file of edits"):
        apply_edits(model, {"edits": []})
    with pytest.raises(ValueError, match="version"):
        apply_edits(model, {"format": "rgboost-edits", "version": 9})


def test_trees_are_not_edited():
    X, y = frame(100)
    trees = rgboost.RGBMRegressor(learner="trees", max_iter=3, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="can be edited"):
        Editor(trees)


def test_sparse_rows_are_refitted():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((300, 6), density=0.4, rng=rng, format="csr")
    y = X.toarray() @ np.arange(6.0)
    model = rgboost.RGBMRegressor(max_iter=60, interactions=0, random_state=0).fit(X, y)
    editor = model.edit().set("x5", 0.0, reason="unknown tomorrow")
    refitted = editor.refit(X, y, keep=["x5"], reason=WHY).model
    assert (refitted.explain_global()["x5"].values == 0.0).all()
    assert refitted._mean_loss(X, y, None, None) < editor.undo().cost(X, y).after
    dense = model.edit().set("x5", 0.0, reason=WHY).refit(X.toarray(), y, keep=["x5"], reason=WHY)
    np.testing.assert_allclose(refitted.predict(X), dense.model.predict(X), rtol=1e-6)
