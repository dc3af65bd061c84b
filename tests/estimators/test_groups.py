"""Groups of rows: folds and rows that are held out do not part them."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.estimators import held_out
from rgboost.estimators.held_out import TrainingRows, assign_folds, hold_out


def data(n=240, n_groups=12, seed=0):
    """Every group has a level of its own and a feature that tells the group: folds that part
    groups flatter a model that learns them by heart."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.arange(n) % n_groups)
    X = np.column_stack([rng.normal(size=n), groups])
    level = rng.normal(size=n_groups)[groups]
    return X, 3 * X[:, 0] + level + 0.3 * rng.normal(size=n), groups


def whole(part, groups):
    """Whether groups are within or without a part of the rows."""
    return all(len(set(part[groups == g])) == 1 for g in np.unique(groups))


@pytest.mark.parametrize("Model", [RGBMRegressor, RGBMClassifier])
@pytest.mark.parametrize("cv", [4, GroupKFold(4), LeaveOneGroupOut()], ids=str)
def test_folds_have_whole_groups(Model, cv, monkeypatch):
    X, y, groups = data()
    y = y if Model is RGBMRegressor else y > 0
    seen = []

    def spy(*args):
        seen.append(assign_folds(*args))
        return seen[-1]

    monkeypatch.setattr(held_out, "assign_folds", spy)
    names = np.array([f"patient {g}" for g in groups])
    model = Model(cv=cv, random_state=0).fit(X, y, groups=names)
    assert seen[0].max() + 1 == (12 if isinstance(cv, LeaveOneGroupOut) else 4)
    assert whole(seen[0], groups)
    parted = Model(cv=4, random_state=0).fit(X, y)
    assert not whole(seen[-1], groups)
    assert model.cv_loss_.min() > parted.cv_loss_.min()  # which is flattered


def test_a_splitter_gets_the_groups_as_it_is():
    X, y, groups = data()
    splitter = GroupKFold(3)
    model = RGBMRegressor(cv=splitter, random_state=0).fit(X, y, groups=groups)
    pairs = RGBMRegressor(cv=list(splitter.split(X, y, groups)), random_state=0)
    np.testing.assert_array_equal(model.predict(X), pairs.fit(X, y).predict(X))
    np.testing.assert_array_equal(model.predict(X), pairs.fit(X, y, groups=groups).predict(X))


@pytest.mark.parametrize("cv", [4, GroupKFold(4)], ids=str)
def test_rows_without_weight_are_not_there(cv):
    X, y, groups = data()
    weight = np.ones(len(y))
    weight[groups == 3] = 0.0
    model = RGBMRegressor(cv=cv, random_state=0).fit(X, y, weight, groups=groups)
    kept = weight > 0
    other = np.where(kept, y, 1e6)
    again = RGBMRegressor(cv=cv, random_state=0).fit(X, other, weight, groups=groups)
    np.testing.assert_array_equal(model.predict(X[kept]), again.predict(X[kept]))
    if cv == 4:
        alone = RGBMRegressor(cv=cv, random_state=0).fit(X[kept], y[kept], groups=groups[kept])
        np.testing.assert_allclose(model.predict(X[kept]), alone.predict(X[kept]))


@pytest.mark.parametrize("stratified", [False, True])
def test_rows_that_are_held_out_are_whole_groups(stratified):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), rng.integers(1, 20, 40))
    y = (groups % 5 == 0).astype(float)
    weight = (rng.random(len(y)) < 0.9).astype(float)
    rows = TrainingRows(
        np.arange(len(y))[:, None], y, weight, groups=groups, offset=y + 1, stratified=stratified
    )
    for seed in range(5):
        found = hold_out(rows, 0.2, seed)
        train, held = found.X[:, 0], found.validation.X[:, 0]
        assert not set(groups[train]) & set(groups[held])
        assert sorted([*train, *held]) == np.flatnonzero(weight > 0).tolist()
        assert 0.15 * weight.sum() < len(held) <= 0.2 * weight.sum()
        np.testing.assert_array_equal(found.offset, y[train] + 1)
        np.testing.assert_array_equal(found.validation.offset, y[held] + 1)
        np.testing.assert_array_equal(np.flatnonzero(found.kept), train)


def test_the_last_group_of_a_class_is_not_held_out():
    groups = np.repeat(np.arange(6), 10)
    y = np.where(groups == 2, 1.0, np.where(groups < 2, 0.0, 2.0))
    rows = TrainingRows(np.arange(60)[:, None], y, None, groups=groups, stratified=True)
    for seed in range(20):
        found = hold_out(rows, 0.9, seed)
        assert set(found.y) == {0.0, 1.0, 2.0}
    rows = TrainingRows(
        np.arange(20)[:, None], groups[:20] * 1.0, None, groups=groups[:20], stratified=True
    )
    with pytest.raises(ValueError, match="no group of rows can be held out"):
        hold_out(rows, 0.1, 0)


def test_large_groups_are_held_out_only_where_there_are_no_others():
    groups = np.where(np.arange(100) < 60, 0, 1)
    rows = TrainingRows(np.arange(100)[:, None], np.zeros(100), None, groups=groups)
    assert len(hold_out(rows, 0.1, 0).validation.y) == 40


def test_early_stopping_with_groups():
    X, y, groups = data(2400, 60)
    model = RGBMRegressor(early_stopping=True, max_iter=500, random_state=0)
    together = clone(model).fit(X, y, groups=groups).trace_.validation_loss.min()
    parted = clone(model).fit(X, y).trace_.validation_loss.min()
    assert together > 2 * parted


def test_a_search_of_scikit_learn_routes_them(monkeypatch):
    X, y, groups = data()
    seen = []

    def spy(rows, *args):
        seen.append(rows.groups)
        return assign_folds(rows, *args)

    monkeypatch.setattr(held_out, "assign_folds", spy)
    with sklearn.config_context(enable_metadata_routing=True):
        for cv, wants in ((GroupKFold(3), True), (3, True), (KFold(3), False)):
            model = RGBMRegressor(cv=cv, max_iter="cv", random_state=0)
            search = GridSearchCV(model, {"max_bins": [16]}, cv=GroupKFold(3), error_score="raise")
            seen.clear()
            search.fit(X, y, groups=groups)
            assert len(seen) == 4
            assert all((one is not None) == wants for one in seen)
        RGBMRegressor(cv=GroupKFold(3), random_state=0).fit(X, y, groups=groups)
        with pytest.raises(TypeError, match="groups"):
            RGBMRegressor().set_fit_request(groups=True)


@pytest.mark.parametrize(
    ("parameters", "given", "message"),
    [
        (dict(cv=GroupKFold(3)), {}, r"cv=GroupKFold.* needs the group of every row; pass groups="),
        ({}, dict(groups=[1, 2]), r"groups has shape \(2,\), expected \(240,\): the group of"),
        ({}, dict(groups=["a", None] * 120), "groups cannot be put in order"),
        (dict(early_stopping=True), dict(groups=[1] * 240), "can be held out: there are 1, and"),
        (dict(cv=20, max_iter="cv"), dict(groups=data()[2]), "cv=20 is impossible: there are only"),
    ],
)
def test_faults(parameters, given, message):
    X, y, _ = data()
    with pytest.raises(ValueError, match=message):
        RGBMRegressor(**parameters).fit(X, y, **given)


def test_fewer_groups_than_folds():
    """One of the groups is held out."""
    X, y, groups = data(n_groups=3)
    model = RGBMRegressor(random_state=0).fit(X, y, groups=groups)
    assert model.trace_.n_runs == 1
    assert model.trace_.validation_loss is not None


def test_a_class_that_only_one_fold_has():
    X, y, groups = data()
    labels = np.where(groups == 1, "rare", np.where(y > 0, "high", "low"))
    model = RGBMClassifier(max_iter="cv", cv=GroupKFold(4), random_state=0)
    with pytest.raises(ValueError, match="all rows of the class number 2"):
        model.fit(X, labels, groups=groups)
