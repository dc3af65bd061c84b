"""The best loss by Newton's method on statistics, against dense solutions on explicit columns."""

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes

from rgboost._core.team import Team
from rgboost.data.datasets import load, train_test_split_80_20
from rgboost.learners import Dictionary, Stumps
from rgboost.losses import Huber, Logistic, Ridged, Squared
from rgboost.theory.certificates.optimal import optimal_loss
from rgboost.theory.certificates.training import one_blas_thread
from rgboost.theory.dual.projection import Diagonal, Factor, System, newton_step
from rgboost.theory.dual.span import orthonormal_span
from rgboost.theory.dual.stump_span import StumpSpan, span_of
from tests.data_strategies import problems
from tests.optimum import indicator_columns, smallest_loss


@pytest.fixture(autouse=True)
def one_thread():
    """Many small matrices: threads of BLAS would wait for each other."""
    with one_blas_thread():
        yield


def explicit(prepared, n_rows):
    """The weak-learners as columns, from their definition: thresholds and leaves."""
    cuts, splits = prepared.cuts, prepared.arrays.splits
    with Team(1) as team:
        A = StumpSpan(prepared, n_rows, team).matrix().toarray()
    if not splits.signed:
        return A
    columns = []  # from bins to signed stumps: +1 left of each split, -1 right
    start = 0
    for n_splits in np.diff(np.unique(cuts.offsets)):
        block = A[:, start : start + n_splits]
        start += n_splits
        bins = np.where(block[:, 0] < 0, n_splits, np.abs(block).argmax(axis=1))[:, None]
        columns.append(np.where(bins <= np.arange(n_splits), 1.0, -1.0))
    return np.hstack(columns) if columns else np.zeros((n_rows, 0))


def best_loss(B, y, loss, weight=None, start=0.0):
    """min of the mean of l(y, start + B beta): damped Newton on an orthonormal basis."""
    w = np.ones(len(y)) if weight is None else weight
    U, s, _ = scipy.linalg.svd(B, full_matrices=False)
    Q = U[:, s > 1e-10 * s.max(initial=1e-300)]
    z, damping = np.zeros(Q.shape[1]), 1e-3
    value = w @ loss.value(y, start + Q @ z)
    for _ in range(3000):
        f = start + Q @ z
        gradient = -(Q.T @ (w * loss.residual(y, f)))
        if np.linalg.norm(gradient) <= 1e-12 * np.sqrt(w.sum()):
            break
        hessian = (Q.T * (w * loss.curvature(y, f))) @ Q
        hessian[np.diag_indices_from(hessian)] += damping
        step = -scipy.linalg.solve(hessian, gradient, assume_a="sym")
        new = w @ loss.value(y, start + Q @ (z + step))
        if new <= value:
            z, value, damping = z + step, new, max(0.1 * damping, 1e-12)
        else:
            damping *= 10.0
    return value / w.sum()


def dense_columns(X, learner):
    cuts = learner.prepare(X).cuts
    return indicator_columns(X, np.split(cuts.thresholds, cuts.offsets[1:-1]))


def cancer(n_features=8):
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :n_features], np.where(y == 1, 1.0, -1.0)


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, (y - y.mean()) / y.std()


@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.parametrize(
    ("data", "loss", "max_bins"),
    [
        (cancer, Logistic(1e-4), 4),
        (cancer, Logistic(0.01), 40),
        (lambda: cancer(30), Logistic(1e-3), 255),  # more weak-learners than rows
        (cancer, Logistic(0.0), 4),
        (diabetes, Squared(), 4),
        (diabetes, Squared(), 30),
        (diabetes, Ridged(Huber(0.3), 0.01), 16),
    ],
)
def test_the_optimum_of_an_independent_method(data, loss, max_bins, exact):
    X, y = data()
    learner = Stumps(max_bins=max_bins)
    found = optimal_loss(X, y, loss, learner, exact=exact)
    reference = smallest_loss(dense_columns(X, learner), y, loss)
    assert found.loss == pytest.approx(reference, rel=1e-10)
    assert found.certificate.relative_gap <= 1e-10
    assert found.certificate.radius == np.inf
    assert loss.value(y, found.score).mean() == pytest.approx(found.loss, rel=1e-14)


@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.parametrize("max_bins", [4, 12])
def test_huber_without_a_ridge(max_bins, exact):
    X, y = diabetes()
    loss, learner = Huber(0.5), Stumps(max_bins=max_bins)
    found = optimal_loss(X, y, loss, learner, exact=exact)
    reference = best_loss(dense_columns(X, learner), y, loss)
    assert found.loss == pytest.approx(reference, rel=1e-10)
    assert found.certificate.relative_gap <= 1e-10


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("exact", [None, True, False])
@pytest.mark.parametrize("loss", [Squared(), Logistic(0.01)], ids=repr)
def test_weights_are_repeated_rows(loss, exact, sparse):
    X, y = diabetes()
    X = np.round(np.where(X > 0, X, 0.0), 2)
    y = y if loss == Squared() else np.where(y > 0, 1.0, -1.0)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    rows = scipy.sparse.csc_array(X) if sparse else X
    found = optimal_loss(rows, y, loss, Stumps(max_bins=255), times, exact=exact)
    repeated = np.repeat(np.arange(len(y)), times)
    B = dense_columns(X[repeated], Stumps(max_bins=255))
    assert found.loss == pytest.approx(smallest_loss(B, y[repeated], loss), rel=1e-10)
    assert len(found.score) == (times > 0).sum()


@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Logistic(1e-3)], ids=repr)
def test_the_start_matters_where_constants_are_not_in_the_range(loss, exact):
    X, y = diabetes()
    X = X[:, :3]
    y = np.where(y > 0, 1.0, -1.0) if isinstance(loss, Logistic) else y + 1.0
    signed = Stumps("signed", max_bins=5)
    B = explicit(signed.prepare(X), len(y))
    losses = []
    for start in (0.0, 0.7):
        found = optimal_loss(X, y, loss, signed, start=start, exact=exact)
        assert found.loss == pytest.approx(best_loss(B, y, loss, start=start), rel=1e-10)
        losses.append(found.loss)
    free = optimal_loss(X, y, loss, Stumps(max_bins=5), start=0.7, exact=exact).loss
    assert free == pytest.approx(optimal_loss(X, y, loss, Stumps(max_bins=5), exact=exact).loss)
    assert free <= min(losses) + 1e-12
    if loss == Squared():
        assert abs(losses[0] - losses[1]) > 1e-3
    best = optimal_loss(X, y, loss, signed, start=None, exact=exact)
    c = loss.best_constant(y)
    assert best.loss == pytest.approx(best_loss(B, y, loss, start=c), rel=1e-10)


@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_dictionary(sparse, exact):
    rng = np.random.default_rng(0)
    B = rng.normal(size=(90, 20)) * (rng.random((90, 20)) < 0.4)
    y = np.where(B[:, 0] + rng.normal(size=90) > 0, 1.0, -1.0)
    learner = Dictionary(scipy.sparse.csc_array(B) if sparse else B)
    loss = Logistic(1e-3)
    found = optimal_loss(B, y, loss, learner, start=0.1, exact=exact)
    assert found.loss == pytest.approx(best_loss(B, y, loss, start=0.1), rel=1e-10)


def test_where_the_infimum_is_not_attained():
    X, y = cancer(30)
    found = optimal_loss(X, y, Logistic(0.0), Stumps(max_bins=255))
    assert found.loss < 1e-15
    assert found.certificate.gap <= found.loss * (1 + 1e-12)
    assert found.certificate.lower_bound >= 0.0


def test_rows_that_cannot_be_improved():
    X, y = np.ones((5, 2)), np.arange(5.0)
    found = optimal_loss(X, y, Squared(), start=2.0)
    assert found.loss == pytest.approx(1.0)
    assert found.certificate.gap == 0.0
    with pytest.raises(ValueError, match="tol"):
        optimal_loss(X, y, Squared(), tol=0.0)
    many = np.arange(2200.0)[:, None]
    with pytest.raises(ValueError, match="2048 bins"):
        optimal_loss(many, many[:, 0], Squared(), Stumps(max_bins=None), exact=True)


# ---- coordinates -------------------------------------------------------------------------------


def naive_matrix(X, prepared, signed):
    """Columns by definition: bins of features with splits; both ends together if signed."""
    cuts = prepared.cuts
    columns = []
    for g in range(cuts.n_features):
        s = cuts.thresholds[cuts.offsets[g] : cuts.offsets[g + 1]]
        if len(s) == 0:
            continue
        bins = (X[:, [g]] > s).sum(axis=1)
        hot = [(bins == k).astype(float) for k in range(len(s) + 1)]
        columns += [hot[0] - hot[-1], *hot[1:-1]] if signed else hot
    return np.column_stack(columns) if columns else np.zeros((len(X), 0))


@pytest.mark.kernel
@given(problems(), st.sampled_from(["free", "signed"]), st.booleans(), st.booleans())
def test_products_with_the_columns_of_stumps(problem, leaves, sparse, by_rows):
    X, y, weight = problem
    rows = scipy.sparse.csr_array(X) if sparse else X
    prepared = Stumps(leaves, max_bins=5).prepare(rows, weight)
    A = naive_matrix(X, prepared, leaves == "signed")
    with Team(1) as team:
        span = span_of(prepared, len(y), team)
        span.by_rows = span.by_rows and by_rows
        if sparse and by_rows:
            span.rows_by_bins()
        assert span.n_coordinates == A.shape[1]
        if not A.shape[1]:
            return
        np.testing.assert_array_equal(span.matrix().toarray(), A)
        t = np.linspace(-1.0, 2.0, A.shape[1])
        np.testing.assert_allclose(span.rows(t), A @ t, atol=1e-13)
        np.testing.assert_allclose(span.sums(weight * y), A.T @ (weight * y), atol=1e-13)
        np.testing.assert_allclose(span.squares(weight), (A**2).T @ weight, atol=1e-13)
        along, curve = span.normal(t, weight)
        np.testing.assert_allclose(along, A @ t, atol=1e-13)
        np.testing.assert_allclose(curve, A.T @ (weight * (A @ t)), atol=1e-12)
        gram = span.gram(weight)
        C = np.column_stack([span.rows(span.from_columns(e)) for e in np.eye(len(gram))])
        np.testing.assert_allclose(gram, (C.T * weight) @ C, atol=1e-12)
        np.testing.assert_allclose(span.to_columns(A.T @ y), C.T @ y, atol=1e-12)
        assert np.linalg.matrix_rank(C) == np.linalg.matrix_rank(A)
        assert np.linalg.matrix_rank(np.hstack([A, C])) == np.linalg.matrix_rank(A)


@pytest.mark.kernel
@pytest.mark.parametrize("leaves", ["free", "signed"])
@pytest.mark.parametrize(("n", "max_bins"), [(2500, 40), (600, None)])
def test_products_over_many_rows(n, max_bins, leaves):
    """Long enough for words of eight bins, three columns at once, several chunks; wide bins."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, 5)), rng.integers(0, 2, (n, 2)), np.ones(n)])
    X = X[:, [0, 5, 1, 2, 3, 7, 6, 4]]
    prepared = Stumps(leaves, max_bins=max_bins).prepare(X)
    A = naive_matrix(X, prepared, leaves == "signed")
    x, t = rng.random(n), rng.normal(size=A.shape[1])
    with Team(1) as team:
        span = span_of(prepared, n, team)
        assert span.by_tiles
        assert span.arrays.wide == (max_bins is None)
        along, curve = span.normal(t, x)
        np.testing.assert_allclose(along, A @ t, atol=1e-12)
        np.testing.assert_allclose(curve, A.T @ (x * (A @ t)), atol=1e-11)
        np.testing.assert_allclose(span.rows(t), A @ t, atol=1e-12)
        np.testing.assert_allclose(span.sums(x), A.T @ x, atol=1e-11)
        span.by_tiles = False  # the naive twin: one column at a time
        np.testing.assert_allclose(span.rows(t), along, atol=1e-12)
        np.testing.assert_allclose(span.sums(x), A.T @ x, atol=1e-11)


@pytest.mark.parametrize("leaves", ["free", "signed"])
def test_steps_by_both_solvers_are_the_projection(leaves):
    X, y = diabetes()
    prepared = Stumps(leaves, max_bins=7).prepare(X)
    rng = np.random.default_rng(0)
    weight, curvature, gradient = rng.random((3, len(y))) + 0.1
    A = naive_matrix(X, prepared, leaves == "signed")
    heavy = weight * curvature
    root = np.sqrt(heavy)
    expected = A @ np.linalg.lstsq(root[:, None] * A, -root * gradient / curvature, rcond=None)[0]
    with Team(1) as team:
        span = span_of(prepared, len(y), team)
        for solver in (Factor(span, span.gram(heavy)), Diagonal(span.squares(heavy))):
            system = System(span, weight, solver)
            step = newton_step(system, gradient, curvature, lambda step: step.error < 1e-27, 2000.0)
            np.testing.assert_allclose(step.change, expected, atol=1e-9)
            np.testing.assert_allclose(step.constant + span.rows(step.t), step.change, atol=1e-9)
            assert np.abs(A.T @ (weight * step.dual)).max() < 1e-9
            model = gradient @ (weight * step.change) + 0.5 * heavy @ step.change**2
            assert -step.decrease == pytest.approx(model)
        basis = orthonormal_span(span, weight).A
    np.testing.assert_allclose((basis.T * weight) @ basis, np.eye(basis.shape[1]), atol=1e-10)
    assert basis.shape[1] == np.linalg.matrix_rank(A)
    np.testing.assert_allclose(basis @ (basis.T @ (weight[:, None] * A)), A, atol=1e-10)


A9A = Path(__file__).parents[4] / "shared" / "data"


@pytest.mark.skipif(not (A9A / "a9a").exists(), reason="needs the data set a9a")
@pytest.mark.parametrize("seed", [0, 4, 5])
def test_rare_bins_of_dependent_columns(seed):
    """Pivots of rounding were once taken for columns: the scores left the range."""
    a9a = load("a9a", A9A, download=False)
    rows = train_test_split_80_20(a9a.X, a9a.y, seed)
    given = rows.X_train, rows.y_train, Logistic(1e-4), Stumps(max_bins=100)
    by_factor, by_products = optimal_loss(*given, exact=True), optimal_loss(*given, exact=False)
    assert by_factor.loss == pytest.approx(by_products.loss, rel=1e-12)
    assert by_factor.certificate.gap < 1e-13


def test_stumps_with_missing_values_are_refused():
    X = np.array([[0.0, 1.0], [np.nan, 0.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match=r"not for PreparedMixedStumps; fill in what is missing"):
        optimal_loss(X, np.arange(3.0), Squared())
