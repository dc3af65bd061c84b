"""``learner="trees"``: what the estimators make of it, and what they refuse."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import cross_val_score

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.callbacks import Checkpoint
from rgboost.learners import Stumps, Trees
from rgboost.theory import RecordCertificates, certificate

X, y = load_diabetes(return_X_y=True)
FEW = Trees(max_leaf_nodes=6, min_samples_leaf=5)


def test_by_itself_it_is_the_mean_of_runs():
    model = RGBMRegressor(learner="trees", random_state=0).fit(X, y)
    assert model.plan_.judge == "the mean of several runs"
    assert model.plan_["interactions"].value == 0
    assert "act together" in model.plan_["interactions"].why
    assert "min_samples_leaf" in model.plan_["min_weight_fraction_leaf"].why
    assert model.trace_.n_runs == 5
    assert model.model_.n_trees == 5 * model.best_iteration_
    assert model.cv_loss_.min() < 0.65 * model.cv_loss_[0]
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.best_iteration_
    np.testing.assert_allclose(stages[-1], model.predict(X), atol=1e-9)


def smooth(n=600, noise=0.1):
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, size=(n, 4))
    return rows, 3 * rows[:, 0] * rows[:, 1] + rows[:, 2] + noise * rng.normal(size=n)


def steps(n=600):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, size=(n, 4)).astype(float)
    return rows, (rows[:, 0] == 1) * (rows[:, 1] == 1) * 1.0 + 0.05 * rng.normal(size=n)


@pytest.mark.parametrize(("made", "kept"), [(smooth, "linear"), (steps, "constant")])
@pytest.mark.parametrize("how", ["mean", "held-out rows", "validation rows"])
def test_held_out_rows_tell_what_leaves_say(made, kept, how):
    rows, labels = made()
    more = {} if how == "mean" else {"ensemble": False, "early_stopping": True}
    given = {"X_val": rows[:150], "y_val": labels[:150]} if how == "validation rows" else {}
    train = slice(150, None) if given else slice(None)
    model = RGBMRegressor(learner="trees", random_state=0, **more)
    model.fit(rows[train], labels[train], **given)
    entry = model.plan_["leaves"]
    assert (entry.value, entry.source) == ("constant or linear", "auto")
    assert "held-out rows" in entry.why
    assert f"leaves={kept!r} had the smaller loss of held-out rows." in model.plan_.events
    assert (model.model_.lines is not None) == (kept == "linear")
    losses = {}
    for leaves in ("constant", "linear"):
        family = Trees(leaves=leaves, smooth=True, min_frequency=5)
        one = RGBMRegressor(learner=family, random_state=0, **more)
        one.fit(rows[train], labels[train], **given)
        assert one.plan_["learner"].value.startswith("Trees")
        losses[leaves] = one.trace_.validation_loss.min()
        if leaves == kept:
            np.testing.assert_array_equal(one.predict(rows), model.predict(rows))
    assert min(losses, key=losses.get) == kept


@pytest.mark.parametrize("fits", [1, 2])
def test_the_plan_tells_what_leaves_say_where_a_callback_ends_the_fit(fits):
    rows, labels = smooth(200)
    seen = []

    def stop(progress):
        seen.append(progress.iteration)
        return sum(k <= j for j, k in pairwise(seen)) == fits - 1

    model = RGBMRegressor(
        learner="trees", ensemble=False, early_stopping=True, callbacks=[stop], random_state=0
    ).fit(rows, labels)
    said = "had the smallest loss of held-out rows when the fit was ended."
    assert any(event.endswith(said) for event in model.plan_.events)
    if fits == 1:
        assert f"leaves='constant' {said}" in model.plan_.events
        assert model.model_.lines is None


def test_a_family_may_leave_it_to_the_plan():
    rows, labels = smooth()
    model = RGBMRegressor(learner=Trees(leaves="auto", max_leaf_nodes=4), random_state=0)
    model.fit(rows, labels)
    assert model.plan_["leaves"].value == "constant or linear"
    assert model.model_.lines is not None
    assert np.diff(model.model_.starts).max() == 3


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"max_iter": 5}, "no rows are held out"),
        ({"max_iter": "cv", "ensemble": False}, "no rows are held out"),
        ({"loss": "absolute"}, "in another way"),
        ({"step": "line-search"}, "in another way"),
        ({"monotone_constraints": {0: 1}}, "either sign"),
        ({"learner": Trees(leaves="auto", constraints={0: 1})}, "either sign"),
        ({"warm_start": True, "early_stopping": True}, "goes on"),
    ],
    ids=str,
)
def test_where_leaves_have_a_value_each(given, why):
    rows, labels = smooth(300)
    plan = RGBMRegressor(**{"learner": "trees", **given}).plan(rows, labels)
    assert plan["leaves"].value == "constant"
    assert why in plan["leaves"].why
    assert [way.leaves for way in plan.ways] == ["constant"]


def test_of_several_classes_leaves_have_a_value_each():
    plan = RGBMClassifier(learner="trees").plan(*load_wine(return_X_y=True))
    assert plan["leaves"].value == "constant"
    assert "one score" in plan["leaves"].why
    with pytest.raises(ValueError, match="one score"):
        RGBMClassifier(learner=Trees(leaves="linear"), max_iter=3).fit(*load_wine(return_X_y=True))


@pytest.mark.parametrize("kind", [RGBMRegressor, RGBMClassifier])
def test_linear_functions_are_stored(kind, tmp_path):
    rows, labels = smooth()
    labels = labels if kind is RGBMRegressor else labels > 0
    model = kind(learner=Trees(leaves="linear"), random_state=0).fit(rows, labels)
    model.save(tmp_path / "model", full=True)
    loaded = rgboost.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    for one, known in zip(loaded.staged_predict(rows), model.staged_predict(rows), strict=True):
        np.testing.assert_array_equal(one, known)


def test_a_warm_start_goes_on_with_linear_functions():
    rows, labels = smooth()
    shared = dict(learner=Trees(leaves="linear"), selection="groups", random_state=3)
    model = RGBMRegressor(max_iter=5, warm_start=True, **shared).fit(rows, labels)
    model.set_params(max_iter=12).fit(rows, labels)
    whole = RGBMRegressor(max_iter=12, **shared).fit(rows, labels)
    np.testing.assert_array_equal(model.predict(rows), whole.predict(rows))


def test_held_out_rows_stop_one_run():
    model = RGBMRegressor(learner="trees", ensemble=False, early_stopping=True, random_state=0)
    model.fit(X, y)
    assert model.plan_.judge == "held-out rows"
    assert model.trace_.validation_loss[model.best_iteration_] < model.trace_.validation_loss[0]


def test_cross_validation_tells_the_number():
    model = RGBMRegressor(
        learner=FEW, selection="all", max_iter="cv", ensemble=False, learning_rate=0.2, cv=3
    ).fit(X, y)
    assert model.plan_.judge == "cross-validation"
    assert model.n_iter_ == np.argmin(model.cv_loss_)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_classes(load):
    rows, labels = load(return_X_y=True)
    model = RGBMClassifier(learner=FEW, selection="groups", max_iter=40, random_state=0)
    assert cross_val_score(model, rows, labels, cv=3).mean() > 0.85


@pytest.mark.parametrize("loss", ["huber", "absolute", "quantile", "poisson", "gamma", "log-cosh"])
def test_losses(loss):
    model = RGBMRegressor(loss=loss, learner="trees", max_iter=15, random_state=0).fit(X, y)
    assert model.trace_.train_loss[-1] < model.trace_.train_loss[0]


def test_frames_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.choice(list("uvwxyz"), 400)})
    frame.loc[::5, "a"] = np.nan
    labels = frame["b"].isin(["u", "y"]) * frame["a"].fillna(2.0) + 0.1 * rng.normal(size=400)
    model = RGBMRegressor(learner="trees", max_iter=60, selection="all").fit(frame, labels)
    assert model.score(frame, labels) > 0.9
    unknown = frame.assign(b="never seen")
    assert np.isfinite(model.predict(unknown)).all()


def test_sparse_rows():
    rng = np.random.default_rng(0)
    rows = scipy.sparse.random_array((500, 60), density=0.08, format="csr", rng=rng)
    labels = rows[:, [3]].toarray()[:, 0] + 0.1 * rng.normal(size=500)
    a = RGBMRegressor(learner=Trees(), random_state=0).fit(rows, labels)
    b = RGBMRegressor(learner=Trees(), random_state=0).fit(rows.toarray(), labels)
    assert a.score(rows, labels) > 0.3
    assert abs(a.cv_loss_.min() / b.cv_loss_.min() - 1) < 0.1
    wide = scipy.sparse.hstack([rows, scipy.sparse.csr_array((500, 200))], format="csr")
    c = RGBMRegressor(learner=Trees(), random_state=0).fit(wide, labels)
    np.testing.assert_array_equal(c.predict(wide), a.predict(rows))


def test_constraints():
    names = load_diabetes().feature_names
    frame = pd.DataFrame(X, columns=names)
    model = RGBMRegressor(
        learner="trees", monotone_constraints={"bmi": 1}, max_iter=30,
        interaction_constraints=[["bmi", "bp"], ["s1", "s5", "age"]],
    ).fit(frame, y)  # fmt: skip
    assert model.plan_["interaction_constraints"].why == ""
    rows = pd.concat([frame.iloc[[5]]] * 50)
    rows["bmi"] = np.linspace(-0.1, 0.2, 50)
    assert (np.diff(model.predict(rows)) >= 0).all()
    with pytest.raises(ValueError, match="one score"):
        RGBMClassifier(learner="trees", monotone_constraints={0: 1}, max_iter=3).fit(
            *load_wine(return_X_y=True)
        )


def test_a_warm_start_goes_on(tmp_path):
    shared = dict(learner=FEW, selection="groups", random_state=3)
    model = RGBMRegressor(max_iter=5, warm_start=True, **shared).fit(X, y)
    model.set_params(max_iter=12).fit(X, y)
    whole = RGBMRegressor(max_iter=12, **shared).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    path = tmp_path / "state"
    RGBMRegressor(max_iter=7, callbacks=[Checkpoint(path)], **shared).fit(X, y)
    resumed = RGBMRegressor(max_iter=12, **shared).fit(X, y, resume=path)
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))


def test_an_offset_and_weights():
    rng = np.random.default_rng(0)
    exposure, weight = rng.uniform(0.5, 2.0, len(y)), rng.uniform(0.0, 2.0, len(y))
    weight[::9] = 0.0
    counts = rng.poisson(exposure * np.exp(5 * X[:, 2])).astype(float)
    model = RGBMRegressor(loss="poisson", learner="trees", max_iter=30, random_state=0)
    model.fit(X, counts, weight, offset=np.log(exposure))
    assert np.corrcoef(model.predict(X), np.exp(5 * X[:, 2]))[0, 1] > 0.5


def test_what_only_a_sum_of_curves_has():
    model = RGBMRegressor(learner="trees", max_iter=5).fit(X, y)
    with pytest.raises(TypeError, match=r"sum of trees.*feature_importances_.*explain_local"):
        model.explain_global()
    assert not hasattr(model, "term_names_")
    assert "RGBMRegressor" in model._html_repr()
    with pytest.raises(TypeError, match="trees"):
        certificate(model, X, y)
    with pytest.raises(ValueError, match="interactions=3 cannot be had here: features act tog"):
        RGBMRegressor(learner="trees", interactions=3).fit(X, y)
    with pytest.raises(TypeError, match="trees"):
        RGBMRegressor(learner="trees", callbacks=[RecordCertificates([1])], max_iter=3).fit(X, y)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"learner": "forest"}, "'stumps', 'trees'"),
        ({"learner": "trees", "selection": "learners"}, "Type 1"),
        ({"learner": "trees", "max_bins": 1000}, "max_bins=1000 is too large for trees"),
        ({"learner": "trees", "engine": "gram"}, "engine='gram' cannot do this"),
        ({"learner": "trees", "interaction_constraints": [["nobody"]]}, "nobody"),
        (
            {"learner": Trees(constraints={0: 1}), "monotone_constraints": {0: -1}},
            "monotone_constraints are given twice, to the estimator and to Trees",
        ),
    ],
)
def test_what_does_not_go_together(given, match):
    with pytest.raises(ValueError, match=match):
        RGBMRegressor(max_iter=3, **given).fit(X, y)


def test_a_user_of_other_trees_finds_the_way():
    with pytest.raises(TypeError, match=r"learner=Trees\(...\)"):
        RGBMRegressor(max_leaf_nodes=7)


def test_stumps_and_trees_of_two_leaves_are_one():
    shared = dict(max_iter=30, selection="all", learning_rate=0.3)
    a = RGBMRegressor(learner=Trees(max_leaf_nodes=2, min_samples_leaf=1), **shared).fit(X, y)
    b = RGBMRegressor(learner=Stumps(), **shared).fit(X, y)
    np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-9)


def test_a_stored_model_has_its_plan(tmp_path):
    model = RGBMRegressor(learner="trees", random_state=0).fit(X, y)
    model.save(tmp_path / "model", full=True)
    loaded = rgboost.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert str(loaded.plan_) == str(model.plan_)
    np.testing.assert_array_equal(loaded.cv_loss_, model.cv_loss_)
