"""Names that people know from other libraries."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.estimators import habits
from rgboost.estimators.held_out import TrainingRows
from rgboost.losses import (
    AbsoluteError,
    Gamma,
    Logistic,
    Poisson,
    Quantile,
    Ridged,
    Softmax,
    Squared,
)

X = np.linspace(0, 1, 60)[:, None]
Y = X[:, 0] ** 2


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("squared_error", Squared()),
        ("absolute_error", AbsoluteError()),
        ("quantile", Quantile(0.5)),
        ("poisson", Poisson()),
        ("gamma", Gamma()),
    ],
)
def test_losses_by_the_names_of_scikit_learn(theirs, ours):
    model = RGBMRegressor(loss=theirs, ridge=0.1)
    assert clone(model).loss == theirs
    assert model._resolve_loss(TrainingRows(X, Y, None)) == Ridged(ours, 0.1)


def test_log_loss():
    for y, loss in ((Y > 0.3, Logistic()), (np.digitize(Y, [0.3, 0.6]), Softmax(3))):
        model = RGBMClassifier(loss="log_loss", max_iter=3).fit(X, y)
        assert model.loss_ == loss


def test_a_loss_of_the_other_estimator_is_not_known():
    with pytest.raises(ValueError, match="loss='log_loss' is not known; use 'squared'"):
        RGBMRegressor(loss="log_loss").fit(X, Y)


OF_THE_ESTIMATOR = [
    ("n_estimators", "use max_iter"),
    ("num_leaves", "leave it out: the weak-learners are stumps"),
    ("max_depth", "leave it out: the weak-learners are stumps"),
    ("early_stopping_rounds", "use n_iter_no_change of the estimator, and early_stopping=True"),
    ("colsample_bytree", "use subset_size"),
    ("categorical_feature", "use categorical_features"),
    ("reg_lambda", "use ridge"),
    ("eval_set", "use X_val and y_val of fit"),
    ("X_val", r"it is one of fit\(X, y, X_val=...\)"),
]


@pytest.mark.parametrize("Model", [RGBMRegressor, RGBMClassifier])
@pytest.mark.parametrize(("name", "remedy"), OF_THE_ESTIMATOR)
def test_parameters_of_other_estimators(Model, name, remedy):
    message = rf"^{Model.__name__} has no parameter '{name}'; {remedy}"
    with pytest.raises(TypeError, match=message):
        Model(**{"max_iter": 5, name: 3})
    with pytest.raises(TypeError, match=message):
        Model().set_params(**{name: 3})


OF_FIT = [
    ("eval_set", "use X_val and y_val of fit"),
    ("eval_sample_weight", "use sample_weight_val of fit"),
    ("sample_weight_eval_set", "use sample_weight_val of fit"),
    ("early_stopping_rounds", "use n_iter_no_change of the estimator"),
    ("categorical_feature", "use categorical_features of the estimator"),
    ("feature_name", "give a data frame"),
    ("init_score", "use offset"),
    ("verbose", r"it is one of RGBM\w+\(verbose=...\)"),
    ("callbacks", r"it is one of RGBM\w+\(callbacks=...\)"),
]


@pytest.mark.parametrize("Model", [RGBMRegressor, RGBMClassifier])
@pytest.mark.parametrize(("name", "remedy"), OF_FIT)
def test_parameters_of_other_fits(Model, name, remedy):
    with pytest.raises(
        TypeError, match=rf"^{Model.__name__}.fit has no parameter '{name}'; {remedy}"
    ):
        Model().fit(X, Y > 0.3, **{name: 3})


def test_what_nobody_knows_is_as_before():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        RGBMRegressor(colour="red")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        RGBMRegressor().fit(X, Y, colour="red")
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        RGBMRegressor().set_params(colour="red")


@pytest.mark.parametrize("Model", [RGBMRegressor, RGBMClassifier])
def test_remedies_name_what_is_there_and_nothing_that_is_ours_is_refused(Model):
    ours = inspect.signature(Model).parameters | inspect.signature(Model.fit).parameters
    assert not habits._REMEDY.keys() & ours.keys()
    known = ours.keys() | {"class_weight", "fit", "RGBMClassifier"}
    for remedy in habits._REMEDIES:
        if remedy.startswith("use "):
            assert remedy.removeprefix("use ").split(",")[0].split()[0] in known, remedy
