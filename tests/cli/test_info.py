"""rgboost info."""

import json

import numpy


def test_text(rgboost):
    done = rgboost("info")
    assert done.code == 0
    assert f"numpy          {numpy.__version__}\n" in done.out


def test_json(rgboost):
    assert json.loads(rgboost("info", "--json").out)["numpy"] == numpy.__version__
