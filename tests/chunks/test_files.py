"""Files as they are found: of several programs, in folders, packed."""

import numpy as np
import pandas
import pytest

from rgboost import Chunks, RGBMRegressor
from rgboost.cli.show.passes import PassLines
from rgboost.data.readers import DataError

FAST = dict(random_state=0, max_iter=20)


def frame_of(n, n_levels, seed=0):
    rng = np.random.default_rng(seed)
    level = rng.integers(0, n_levels, n)
    names = np.array([f"level {k:03d}" for k in range(n_levels)])
    return pandas.DataFrame(
        {"a": rng.integers(0, 50, n), "t": names[level], "y": rng.integers(0, 9, n) + level % 3}
    )


def losses(chunks):
    return RGBMRegressor(**FAST).fit(chunks).trace_.train_loss.tolist()


@pytest.mark.parametrize("last", ["category", "str"])
def test_types_of_files_may_differ(tmp_path, last):
    """Categories are numbered by so many bits as each file needs; numbers with missing values
    are floats in one file and whole numbers in another."""
    few, many = frame_of(1000, 5), frame_of(1000, 200, seed=1)
    many["a"] = many["a"].astype(float).where(many["a"] > 3)
    few.astype({"t": "category"}).to_parquet(tmp_path / "0.parquet")
    many.astype({"t": last}).to_parquet(tmp_path / "1.parquet")
    nothing = pandas.DataFrame({"a": [None] * 10, "t": [None] * 10, "y": 1})
    nothing.to_parquet(tmp_path / "2.parquet")
    files = Chunks.from_parquet(tmp_path, "y")
    pieces = Chunks(lambda: [(part[["a", "t"]], part["y"]) for part in (few, many, nothing)])
    assert losses(files) == losses(pieces)
    model = RGBMRegressor(**FAST).fit(files)
    assert model.input_.categorical.tolist() == [False, True]


def test_kinds_of_files_must_not_differ(tmp_path):
    frame_of(100, 5).to_parquet(tmp_path / "0.parquet")
    pandas.DataFrame({"a": [None] * 9, "t": "x", "y": 1}).to_parquet(tmp_path / "1.parquet")
    frame_of(100, 5).astype({"a": str}).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"2.parquet: the column 'a' is .*string here and int64 in"):
        RGBMRegressor().fit(Chunks.from_parquet(tmp_path, "y"))


def test_folders(tmp_path):
    frame = frame_of(2000, 5)
    for k in range(2):
        place = tmp_path / f"part {k}"
        (place / "_temporary").mkdir(parents=True)
        (place / "_temporary" / "half.parquet").write_bytes(b"")
        frame[k::2].to_parquet(place / "0.parquet")
        (place / "_temporary" / "half.csv").write_bytes(b"")
        frame[k::2].to_csv(place / "0.csv.gz", index=False)
    parts = [tmp_path / "part 0", tmp_path / "part 1"]
    pieces = Chunks(lambda: [(frame[k::2][["a", "t"]], frame["y"][k::2]) for k in range(2)])
    assert losses(Chunks.from_parquet(parts, "y")) == losses(pieces)
    assert losses(Chunks.from_csv(parts, "y")) == losses(pieces)
    (tmp_path / "empty").mkdir()
    for read in (Chunks.from_parquet, Chunks.from_csv):
        with pytest.raises(FileNotFoundError, match="empty' has no files to read"):
            RGBMRegressor().fit(read(tmp_path / "empty", "y"))


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        (dict(features=["a", "y"]), ValueError, "the target 'y' is among the features"),
        (dict(features="a"), TypeError, "give a list of names"),
        (dict(batch_rows=0), ValueError, "batch_rows=0 must be 1 or greater"),
    ],
)
@pytest.mark.parametrize("read", [Chunks.from_parquet, Chunks.from_csv])
def test_bad_wishes(read, given, error, told):
    with pytest.raises(error, match=told):
        read("rows", "y", **given)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zip"])
def test_bytes_of_a_pass(tmp_path, ending):
    """What was read grows with every piece, to about the size of the file: passes are told apart
    by that."""
    path = tmp_path / f"rows.{ending}"
    frame_of(20_000, 200).to_csv(path, index=False)
    chunks = Chunks.from_csv(path, "y", batch_rows=1000)
    told, lines = [], PassLines()
    chunks.watch = lambda *now: (told.append(now), lines.watch(*now))
    RGBMRegressor(**FAST).fit(chunks)
    assert lines.number == 2 + sum(what.startswith("sums") for what, _, _ in told)
    first = [done for what, done, _ in told if what.startswith("sample")]
    assert (np.diff(first) > 0).all()
    assert 0.8 * path.stat().st_size < first[-1] < 1.1 * path.stat().st_size


def test_short_lines_at_the_end(tmp_path, monkeypatch):
    """By the first lines, all bytes were read long before the end."""
    monkeypatch.setattr("rgboost.data.chunks.files._HEAD", 1000)
    frame = frame_of(3000, 200)
    frame.loc[:1000, "t"] += "x" * 100
    frame.to_csv(tmp_path / "rows.csv", index=False)
    chunks = Chunks.from_csv(tmp_path / "rows.csv", "y", batch_rows=100)
    told, lines = [], PassLines()
    chunks.watch = lambda *now: (told.append(now), lines.watch(*now))
    RGBMRegressor(**FAST).fit(chunks)
    assert lines.number == 2 + sum(what.startswith("sums") for what, _, _ in told)


def test_features_of_one_value():
    rows = np.ones((100, 2)), np.arange(100.0)
    with pytest.raises(ValueError, match="No feature has two different values"):
        RGBMRegressor().fit(Chunks(lambda: [rows]))
