"""How the estimators train: validation rows, callbacks, silence, Ctrl-C."""

import os
import signal

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import KFold

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.callbacks import Checkpoint, LogProgress, ProgressBar, TimeLimit
from rgboost.engines.gram.runs import _LONG_BLOCK
from rgboost.estimators.held_out import TrainingRows, hold_out

CASES = [(RGBMRegressor, *load_diabetes(return_X_y=True)),
         (RGBMClassifier, *load_breast_cancer(return_X_y=True))]  # fmt: skip
each = pytest.mark.parametrize(("Model", "X", "y"), CASES, ids=["regressor", "classifier"])
each_and_classes = pytest.mark.parametrize(
    ("Model", "X", "y"), [*CASES, (RGBMClassifier, *load_wine(return_X_y=True))],
    ids=["regressor", "classifier", "three classes"],
)  # fmt: skip


@each
@pytest.mark.parametrize("sparse", [False, True])
def test_held_out_rows(Model, X, y, sparse):
    data = scipy.sparse.csr_array(X) if sparse else X
    model = Model(
        max_iter=3000, early_stopping=True, validation_fraction=0.25, learning_rate=1.0,
        n_iter_no_change=30, tol=0.0, random_state=0,
    )  # fmt: skip
    model.fit(data, y)
    assert 0 < model.best_iteration_ < model.n_iter_ < 3000
    assert model.best_iteration_ == np.argmin(model.trace_.validation_loss)
    assert len(model.trace_.train_loss) == model.n_iter_ + 1
    again = clone(model).fit(data, y)
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    assert len(list(model.staged_predict(data[:3]))) == model.best_iteration_


@each
def test_given_validation_rows(Model, X, y):
    train, held = slice(0, 300), slice(300, None)
    model = Model(max_iter=3000, random_state=0, n_iter_no_change=30)
    model.fit(X[:300], y[:300], X_val=X[held], y_val=y[held])
    assert model.n_iter_ < 3000
    if Model is RGBMRegressor:
        loss = 0.5 * np.mean((y[held] - model.predict(X[held])) ** 2)
    else:
        loss = model.loss_.value(2.0 * y[held] - 1, model.decision_function(X[held])).mean()
    assert loss == pytest.approx(model.trace_.validation_loss.min(), rel=1e-9)
    all_iterations = clone(model).set_params(early_stopping=False, max_iter=400)
    all_iterations.fit(X[train], y[train], X_val=X[held], y_val=y[held])
    assert all_iterations.n_iter_ == 400
    assert all_iterations.best_iteration_ == np.argmin(all_iterations.trace_.validation_loss)


@each
def test_validation_weights_are_repeated_rows(Model, X, y):
    rng = np.random.default_rng(0)
    times = rng.integers(0, 3, size=len(y) - 300)
    model = Model(max_iter=100, random_state=0, early_stopping=False)
    weighted = clone(model).fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:], sample_weight_val=times
    )
    rows = 300 + np.repeat(np.arange(len(times)), times)
    repeated = model.fit(X[:300], y[:300], X_val=X[rows], y_val=y[rows])
    np.testing.assert_allclose(
        weighted.trace_.validation_loss, repeated.trace_.validation_loss, rtol=1e-10
    )


def test_rows_without_weight_are_not_held_out():
    X, y = load_diabetes(return_X_y=True)
    weight = np.ones(len(y))
    weight[::2] = 0.0
    model = RGBMRegressor(max_iter=200, early_stopping=True, random_state=0)
    a = clone(model).fit(X, y, weight)
    y_wrong = np.where(weight > 0, y, 1e9)
    b = clone(model).fit(X, y_wrong, weight)
    np.testing.assert_array_equal(a.trace_.validation_loss, b.trace_.validation_loss)


def classifier_with(**parameters):
    X, y = load_breast_cancer(return_X_y=True)
    fit = {key: parameters.pop(key) for key in ("X_val", "y_val", "sample_weight_val")
           if key in parameters}  # fmt: skip
    return RGBMClassifier(max_iter=5, **parameters).fit(X[:300], y[:300], **fit)


X_HELD, Y_HELD = load_breast_cancer(return_X_y=True)[0][300:], np.ones(269)
BAD = [
    (dict(early_stopping="yes"), "early_stopping='yes' is not known; use one of 'auto'"),
    (dict(validation_fraction=1.0), "validation_fraction=1.0 must lie between 0 and 1"),
    (dict(validation_fraction=1e-9, early_stopping=True), "of 300 rows cannot be held out"),
    (dict(n_iter_no_change=0), "n_iter_no_change=0 must be 1 or greater"),
    (dict(tol=-1.0), "tol=-1.0 must be 0 or greater"),
    (dict(verbose=-1), "verbose=-1 must be 0 or greater"),
    (dict(callbacks=["bar"]), "callbacks has 'bar', which cannot be called"),
    (dict(X_val=X_HELD), "y_val is missing: validation rows need both"),
    (dict(y_val=Y_HELD), "X_val is missing: validation rows need both"),
    (dict(sample_weight_val=Y_HELD), "sample_weight_val is given without X_val"),
    (dict(X_val=X_HELD, y_val=Y_HELD + 1), "y_val has the class .*2.*, which is not in y"),
    (dict(X_val=X_HELD[:, :3], y_val=Y_HELD), "has 3 features, but RGBMClassifier is expecting"),
    (dict(X_val=X_HELD, y_val=Y_HELD, sample_weight_val=-Y_HELD), "sample_weight_val has the neg"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "message"), BAD, ids=[m for _, m in BAD])
def test_bad_input(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        classifier_with(**parameters)


def test_callbacks_survive_clone_and_are_called():
    seen = []
    model = RGBMRegressor(max_iter=50, callbacks=[TimeLimit(60), ProgressBar(), LogProgress()])
    assert [type(c) for c in clone(model).callbacks] == [TimeLimit, ProgressBar, LogProgress]
    X, y = load_diabetes(return_X_y=True)
    model.set_params(callbacks=[lambda progress: seen.append(progress.iteration)]).fit(X, y)
    assert seen[-1] == 50


def fit_loudly(backend):
    import contextlib
    import io

    X, y = load_diabetes(return_X_y=True)
    model = RGBMRegressor(max_iter=30, verbose=1)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        model.fit(X, y)
    return out.getvalue()


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_silent_inside_joblib(backend):
    assert "30/30" in fit_loudly(backend)
    (said,) = joblib.Parallel(n_jobs=2, backend=backend)([joblib.delayed(fit_loudly)(backend)])
    assert said == ""


@each_and_classes
def test_ctrl_c_leaves_a_usable_model(Model, X, y):
    pressed = []

    def press(progress):
        if progress.iteration >= 20 and not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    model = Model(max_iter=10**6, random_state=0, callbacks=[press], engine="direct")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert 20 <= model.n_iter_ < 10**6
    same = Model(max_iter=model.n_iter_, random_state=0, engine="direct").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    before = dict(vars(model))

    def press_early(progress):
        raise ValueError("a callback that fails")

    with pytest.raises(ValueError, match="a callback that fails"):
        model.set_params(callbacks=[press_early]).fit(X, y)
    assert {k: v for k, v in vars(model).items() if k != "callbacks"} == {
        k: v for k, v in before.items() if k != "callbacks"
    }


@each_and_classes
@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("random_state", [None, 3])
def test_warm_start(Model, X, y, early_stopping, random_state):
    model = Model(
        max_iter=30, warm_start=True, early_stopping=early_stopping, random_state=random_state,
        engine="direct",
    )  # fmt: skip
    model.fit(X, y)
    first = model.trace_.learner
    model.set_params(max_iter=200).fit(X, y)
    np.testing.assert_array_equal(model.trace_.learner[:30], first)
    if random_state is not None:
        whole = clone(model).set_params(warm_start=False).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), whole.predict(X))
        np.testing.assert_array_equal(model.trace_.train_loss, whole.trace_.train_loss)
    before = model.predict(X)
    with pytest.raises(ValueError, match="had other data"):
        model.fit(X[::2], y[::2])
    np.testing.assert_array_equal(model.predict(X), before)
    model.set_params(warm_start=False, max_iter=20).fit(X[::2], y[::2])
    assert model.n_iter_ == 20


@each_and_classes
def test_ctrl_c_checkpoint_resume(Model, X, y, tmp_path):
    path = tmp_path / "fit.npz"
    pressed = []

    def press(progress):
        if progress.iteration >= 100 and not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    whole = Model(max_iter=5000, random_state=0, early_stopping=True).fit(X, y)
    model = clone(whole).set_params(callbacks=[Checkpoint(path), press], n_iter_no_change=10**6)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    model = clone(whole).fit(X, y, resume=path)
    assert model.n_iter_ == whole.n_iter_
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    for more, told in (
        ({"learning_rate": 0.05}, "learning_rate="), ({"random_state": 1}, "another random_state"),
        ({"subset_size": "all"}, "selection="),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"The run to go on with had {told}"):
            clone(whole).set_params(**more).fit(X, y, resume=path)


def test_resume_without_a_seed_goes_on_with_that_of_the_run(tmp_path):
    path = tmp_path / "fit.npz"
    X, y = load_diabetes(return_X_y=True)
    given = dict(max_iter=40, subset_size=2, engine="direct")
    RGBMRegressor(**given, random_state=3, callbacks=[Checkpoint(path)]).fit(X, y)
    found = RGBMRegressor(**{**given, "max_iter": 90}).fit(X, y, resume=path)
    whole = RGBMRegressor(**{**given, "max_iter": 90}, random_state=3).fit(X, y)
    np.testing.assert_array_equal(found.trace_.learner, whole.trace_.learner)


@pytest.mark.parametrize("Model", [RGBMRegressor, RGBMClassifier])
def test_whole_weights_are_repeated_rows_with_given_settings(Model):
    """On both sides of numbers of rows at which rules of "auto" change."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(size=len(X))
    y = y if Model is RGBMRegressor else y > 0
    times = rng.integers(0, 4, size=len(X))
    given = dict(
        max_iter=50, max_bins=64, selection="thresholds", subset_size=15, learning_rate=0.2,
        min_weight_fraction_leaf=0.0, random_state=0,
    )  # fmt: skip
    weighted = Model(**given).fit(X, y, sample_weight=times)
    repeated = Model(**given).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert len(times[times > 0]) < 6000 < 8000 < times.sum()
    np.testing.assert_array_equal(weighted.trace_.learner, repeated.trace_.learner)
    np.testing.assert_allclose(weighted._score(X), repeated._score(X), rtol=1e-9, atol=1e-9)


@each
def test_iterations_by_cross_validation(Model, X, y):
    model = Model(max_iter="cv", cv=4, random_state=0, learning_rate=0.3, ensemble=False)
    weight = np.ones(len(y))
    weight[:40] = 0.0
    model.fit(X, y, weight)
    assert model.n_iter_ == model.best_iteration_ == np.argmin(model.cv_loss_)
    assert model.trace_.validation_loss is None
    alone = Model(max_iter=model.n_iter_, random_state=0, learning_rate=0.3).fit(X, y, weight)
    np.testing.assert_allclose(alone.predict(X), model.predict(X), rtol=1e-9)
    assert not hasattr(model.set_params(max_iter=5).fit(X, y), "cv_loss_")


def test_bad_cross_validation():
    X, y = load_breast_cancer(return_X_y=True)
    for parameters, message in (
        (dict(cv=1), "cv=1 must be 2 or greater"),
        (dict(cv=300), "cv=300 is impossible: there are only 212 rows of the rarest class"),
        (dict(cv=[(np.arange(300), np.arange(300, 569))]), "cv must hold out every row exactly"),
        (dict(cv=[(np.arange(569), np.arange(569))] * 2), "cv must hold out every row exactly"),
        (dict(max_iter="vc"), "max_iter='vc' is not known; use a number, 'auto' or 'cv'"),
    ):
        with pytest.raises(ValueError, match=message):
            RGBMClassifier(**{"max_iter": "cv", **parameters}).fit(X, y)
    with pytest.raises(ValueError, match="max_iter='cv' chooses the number of iterations without"):
        RGBMClassifier(max_iter="cv").fit(X, y, X_val=X, y_val=y)


def test_auto_chooses_by_the_number_of_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = X[:, 0] + rng.normal(size=len(X))
    for held_out in (
        RGBMRegressor(random_state=0, ensemble=False),
        RGBMRegressor(random_state=0, early_stopping=True),
        RGBMRegressor(random_state=0, loss="huber"),
    ):
        assert held_out.fit(X, y).trace_.validation_loss is not None
        assert not hasattr(held_out, "cv_loss_")
    mean = RGBMRegressor(random_state=0).fit(X, y)
    assert mean.trace_.engine == "gram: the mean of 5 runs"
    assert RGBMRegressor(max_iter=5).fit(X, y).trace_.validation_loss is None
    assert hasattr(RGBMRegressor(early_stopping=False, random_state=0).fit(X, y), "cv_loss_")
    by_folds = RGBMRegressor(random_state=0).fit(X[:500], y[:500])
    explicit = RGBMRegressor(random_state=0, max_iter="cv").fit(X[:500], y[:500])
    np.testing.assert_array_equal(by_folds.cv_loss_, explicit.cv_loss_)
    assert by_folds.n_iter_ == explicit.n_iter_
    assert RGBMRegressor().fit(X[:29], y[:29]).n_iter_ == 100
    rare = (np.arange(500) < 3).astype(int)
    assert RGBMClassifier().fit(X[:500], rare).n_iter_ == 100  # too rare for five folds
    few = np.arange(2000) < 4
    assert RGBMClassifier().fit(X, few).trace_.validation_loss is None  # none to spare


def test_the_mean_of_the_folds_models():
    """The model is the mean of k fits to the rows outside a fold, and predicts better than one."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, size=(600, 5)).astype(float)  # every run has the bins of all rows
    y = np.sin(X[:, 0]) + 0.2 * X[:, 1] + rng.normal(size=len(X))
    split = KFold(3, shuffle=True, random_state=1)
    settings = dict(random_state=0, learning_rate=0.3, selection="all", cv=split)
    model = RGBMRegressor(max_iter="cv", **settings).fit(X, y)
    n_iter = int(np.argmin(model.cv_loss_))
    assert model.best_iteration_ == n_iter
    assert model.n_iter_ == len(model.trace_) == len(model.cv_loss_) - 1
    assert model.trace_.n_runs == 3
    assert len(model.model_.feature) == 3 * n_iter
    fits = [
        RGBMRegressor(**{**settings, "max_iter": n_iter}).fit(X[train], y[train])
        for train, _ in split.split(X)
    ]
    expected = np.mean([fit.predict(X) for fit in fits], axis=0)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, np.mean([fit.intercept_ for fit in fits]))
    train_losses = np.mean([fit.trace_.train_loss for fit in fits], axis=0)
    np.testing.assert_allclose(model.trace_.train_loss[: n_iter + 1], train_losses)
    stages = list(model.staged_predict(X))
    assert len(stages) == n_iter
    for m in (0, n_iter - 1):
        of_runs = [list(fit.staged_predict(X))[m] for fit in fits]
        np.testing.assert_allclose(stages[m], np.mean(of_runs, axis=0), rtol=1e-9)
    held = [
        np.mean((y[rows] - fit.predict(X[rows])) ** 2)
        for (_, rows), fit in zip(split.split(X), fits, strict=True)
    ]
    np.testing.assert_allclose(2 * model.cv_loss_.min(), np.mean(held), rtol=1e-9)
    new = rng.integers(0, 12, size=(5000, 5)).astype(float)
    truth = np.sin(new[:, 0]) + 0.2 * new[:, 1]
    error = [np.mean((one.predict(new) - truth) ** 2) for one in (model, *fits)]
    assert error[0] < min(error[1:])


def test_callbacks_see_the_mean_of_the_folds():
    X, y = load_diabetes(return_X_y=True)
    seen = []
    model = RGBMRegressor(
        selection="learners", random_state=0, max_bins=16, n_iter_no_change=150,
        callbacks=[seen.append],
    ).fit(X, y)  # fmt: skip
    again = clone(model).set_params(callbacks=[lambda p: p.iteration >= 150]).fit(X, y)
    assert seen[0].iteration == 150  # they could not stop before
    assert seen[1].iteration > 150
    assert seen[0].train_loss == model.trace_.train_loss[150]
    assert seen[0].validation_loss == model.trace_.validation_loss[150]
    assert again.n_iter_ == 150
    np.testing.assert_array_equal(again.trace_.train_loss, model.trace_.train_loss[:151])
    silent = clone(model).set_params(callbacks=None).fit(X, y)
    np.testing.assert_array_equal(silent.predict(X), model.predict(X))


def test_ctrl_c_leaves_the_mean_of_what_was_done():
    X, y = load_diabetes(return_X_y=True)
    model = RGBMRegressor(selection="learners", random_state=0, max_bins=16, n_iter_no_change=10**6)

    def press(progress):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=[press]).fit(X, y)
    assert model.n_iter_ == _LONG_BLOCK
    assert model.score(X, y) > 0.4


def test_the_mean_is_not_for_runs_that_go_on():
    X, y = load_diabetes(return_X_y=True)
    warm = RGBMRegressor(random_state=0, max_bins=16, warm_start=True).fit(X, y)
    single = RGBMRegressor(random_state=0, max_bins=16, ensemble=False).fit(X, y)
    np.testing.assert_array_equal(warm.predict(X), single.predict(X))
    with pytest.raises(ValueError, match="ensemble='mean' is not known; use one of True, False"):
        RGBMRegressor(ensemble="mean").fit(X, y)


def test_without_memory_for_the_mean_it_goes_on_by_rows():
    X, y = load_diabetes(return_X_y=True)
    model = RGBMRegressor(
        random_state=0, max_bins=16, max_iter="cv", engine="gram", gram_memory=1000
    ).fit(X, y)
    assert model.best_iteration_ == np.argmin(model.cv_loss_)
    assert "where gram_memory was used up; direct from there" in model.trace_.engine
    assert model.trace_.n_runs == 5


@pytest.mark.parametrize("sparse", [False, True])
def test_the_mean_does_not_depend_on_threads(sparse):
    X, y = load_diabetes(return_X_y=True)
    X = scipy.sparse.csr_array(np.where(X > 0, X, 0.0)) if sparse else X
    weight = np.random.default_rng(0).random(len(y))
    fits = [RGBMRegressor(random_state=0, max_bins=16, n_jobs=n).fit(X, y, weight) for n in (1, 3)]
    assert "mean" in fits[0].trace_.engine
    np.testing.assert_array_equal(fits[0].predict(X), fits[1].predict(X))


@pytest.mark.parametrize("engine", ["gram", "quadratic"])
def test_the_engine_stays_where_all_missing_values_are_held_out(engine):
    """Whatever rows are held out, the engine is the one of the plan."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=400)
    X[5, 1] = np.nan
    common = dict(early_stopping=True, random_state=5, max_iter=200, interactions=0)
    model = RGBMRegressor(engine=engine, **common).fit(X, y)
    assert model.model_.score(X[[5]]) == model.predict(X[[5]])
    kept = hold_out(TrainingRows(X, y, None), 0.1, model._seeds[1])
    assert np.isnan(kept.validation.X).any()
    assert not np.isnan(kept.X).any()
    assert model.trace_.engine == engine == model.plan_["engine"].value
    assert model.plan_.events == []
    rows = RGBMRegressor(engine="direct", **common).fit(X, y)
    if engine == "gram":
        np.testing.assert_array_equal(model.trace_.learner, rows.trace_.learner)
        np.testing.assert_allclose(model.predict(X), rows.predict(X), rtol=1e-9)
    first, again = model.trace_.validation_loss, rows.trace_.validation_loss
    np.testing.assert_allclose(first[:20], again[:20], rtol=1e-9 if engine == "gram" else 0.2)


def test_folds_of_yours():
    X, y = load_diabetes(return_X_y=True)
    splitter = KFold(4, shuffle=True, random_state=1)
    model = RGBMRegressor(max_iter="cv", cv=splitter, random_state=0).fit(X, y)
    pairs = clone(model).set_params(cv=list(splitter.split(X))).fit(X, y)
    np.testing.assert_array_equal(model.cv_loss_, pairs.cv_loss_)
    other = clone(model).set_params(cv=4).fit(X, y)
    assert other.cv_loss_[1] != model.cv_loss_[1]


def test_a_learning_rate_that_is_no_number():
    with pytest.raises(ValueError, match="learning_rate='fast' is not known; use a number above 0"):
        RGBMRegressor(learning_rate="fast").fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("ensemble", [True, False])
def test_one_fold_with_weight_is_not_enough(ensemble):
    X, y = load_diabetes(return_X_y=True)
    first, second = np.arange(200), np.arange(200, len(y))
    model = RGBMRegressor(cv=[(first, second), (second, first)], ensemble=ensemble)
    weight = (np.arange(len(y)) < 200).astype(float)
    with pytest.raises(ValueError, match="cv has all rows with a positive sample_weight in one"):
        model.fit(X, y, weight)
