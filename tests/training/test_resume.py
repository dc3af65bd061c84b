"""A run that goes on from a state is the run that was never interrupted, bit for bit."""

import os
import random
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from rgboost import Dictionary, Stumps, boost
from rgboost.callbacks import Checkpoint, EarlyStopping
from rgboost.losses import Exponential, Huber, Logistic, Loss, Softmax, Squared
from rgboost.model import ClassStumpModel, StumpModel
from rgboost.selection import AllLearners, RandomGroups, RandomLearners, WeightedGroups
from rgboost.steps import ConstantStep, LineSearch, NewtonStep
from rgboost.training import RunState, Validation
from rgboost.training.state import FORMAT, settings_of
from tests.storage.mutations import DAMAGING

NOT_WHOLE = "run.npz is not a whole checkpoint of this version of rgboost: "
FIELDS = ("train_loss", "validation_loss", "choices")


class PythonLoss(Loss):
    smoothness = 1.0

    def value(self, y, f):
        return 0.5 * (y - f) ** 2

    def residual(self, y, f):
        return y - f


CASES = {
    "direct": dict(engine="direct", loss=Squared()),
    "direct, weights": dict(engine="direct", loss=Squared(), weighted=True),
    "direct, logistic": dict(engine="direct", loss=Logistic(), selection=RandomLearners(40)),
    "direct, sparse": dict(engine="direct", loss=Logistic(), sparse=True),
    "line search": dict(engine="direct", loss=Exponential(), step=LineSearch()),
    "python loss": dict(engine="direct", loss=PythonLoss()),
    "dictionary": dict(engine="direct", loss=Squared(), dictionary=True),
    "classes": dict(engine="direct", loss=Softmax(4)),
    "classes, weights": dict(engine="direct", loss=Softmax(3), weighted=True, n_jobs=2),
    "classes, newton, sparse": dict(
        engine="direct", loss=Softmax(3), sparse=True, step=NewtonStep(),
        selection=RandomLearners(40),
    ),
    "classes, categories": dict(engine="direct", loss=Softmax(3), mixed=True),
    "categories": dict(engine="direct", loss=Squared(), mixed=True),
    "gram": dict(engine="gram", loss=Squared()),
    "gram, weights": dict(engine="gram", loss=Squared(), weighted=True, n_jobs=2),
    "gram, sparse": dict(engine="gram", loss=Squared(), sparse=True, selection=AllLearners()),
    "gram, categories": dict(engine="gram", loss=Squared(), mixed=True, n_jobs=2),
    "gram without memory": dict(engine="gram", loss=Squared(), gram_memory=200_000),
    "quadratic": dict(engine="quadratic", loss=Logistic()),
    "quadratic, above the loss": dict(engine="quadratic", loss=Huber(0.5), weighted=True, n_jobs=2),
    "quadratic, sparse": dict(engine="quadratic", loss=Logistic(), sparse=True),
    "quadratic, categories": dict(engine="quadratic", loss=Logistic(), mixed=True, weighted=True),
    "quadratic without memory": dict(engine="quadratic", loss=Logistic(), gram_memory=200_000),
}  # fmt: skip
each = pytest.mark.parametrize("name", CASES)


def run(name, n_iter, **more):
    case = dict(CASES[name])
    loss, n_features = case["loss"], case.pop("n_features", 8)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, n_features)).round(2)
    X[rng.random(X.shape) < 0.5] = 0.0
    y = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=len(X))
    if isinstance(loss, Logistic | Exponential):
        y = np.where(y > 0, 1.0, -1.0)
    if isinstance(loss, Softmax):
        y = np.floor(np.abs(y)) % loss.n_classes
    mixed = case.pop("mixed", False)
    if mixed:
        X[:, 1] = np.floor(X[:, 1])
        X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.random(len(X)) + 0.1 if case.pop("weighted", False) else None
    data = scipy.sparse.csr_array(X) if case.pop("sparse", False) else X
    learner = Stumps(max_bins=50, categorical=(1,) if mixed else ())
    if case.pop("dictionary", False):
        learner = Dictionary.from_functions([lambda Z, g=g: Z[:, g] for g in range(n_features)])
    held = Validation(data[400:], y[400:], None if weight is None else weight[400:])
    settings = dict(
        learner=learner, selection=RandomGroups(3), step=ConstantStep(), learning_rate=0.5,
        random_state=0, validation=held, weight=None if weight is None else weight[:400],
        start_score=None, tol=0.0,
    )  # fmt: skip
    return boost(data[:400], y[:400], n_iter=n_iter, **{**settings, **case, **more})


def check_same(one, other):
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one.trace, field), getattr(other.trace, field))
    assert one.trace.engine == other.trace.engine
    if isinstance(one.model, StumpModel | ClassStumpModel):
        tables = [getattr(found.model, "wide", found.model).tables for found in (one, other)]
        np.testing.assert_array_equal(*tables)
    assert one.best_iteration == other.best_iteration


@each
@pytest.mark.parametrize("first", [1, 37, 150])
def test_more_iterations(name, first):
    """A shorter run and then the rest."""
    whole = run(name, 300)
    part = run(name, first, keep_state=True)
    assert part.state.done <= first
    check_same(run(name, 300, resume=part.state), whole)


@each
def test_through_files(name, tmp_path):
    """Interrupted three times between blocks, each time gone on from a file."""
    whole = run(name, 300)
    path = tmp_path / "run.npz"
    resume = None
    for stop_at in (20, 90, 200, 10**9):
        part = run(
            name, 300, resume=resume,
            callbacks=[Checkpoint(path, every=0), lambda p, n=stop_at: p.iteration >= n],
        )  # fmt: skip
        resume = RunState.load(path)
    check_same(part, whole)
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize(
    "name", ["direct", "classes", "gram", "quadratic", "quadratic, categories"]
)
def test_early_stopping_goes_on_where_it_was(name):
    settings = dict(early_stopping=EarlyStopping(30, 1e-3))
    whole = run(name, 3000, **settings)
    assert len(whole.trace) < 3000
    for first in (10, len(whole.trace), 3000):
        part = run(name, first, keep_state=True, **settings)
        check_same(run(name, 3000, resume=part.state, **settings), whole)
    patient = EarlyStopping(60, 0.0)
    part = run(name, 3000, keep_state=True, **settings)
    check_same(
        run(name, 3000, resume=part.state, early_stopping=patient),
        run(name, 3000, early_stopping=patient),
    )


def test_a_quadratic_run_that_converged_stays_so():
    whole = run("quadratic", 10_000, tol=0.9, keep_state=True)
    assert len(whole.trace) < 10_000
    check_same(run("quadratic", 20_000, tol=0.9, resume=whole.state), whole)


def test_checkpoints_are_written_now_and_then_and_at_the_end(tmp_path, monkeypatch):
    written = []
    save = RunState.save
    monkeypatch.setattr(
        RunState, "save", lambda state, path: (written.append(state.done), save(state, path))
    )
    run("direct", 100, callbacks=[Checkpoint(tmp_path / "a", every=3600)])
    assert written == [100]
    written.clear()
    run("direct", 100, callbacks=[Checkpoint(tmp_path / "a", every=0)])
    assert written[-1] == 100
    assert len(written) > 2


def test_damaged_files(tmp_path):
    path = tmp_path / "run.npz"
    state = run("direct", 20, keep_state=True).state
    state.save(path)
    whole = path.read_bytes()
    rng = random.Random(0)
    wrong = [b"", b"PK", b"x" * 100, whole.replace(FORMAT, b"rgboost run state 9\n", 1)]
    wrong += [change(whole, rng) for change in DAMAGING for _ in range(200)]
    for data in wrong:
        if data != whole:
            path.write_bytes(data)
            with pytest.raises(ValueError, match=NOT_WHOLE):
                RunState.load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_file_is_no_checkpoint(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(ValueError, match=f"{path.name} is not a whole checkpoint.*not a file"):
            RunState.load(path)
        with pytest.raises(ValueError, match="give the name of a file in a folder that is there"):
            run("direct", 5, callbacks=[Checkpoint(path)])
    with pytest.raises(ValueError, match="Checkpoint cannot write path="):
        run("direct", 5, callbacks=[Checkpoint(tmp_path / "none" / "run.npz")])
    with pytest.raises(FileNotFoundError):
        RunState.load(tmp_path / "run.npz")


def test_a_link_to_a_checkpoint_stays_a_link(tmp_path):
    link, path = tmp_path / "latest", tmp_path / "run.npz"
    link.symlink_to(path)
    run("direct", 20, callbacks=[Checkpoint(link)])
    assert link.is_symlink()
    assert RunState.load(path).done == RunState.load(link).done == 20


def test_a_full_disk_does_not_end_the_run(tmp_path):
    """No file may be longer than a few bytes while the run lasts."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "run.npz"
    whole = run("direct", 60)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        with pytest.warns(RuntimeWarning, match=r"run.npz was not written .*; the fit goes on"):
            found = run("direct", 60, callbacks=[Checkpoint(path, every=0)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    check_same(found, whole)
    assert list(tmp_path.iterdir()) == []


def test_states_of_other_runs():
    state = run("direct", 20, keep_state=True).state
    with pytest.raises(ValueError, match="has 20 iterations, more than the 10 that are asked for"):
        run("direct", 10, resume=state)
    with pytest.raises(ValueError, match="is one of engine='direct'; engine='gram' cannot go on"):
        run("direct", 30, resume=state, engine="gram")
    changed = run("gram", 100, keep_state=True, gram_memory=5000).state
    assert (changed.begun, changed.engine) == ("gram", "direct")
    for engine in ("gram", "direct"):  # the one that it began with, and the one that goes on
        other_words = replace(changed, label="quadratic or so")
        run("gram", 110, resume=other_words, engine=engine)
    with pytest.raises(ValueError, match="engine='quadratic' cannot go on"):
        run("gram", 110, resume=changed, engine="quadratic")
    for more in (
        dict(loss=PythonLoss()), dict(learner=Stumps(max_bins=20)), dict(start_score=1.0),
        dict(weight=np.full(400, 2.0)), dict(validation=None),
        dict(groups=[[0, 1], [2], [3, 4], [5, 6, 7]]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="had other data, another loss or other weak-learn"):
            run("direct", 30, resume=state, **more)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (dict(learning_rate=0.25), r"had learning_rate=0.5, not 0.25; give what that run had"),
        (dict(random_state=1), "had another random_state;"),
        (dict(selection=RandomGroups(2)), r"selection=RandomGroups\(t=3\), not RandomGroups\(t=2"),
        (dict(step=LineSearch()), r"step=ConstantStep\(rho=None\), not LineSearch"),
        (dict(learning_rate=0.1, random_state=1), "learning_rate=0.5, not 0.1 and another random"),
    ],
    ids=str,
)
def test_settings_of_other_runs(more, told, tmp_path):
    path = tmp_path / "run.npz"
    run("direct", 20, callbacks=[Checkpoint(path)])
    state = RunState.load(path)
    with pytest.raises(ValueError, match=told):
        run("direct", 30, resume=state, **more)
    check_same(run("direct", 30, resume=state, random_state=None), run("direct", 30))


def test_long_weights_of_features_are_compared_whole():
    rules = [WeightedGroups(3, weights=np.ones(1500)) for _ in range(2)]
    rules[1].weights[700] += 1e-12
    first, second = [
        settings_of(learning_rate=1.0, step=ConstantStep(), selection=rule, random_state=0)
        for rule in rules
    ]
    assert first["selection"] != second["selection"]
