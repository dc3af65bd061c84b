import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import infinity_norm, norm_of
from rgboost.theory.angle.enumeration import (
    by_directions,
    by_hull,
    by_signs,
    count_extreme_points,
    enumerate_angle,
    extreme_points,
)
from rgboost.theory.distance import factorise

from ..cases import RULES, SIX, unit_columns


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_extreme_points_are_the_dual_balls(rule):
    """The norm is the largest inner product with them, and they are as many as counted."""
    norm = norm_of(rule, 6, SIX)
    points = np.vstack(list(extreme_points(np.eye(6), norm)))
    assert len(points) == count_extreme_points(norm)
    assert max(norm.dual_norm(b) for b in points) == pytest.approx(1.0, rel=1e-13)
    for a in np.random.default_rng(0).standard_normal((10, 6)):
        assert (points @ a).max() == pytest.approx(norm.norm(a), rel=1e-13)


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_ways_agree_on_dependent_columns(rule, rank):
    for seed in range(3):
        B = unit_columns(np.random.default_rng(seed), rank, 6)
        factors, norm = factorise(B), norm_of(rule, 6, SIX)
        found = [by_hull(factors, norm), by_directions(factors, norm)]
        assert found[0].value == pytest.approx(found[1].value, rel=1e-11)
        for way in found:
            c = factors.U @ way.x / np.linalg.norm(way.x)
            assert norm.norm(B.T @ c) == pytest.approx(way.value, rel=1e-11)


@pytest.mark.parametrize("rule", [AllLearners(), RandomLearners(2), RandomGroup()], ids=str)
def test_ways_agree_on_independent_columns(rule):
    B = unit_columns(np.random.default_rng(7), 9, 4)
    factors, norm = factorise(B), norm_of(rule, 4, [[0, 2], [1, 3]])
    values = [way(factors, norm).value for way in (by_signs, by_hull, by_directions)]
    np.testing.assert_allclose(values, values[0], rtol=1e-11)


def test_rank_4_directions_against_facets():
    B = unit_columns(np.random.default_rng(8), 4, 6)
    factors, norm = factorise(B), norm_of(RandomGroups(2), 6, SIX)
    hull, rays = by_hull(factors, norm).value, by_directions(factors, norm).value
    assert hull == pytest.approx(rays, rel=1e-11)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_no_direction_undercuts_and_a_fine_search_comes_close(rule):
    B = unit_columns(np.random.default_rng(9), 3, 6)
    norm = norm_of(rule, 6, SIX)
    theta = enumerate_angle(factorise(B), norm).value
    lat, lon = np.meshgrid(np.linspace(0, np.pi / 2, 200), np.linspace(0, 2 * np.pi, 400))
    c = np.stack(
        [np.sin(lat) * np.cos(lon), np.sin(lat) * np.sin(lon), np.cos(lat)], axis=-1
    ).reshape(-1, 3)
    values = norm.norms(c @ B)
    assert values.min() >= theta * (1 - 1e-12)
    assert values.min() <= theta + 0.02
    start = c[np.argmin(values)]
    polished = minimize(
        lambda x: norm.norm(B.T @ x) / np.linalg.norm(x),
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000},
    ).fun
    assert polished >= theta * (1 - 1e-12)
    assert polished == pytest.approx(theta, rel=1e-3)


def test_signs_against_the_definition_of_a_parallelepiped():
    """Independent columns, infinity norm: the vertices solve B'c = signs."""
    B = unit_columns(np.random.default_rng(10), 5, 5)
    longest = max(
        np.linalg.norm(np.linalg.solve(B.T, signs)) for signs in product([-1.0, 1.0], repeat=5)
    )
    assert by_signs(factorise(B), infinity_norm(5)).value == pytest.approx(1 / longest, rel=1e-12)


def test_rank_one_has_only_one_direction():
    B = np.outer([3.0, 4.0], [0.2, -0.2, 0.2])
    for rule in (AllLearners(), RandomLearners(2), RandomGroup()):
        assert enumerate_angle(factorise(B), norm_of(rule, 3)).value == pytest.approx(1.0)


def test_badly_spread_columns_are_no_trouble():
    """Three directions within 2e-6: Theta is half that angle to all digits."""
    angle = np.array([-1e-6, 0.0, 1e-6])
    B = np.vstack([np.cos(angle), np.sin(angle)])
    norm = infinity_norm(3)
    assert by_hull(factorise(B), norm).value == pytest.approx(math.sin(1e-6), rel=1e-8)
    assert by_directions(factorise(B), norm).value == pytest.approx(math.sin(1e-6), rel=1e-8)


def test_too_much_to_enumerate_is_left_alone():
    rng = np.random.default_rng(11)
    wide, tall = unit_columns(rng, 20, 50), unit_columns(rng, 50, 40)
    assert enumerate_angle(factorise(wide), infinity_norm(50)) is None
    assert enumerate_angle(factorise(tall), norm_of(RandomLearners(3), 40)) is None
    assert count_extreme_points(norm_of(RandomLearners(3), 40)) == math.inf
