"""Minimal Cosine Angles of stumps from counts of rows, against explicit columns."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import Stumps
from rgboost._core.team import Team
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import minimal_cosine_angle, norm_of
from rgboost.theory.angle import stump_angle, stump_gram
from rgboost.theory.angle.gram_bounds import GramFactor, ascend_by_gram, prove_eigenvalue
from rgboost.theory.angle.stump_gram import StumpGram
from rgboost.theory.norms import norm_of_layout

RULES = [AllLearners(), RandomLearners(2), RandomGroup(), RandomGroups(2)]
LEAVES = ["signed", "free"]


def rows(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.random(n) + 0.2


def explicit(X, prepared, weight=None):
    """(columns, groups by feature) from thresholds; stumps with free leaves are centred."""
    weight = np.ones(len(X)) if weight is None else weight
    columns, groups = [], []
    offsets = prepared.cuts.offsets
    for g in range(X.shape[1]):
        groups.append(list(range(offsets[g], offsets[g + 1])))
        for s in prepared.cuts.thresholds[offsets[g] : offsets[g + 1]]:
            b = np.where(X[:, g] <= s, 1.0, -1.0)
            signed = prepared.arrays.splits.signed
            columns.append(b if signed else b - np.average(b, weights=weight))
    return np.column_stack(columns), [group for group in groups if group]


def unit(B, weight):
    return B / np.sqrt(weight @ B**2)


def check_witness(found, B, weight, norm):
    c = found.witness
    assert weight @ c**2 == pytest.approx(1.0, rel=1e-12)
    assert norm.norm(unit(B, weight).T @ (weight * c)) == pytest.approx(found.upper, rel=1e-9)
    inside = B @ np.linalg.lstsq(B, c, rcond=None)[0]
    np.testing.assert_allclose(inside, c, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_same_angle_as_from_explicit_columns(rule, leaves, weighted):
    X, weight = rows()
    w = weight if weighted else None
    prepared = Stumps(leaves, max_bins=4).prepare(X, w)
    B, groups = explicit(X, prepared, w)
    found = minimal_cosine_angle(prepared, rule, sample_weight=w)
    expected = minimal_cosine_angle(B, rule, groups, sample_weight=w)
    assert found.exact
    assert found.lower == pytest.approx(expected.lower, rel=1e-9)
    assert found.lower_method == expected.lower_method
    ones = np.ones(len(X))
    check_witness(found, B, weight if weighted else ones, norm_of(rule, B.shape[1], groups))
    check_witness(expected, B, weight if weighted else ones, norm_of(rule, B.shape[1], groups))


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_free_leaves_are_planes(rule):
    """Every plane as 60 unit vectors: at most 1 - cos(pi/120) below the planes themselves."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (9, 3)).astype(float)
    weight = rng.random(9) + 0.5
    prepared = Stumps("free").prepare(X, weight)
    angles = np.arange(60) * np.pi / 60
    columns, planes = [], []
    for g in range(3):
        left = X[:, g] <= 0.5
        axes = np.column_stack(
            [left / np.sqrt(weight[left].sum()), ~left / np.sqrt(weight[~left].sum())]
        )
        columns.append(axes @ np.vstack([np.cos(angles), np.sin(angles)]))
        planes.append(list(range(60 * g, 60 * (g + 1))))
    found = minimal_cosine_angle(prepared, rule, sample_weight=weight)
    # The learners of a plane are drawn together: under every rule it is a group of its own.
    drawn = RandomGroups(rule.t) if isinstance(rule, RandomLearners) else rule
    B = np.hstack(columns)
    norm = norm_of(drawn, 180, planes)
    basis = np.linalg.svd(np.sqrt(weight)[:, None] * B)[0][:, :4]
    directions = rng.normal(size=(40_000, 4)) @ basis.T / np.sqrt(weight)
    directions /= np.sqrt(directions**2 @ weight)[:, None]
    ratios = norm.norms((directions * weight) @ B)
    assert found.exact
    assert ratios.min() >= found.lower * np.cos(np.pi / 120)
    at_witness = norm.norm(B.T @ (weight * found.witness))
    assert found.upper * np.cos(np.pi / 120) <= at_witness <= found.upper * (1 + 1e-9)
    assert ratios.min() <= 1.3 * found.upper


@pytest.fixture
def by_factor(monkeypatch):
    """Take the way of many stumps for few."""
    monkeypatch.setattr(stump_angle, "_FEW", 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_bounds_from_a_factor_hold_the_exact_angle(rule, leaves, weighted, by_factor):
    X, weight = rows()
    w = weight if weighted else None
    prepared = Stumps(leaves, max_bins=4).prepare(X, w)
    B, groups = explicit(X, prepared, w)
    exact = minimal_cosine_angle(B, rule, groups, sample_weight=w)
    found = minimal_cosine_angle(prepared, rule, sample_weight=w, random_state=0)
    assert "Gram matrix" in found.lower_method
    assert 0.6 * exact.lower < found.lower <= exact.upper
    assert exact.lower * (1 - 1e-12) <= found.upper <= exact.upper * (1 + 1e-6)
    ones = np.ones(len(X))
    check_witness(found, B, weight if weighted else ones, norm_of(rule, B.shape[1], groups))


@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_dependent_columns(rule, leaves, by_factor):
    """A feature twice, a feature reversed, and indicators that add up to a constant."""
    X, _ = rows(40, 2, seed=3)
    kind = np.random.default_rng(0).integers(0, 3, 40)
    X = np.column_stack([X, X[:, 0], -X[:, 1], np.eye(3)[kind]])
    prepared = Stumps(leaves, max_bins=3).prepare(X, groups=[[0, 2], [1], [3], [4, 5, 6]])
    B, groups = explicit(X, prepared)
    groups = [groups[0] + groups[2], groups[1], groups[3], groups[4] + groups[5] + groups[6]]
    assert np.linalg.matrix_rank(B) < B.shape[1]
    explicitly = minimal_cosine_angle(B, rule, groups, random_state=0)
    found = minimal_cosine_angle(prepared, rule, random_state=0)
    assert 0.3 * explicitly.lower < found.lower <= explicitly.upper
    assert explicitly.lower * (1 - 1e-12) <= found.upper <= 1.5 * explicitly.upper
    check_witness(found, B, np.ones(40), norm_of(rule, B.shape[1], groups))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [5, None])
def test_inner_products_from_counts(max_bins, weighted, leaves, sparse, monkeypatch):
    """With every value a threshold there are more bins than joint histograms may have."""
    monkeypatch.setattr(stump_gram, "MOST_BINS", 256)
    X, weight = rows(280, 3)
    X[:, 1] = np.where(X[:, 1] > 0, np.round(X[:, 1], 1), 0.0)
    w = weight[: len(X)] if weighted else None
    prepared = Stumps(leaves, max_bins=max_bins).prepare(
        scipy.sparse.csr_array(X) if sparse else X, w
    )
    ones = np.ones(len(X)) if w is None else w
    B = unit(explicit(X, prepared, w)[0], ones)
    with Team(1) as team:
        columns = StumpGram(prepared, len(X), w, team)
        gram = np.full((B.shape[1], B.shape[1]), np.nan)
        columns.fill(gram)
        expected = (B.T * ones) @ B
        above = np.triu_indices(len(gram))
        np.testing.assert_allclose(gram[above], expected[above], atol=1e-11)
        error = columns.entry_error()
        assert (np.abs(gram - expected) <= 20 * np.outer(error, error) + 1e-13)[above].all()
        z = np.linspace(-1.0, 2.0, B.shape[1])
        c = columns.combination(z)
        np.testing.assert_allclose(c, B @ z, atol=1e-11)
        np.testing.assert_allclose(columns.inner_products(c), B.T @ (ones * c), atol=1e-11)


class Explicit:
    """Columns of a matrix as `gram_bounds` wants them."""

    def __init__(self, B):
        self.B, self.n_columns = B, B.shape[1]

    def fill(self, out):
        out[:] = np.nan
        above = np.triu_indices(self.n_columns)
        out[above] = (self.B.T @ self.B)[above]

    def entry_error(self):
        return np.full(self.n_columns, 1e-8)


def test_an_eigenvalue_is_proved_and_never_one_too_large():
    rng = np.random.default_rng(0)
    B = unit(rng.normal(size=(30, 8)), np.ones(30))
    B = np.column_stack([B, B[:, 1]])
    columns = Explicit(B)
    gram = np.empty((9, 9))
    columns.fill(gram)
    factor = GramFactor(gram)
    assert factor.rank == 8
    kept = factor.kept
    inverse = np.linalg.inv(B[:, kept].T @ B[:, kept])
    np.testing.assert_allclose(factor.solve(np.eye(8)), inverse, rtol=1e-10)
    w = rng.random(8) + 0.1
    true = np.linalg.eigvalsh(np.sqrt(w)[:, None] * np.linalg.inv(inverse) * np.sqrt(w))[0]
    assert prove_eigenvalue(columns, kept, w, true) == pytest.approx(0.99 * true)
    for factor_too_large in (1.02, 1.5, 5.0, 300.0):
        assert prove_eigenvalue(columns, kept, w, factor_too_large * true) <= true
    assert prove_eigenvalue(columns, kept, w, 1e4 * true) == 0.0


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_ascent_ends_where_no_linear_program_improves(rule):
    X, _ = rows(50, 3, seed=5)
    prepared = Stumps("signed", max_bins=5).prepare(X)
    B = unit(explicit(X, prepared)[0], np.ones(50))
    norm = norm_of_layout(rule, prepared.layout)
    factor = GramFactor(np.triu(B.T @ B))
    z = ascend_by_gram(factor, norm, np.random.default_rng(0), 6)[:, 0]
    c = B @ z
    value = norm.norm(B.T @ c) / np.linalg.norm(c)
    best = norm.dual_norm(z) / np.linalg.norm(c)  # max of <c, c'> over ||B'c'||_F <= 1
    assert 1.0 / best == pytest.approx(value, rel=1e-9)


def test_many_stumps():
    """K = 1,200: both ends in a factor of 3, for all rules."""
    X, _ = rows(3000, 20, seed=2)
    prepared = Stumps("free", max_bins=61).prepare(X)
    for rule in (AllLearners(), RandomLearners(200), RandomGroups(5)):
        found = minimal_cosine_angle(prepared, rule, n_starts=4, random_state=0)
        assert prepared.layout.n_learners == 1200
        assert 0.0 < found.lower < found.upper < 3.0 * found.lower


def test_what_cannot_be_done_is_said():
    X, weight = rows()
    prepared = Stumps(max_bins=4).prepare(X, weight)
    with pytest.raises(ValueError, match="sample_weight is missing"):
        minimal_cosine_angle(prepared, AllLearners())
    with pytest.raises(ValueError, match="differs from the weights"):
        minimal_cosine_angle(prepared, AllLearners(), sample_weight=weight[::-1].copy())
    with pytest.raises(ValueError, match="groups is for explicit matrices"):
        minimal_cosine_angle(prepared, RandomGroup(), [[0]], sample_weight=weight)
    with pytest.raises(ValueError, match="no split"):
        minimal_cosine_angle(Stumps().prepare(np.ones((5, 2))), AllLearners())
    with pytest.raises(ValueError, match="negative entries"):
        minimal_cosine_angle(np.eye(2), AllLearners(), sample_weight=[-1.0, 1.0])
    with pytest.raises(ValueError, match="3 entries, B 2 rows"):
        minimal_cosine_angle(np.eye(2), AllLearners(), sample_weight=[1.0, 1.0, 1.0])


def test_explicit_columns_with_weights_are_repeated_rows():
    rng = np.random.default_rng(4)
    B, times = rng.normal(size=(12, 4)), rng.integers(0, 4, 12)
    for rule in RULES[:2]:
        weighted = minimal_cosine_angle(B, rule, sample_weight=times)
        repeated = minimal_cosine_angle(np.repeat(B, times, axis=0), rule)
        assert weighted.lower == pytest.approx(repeated.lower, rel=1e-10)
        assert times @ weighted.witness**2 == pytest.approx(1.0)
        assert (weighted.witness[times == 0] == 0.0).all()


def test_stumps_with_missing_values_or_categories_are_refused():
    X = np.array([[0.0, 1.0], [np.nan, 0.0], [1.0, 2.0]])
    for family in (Stumps(), Stumps(categorical=(1,))):
        with pytest.raises(ValueError, match=r"B is PreparedMixedStumps; pass stumps"):
            minimal_cosine_angle(family.prepare(X), AllLearners())
