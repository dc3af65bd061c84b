"""Options from the estimators' signatures."""

import inspect

import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.cli.commands.fit import fit
from rgboost.cli.errors import CommandError
from rgboost.cli.options import OBJECTS, estimator_parameters, literal, with_estimator_parameters

SIGNATURES = [inspect.signature(kind).parameters for kind in (RGBMRegressor, RGBMClassifier)]


def test_every_parameter_is_an_option():
    named = {one.name for one in estimator_parameters()}
    assert named == {name for one in SIGNATURES for name in one} - {*OBJECTS}
    assert named <= {*inspect.signature(fit).parameters}


def test_every_parameter_says_what_it_means():
    for one in estimator_parameters():
        assert len(one.meaning) > 5, one
        assert "`" not in one.meaning + one.type
        assert "\n" not in one.meaning


def test_defaults_are_told():
    told = {one.name: one.default for one in estimator_parameters()}
    assert told["loss"] == "squared, for classes logistic"
    assert told["max_bins"] == "auto"
    assert told["n_jobs"] == "none"


def test_given_values_arrive():
    seen = {}

    @with_estimator_parameters
    def command(parameters: dict, other: int = 1) -> None:
        seen.update(parameters, other=other)

    texts = {one.name: None for one in estimator_parameters()}
    command(other=2, **{**texts, "max_iter": "7", "groups": '[[0, 1], ["a"]]'})
    assert seen == {"max_iter": 7, "groups": [[0, 1], ["a"]], "other": 2, "verbose": 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("none", None),
        ("None", None),
        ("true", True),
        ("10", 10),
        ("1e-3", 0.001),
        ("sqrt", "sqrt"),
        ('{"age": 1}', {"age": 1}),
        ("", ""),
    ],
)
def test_literals(text, value):
    found = literal(text, "x")
    assert found == value
    assert type(found) is type(value)


def test_bad_json():
    with pytest.raises(CommandError, match="groups='\\[1,' is not JSON"):
        literal("[1,", "groups")
