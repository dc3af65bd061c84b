"""Samples, levels and files."""

import numpy as np
import pandas
import pytest

from rgboost import Chunks, RGBMClassifier, RGBMRegressor
from rgboost.data.chunks.levels import Levels
from rgboost.data.chunks.sample import Drawn, RowSample
from rgboost.data.readers import DataError

from .rows import mixed_frame


def sample_of(n, size, step, seed=5):
    found = RowSample(size, seed)
    numbers = np.arange(float(n))
    for lo in range(0, n, step):
        now = numbers[lo : lo + step]
        found.add(Drawn(now[:, None], now, None, None))
    return found.rows().y


def test_pieces_do_not_change_a_sample():
    one, *others = (sample_of(10_000, 300, step) for step in (10_000, 1, 77, 4096))
    assert len(one) == 300
    for other in others:
        assert one.tolist() == other.tolist()
    assert (np.diff(one) > 0).all()
    assert one.tolist() != sample_of(10_000, 300, 77, seed=6).tolist()
    assert abs(one.mean() - 5000) < 4 * 10_000 / np.sqrt(12 * 300)


@pytest.mark.parametrize("size", [500, 501])
def test_few_rows_are_their_sample(size):
    assert sample_of(500, size, 33).tolist() == list(range(500))


def test_levels_are_counted():
    levels = Levels()
    for part in (["b", "a", "b"], ["c"], ["a", "b"]):
        values = np.array(part, dtype=object)
        levels.add(levels.number_of(values), np.full(len(part), 2.0))
    found = levels.found()
    assert found.levels.tolist() == ["a", "b", "c"]
    assert found.weights.tolist() == [4.0, 6.0, 2.0]
    assert found.rest == 0.0
    assert found.place.tolist() == [1.0, 0.0, 2.0]


def test_too_many_levels_share_one():
    levels, rng = Levels(most=100), np.random.default_rng(0)
    total = 0
    for part in range(50):
        values = np.r_[rng.integers(0, 10, 500), 1000 + part * 100 + np.arange(60)].astype(float)
        levels.add(levels.number_of(values), None)
        total += len(values)
        assert len(levels.number) <= 160
    found = levels.found()
    assert set(range(10)) <= set(found.levels.tolist())
    assert found.weights.sum() + found.rest == total


@pytest.fixture
def folder(tmp_path):
    """Parquet files in parts of a folder, and the frame that they are of."""
    X, score = mixed_frame(6000)
    frame = X.assign(
        y=np.round(4 * score), w=np.tile([1.0, 2.0], 3000), where=np.repeat(["east", "west"], 3000)
    )
    frame["town"] = frame["town"].astype("category")
    for where, part in frame.groupby("where", sort=True):
        place = tmp_path / "rows" / f"where={where}"
        place.mkdir(parents=True)
        half = part.drop(columns="where")
        half[:1500].to_parquet(place / "0.parquet", index=False)
        half[1500:].to_parquet(place / "1.parquet", index=False)
    return tmp_path, frame


def test_parquet(folder):
    path, frame = folder
    features = ["age", "income", "town", "height", "where"]
    chunks = Chunks.from_parquet(path / "rows", "y", "w", batch_rows=700)
    told = []
    chunks.watch = lambda *now: told.append(now)
    model = RGBMRegressor(random_state=0).fit(chunks)
    assert model.feature_names_in_.tolist() == features
    assert model.input_.categorical.tolist() == [False, False, True, False, True]
    parts = frame[features], frame["y"], frame["w"]
    pieces = Chunks(lambda: [tuple(part[:2500] for part in parts), tuple(p[2500:] for p in parts)])
    other = RGBMRegressor(random_state=0).fit(pieces)
    assert model.trace_.train_loss.tobytes() == other.trace_.train_loss.tobytes()
    assert model.predict(chunks).tobytes() == model.predict(frame[features]).tobytes()
    assert chunks.n_bytes > 0
    assert {what for what, _, _ in told} == {
        "sample, categories and labels", "bins", "sums over the rows"
    }  # fmt: skip
    for what, done, total in told:
        assert 0 < done <= total * 1.01, what


def test_patterns_and_columns(folder):
    path, frame = folder
    chunks = Chunks.from_parquet(str(path / "rows" / "*" / "*.parquet"), "y", features=["age"])
    model = RGBMRegressor(random_state=0, max_iter=10).fit(chunks)
    assert model.feature_names_in_.tolist() == ["age"]
    assert model.coverage_.total == len(frame)
    files = sorted((path / "rows").rglob("*.parquet"))
    again = RGBMRegressor(random_state=0, max_iter=10).fit(
        Chunks.from_parquet(files, "y", features=["age"])
    )
    assert model.trace_.train_loss.tobytes() == again.trace_.train_loss.tobytes()


def test_faults_of_parquet_files(folder):
    path, frame = folder
    with pytest.raises(FileNotFoundError, match="There is no file"):
        Chunks.from_parquet(path / "nothing.parquet", "y").n_bytes  # noqa: B018
    with pytest.raises(DataError, match=r"no column 'z', .*columns are"):
        RGBMRegressor().fit(Chunks.from_parquet(path / "rows", "z"))
    other = frame.drop(columns=["where", "w"]).astype({"age": str})
    other.to_parquet(path / "rows" / "where=west" / "2.parquet", index=False)
    with pytest.raises(DataError, match=r"the column 'age' is .*string here and double in"):
        RGBMRegressor().fit(Chunks.from_parquet(path / "rows", "y"))


def test_csv(tmp_path):
    X, score = mixed_frame(6000)
    frame = X.assign(y=np.where(score > 0.5, "yes", "no"))
    frame[:2000].to_csv(tmp_path / "a.csv", index=False)
    frame[2000:].to_csv(tmp_path / "b.csv.gz", index=False)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv.gz"]
    chunks = Chunks.from_csv(paths, "y", batch_rows=900)
    model = RGBMClassifier(random_state=0).fit(chunks)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.input_.categorical.tolist() == [False, False, True, False]
    read = pandas.concat([pandas.read_csv(path) for path in paths])
    pieces = Chunks(lambda: [(read.drop(columns="y"), read["y"])])
    other = RGBMClassifier(random_state=0).fit(pieces)
    assert model.trace_.train_loss.tobytes() == other.trace_.train_loss.tobytes()
    with pytest.raises(DataError, match="no column 'where'"):
        RGBMClassifier().fit(Chunks.from_csv(paths, "y", features=["where"]))


def test_thresholds_of_a_sample():
    """A part of the rows chooses thresholds; weights are those of all."""
    X, score = mixed_frame(12_000)
    y = np.round(4 * score)
    chunks = Chunks(lambda: [(X[:7000], y[:7000]), (X[7000:], y[7000:])], sample_rows=3000)
    some = RGBMRegressor(random_state=0).fit(chunks)
    every = RGBMRegressor(random_state=0).fit(Chunks(lambda: [(X, y)]))
    assert some.trace_.train_loss[0] == every.trace_.train_loss[0]
    assert some.coverage_.total == len(X)
    assert abs(some.score(X, y) - every.score(X, y)) < 0.01
    importances = some.feature_importances_, every.feature_importances_
    np.testing.assert_allclose(*importances, atol=0.02)
    town = next(term for term in some.explain_global().terms if term.name == "town")
    assert town.weights.sum() == len(X) - X["town"].isna().sum()


def test_classes_of_rare_labels_and_weights():
    X, score = mixed_frame(6000)
    y = np.digitize(score, [0.0, 1.0])
    weights = {0: 2.0, 1: 1.0, 2: 0.5}
    chunks = Chunks(lambda: [(X[:100], y[:100]), (X[100:], y[100:])])
    there = RGBMClassifier(random_state=0, max_iter=50, class_weight=weights).fit(chunks)
    here = RGBMClassifier(
        random_state=0, max_iter=50, class_weight=weights, engine="quadratic", interactions=0
    ).fit(X, y)
    np.testing.assert_allclose(there.trace_.train_loss, here.trace_.train_loss, rtol=1e-10)
    with pytest.raises(ValueError, match="class_weight has the label 9"):
        RGBMClassifier(class_weight={9: 2.0}).fit(chunks)
