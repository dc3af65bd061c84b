"""Wishes for pairs that cannot be fulfilled are told by the plan, before anything is fitted."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.learners import Dictionary, Pairs, Stumps

NAMES = ["age", "income", "rooms", "size"]


def rows(n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return pd.DataFrame(X, columns=NAMES), X[:, 0] * X[:, 1]


BAD = [
    ({"interactions": [("age", "age")]}, "with itself"),
    ({"interactions": [("age", "incom")]}, "did you mean 'income'?"),
    ({"interactions": [("age", "zzz")]}, "there are 'age', 'income', 'rooms', 'size'"),
    ({"interactions": [("age", "size"), (3, 0)]}, "twice"),
    ({"interactions": [(0, 9)]}, "from 0 to 3"),
    ({"interactions": ["ab"]}, "pairs of two features"),
    ({"interaction_constraints": [["age", "incom"]]}, "did you mean 'income'?"),
    ({"interaction_constraints": ["age", "size"]}, "no set of features"),
    ({"interaction_constraints": "age"}, "no list of sets"),
    ({"interaction_constraints": [[0, 9]], "interactions": 0}, "from 0 to 3"),
]


@pytest.mark.parametrize("beside", [{}, {"max_iter": 5}, {"learner": Pairs(), "max_iter": 5}])
@pytest.mark.parametrize(("settings", "told"), BAD)
def test_the_plan_names_what_is_wrong(settings, told, beside):
    X, y = rows()
    with pytest.raises((ValueError, TypeError)) as error:
        RGBMRegressor(**settings, **beside).plan(X, y)
    assert told in str(error.value)


def test_constant_features_are_named_by_the_plan_where_all_values_are_counted():
    X, y = rows()
    X["rooms"] = 1.0
    with pytest.raises(ValueError, match="'rooms', which has one value only"):
        RGBMRegressor(interactions=[("age", "rooms")]).plan(X, y)
    X["rooms"] = np.nan
    with pytest.raises(ValueError, match="'rooms', which has one value only"):
        RGBMRegressor(interactions=[("age", "rooms")]).plan(X, y)
    X.loc[5, "rooms"] = 1.0  # here and there missing: two values
    RGBMRegressor(interactions=[("age", "rooms")]).plan(X, y)


def test_features_that_are_always_missing_are_found_in_many_rows():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(12_000, 2)))
    X[:, 1] = np.nan
    model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True)
    model.plan(X, X[:, 0])  # values of some rows are counted
    with pytest.raises(ValueError, match="1, which has one value only"):
        model.fit(X, X[:, 0])


def test_empty_columns_are_not_counted():
    inner = np.random.default_rng(0).normal(size=(300, 3))
    X = scipy.sparse.lil_array((300, 40))
    X[:, [5, 20, 33]] = inner
    with pytest.raises(ValueError, match="3 features that store something have 3"):
        RGBMRegressor(interactions=4).plan(X.tocsr(), inner[:, 0])
    one, other = (RGBMRegressor(interactions=n).plan(X.tocsr(), inner[:, 0])["interactions"]
                  for n in (2, np.int64(2)))  # fmt: skip
    assert one.value == other.value


@pytest.mark.parametrize("made", [RGBMRegressor, RGBMClassifier])
def test_a_family_of_pairs_keeps_to_what_may_act_together(made):
    X, y = rows()
    model = made(
        learner=Pairs(max_bins=8), max_iter=20, interaction_constraints=[["age", "rooms"]],
        random_state=0,
    ).fit(X, y if made is RGBMRegressor else y > 0)  # fmt: skip
    assert model.model_.wide.pairs.features.tolist() == [[0, 2]]
    assert "no effect" not in model.plan_["interaction_constraints"].why


def test_families_that_know_no_sets_of_features_say_so():
    X, y = rows()
    model = RGBMRegressor(learner=Dictionary(X.to_numpy()), max_iter=5)
    model.set_params(interaction_constraints=[[0, 1]])
    with pytest.raises(ValueError, match="interaction_constraints need pairs"):
        model.plan(X, y)
    both = Pairs(interaction_constraints=[[0, 1]])
    with pytest.raises(ValueError, match="given twice"):
        model.set_params(learner=both).plan(X, y)
    for alone in (Stumps(), "stumps"):
        plan = model.set_params(learner=alone).plan(X, y)
        assert "no effect: there are no pairs" in plan["interaction_constraints"].why
        model.fit(X, y)
