"""Pairs of features beside curves, as users ask for them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.callbacks import Checkpoint
from rgboost.data.mixed_bins import encode_mixed
from rgboost.learners import Pairs, Stumps
from rgboost.theory import RecordCertificates, StopAtGap, certificate


def rows(n=2500, p=4, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 2 * (X[:, 0] > 0) * (X[:, 2] > 0.3)
    return X, y + noise * rng.normal(size=n)


def frame(n=3000, seed=0):
    """Numbers, a category, missing values; a pair of the category and a number."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "age": rng.uniform(0, 10, n),
            "town": pd.Categorical(rng.choice(["oslo", "rome", "bonn", "kyiv", "riga"], n)),
            "rest": rng.normal(size=n),
        }
    )
    turned = np.where(X["town"].isin(["rome", "riga"]), 1.0, -1.0)
    y = 0.3 * X["age"] + 1.5 * turned * (X["size"] > 0) + 0.2 * rng.normal(size=n)
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    return X, y.to_numpy()


def pairs_of(model):
    found = model.model_.wide.pairs
    return [] if found is None else [tuple(pair) for pair in found.features.tolist()]


def error(model, X, y):
    return float(np.mean((model.predict(X) - y) ** 2))


def test_pairs_enter_where_held_out_rows_gain():
    X, y = rows()
    test, y_test = rows(seed=1)
    additive = RGBMRegressor(interactions=0, random_state=0).fit(X, y)
    model = RGBMRegressor(random_state=0).fit(X, y)
    assert pairs_of(additive) == []
    assert pairs_of(model)[0] == (0, 2)
    assert error(model, test, y_test) < 0.7 * error(additive, test, y_test)
    assert next(iter(model.pair_scores_)) == ("x0", "x2")
    assert len(model.pair_scores_) == 6
    assert "kept of 6" in model.plan_.events[-1]


def test_nothing_enters_where_there_is_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 4))
    y = X[:, 0] + np.sin(X[:, 1]) + rng.normal(size=2500)
    model = RGBMRegressor(random_state=0).fit(X, y)
    additive = RGBMRegressor(interactions=0, random_state=0).fit(X, y)
    assert pairs_of(model) == []
    assert "do not enter" in model.plan_.events[-1]
    np.testing.assert_array_equal(model.predict(X), additive.predict(X))


def test_a_number_of_pairs():
    X, y = rows(p=5)
    model = RGBMRegressor(interactions=2, random_state=0).fit(X, y)
    assert len(pairs_of(model)) == 2
    assert pairs_of(model)[0] == (0, 2)
    assert len(model.term_names_) == len(model.explain_global().functions) + 2


def test_a_list_of_pairs_by_name_and_by_index():
    X, y = frame()
    named = RGBMRegressor(interactions=[("town", "size")], random_state=0).fit(X, y)
    numbered = RGBMRegressor(interactions=[(0, 2)], random_state=0).fit(X, y)
    assert pairs_of(named) == [(0, 2)] == pairs_of(numbered)
    np.testing.assert_array_equal(named.predict(X), numbered.predict(X))
    additive = RGBMRegressor(interactions=0, random_state=0).fit(X, y)
    test, y_test = frame(seed=1)
    assert error(named, test, y_test) < 0.2 * error(additive, test, y_test)


def test_all_pairs_that_say_something():
    X, y = rows(p=4)
    model = RGBMRegressor(interactions="all", random_state=0).fit(X, y)
    assert (0, 2) in pairs_of(model)
    assert len(pairs_of(model)) > 3


@pytest.mark.parametrize("classes", [None, 2, 3])
def test_tables_are_purified(classes):
    X, y = frame()
    if classes is None:
        model = RGBMRegressor(interactions=3, random_state=0).fit(X, y)
    else:
        labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
        model = RGBMClassifier(interactions=3, random_state=0).fit(X, labels)
    pairs = model.model_.wide.pairs
    assert len(pairs) == 3
    for j in range(3):
        table, weights = pairs.table(j), pairs.weights_of(j)
        table = table.reshape(*weights.shape, -1)
        assert weights.sum() == model.coverage_.total
        largest = np.abs(table).max()
        for axis in (0, 1):
            sums = (table * weights[..., None]).sum(axis=axis)
            there = weights.sum(axis=axis) > 0
            means = sums[there] / weights.sum(axis=axis)[there][:, None]
            assert np.abs(means).max() < 1e-10 * max(1.0, largest)
    local = model.explain_local(X[:50])
    score = local.intercept + np.zeros_like(local.contributions[:, 0])
    for column in range(local.contributions.shape[1]):
        score = score + local.contributions[:, column]
    rows_ = model._check_rows(X[:50])
    np.testing.assert_array_equal(score, model.model_.score(rows_))
    assert sum(model.term_importances_) == pytest.approx(1.0)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_weighted_tables_are_purified_and_leave_scores_as_they_are(monkeypatch):
    """Missing values and categories have bins as others have; weights of very different size."""
    from rgboost.learners.pairs import tables

    made, with_pairs = [], tables.with_pairs

    def watch(model, cuts, pairs, ordered=()):
        made.append((model, cuts, pairs, with_pairs(model, cuts, pairs, ordered)))
        return made[-1][-1]

    monkeypatch.setattr(tables, "with_pairs", watch)
    X, y = frame(n=2500)
    X.loc[::9, "town"] = None
    weight = 10 ** np.random.default_rng(1).uniform(-3, 2, len(y))
    model = RGBMRegressor(interactions=4, random_state=0).fit(X, y, sample_weight=weight)
    pairs, inside = model.model_.wide.pairs, model._check_rows(X)
    for j, (g, h) in enumerate(pairs.features):
        table, weights = pairs.table(j), pairs.weights_of(j)
        cells = np.zeros(pairs.shape(j))
        np.add.at(cells, (pairs.bins(j, 0, inside[:, g]), pairs.bins(j, 1, inside[:, h])), weight)
        np.testing.assert_allclose(cells, weights, rtol=1e-9, atol=1e-9)
        for axis in (0, 1):
            own = weights.sum(axis=axis)
            means = (table * weights).sum(axis=axis)[own > 0] / own[own > 0]
            assert np.abs(means).max() < 1e-10 * np.abs(table).max()
    base, cuts, raws, pure = made[-1]
    codes = encode_mixed(inside, cuts, 1)[:, : len(y)]
    expected = base.score(inside) + sum(raw.table[codes[raw.g], codes[raw.h]] for raw in raws)
    close = {"rtol": 0, "atol": 1e-12 * np.abs(expected).max()}
    np.testing.assert_allclose(pure.score(inside), expected, **close)


def test_two_classes_and_weights():
    X, y = rows(n=4000)
    labels = np.where(y > np.median(y), "yes", "no")
    weight = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    weight[:200] = 0.0
    model = RGBMClassifier(random_state=0).fit(X, labels, sample_weight=weight)
    kept = weight > 0
    without = RGBMClassifier(random_state=0).fit(X[kept], labels[kept], sample_weight=weight[kept])
    assert (0, 2) in pairs_of(model)
    np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("loss", ["huber", "poisson", "quantile", "log-cosh"])
def test_other_losses(loss):
    X, y = rows(n=2200, noise=0.1)
    y = np.exp(0.3 * y) if loss == "poisson" else y
    model = RGBMRegressor(loss=loss, interactions=1, random_state=0).fit(X, y)
    additive = RGBMRegressor(loss=loss, interactions=0, random_state=0).fit(X, y)
    assert pairs_of(model) == [(0, 2)]
    value = [m.loss_.value(y, m.model_.score(X)).mean() for m in (model, additive)]
    assert value[0] < value[1]


def test_an_offset_is_a_part_of_the_score():
    X, y = rows()
    offset = 5.0 * X[:, 3]
    model = RGBMRegressor(interactions=1, random_state=0).fit(X, y + offset, offset=offset)
    plain = RGBMRegressor(interactions=1, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        model.predict(X, offset=offset) - offset, plain.predict(X), atol=1e-6
    )


def test_validation_rows_tell_when_to_stop():
    X, y = rows()
    X_val, y_val = rows(n=800, seed=3)
    model = RGBMRegressor(random_state=0).fit(X, y, X_val=X_val, y_val=y_val)
    additive = RGBMRegressor(interactions=0, random_state=0).fit(X, y, X_val=X_val, y_val=y_val)
    assert pairs_of(model)[0] == (0, 2)
    assert error(model, X_val, y_val) < error(additive, X_val, y_val)
    early = RGBMRegressor(early_stopping=True, random_state=0).fit(X, y)
    assert pairs_of(early)[0] == (0, 2)


def test_rows_without_a_value_that_never_was_missing():
    X, y = rows()
    model = RGBMRegressor(interactions=1, random_state=0).fit(X, y)
    gone = X[:100].copy()
    gone[:, 0] = np.nan
    explained = model.explain_local(gone)
    assert np.isfinite(model.predict(gone)).all()
    np.testing.assert_allclose(explained.contributions[:, -1], 0.0, atol=1e-12)


def test_sparse_rows():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((3000, 30), density=0.2, rng=rng, format="csr")
    dense = X.toarray()
    y = dense[:, 0] + 3.0 * (dense[:, 1] > 0) * (dense[:, 2] > 0) + 0.1 * rng.normal(size=3000)
    sparse = RGBMRegressor(interactions=2, random_state=0).fit(X, y)
    assert pairs_of(sparse)[0] == (1, 2)
    np.testing.assert_allclose(sparse.predict(X), sparse.predict(dense), atol=1e-10)


def test_empty_columns_keep_the_numbers_of_features():
    rng = np.random.default_rng(0)
    inner = (rng.random((2500, 3)) < 0.5) * rng.normal(size=(2500, 3))
    X = scipy.sparse.lil_array((2500, 40))
    X[:, [5, 20, 33]] = inner
    y = 2.0 * (inner[:, 0] > 0) * (inner[:, 2] > 0) + 0.1 * rng.normal(size=2500)
    model = RGBMRegressor(interactions=1, random_state=0).fit(X.tocsr(), y)
    assert pairs_of(model) == [(5, 33)]
    assert next(iter(model.pair_scores_)) == ("x5", "x33")


def test_wide_rows_have_some_pairs_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2325))
    y = X[:, 0] + rng.normal(size=300)
    model = RGBMRegressor(interactions=20, random_state=0).fit(X, y)
    assert 0 < len(pairs_of(model)) <= 20
    assert len(model.pair_scores_) == 20_000


def test_too_many_features_have_no_pairs_unless_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 120))
    plan = RGBMRegressor().plan(X, X[:, 0])
    assert plan["interactions"].value == 0
    assert "more than 100 features" in plan["interactions"].why


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_whole_model_is_monotone(loss):
    X, y = rows()
    constraints = {0: 1, 2: 1, 3: -1}
    if loss == "squared":
        model = RGBMRegressor(
            monotone_constraints=constraints, interactions="all", random_state=0
        ).fit(X, y)
    else:
        model = RGBMClassifier(
            monotone_constraints=constraints, interactions="all", random_state=0
        ).fit(X, y > np.median(y))
    assert len(pairs_of(model)) > 0
    rng = np.random.default_rng(1)
    for g, sign in constraints.items():
        probe = np.repeat(rng.normal(size=(80, 4)), 25, axis=0)
        probe[:, g] = np.tile(np.linspace(-3, 3, 25), 80)
        score = model.model_.score(probe).reshape(80, 25)
        assert (sign * np.diff(score, axis=1) >= -1e-9).all()


def test_features_that_may_act_together():
    X, y = rows()
    model = RGBMRegressor(
        interactions="all", interaction_constraints=[[0, 1], ["x1", 3]], random_state=0
    )
    with pytest.raises(ValueError, match="no feature names"):
        model.fit(X, y)
    model.set_params(interaction_constraints=[[0, 1], [1, 3]]).fit(X, y)
    assert set(model.pair_scores_) == {("x0", "x1"), ("x1", "x3")}


def test_constraints_that_forbid_what_is_asked_for():
    X, y = rows(n=500)
    with pytest.raises(ValueError, match="interaction_constraints forbid"):
        RGBMRegressor(interactions=[(0, 2)], interaction_constraints=[[0, 1]]).fit(X, y)
    with pytest.raises(ValueError, match="more pairs than there are: 1 of"):
        RGBMRegressor(interactions=3, interaction_constraints=[[0, 1]]).fit(X, y)
    model = RGBMRegressor(interaction_constraints=[[0], [1]], random_state=0).fit(X, y)
    assert "interaction_constraints leave none" in model.plan_.events[-1]


def test_constraints_by_name():
    X, y = frame()
    model = RGBMRegressor(
        monotone_constraints={"size": 1}, interactions=[("size", "rest")], random_state=0
    ).fit(X, y)
    probe = X.loc[np.repeat(X.index[:30], 20)].copy()
    probe["size"] = np.tile(np.linspace(-2, 2, 20), 30)
    assert (np.diff(model.predict(probe).reshape(30, 20), axis=1) >= -1e-9).all()


@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError])
def test_the_curves_stay_if_pairs_come_to_nothing(fault, monkeypatch):
    X, y = rows(n=600)
    additive = RGBMRegressor(interactions=0, random_state=0).fit(X, y)

    def refuse(*args, **settings):
        raise fault

    monkeypatch.setattr("rgboost.estimators.pairs.stage.PairStage.boost", refuse)
    model = RGBMRegressor(random_state=0)
    if fault is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    else:
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), additive.predict(X))
    assert "there are none" in model.plan_.events[-1]


def test_pairs_that_take_too_much_memory(monkeypatch):
    X, y = rows(n=600)
    monkeypatch.setattr("rgboost.training.plan.pair_memory.BYTES_OF_PAIR_ROW", 1 << 30)
    plan = RGBMRegressor().plan(X, y)
    assert plan["interactions"].value == 0
    assert "more memory" in plan["interactions"].why


def test_more_pairs_than_candidates():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(600, 20)).astype(float)
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=600)
    model = RGBMRegressor(interactions=150, random_state=0).fit(X, y)
    assert len(model.pair_scores_) == 190
    assert {(0, 1), (2, 3)} <= set(pairs_of(model))


def test_the_same_bits_for_any_number_of_threads():
    X, y = rows()
    found = [
        RGBMRegressor(interactions=2, random_state=0, n_jobs=n).fit(X, y).predict(X)
        for n in (1, 2, 3)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_stored_models_are_the_same(tmp_path):
    X, y = frame()
    model = RGBMRegressor(interactions=2, random_state=0).fit(X, y)
    model.save(tmp_path / "m.rgb")
    loaded = rgboost.load(tmp_path / "m.rgb")
    np.testing.assert_array_equal(model.predict(X), loaded.predict(X))
    assert loaded.pair_scores_ == model.pair_scores_
    assert len(loaded.pair_trace_) == len(model.pair_trace_)
    assert str(loaded.plan_) == str(model.plan_)
    with pytest.raises(AttributeError, match="pairs"):
        next(model.staged_predict(X))


def test_a_family_of_pairs_is_a_learner(tmp_path):
    X, y = rows()
    model = RGBMRegressor(learner=Pairs(stumps=True), max_iter=200, random_state=0).fit(X, y)
    assert (0, 2) in pairs_of(model)
    model.save(tmp_path / "m.rgb")
    loaded = rgboost.load(tmp_path / "m.rgb")
    np.testing.assert_array_equal(model.predict(X), loaded.predict(X))
    by_itself = RGBMRegressor(learner=Pairs(stumps=True), random_state=0).fit(X, y)
    assert by_itself.best_iteration_ > 10


def test_warm_starts_of_a_family_of_pairs_go_on():
    X, y = rows(n=600)
    whole = RGBMRegressor(learner=Pairs(), max_iter=60, random_state=0).fit(X, y)
    model = RGBMRegressor(learner=Pairs(), max_iter=25, random_state=0, warm_start=True).fit(X, y)
    model.set_params(max_iter=60).fit(X, y)
    np.testing.assert_array_equal(whole.predict(X), model.predict(X))


def test_a_model_with_pairs_has_no_certificate():
    X, y = rows()
    model = RGBMRegressor(interactions=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="interactions=0"):
        certificate(model, X, y)


REASONS = [
    ({"max_iter": 50}, "max_iter is a number"),
    ({"learner": Stumps()}, "family of weak-learners"),
    ({"warm_start": True}, "warm_start"),
    ({"callbacks": [Checkpoint("nowhere.npz")]}, "Checkpoint"),
    ({"callbacks": [StopAtGap(1e-3)]}, "StopAtGap"),
    ({"callbacks": [RecordCertificates(at=[5])]}, "RecordCertificates"),
    ({"max_iter": "cv", "ensemble": False}, "cross-validation"),
    ({"engine": "gram"}, "statistics"),
    ({"selection": "groups", "feature_weights": [1, 1, 0, 1]}, "feature_weights"),
]


@pytest.mark.parametrize(("settings", "told"), REASONS)
def test_what_does_not_go_together(settings, told):
    X, y = rows(n=500)
    plan = RGBMRegressor(**settings).plan(X, y)
    assert plan["interactions"].value == 0
    assert told in plan["interactions"].why
    with pytest.raises(ValueError, match="interactions=3 cannot be had here"):
        RGBMRegressor(interactions=3, **settings).fit(X, y)


def test_a_run_that_goes_on_has_no_pairs(tmp_path):
    X, y = rows(n=500)
    path = tmp_path / "state.npz"
    model = RGBMRegressor(max_iter=10, random_state=0, callbacks=[Checkpoint(path, every=0)])
    model.fit(X, y)
    plan = RGBMRegressor(random_state=0).plan(X, y, resume=path)
    assert plan["interactions"].value == 0
    assert "resume goes on with one run" in plan["interactions"].why
    with pytest.raises(ValueError, match="interactions=3 cannot be had here: resume"):
        RGBMRegressor(interactions=3, random_state=0).fit(X, y, resume=path)


WRONG = [
    ([(0, 0)], ValueError, "with itself"),
    ([("a", "b")], ValueError, "no feature names"),
    ([(0, 1), (1, 0)], ValueError, "twice"),
    ([(0, 7)], ValueError, "from 0 to 3"),
    (7, ValueError, "have 6"),
    (-1, ValueError, "0 to 6"),
    ("some", ValueError, "'all'"),
    (True, TypeError, "no number of pairs"),
    (2.5, TypeError, "no number of pairs"),
    ([3], ValueError, "pairs of two features"),
]


@pytest.mark.parametrize(("given", "kind", "told"), WRONG)
def test_wrong_interactions_are_named(given, kind, told):
    X, y = rows(n=500)
    with pytest.raises(kind, match=told):
        RGBMRegressor(interactions=given).fit(X, y)


def test_a_pair_of_a_constant_feature_is_named():
    X, y = rows(n=500)
    X[:, 1] = 1.0
    with pytest.raises(ValueError, match="feature 1, which has one value only"):
        RGBMRegressor(interactions=[(0, 1)]).fit(X, y)


def test_the_papers_preset_is_additive():
    assert RGBMRegressor.paper().interactions == 0
    assert RGBMClassifier.paper().interactions == 0
