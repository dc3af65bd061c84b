"""scikit-learn's own checks, none of them excused; `make oldest` has them on the oldest one."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rgboost import RGBMClassifier, RGBMRegressor


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some fit noise
@parametrize_with_checks([RGBMRegressor(), RGBMClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
