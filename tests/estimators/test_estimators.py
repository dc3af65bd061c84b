"""The estimators as a user meets them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError

from rgboost import RGBMClassifier, RGBMRegressor, Stumps
from rgboost.losses import (
    AbsoluteError,
    Exponential,
    Gamma,
    Huber,
    LogCosh,
    Logistic,
    Poisson,
    Quantile,
    Ridged,
    Squared,
    Tweedie,
)
from rgboost.selection import AllLearners, RandomLearners
from rgboost.steps import ConstantStep, LineSearch


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


def test_regression(diabetes):
    X, y = diabetes
    model = RGBMRegressor(max_iter=100, learning_rate=0.1, max_bins=255, random_state=0)
    model.fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.4
    assert model.n_iter_ == 100
    assert len(model.trace_.train_loss) == 101
    assert model.n_features_in_ == 10
    assert model.subset_size_ == int(np.sqrt(model.n_learners_))
    assert model.n_learners_ == sum(len(np.unique(X[:300, g])) - 1 for g in range(10))
    assert model.intercept_ == pytest.approx(y[:300].mean())
    assert model.trace_.train_loss[0] == pytest.approx(0.5 * y[:300].var())
    fitted = 0.5 * np.mean((y[:300] - model.predict(X[:300])) ** 2)
    assert model.trace_.train_loss[-1] == pytest.approx(fitted, rel=1e-12)


def test_classification(cancer):
    X, y = cancer
    names = np.array(["benign", "malignant"], dtype=object)[y]
    model = RGBMClassifier(max_iter=200, random_state=0).fit(X[:400], names[:400])
    assert list(model.classes_) == ["benign", "malignant"]
    assert model.score(X[400:], names[400:]) > 0.95
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-15)
    score = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(score > 0).astype(int)])
    np.testing.assert_array_equal(probabilities[:, 1] > 0.5, score > 0)


@pytest.mark.parametrize("sparse", [False, True])
def test_stages(cancer, sparse):
    X, y = cancer
    data = scipy.sparse.csr_matrix(X) if sparse else X
    model = RGBMClassifier(max_iter=20, random_state=0).fit(data, y)
    scores = list(model.staged_decision_function(data))
    assert len(scores) == 20
    np.testing.assert_allclose(scores[-1], model.decision_function(data), rtol=1e-10)
    for score, label, probability in zip(
        scores, model.staged_predict(data), model.staged_predict_proba(data), strict=True
    ):
        np.testing.assert_array_equal(label, (score > 0).astype(int))
        np.testing.assert_allclose(probability[:, 1], 1 / (1 + np.exp(-score)), rtol=1e-12)
    losses = [model.loss_.value(2.0 * y - 1, score).mean() for score in scores]
    np.testing.assert_allclose(losses, model.trace_.train_loss[1:], rtol=1e-10)
    short = RGBMClassifier(max_iter=7, random_state=0).fit(data, y)
    np.testing.assert_allclose(short.decision_function(data), scores[6], rtol=1e-10)


def test_names_and_objects_are_the_same(cancer):
    X, y = cancer
    for named, given in [
        (dict(loss="logistic", ridge=0.1), dict(loss=Logistic(0.1))),
        (
            dict(loss="exponential", step="line-search", ridge=0.0),
            dict(loss=Exponential(), step=LineSearch()),
        ),
        (
            dict(loss="exponential", step="line-search", ridge=0.2),
            dict(loss=Ridged(Exponential(), 0.2), step=LineSearch()),
        ),
        (dict(selection="all"), dict(selection=AllLearners())),
        (dict(selection="learners", subset_size=9), dict(selection=RandomLearners(9))),
        (dict(step="constant"), dict(step=ConstantStep(1 / (0.25 + 1e-4)))),
        (
            dict(max_bins=16, binning="hybrid"),
            dict(learner=Stumps(max_bins=16, binning="hybrid")),
        ),
    ]:
        a, b = (RGBMClassifier(max_iter=10, random_state=0, **p).fit(X, y) for p in (named, given))
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_regression_losses(diabetes):
    X, y = diabetes
    model = RGBMRegressor(loss="huber", max_iter=5).fit(X, y)
    assert model.loss_ == Huber(1.4826 * 60)  # the median of |y - median(y)|
    assert RGBMRegressor(ridge=0.5, max_iter=5).fit(X, y).loss_ == Ridged(Squared(), 0.5)
    assert RGBMRegressor(loss=Squared(), ridge=0.5, max_iter=5).fit(X, y).loss_ == Squared()


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("log-cosh", LogCosh(1.4826 * 60)),
        ("absolute", AbsoluteError()),
        ("quantile", Quantile(0.5)),
        ("poisson", Poisson()),
        ("gamma", Gamma()),
        ("tweedie", Tweedie(1.5)),
    ],
)
def test_more_regression_losses_by_name(diabetes, name, loss):
    X, y = diabetes
    model = RGBMRegressor(loss=name, max_iter=60, random_state=0).fit(X, y)
    assert model.loss_ == loss
    losses = model.trace_.train_loss
    assert (np.diff(losses) < 1e-9).all()
    fitted = loss.value(y, loss.link(model.predict(X))).mean()
    assert losses[-1] == pytest.approx(fitted, rel=1e-10)
    if name == "quantile":
        assert model.intercept_ == np.quantile(y, 0.5, method="inverted_cdf")
    if name in ("poisson", "gamma", "tweedie"):
        assert model.intercept_ == pytest.approx(np.log(y.mean()))
        with pytest.raises(ValueError, match=r"expects labels from .* got -1"):
            RGBMRegressor(loss=name).fit(X, y - y.min() - 1)


def test_quantiles_cover_their_share():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 2))
    y = X[:, 0] + rng.exponential(size=2000)
    for level in (0.1, 0.9):
        model = RGBMRegressor(loss=Quantile(level), max_iter=100, max_bins=8, random_state=0)
        assert np.mean(y <= model.fit(X, y).predict(X)) == pytest.approx(level, abs=0.01)


def test_paper_preset(cancer):
    X, y = cancer
    model = RGBMClassifier.paper(max_iter=5, subset_size=2)
    assert model.get_params()["subset_size"] == 2
    assert (model.init, model.learning_rate, model.max_bins, model.ridge) == (
        "zero", 1.0, "paper", 1e-4,
    )  # fmt: skip
    model.fit(X, y)
    assert model.intercept_ == 0
    assert model.n_learners_ == sum(len(np.unique(column)) - 1 for column in X.T)
    rng = np.random.default_rng(0)
    big = rng.normal(size=(10_001, 2))
    assert RGBMRegressor.paper(max_iter=1).fit(big, big[:, 0]).n_learners_ == 2 * 99
    assert RGBMRegressor.paper(max_iter=1).fit(big[1:], big[1:, 0]).n_learners_ == 2 * 9_999


def test_integer_weights_are_repeated_rows(cancer):
    X, y = cancer
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, size=len(y))
    for Model, target in ((RGBMRegressor, X[:, 0]), (RGBMClassifier, y)):
        for data in (X, scipy.sparse.csc_array(np.where(X > 20, X, 0))):
            model = Model(max_iter=60, max_bins=12, binning="hybrid", random_state=0)
            weighted = clone(model).fit(data, target, sample_weight=times)
            rows = np.repeat(np.arange(len(y)), times)
            repeated = model.fit(data[rows], target[rows])
            np.testing.assert_array_equal(weighted.trace_.learner, repeated.trace_.learner)
            np.testing.assert_allclose(
                weighted.trace_.train_loss, repeated.trace_.train_loss, rtol=1e-10
            )


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_sparse_is_dense(kind, dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(-3, 4, size=(300, 8)) * (rng.random((300, 8)) < 0.3)).astype(dtype)
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=300)
    dense = RGBMRegressor(max_iter=100, random_state=0).fit(X, y)
    sparse = RGBMRegressor(max_iter=100, random_state=0).fit(kind(X), y)
    np.testing.assert_array_equal(dense.trace_.learner, sparse.trace_.learner)
    np.testing.assert_allclose(dense.trace_.train_loss, sparse.trace_.train_loss, rtol=1e-9)
    for model in (dense, sparse):
        np.testing.assert_allclose(model.predict(X), model.predict(kind(X)), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(dense.predict(X), sparse.predict(X), rtol=1e-9)


def test_sparse_input_is_not_touched():
    X = scipy.sparse.csc_array(np.diag(np.arange(5.0)))
    X.data[2] = 0.0  # an explicit zero
    before = X.copy()
    RGBMRegressor(max_iter=5).fit(X, np.arange(5.0))
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indices, before.indices)


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_orders_and_read_only_input(diabetes, order):
    X, y = diabetes
    expected = RGBMRegressor(max_iter=20, random_state=0).fit(X, y).predict(X)
    other = np.array(X, order=order)
    other.flags.writeable = False
    labels = y.copy()
    labels.flags.writeable = False
    model = RGBMRegressor(max_iter=20, random_state=0).fit(other, labels)
    np.testing.assert_array_equal(model.predict(other), expected)
    np.testing.assert_array_equal(model.predict(np.repeat(X, 2, axis=1)[:, ::2]), expected)


def test_constant_features_are_never_chosen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    X[:, 1] = 3.0
    X[:, 2] = 0.0
    y = rng.normal(size=100)
    for data in (X, scipy.sparse.csr_array(X)):
        model = RGBMRegressor(max_iter=100, selection="group").fit(data, y)
        assert set(model.trace_.feature) == {0, 3}
        everything = RGBMRegressor(selection="groups", subset_size=4, max_iter=5)
        everything.fit(data, y)
        assert everything.subset_size_ == 2


def test_only_constant_features_give_the_best_constant():
    model = RGBMRegressor(max_iter=3).fit(np.ones((10, 2)), np.arange(10.0))
    np.testing.assert_allclose(model.predict(np.zeros((3, 2))), 4.5)
    assert (model.trace_.feature == -1).all()


def test_groups_by_name(cancer):
    X, y = cancer
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    model = RGBMClassifier(groups=[["a", "c"], ["d", "b"]], selection="group", max_iter=50)
    model.fit(frame, y)
    assert list(model.feature_names_in_) == list("abcd")
    by_index = RGBMClassifier(groups=[[0, 2], [3, 1]], selection="group", max_iter=50)
    model.set_params(random_state=1).fit(frame, y)
    by_index.set_params(random_state=1).fit(X[:, :4], y)
    np.testing.assert_array_equal(model.trace_.feature, by_index.trace_.feature)
    with pytest.raises(ValueError, match="The feature names should match"):
        model.predict(frame[["b", "a", "c", "d"]])


def fitted(X, y):
    return RGBMRegressor(max_iter=2).fit(X, y)


GOOD = np.arange(20.0).reshape(10, 2), np.arange(10.0)
BAD_INPUT = [
    (lambda X, y: fitted(np.where(X == 4, np.inf, X), y), "Input X contains infinity"),
    (lambda X, y: fitted(X, np.where(y == 4, np.nan, y)), "Input y contains NaN"),
    (lambda X, y: fitted(X, np.where(y == 4, np.inf, y)), "Input y contains infinity"),
    (lambda X, y: fitted(X[:0], y[:0]), "minimum of 1 is required"),
    (lambda X, y: fitted(X[:, :0], y), r"0 feature\(s\)"),
    (lambda X, y: fitted(X, y[:5]), "inconsistent numbers of samples"),
    (lambda X, y: fitted(X[:, 0], y), "Expected 2D array"),
    (lambda X, y: fitted(X, y).predict(X[:, :1]), "has 1 features, but RGBMRegressor is expecting"),
    (lambda X, y: RGBMClassifier().fit(X, np.ones(10)), "y has only one class"),
    (lambda X, y: RGBMClassifier(loss="exponential").fit(X, y % 3), "is for two classes"),
    (lambda X, y: RGBMClassifier(step="leaf-search").fit(X, y % 3), "is not for more than"),
    (lambda X, y: RGBMClassifier(engine="gram").fit(X, y % 3), "it needs the squared loss"),
    (lambda X, y: RGBMClassifier(class_weight="even").fit(X, y > 4), "class_weight='even' is not"),
    (lambda X, y: RGBMClassifier(class_weight={7: 1}).fit(X, y > 4), "label 7, which is not in y"),
    (lambda X, y: RGBMClassifier(class_weight={True: 0}).fit(X, y > 4), "must be greater than 0"),
    (lambda X, y: RGBMClassifier().fit(X, y / 3), "Unknown label type"),
    (lambda X, y: RGBMClassifier().fit(X, y > 4, (y > 4) * 1.0), "y has only one class, "),
    (lambda X, y: RGBMRegressor().fit(X, y, -y), "sample_weight has the negative entry -9"),
    (lambda X, y: RGBMRegressor().fit(X, y, 0 * y), "sample_weight is zero for every row"),
    (lambda X, y: RGBMRegressor().fit(X, y, y / 0.0), "sample_weight has NaN or infinite"),
    (lambda X, y: RGBMRegressor().fit(X, y, y[:3]), r"sample_weight has shape \(3,\), expected"),
    (lambda X, y: RGBMRegressor(subset_size=19).fit(X, y), "there are 18 weak-learners"),
    (
        lambda X, y: RGBMRegressor(selection="groups", subset_size=3).fit(X, y),
        "there are 2 groups",
    ),
    (lambda X, y: RGBMRegressor(max_iter=0).fit(X, y), "max_iter=0 must be 1 or greater"),
    (lambda X, y: RGBMRegressor(max_iter=2.5).fit(X, y), "max_iter must be an integer"),
    (lambda X, y: RGBMRegressor(max_bins=[3, 4]).fit(X, y), "max_bins must be an integer"),
    (lambda X, y: RGBMRegressor(max_bins="many").fit(X, y), "max_bins must be an integer"),
    (lambda X, y: RGBMRegressor(learning_rate=0).fit(X, y), "learning_rate=0 must be greater"),
    (lambda X, y: RGBMRegressor(max_bins=1).fit(X, y), "max_bins=1 must be 2 or greater"),
    (lambda X, y: RGBMRegressor(max_bins=10**6).fit(X, y), "max_bins=1000000 is too large"),
    (lambda X, y: RGBMRegressor(binning="even").fit(X, y), "binning='even' is not known"),
    (lambda X, y: RGBMRegressor(init="one").fit(X, y), "init='one' is not known; use one of"),
    (lambda X, y: RGBMRegressor(engine="gpu").fit(X, y), "engine='gpu' is not known"),
    (lambda X, y: RGBMRegressor(learner="tree").fit(X, y), "learner='tree' is not known"),
    (lambda X, y: RGBMRegressor(loss="logistic").fit(X, y), "loss='logistic' is not known"),
    (lambda X, y: RGBMRegressor(ridge=-1).fit(X, y), "ridge=-1 must be 0 or greater"),
    (lambda X, y: RGBMRegressor(n_jobs=0).fit(X, y), "n_jobs=0 is not a number of threads"),
    (lambda X, y: RGBMRegressor(groups=[[0]]).fit(X, y), "groups must be a partition"),
    (
        lambda X, y: RGBMClassifier(loss="exponential", step="constant").fit(X, y > 4),
        "is not smooth: there is no constant step 1/sigma for it; use step='line-search'",
    ),
    (
        lambda X, y: RGBMRegressor(loss=Logistic()).fit(X, y),
        r"expects labels -1 and \+1, got 0; encode the labels",
    ),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize(("act", "message"), BAD_INPUT, ids=[m for _, m in BAD_INPUT])
def test_bad_input(act, message):
    with pytest.raises((ValueError, TypeError), match=message):
        act(*GOOD)


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    X, y = GOOD
    model = RGBMRegressor(max_iter=3, subset_size=99)
    with pytest.raises(ValueError, match="subset_size=99"):
        model.fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.set_params(subset_size=1).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.fit(np.full((5, 7), np.inf), np.arange(5))
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.n_features_in_ == 2


def test_interrupted_fit_leaves_the_estimator_as_it_was(monkeypatch):
    X, y = GOOD
    model = RGBMRegressor(max_iter=3, engine="direct").fit(X, y)
    before = dict(vars(model))

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("rgboost.engines.direct.runs.DirectRuns.advance", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X + 1, y)
    assert vars(model) == before


def test_verbose_draws_a_bar(capsys):
    RGBMRegressor(max_iter=30, verbose=1).fit(*GOOD)
    assert "30/30" in capsys.readouterr().out
    RGBMRegressor(max_iter=30).fit(*GOOD)
    assert capsys.readouterr().out == ""
