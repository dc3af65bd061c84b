"""What goes wrong with rows in pieces: said clearly, and nothing is left behind."""

import errno
import os
import signal
import threading
import tracemalloc

import numpy as np
import pandas
import pytest

from rgboost import Chunks, Dictionary, RGBMClassifier, RGBMRegressor
from rgboost.callbacks import Checkpoint
from rgboost.losses import AbsoluteError
from rgboost.statistics import work_file
from rgboost.statistics.work_file import WorkFile

from .rows import chunks_of, mixed_frame, pieces_of

X, SCORE = mixed_frame(3000)
Y = np.round(4 * SCORE)


def never():
    raise AssertionError("nothing is to be read")


REFUSED = [
    (dict(loss="absolute"), "no quadratic model"),
    (dict(loss=AbsoluteError()), "no quadratic model"),
    (dict(learner=Dictionary(np.eye(4))), "Use stumps"),
    (dict(learner="trees"), "Use stumps"),
    (dict(monotone_constraints={"age": 1}), "Leave them out"),
    (dict(engine="direct"), "Use engine='auto'"),
    (dict(engine="gram", loss="huber"), "Use 'auto' or 'quadratic'"),
    (dict(warm_start=True), "larger max_iter"),
    (dict(cv=[(np.arange(5), np.arange(5, 10))]), "number of folds"),
    (dict(step="leaf-search"), "Use 'auto', 'constant'"),
    (dict(max_iter="cv", ensemble=False, loss="poisson"), "ensemble=True"),
]


@pytest.mark.parametrize(("parameters", "remedy"), REFUSED)
def test_refused_before_anything_is_read(parameters, remedy):
    with pytest.raises(ValueError, match=f"not for Chunks: .*{remedy}"):
        RGBMRegressor(**parameters).fit(Chunks(never))


def test_callbacks_that_look_at_rows(tmp_path):
    callbacks = [Checkpoint(tmp_path / "run")]
    with pytest.raises(ValueError, match="callback Checkpoint is not for Chunks"):
        RGBMRegressor(callbacks=callbacks).fit(Chunks(never))


def test_balanced_classes():
    with pytest.raises(ValueError, match=r"class_weight='balanced' is not for Chunks.*a dict"):
        RGBMClassifier(class_weight="balanced").fit(Chunks(never))


@pytest.mark.parametrize("name", ["y", "sample_weight", "offset"])
def test_labels_are_in_the_pieces(name):
    with pytest.raises(ValueError, match=f"{name} is given beside Chunks: .* in the pieces"):
        RGBMRegressor().fit(Chunks(never), **{name: Y})


def test_both_are_chunks_or_none():
    with pytest.raises(ValueError, match="give Chunks for both"):
        RGBMRegressor().fit(Chunks(never), X_val=X, y_val=Y)


@pytest.mark.parametrize("given", [iter([]), [(X, Y)], (p for p in ())], ids=type)
def test_an_iterator_is_no_function(given):
    with pytest.raises(TypeError, match="read more than once"):
        Chunks(given)


def test_a_function_of_nothing():
    with pytest.raises(TypeError, match="must make an iterator of pieces"):
        RGBMRegressor().fit(Chunks(lambda: None))


def test_the_same_iterator_again():
    pieces = pieces_of(X, Y, size=1000)()
    with pytest.raises(ValueError, match=r"3,000 rows when it was read first, and 0 when"):
        RGBMRegressor(random_state=0).fit(Chunks(lambda: pieces))


@pytest.mark.parametrize("labels", [Y, Y > 1], ids=["numbers", "classes"])
def test_other_rows_the_second_time(labels):
    rng = np.random.default_rng(0)

    def pieces():
        order = rng.permutation(len(X))
        yield X.iloc[order], labels[order]

    kind = RGBMClassifier if labels.dtype == bool else RGBMRegressor
    with pytest.raises(ValueError, match="other rows when it was read again"):
        kind(random_state=0).fit(Chunks(pieces))


def faulty(change, at=2):
    """Pieces, one of which is another."""

    def pieces():
        for k, piece in enumerate(pieces_of(X, Y, size=500)()):
            yield change(*piece) if k == at else piece

    return Chunks(pieces)


PIECES = [
    (lambda X, y: (X.drop(columns="age"), y), "piece 2: it has 3 columns, and the first"),
    (lambda X, y: (X[["income", "age", "town", "height"]], y), "piece 2: column 0 is 'income'"),
    (lambda X, y: (X.drop(columns="town").to_numpy(), y), "the columns have none, and the first"),
    (lambda X, y: (X.assign(age="old"), y), "piece 2: column 'age' of X holds categories that are"),
    (lambda X, y: (X.assign(town=1.0), y), "piece 2: column 'town' of X holds numbers"),
    (lambda X, y: (X.assign(height=np.inf), y), "piece 2: Input X contains infinity in column 'he"),
    (lambda X, y: (X, y[:-1]), "piece 2: it has 500 rows and 499 labels"),
    (lambda X, y: (X, np.full(len(y), np.nan)), "piece 2: Input y contains NaN"),
    (lambda X, y: (X, None), "piece 2: it has no labels"),
    (lambda X, y: (X, y, np.ones(len(y))), "piece 2: its weight is of another shape"),
    (lambda X, y: (X, y, y, y), "piece 2 is a tuple of 4"),
    (lambda X, y: {"X": X, "labels": y}, "piece 2 has the key 'labels'"),
    (lambda X, y: {"X": X, "y": y, "weight": -y}, "piece 2: weight has the negative entry"),
]


@pytest.mark.parametrize(("change", "told"), PIECES)
def test_pieces_that_do_not_agree(change, told):
    with pytest.raises((ValueError, TypeError), match=told):
        RGBMRegressor(random_state=0).fit(faulty(change))


def test_labels_of_a_loss():
    with pytest.raises(ValueError, match="Poisson"):
        RGBMRegressor(loss="poisson").fit(chunks_of(X, Y - 100))


def test_one_class():
    with pytest.raises(ValueError, match="only one class"):
        RGBMClassifier().fit(chunks_of(X, np.zeros(len(X), int)))


def test_a_class_that_validation_rows_alone_have():
    with pytest.raises(ValueError, match="piece 0: y_val has the class 'c'"):
        RGBMClassifier().fit(
            chunks_of(X, np.where(Y > 0, "a", "b")), X_val=chunks_of(X, np.full(len(X), "c"))
        )


@pytest.mark.parametrize("what", [lambda: [], lambda: [(X[:0], Y[:0])]])
def test_no_rows(what):
    model = RGBMRegressor(max_iter=5).fit(X, Y)
    with pytest.raises(ValueError, match="no rows"):
        RGBMRegressor().fit(Chunks(what))
    with pytest.raises(ValueError, match="no rows"):
        model.predict(Chunks(what))


def test_pieces_without_rows_and_with_one_class():
    """Pieces may be empty, or have rows of a single class."""
    y = np.sort(Y > 1)

    def pieces():
        for piece in pieces_of(X, y, size=500)():
            yield X[:0], y[:0]
            yield piece
        yield X[:0], y[:0]

    some = RGBMClassifier(random_state=0, max_iter=20).fit(Chunks(pieces))
    whole = RGBMClassifier(random_state=0, max_iter=20).fit(chunks_of(X, y, size=3000))
    assert some.trace_.train_loss.tobytes() == whole.trace_.train_loss.tobytes()


def test_an_estimator_stays_as_it_was(tmp_path):
    model = RGBMRegressor(random_state=0, max_iter=5).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="piece 2"):
        model.fit(faulty(lambda X, y: (X, y[:-1])))
    np.testing.assert_array_equal(model.predict(X), before)


class Files:
    """Work files that were made, and which of them are open."""

    def __init__(self, monkeypatch):
        self.made = []
        begin = WorkFile.__init__

        def made(file, *args):
            begin(file, *args)
            self.made.append(file)

        monkeypatch.setattr(WorkFile, "__init__", made)

    @property
    def open(self):
        return [file for file in self.made if not file._file.closed]


@pytest.fixture
def files(monkeypatch):
    return Files(monkeypatch)


def test_nothing_is_left(files, tmp_path):
    RGBMRegressor(random_state=0, max_iter=5).fit(chunks_of(X, Y, work_dir=tmp_path))
    assert len(files.made) == 1
    assert not files.open
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("when", ["while bins are written", "while runs go on"])
def test_nothing_is_left_after_a_fault(error, when, files, tmp_path):
    calls = []

    def pieces():
        calls.append(1)
        for k, piece in enumerate(pieces_of(X, Y, size=500)()):
            if len(calls) == 2 and k == 3 and when == "while bins are written":
                raise error("here")
            yield piece

    def fails(progress):
        assert files.open
        if when == "while runs go on":
            raise error("here")

    estimator = RGBMRegressor(random_state=0, callbacks=[fails])
    with pytest.raises(error):
        estimator.fit(Chunks(pieces, work_dir=tmp_path))
    assert files.made
    assert not files.open
    assert not list(tmp_path.iterdir())
    if when == "while bins are written":
        assert not hasattr(estimator, "plan_")


def test_ctrl_c_in_the_second_pass(files, tmp_path):
    calls = []

    def pieces():
        calls.append(1)
        for k, piece in enumerate(pieces_of(X, Y, size=500)()):
            if len(calls) == 2 and k == 3:
                threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT)).start()
                threading.Event().wait(5)
            yield piece

    with pytest.raises(KeyboardInterrupt):
        RGBMRegressor(random_state=0).fit(Chunks(pieces, work_dir=tmp_path))
    assert files.made
    assert not files.open


def test_a_disk_that_is_too_small(monkeypatch, tmp_path):
    usage = work_file.shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(work_file.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(OSError, match=r"1,000 bytes are free .* give Chunks a work_dir") as fault:
        RGBMRegressor(random_state=0).fit(chunks_of(X, Y, work_dir=tmp_path))
    assert fault.value.errno == errno.ENOSPC


def test_a_disk_that_is_full(files, monkeypatch, tmp_path):
    class Full:
        closed = False

        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            self.closed = True

    monkeypatch.setattr(work_file.tempfile, "TemporaryFile", lambda **options: Full())
    with pytest.raises(OSError, match=r"only 0 bytes could be written .* make room") as fault:
        RGBMRegressor(random_state=0).fit(chunks_of(X, Y, work_dir=tmp_path))
    assert fault.value.errno == errno.ENOSPC
    assert not files.open


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_disk_that_is_full_at_the_end(monkeypatch, tmp_path):
    """What the file still has to write when it is closed does not hide the remedy."""
    monkeypatch.setattr(
        work_file.tempfile,
        "TemporaryFile",
        lambda **options: open("/dev/full", "wb"),  # noqa: SIM115
    )
    with pytest.raises(OSError, match=r"only 0 bytes could be written .* make room"):
        work_file.WorkFile(tmp_path, 8).write(np.ones(1))


def test_a_work_dir_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="is not a folder"):
        Chunks(never, work_dir=tmp_path / "missing")


def test_memory_does_not_grow_with_the_rows(monkeypatch):
    """What a fit adds is that of a sample, a block and a piece: four times the rows take no
    more."""
    from rgboost.statistics import chunks as provider

    monkeypatch.setattr(provider, "block_rows", lambda n_features: 16_384)
    rng = np.random.default_rng(0)
    part = rng.normal(size=(10_000, 20))
    y = np.round(3 * part[:, 0])

    def peak(n_pieces):
        chunks = Chunks(lambda: ((part, y) for _ in range(n_pieces)), sample_rows=10_000)
        tracemalloc.start()
        RGBMRegressor(random_state=0, max_iter=20, max_bins=64, n_jobs=1).fit(chunks)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)  # compiles
    few = peak(10)
    assert peak(40) < 1.1 * few


def test_the_plan_says_what_is_read():
    model = RGBMRegressor(random_state=0)
    plan = model.plan(chunks_of(X, Y, sample_rows=1000))
    assert plan["sample_rows"][1:3] == (1000, "given")
    assert plan["passes over the rows"].value == 1 + len(plan.ways) == 3
    assert plan["interactions"].value == "auto"
    assert not hasattr(model, "plan_")
    model.fit(chunks_of(X, Y, sample_rows=1000))
    assert any("3 passes over the rows" in event for event in model.plan_.events)
    assert model.coverage_.total == len(X)


def test_rows_that_go_elsewhere():
    model = RGBMRegressor(random_state=0, max_iter=5).fit(X, Y)
    with pytest.raises(TypeError, match="rows in memory"):
        model.explain_local(chunks_of(X, Y))


def test_frames_of_other_libraries():
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(X)
    here = RGBMRegressor(random_state=0, max_iter=20).fit(chunks_of(X, Y))
    there = RGBMRegressor(random_state=0, max_iter=20).fit(chunks_of(frame, Y))
    assert here.trace_.train_loss.tobytes() == there.trace_.train_loss.tobytes()


def test_columns_that_are_missing_at_first():
    """The first piece does not say what they are."""
    late = pandas.DataFrame({"a": np.arange(2000.0), "b": [np.nan] * 1000 + ["u", "v"] * 500})
    late["b"] = late["b"].astype(object)
    y = np.r_[np.zeros(1000), np.tile([0.0, 5.0], 500)]
    model = RGBMRegressor(random_state=0, max_iter=50).fit(chunks_of(late, y, size=1000))
    assert model.score(late, y) > 0.5
