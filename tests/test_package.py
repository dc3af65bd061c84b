"""The public face: names that are imported when they are asked for."""

import pytest

import rgboost


@pytest.mark.parametrize("name", rgboost.__all__)
def test_every_name_is_there(name):
    assert getattr(rgboost, name).__module__.startswith("rgboost.")
    assert name in dir(rgboost)


def test_parts_need_no_import_of_their_own():
    assert rgboost.losses.Squared().smoothness == 1.0


def test_unknown_names():
    with pytest.raises(AttributeError, match="module 'rgboost' has no attribute 'nothing'"):
        rgboost.nothing  # noqa: B018
    assert not hasattr(rgboost, "__nothing__")
