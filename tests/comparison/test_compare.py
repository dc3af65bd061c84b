"""rgboost.compare against fits by hand."""

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import d2_tweedie_score, log_loss, mean_absolute_error, r2_score
from sklearn.model_selection import KFold

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.callbacks import LogProgress
from rgboost.comparison.entrants import our_entrants
from rgboost.comparison.rows import read_rows, splits
from rgboost.comparison.run import check_pairs
from rgboost.learners import Stumps, Trees
from rgboost.losses import Logistic, Poisson, Quantile

rng = np.random.default_rng(0)
N = 240
X = pd.DataFrame(
    {
        "age": rng.normal(size=N),
        "size": rng.normal(size=N),
        "town": pd.Categorical(rng.choice(["A", "B", "C"], N)),
    }
)
X.loc[::9, "size"] = np.nan
MEAN = X["age"] + 2.0 * (X["age"] > 0) * X["size"].fillna(0.0) + (X["town"] == "B")
Y = MEAN + 0.3 * rng.normal(size=N)
WEIGHT = rng.uniform(0.5, 2.0, N)
FOLDS = list(KFold(2, shuffle=True, random_state=3).split(X))
FEW = RGBMRegressor(max_iter=20, random_state=1)
"""Quick, and without pairs: they need fits that end by themselves."""


def by_hand(estimator, y, of_rows):
    """The losses of the rows, each by the model that was fitted without it."""
    found = np.empty(N)
    for train, held in FOLDS:
        model = estimator.fit(X.iloc[train], y[train], sample_weight=WEIGHT[train])
        found[held] = of_rows(model, X.iloc[held], y[held])
    return found


def squared(model, rows, y):
    return (model.predict(rows) - y) ** 2


def of_probability(model, rows, y):
    p = model.predict_proba(rows)
    return -np.log(p[np.arange(len(y)), np.searchsorted(model.classes_, y)])


LABELS = np.where(MEAN > 1, "high", np.where(MEAN < -0.5, "low", "middle"))
CASES = {
    "regression": (RGBMRegressor, Y.to_numpy(), squared),
    "two classes": (RGBMClassifier, np.where(Y > 0.5, "yes", "no"), of_probability),
    "three classes": (RGBMClassifier, LABELS, of_probability),
}


@pytest.mark.parametrize("case", CASES)
def test_table_is_that_of_fits_by_hand(case):
    kind, y, of_rows = CASES[case]
    found = rgboost.compare(X, y, WEIGHT, estimator=kind(random_state=1), cv=FOLDS, pairs=[1])
    models = {
        "curves": kind(random_state=1, interactions=0),
        "1 pair": kind(random_state=1, interactions=1),
        "trees": kind(random_state=1, learner="trees"),
    }
    if case == "three classes":
        assert "pairs need the mean of its runs" in found.left_out["1 pair"]
        del models["1 pair"]
    assert {one.name for one in found.models} == {"constant", *models}
    losses = {name: by_hand(model, y, of_rows) for name, model in models.items()}
    if case == "regression":
        y_mean = np.average(y, weights=WEIGHT)
        variance = np.average((y - y_mean) ** 2, weights=WEIGHT)
        losses = {name: one / variance for name, one in losses.items()}
    means = {name: np.average(one, weights=WEIGHT) for name, one in losses.items()}
    best = min(means, key=means.get)
    assert found.best.name == best
    for name, mean in means.items():
        one, d = found[name], losses[name] - losses[best]
        assert one.loss == pytest.approx(mean, rel=1e-9)
        assert one.difference == pytest.approx(mean - means[best], rel=1e-7, abs=1e-12)
        off = WEIGHT / WEIGHT.sum() * (d - np.average(d, weights=WEIGHT))
        error = np.sqrt(N / (N - 1) * (off**2).sum())
        assert one.standard_error == pytest.approx(error, rel=1e-7, abs=1e-12)
    between = losses["curves"] - losses["trees"]
    off = WEIGHT / WEIGHT.sum() * (between - np.average(between, weights=WEIGHT))
    error = found.error(found["curves"], found["trees"])
    assert error == pytest.approx(np.sqrt(N / (N - 1) * (off**2).sum()), rel=1e-9)
    assert (found.n_rows, found.n_held_out, found.n_fits) == (N, N, 2)
    if "1 pair" in models:
        assert found["1 pair"].heat_maps == 1
        assert found["1 pair"].estimator.get_params()["interactions"] == 1
        assert not hasattr(found["1 pair"].estimator, "model_")
    assert found["curves"].things == found["curves"].curves <= 3
    assert found["trees"].things is None
    assert found["trees"].trees > 0
    assert found["constant"].things == 0


def test_sizes(tmp_path):
    found = rgboost.compare(X, Y, estimator=FEW, cv=FOLDS)
    curves = found["curves"]
    sizes, terms = [], []
    for train, _ in FOLDS:
        model = curves.estimator.fit(X.iloc[train], Y.iloc[train])
        model.save(tmp_path / "m.rgb")
        sizes.append((tmp_path / "m.rgb").stat().st_size)
        terms.append(len(model.term_features_))
    assert curves.bytes == pytest.approx(np.mean(sizes), rel=0.01)  # seconds have as many digits
    assert curves.things == np.ceil(np.mean(terms))
    assert curves.seconds > 0


@pytest.mark.parametrize("loss", ["squared", "poisson", "gamma", "tweedie", "absolute"])
def test_units_of_losses(loss):
    """As scikit-learn has them."""
    y = np.exp(MEAN.to_numpy() / 2)
    if loss == "poisson":
        y = np.floor(2 * y)  # with zeros
    found = rgboost.compare(X, y, WEIGHT, estimator=FEW, loss=loss, cv=FOLDS)
    predicted = np.empty(N)
    estimator = found["curves"].estimator
    for train, held in FOLDS:
        model = estimator.fit(X.iloc[train], y[train], sample_weight=WEIGHT[train])
        predicted[held] = model.predict(X.iloc[held])
    powers = {"poisson": 1, "tweedie": 1.5, "gamma": 2}
    given = y, predicted
    expected = {
        "squared": lambda: 1 - r2_score(*given, sample_weight=WEIGHT),
        "absolute": lambda: mean_absolute_error(*given, sample_weight=WEIGHT),
    }.get(loss, lambda: 1 - d2_tweedie_score(*given, sample_weight=WEIGHT, power=powers[loss]))()
    assert found["curves"].loss == pytest.approx(expected, rel=1e-9)
    names = {"squared": "1 - R²", "absolute": "mean absolute error"}
    assert found.measure == names.get(loss, "1 - D²")


def test_constant_is_what_training_rows_say():
    y = CASES["three classes"][1]
    found = rgboost.compare(X, y, estimator=RGBMClassifier(max_iter=5), cv=FOLDS)
    shares = np.empty((N, 3))
    for train, held in FOLDS:
        shares[held] = np.unique(y[train], return_counts=True)[1] / len(train)
    assert found["constant"].loss == pytest.approx(log_loss(y, shares), rel=1e-9)
    assert found.measure == "log-loss"


def test_every_kind_of_rows_says_the_same():
    given = dict(cv=FOLDS, random_state=0)
    first = rgboost.compare(X, Y, estimator=FEW, **given)
    codes = X.assign(town=X["town"].cat.codes.astype(float))
    marked = clone(FEW).set_params(categorical_features=[2])
    others = [
        rgboost.compare(polars.from_pandas(X), polars.Series(Y), estimator=FEW, **given),
        rgboost.compare(codes.to_numpy(), Y.to_numpy(), estimator=marked, **given),
        rgboost.compare(codes.to_numpy().tolist(), Y.tolist(), estimator=marked, **given),
    ]
    for other in others:
        assert [one.loss for one in other.models] == [one.loss for one in first.models]
    dense = codes[["age"]].to_numpy()
    of_sparse = rgboost.compare(scipy.sparse.csc_array(dense), Y, estimator=FEW, **given)
    of_dense = rgboost.compare(dense, Y, estimator=FEW, **given)
    assert of_sparse["curves"].loss == pytest.approx(of_dense["curves"].loss, rel=0.02)


def test_offsets_count():
    """A known part of the score is no merit of a model."""
    known = 3.0 * X["age"].to_numpy()
    plain = rgboost.compare(X, Y, estimator=FEW, cv=FOLDS)
    beside = rgboost.compare(X, Y + known, offset=known, estimator=FEW, cv=FOLDS)
    assert beside["trees"].loss == pytest.approx(plain["trees"].loss, rel=1e-6)
    assert beside["constant"].loss == pytest.approx(plain["constant"].loss, rel=1e-6)


class TestFolds:
    def rows(self, n, y=None, groups=None, kind=RGBMRegressor):
        y = np.arange(n, dtype=float) if y is None else y
        return read_rows(kind(), np.arange(float(n))[:, None], y, None, None, groups)

    @pytest.mark.parametrize(
        ("n", "count", "held"), [(4999, 5, 4999), (5000, 3, 5000), (20_000, 1, 5000)]
    )
    def test_as_many_as_there_is_time_for(self, n, count, held):
        found = splits(self.rows(n), None, 0)
        assert len(found) == count
        assert sum(len(rows) for _, rows in found) == held
        for train, rows in found:
            assert sorted(np.concatenate([train, rows])) == list(range(n))

    def test_groups_stay_together(self):
        groups = np.repeat([f"g{k}" for k in range(12)], 10)
        rows = self.rows(120, groups=groups)
        for train, held in splits(rows, None, 0):
            assert not set(groups[train]) & set(groups[held])
        found = rgboost.compare(X, Y, groups=np.arange(N) // 2, estimator=FEW, cv=2)
        assert found.n_held_out == N

    def test_as_many_folds_as_groups(self):
        assert len(splits(self.rows(120, groups=np.arange(120) % 3), None, 0)) == 3
        with pytest.raises(ValueError, match="groups has one group"):
            splits(self.rows(120, groups=np.zeros(120)), None, 0)

    def test_few_groups_of_many_rows(self):
        """A quarter of them would be too few groups to tell what is chance."""
        for n_groups, count in [(39, 3), (40, 1), (2, 2)]:
            rows = self.rows(20_000, groups=np.arange(20_000) % n_groups)
            assert len(splits(rows, None, 0)) == count

    def test_rare_classes_are_fitted_and_not_held_out(self):
        y = np.array(["a", "b"] * 30 + ["rare"] * 2)
        rows = self.rows(62, y, kind=RGBMClassifier)
        found = splits(rows, None, 0)
        assert sum(len(held) for _, held in found) == 60
        for train, held in found:
            assert (y[train] == "rare").sum() == 2
            assert sorted(set(y[held])) == ["a", "b"]

    def test_too_rare(self):
        y = np.array(["a"] * 60 + ["rare"] * 2)
        with pytest.raises(ValueError, match="the class 'rare' has 2 rows, and each of cv=5"):
            splits(self.rows(62, y, kind=RGBMClassifier), None, 0)
        y = np.array(["a", "b"] * 30)
        groups = np.where(y == "a", 0, np.arange(60))
        with pytest.raises(ValueError, match="all rows of the class 'a' are in one fold"):
            splits(self.rows(60, y, groups, RGBMClassifier), None, 0)

    def test_rows_without_weight_are_not_there(self):
        weight = WEIGHT.copy()
        weight[::4] = 0.0
        found = rgboost.compare(X, Y, weight, estimator=FEW, cv=2)
        assert found.n_rows == found.n_held_out == 180


class TestFaults:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (dict(y=Y[:30], X=X[:30]), "X has 30 rows, too few to hold some out"),
            (dict(sample_weight=np.arange(N) < 30), "X has 30 rows with a positive weight"),
            (dict(y=np.ones(N), estimator=RGBMRegressor()), "y is 1 in every row"),
            (dict(y=None), "y is missing"),
            (dict(peers="catboost"), "peers has 'catboost', which is not known; use 'lightgbm'"),
            (dict(cv=1), "cv=1 must be 2 or greater"),
            (dict(cv=N + 1), "cv=241 is impossible"),
            (dict(pairs=[0]), "pairs=0 must be 1 or greater"),
            (dict(loss="cubed"), "loss='cubed' is not known"),
            (dict(loss="poisson"), r"Poisson\(\) expects labels from 0"),
            (dict(estimator=RGBMRegressor(learner="trees")), "estimator has learner='trees'"),
            (dict(estimator=RGBMRegressor(learner=Trees())), "trees take part by themselves"),
            (dict(y=np.where(Y > 0, "a", None)), "y contains NaN"),
        ],
    )
    def test_values(self, given, message):
        given = {"X": X, "y": Y, **given}
        with pytest.raises(ValueError, match=message):
            rgboost.compare(**given)

    def test_types(self):
        with pytest.raises(TypeError, match="X is Chunks"):
            rgboost.compare(rgboost.Chunks(lambda: iter([(X, Y)])), Y, estimator=RGBMRegressor())
        with pytest.raises(TypeError, match="is none of ours; use RGBMRegressor"):
            rgboost.compare(X, Y, estimator=KFold())

    def test_packages_that_are_missing(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
        with pytest.raises(ImportError, match="lightgbm is not installed: pip install lightgbm"):
            rgboost.compare(X, Y, peers=["lightgbm"])


def test_models_that_cannot_be_had_are_left_out():
    template = RGBMRegressor(max_iter=20)
    found = rgboost.compare(X, Y, estimator=template, cv=FOLDS, pairs=[1])
    assert [one.name for one in found.models] == ["constant", "curves", "trees"]
    assert "max_iter is a number" in found.left_out["1 pair"]
    assert "left out: 1 pair (cannot be had here: max_iter is a number" in str(found)
    assert template.get_params()["random_state"] is None


def test_models_that_can_be_planned_but_not_fitted_are_left_out():
    template = RGBMRegressor(max_bins=300, interaction_constraints=[[0, 1]])
    found = rgboost.compare(X, Y, estimator=template, cv=FOLDS, pairs=[2])
    assert [one.name for one in found.models] == ["constant", "curves"]
    assert found.left_out["2 pairs"].startswith("asks for more pairs than there are: 1 of")
    assert "too large for trees" in found.left_out["trees"]


@pytest.mark.parametrize(
    ("pairs", "names"),
    [
        ((5, 10, "all"), ["all pairs"]),
        ((2, 1), ["1 pair", "2 pairs"]),
        (("all", 2), ["2 pairs", "all pairs"]),
        ((), []),
        (3, ["all pairs"]),
    ],
)
def test_as_many_pairs_as_there_are(pairs, names):
    found = our_entrants(RGBMRegressor(), check_pairs(pairs), 3)
    assert [one.name for one in found] == ["curves", *names, "trees"]
    assert [one.name for one in our_entrants(RGBMRegressor(), [5, "all"], 1)] == ["curves", "trees"]


def test_settings_are_shared():
    template = RGBMRegressor(learner=Stumps(), max_iter=5, monotone_constraints={"age": 1})
    template.set_params(callbacks=[LogProgress()], verbose=1)
    found = rgboost.compare(X, Y, estimator=template, loss=Quantile(0.9), cv=FOLDS, n_jobs=1)
    for one in found.models[1:]:
        given = one.estimator.get_params()
        assert given["loss"] == Quantile(0.9)
        assert given["monotone_constraints"] == {"age": 1}
        assert (given["n_jobs"], given["verbose"], given["callbacks"]) == (1, 0, None)
    assert found.measure == "mean Quantile(level=0.9) loss"


@pytest.mark.parametrize("loss", [None, "poisson", "log_loss", Logistic(), Poisson()])
def test_loss_tells_what_labels_are(loss):
    y = np.arange(N) % 2
    found = rgboost.compare(X, y, loss=loss, cv=FOLDS, pairs=[], estimator=None)
    kind = type(found["curves"].estimator)
    counts = "poisson" in str(loss).lower()
    assert kind is (RGBMRegressor if counts else RGBMClassifier)


def test_same_seed_same_losses():
    first, again = (rgboost.compare(X, Y, estimator=FEW, cv=2, random_state=5) for _ in range(2))
    assert [one.loss for one in first.models] == [one.loss for one in again.models]
    other = rgboost.compare(X, Y, estimator=FEW, cv=2, random_state=6)
    assert first["curves"].loss != other["curves"].loss


def test_progress_tells_every_fit(capsys):
    rgboost.compare(X, Y, estimator=FEW, cv=FOLDS, verbose=1)
    assert capsys.readouterr().out.startswith("fit 1 of 6: constant, fold 1 of 2  (0 s)\n")
