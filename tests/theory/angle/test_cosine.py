from math import cos, pi, sqrt

import numpy as np
import pytest

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import (
    binary_angle,
    binary_basis,
    distance,
    minimal_cosine_angle,
    norm_of,
    orthogonal_angle,
    random_learners_angle,
)

from ..cases import RULES, SIX, unit_columns


def plane(*degrees):
    angle = np.deg2rad(degrees)
    return np.vstack([np.cos(angle), np.sin(angle)])


def ratio(B, c, rule, groups=None):
    """||B'c||_F / ||c||_2, the function that Theta minimises."""
    return norm_of(rule, B.shape[1], groups).norm(B.T @ c) / np.linalg.norm(c)


def check_interval(found, B, rule, groups=None):
    assert 0.0 < found.lower <= found.upper <= 1.0 + 1e-12
    assert np.linalg.norm(found.witness) == pytest.approx(1.0, rel=1e-12)
    inside = B @ np.linalg.lstsq(B, found.witness, rcond=None)[0]
    np.testing.assert_allclose(inside, found.witness, atol=1e-9)
    assert ratio(B, found.witness, rule, groups) == pytest.approx(found.upper, rel=1e-10)


def test_the_plane_examples_of_figure_spread():
    poorly = minimal_cosine_angle(plane(44.9, 45.0, 45.1), AllLearners())
    assert poorly.upper**2 == pytest.approx(np.sin(np.deg2rad(0.1)) ** 2, rel=1e-9)
    assert poorly.upper**2 < 1e-5
    orthogonal = minimal_cosine_angle(plane(0, 90), AllLearners())
    assert orthogonal.lower**2 == pytest.approx(0.5, rel=1e-13)
    densely = minimal_cosine_angle(plane(0, 30, 60, 90, 120, 150), AllLearners())
    assert densely.lower**2 == pytest.approx(cos(pi / 12) ** 2, rel=1e-13)
    assert round(densely.lower**2, 3) == 0.933


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_both_sides_of_proposition_norm_transformation(rule, rank):
    """min ||B'c||_F / ||c|| against min ||Ba|| / Dist(0, a), the latter by linear programs."""
    rng = np.random.default_rng(rank)
    B = unit_columns(rng, rank, 6)
    found = minimal_cosine_angle(B, rule, SIX)
    check_interval(found, B, rule, SIX)
    assert found.exact
    zero = np.zeros(6)

    def other(a):
        return np.linalg.norm(B @ a) / distance(B, zero, a, rule, SIX)

    # The minimum of the first is attained by the second ...
    a = np.linalg.lstsq(B, found.witness, rcond=None)[0]
    assert other(a) == pytest.approx(found.upper, rel=1e-8)
    # ... and never undercut by it.
    for a in rng.standard_normal((40, 6)):
        assert other(a) >= found.lower * (1 - 1e-8)


@pytest.mark.parametrize("rule", [AllLearners(), RandomLearners(2), RandomGroups(2)], ids=str)
def test_both_minima_searched_for_independently_in_the_plane(rule):
    B = plane(0, 20, 75, 80, 130, 160)
    norm = norm_of(rule, 6, SIX)
    theta = np.linspace(0, np.pi, 361)
    c = np.column_stack([np.cos(theta), np.sin(theta)])
    first = norm.norms(c @ B).min()
    a = np.linalg.lstsq(B, c.T, rcond=None)[0]
    second = min(1.0 / distance(B, np.zeros(6), column, rule, SIX) for column in a.T)
    found = minimal_cosine_angle(B, rule, SIX)
    assert found.lower * (1 - 1e-9) <= min(first, second)
    assert first == pytest.approx(found.upper, rel=0.01)
    assert second == pytest.approx(found.upper, rel=0.01)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_orthogonal_columns_are_recognised(rule):
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((9, 6)))[0]
    B = Q * np.array([1.0, -2.0, 0.1, 5.0, 1.0, 3.0])
    found = minimal_cosine_angle(B, rule, SIX)
    assert found.lower_method == found.upper_method == "closed form of an orthogonal basis"
    expected = orthogonal_angle(norm_of(rule, 6, SIX))
    assert found.lower == pytest.approx(expected, rel=1e-12)
    assert found.upper == pytest.approx(expected, rel=1e-12)
    check_interval(found, Q, rule, SIX)


def test_examples_1_and_2_of_the_paper():
    for p in (4, 9, 50):
        fourier = np.fft.fft(np.eye(p)).view(float).reshape(p, p, 2).sum(axis=2)  # Hartley
        assert minimal_cosine_angle(fourier, AllLearners()).lower == pytest.approx(
            1 / sqrt(p), rel=1e-12
        )
        for t in (1, 2, p):
            found = minimal_cosine_angle(fourier, RandomLearners(t))
            assert found.lower == pytest.approx(random_learners_angle(p, t), rel=1e-12)


@pytest.mark.parametrize("p", [2, 3, 4])
def test_example_3_of_the_paper(p):
    B = binary_basis(p)
    found = minimal_cosine_angle(np.hstack([B, -2.0 * B]), AllLearners())
    assert found.lower_method == "closed form of the binary basis"
    assert found.lower == found.upper == binary_angle(p)
    check_interval(found, B, AllLearners())
    # One direction less is no longer recognised, and less dense; enumeration says by how much.
    rest = minimal_cosine_angle(B[:, :-1], AllLearners())
    assert "closed form" not in rest.lower_method or p == 2
    assert rest.upper < binary_angle(p)


def test_the_binary_closed_form_is_for_the_infinity_norm_only():
    B = binary_basis(3)
    everything = minimal_cosine_angle(B, RandomGroups("all"), np.array_split(range(13), 4))
    assert everything.lower_method == "closed form of the binary basis"
    single = minimal_cosine_angle(B, RandomGroup(), np.array_split(range(13), 4))
    assert "closed form" not in single.lower_method
    assert single.upper < 0.9 * binary_angle(3)


def test_enumeration_finds_the_binary_basis_too():
    B = binary_basis(4)
    rotation = np.linalg.qr(np.random.default_rng(2).standard_normal((7, 4)))[0]
    found = minimal_cosine_angle(rotation @ B, AllLearners())
    assert found.lower_method == "enumerated facets"
    assert found.lower == pytest.approx(binary_angle(4), rel=1e-10)


def test_repeated_columns_of_a_group_count_once():
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((5, 3)))[0]
    B = np.hstack([Q, -Q, 2 * Q[:, :1]])
    found = minimal_cosine_angle(B, AllLearners())
    assert found.lower_method == "closed form of an orthogonal basis"
    assert found.lower == pytest.approx(1 / sqrt(3), rel=1e-12)
    groups = [[0, 3, 6], [1, 4], [2, 5]]
    assert minimal_cosine_angle(B, RandomGroup(), groups).lower == pytest.approx(1 / 3, rel=1e-12)
    # Under Type 1 a repeated column is a further chance to be drawn.
    single = minimal_cosine_angle(B, RandomLearners(1))
    assert single.lower == pytest.approx(2 / 7, rel=1e-12)
    assert single.upper == pytest.approx(2 / 7, rel=1e-12)


def test_order_of_the_rules():
    """More randomness, smaller norm, smaller angle."""
    B = unit_columns(np.random.default_rng(4), 3, 6)
    values = [minimal_cosine_angle(B, RandomLearners(t)).upper for t in range(1, 7)]
    assert (np.diff(values) >= -1e-12).all()
    everything = minimal_cosine_angle(B, AllLearners()).upper
    assert values[-1] == pytest.approx(everything, rel=1e-12)
    assert minimal_cosine_angle(B, RandomGroup(), SIX).upper < everything


@pytest.mark.parametrize(
    "rule", [AllLearners(), RandomLearners(8), RandomGroup(), RandomGroups(3)], ids=str
)
def test_interval_of_a_problem_too_large_to_enumerate(rule):
    B = unit_columns(np.random.default_rng(5), 20, 40)
    groups = np.arange(40).reshape(8, 5).tolist()
    found = minimal_cosine_angle(B, rule, groups, n_starts=3, random_state=0)
    check_interval(found, B, rule, groups)
    assert found.upper_method == "ascent"
    assert not found.exact
    again = minimal_cosine_angle(B, rule, groups, n_starts=3, random_state=0)
    assert (again.lower, again.upper) == (found.lower, found.upper)
    for c in np.random.default_rng(6).standard_normal((300, 20)):
        assert ratio(B, c, rule, groups) >= found.lower
        assert ratio(B, c, rule, groups) >= found.upper  # luck does not beat the ascent


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_scale_sign_and_rotation_do_not_matter(rule):
    rng = np.random.default_rng(7)
    B = unit_columns(rng, 3, 6)
    other = np.linalg.qr(rng.standard_normal((8, 3)))[0] @ B * rng.choice([-1e-6, 1e6], 6)
    first, second = (minimal_cosine_angle(X, rule, SIX) for X in (B, other))
    assert first.lower == pytest.approx(second.lower, rel=1e-9)


def test_impossible_arguments_are_named():
    B = np.eye(3)
    with pytest.raises(ValueError, match=r"1 zero columns, the first of them \[1\].*remove them"):
        minimal_cosine_angle(B * [1.0, 0.0, 1.0], AllLearners())
    with pytest.raises(ValueError, match="n_starts=0 is impossible"):
        minimal_cosine_angle(B, AllLearners(), n_starts=0)
    with pytest.raises(ValueError, match="B holds NaN"):
        minimal_cosine_angle([[np.inf]], AllLearners())
    with pytest.raises(ValueError, match="partition"):
        minimal_cosine_angle(B, RandomGroup(), [[0, 1]])
