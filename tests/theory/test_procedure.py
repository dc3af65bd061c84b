from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import beta, chisquare, kstest

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import (
    beta_limit,
    chosen_distribution,
    sample_chosen,
    selection_probability,
)
from rgboost.theory.procedure import coordinate_layout

from .cases import RULES, SIX

TIED = [1.0, -2.0, 2.0, 0.5, 2.0, -0.25]
PLAIN = [3.0, -1.0, 0.5, 4.0, -2.5, 0.0]


@pytest.mark.parametrize("K", [1, 2, 7, 40, 120])
def test_selection_probability_is_the_ratio_of_binomials(K):
    for t in range(1, K + 1):
        exact = [float(Fraction(comb(K - j, t - 1), comb(K, t))) for j in range(1, K + 1)]
        np.testing.assert_allclose(selection_probability(K, t), exact, rtol=1e-13, atol=0.0)
        single = [selection_probability(K, t, j) for j in range(1, K + 1)]
        np.testing.assert_allclose(single, exact, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("t", [1, 2, 16, 17, 3_162, 5_000_000, 10_000_000])
def test_selection_probability_is_stable_for_ten_million_coordinates(t):
    K = 10_000_000
    gamma = selection_probability(K, t)
    assert gamma.sum() == pytest.approx(1.0, abs=5e-12)
    assert gamma[0] == t / K
    assert (np.diff(gamma) <= 0.0).all()
    for j in (1, 2, 500):
        exact = Fraction(t, K)
        for i in range(1, j):
            exact *= Fraction(max(K - i - t + 1, 0), K - i)
        assert gamma[j - 1] == pytest.approx(float(exact), rel=1e-12, abs=1e-300)
        assert selection_probability(K, t, j) == pytest.approx(float(exact), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("t", [2, 30, 1000])
def test_single_probability_deep_in_the_tail(t):
    K = 10_000_000
    j = 4_000_000
    exact = Fraction(t, K)
    for i in range(1, t):
        exact *= Fraction(K - j - i + 1, K - i)
    assert selection_probability(K, t, j) == pytest.approx(float(exact), rel=1e-11)


def test_beta_limit_is_the_beta_density():
    q = np.linspace(0.0, 1.0, 21)
    np.testing.assert_allclose(beta_limit(q, 10), beta(1, 10).pdf(q), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("t", [1, 2, 5, 10])
def test_the_limit_is_approached_like_one_over_K(t):
    error = []
    for K in (1_000, 10_000, 100_000):
        q = np.arange(1, K + 1) / K
        error.append(np.abs(K * selection_probability(K, t) - beta_limit(q, t)).max())
        assert error[-1] <= 1.01 * t * (t - 1) / K + 1e-9
    if t > 1:
        assert error[1] / error[0] == pytest.approx(0.1, rel=0.05)
        assert error[2] / error[1] == pytest.approx(0.1, rel=0.05)


def all_subsets(rule, layout):
    t, n = rule.size(layout)
    return [rule.learners(layout, np.array(draw)) for draw in combinations(range(n), t)]


def enumerated(a, rule, groups):
    """The distribution of the chosen index over all equally likely subsets, as fractions."""
    subsets = all_subsets(rule, coordinate_layout(len(a), groups))
    law = [Fraction(0)] * len(a)
    for J in subsets:
        best = max(abs(a[j]) for j in J)
        law[min(j for j in J if abs(a[j]) == best)] += Fraction(1, len(subsets))
    return law


@pytest.mark.parametrize("groups", [None, SIX], ids=["single", "grouped"])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("a", [PLAIN, TIED, [0.0] * 6], ids=["plain", "tied", "zero"])
def test_distribution_is_that_of_all_subsets(a, rule, groups):
    law = enumerated(a, rule, groups)
    assert sum(law) == 1
    np.testing.assert_allclose(
        chosen_distribution(a, rule, groups), [float(p) for p in law], rtol=1e-14, atol=1e-16
    )


def test_type_0_is_certain_type_2_uniform_over_groups():
    assert chosen_distribution(TIED, AllLearners()).tolist() == [0, 1, 0, 0, 0, 0]
    expected = np.zeros(6)
    expected[[0, 1, 2]] = 1 / 3
    np.testing.assert_allclose(chosen_distribution(TIED, RandomGroup(), SIX), expected)


def p_value(chosen, law, n_samples):
    counts = np.bincount(chosen, minlength=len(law))
    assert counts[law == 0.0].sum() == 0
    possible = law > 0.0
    if possible.sum() == 1:
        return 1.0
    return chisquare(counts[possible], law[possible] * n_samples).pvalue


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("a", [PLAIN, TIED], ids=["plain", "tied"])
def test_samples_have_the_exact_distribution(a, rule):
    law = chosen_distribution(a, rule, SIX)
    p_values = [p_value(sample_chosen(a, rule, SIX, 4_000, s), law, 4_000) for s in range(40)]
    assert min(p_values) > 1e-4
    if (law > 0.0).sum() > 2:  # few outcomes make the p-values too discrete for this
        assert kstest(p_values, "uniform").pvalue > 1e-3


def test_samples_of_a_large_vector_in_several_chunks():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(2_000)
    groups = np.array_split(rng.permutation(2_000), 50)
    for rule in (RandomLearners(300), RandomGroups(20), RandomGroup()):
        law = chosen_distribution(a, rule, groups)
        chosen = sample_chosen(a, rule, groups, 20_000, 7)
        order = np.argsort(-law, kind="stable")
        cut = np.flatnonzero(np.cumsum(law[order]) > 0.99)[0]
        label = np.full(2_000, cut)
        label[order[:cut]] = np.arange(cut)
        merged = np.bincount(label, law)
        counts = np.bincount(label[chosen], minlength=cut + 1)
        assert chisquare(counts, merged * 20_000).pvalue > 1e-4


def test_the_chi_square_test_notices_a_wrong_subset_size():
    law = chosen_distribution(PLAIN, RandomLearners(2))
    assert p_value(sample_chosen(PLAIN, RandomLearners(3), None, 4_000, 0), law, 4_000) < 1e-10


def test_same_seed_same_samples():
    first = sample_chosen(PLAIN, RandomLearners(2), None, 100, 3)
    second = sample_chosen(PLAIN, RandomLearners(2), None, 100, np.random.default_rng(3))
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first)) > 1


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: selection_probability(0, 1), ["K=0", "at least 1"]),
        (lambda: selection_probability(5, 6), ["t=6", "from 1 to K=5"]),
        (lambda: selection_probability(5, 2, 6), ["j=6", "from 1 to K=5"]),
        (lambda: selection_probability(5, 2.5), ["t must be an integer", "2.5"]),
        (lambda: beta_limit([0.5, 1.5], 2), ["q", r"\[0, 1\]"]),
        (lambda: chosen_distribution([1.0, np.nan], AllLearners()), ["a holds NaN"]),
        (lambda: chosen_distribution([[1.0]], AllLearners()), ["a has shape"]),
        (lambda: chosen_distribution([1.0, 2.0], RandomGroup(), [[0]]), ["partition"]),
        (lambda: sample_chosen([1.0], AllLearners(), None, -1), ["n_samples=-1"]),
    ],
)
def test_impossible_arguments_are_named(call, parts):
    with pytest.raises((ValueError, TypeError), match=".*".join(parts)):
        call()
