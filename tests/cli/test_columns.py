"""What the program can be told of columns: weights, offsets, headers, names; and of losses."""

import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import random_array
from sklearn.datasets import dump_svmlight_file

import rgboost as package
from rgboost.losses import Gamma, Huber, Logistic, Quantile, Ridged, Tweedie

FAST = ("--max-iter", "20", "--random-state", "0", "--verbose", "0")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=300), "b": rng.random(300)})
    years = rng.uniform(0.1, 5, 300)
    weight = rng.integers(0, 3, 300)
    return rows.assign(w=weight, log_years=np.log(years), y=rng.poisson(years * np.exp(rows.a)))


@pytest.fixture
def train(tmp_path, frame):
    frame.to_csv(tmp_path / "train.csv", index=False)
    return tmp_path / "train.csv"


def test_weight_and_offset(rgboost, train, frame, tmp_path):
    model = tmp_path / "m.rgb"
    done = rgboost(
        "fit", train, "--target", "y", "--weight", "w", "--offset", "log_years", "--valid", train,
        "--task", "regression", "--loss", "poisson", "--out", model, *FAST,
    )  # fmt: skip
    assert done.code == 0, done.err
    X, w, offset = frame[["a", "b"]], frame.w, frame.log_years
    same = package.RGBMRegressor(loss="poisson", max_iter=20, random_state=0).fit(
        X, frame.y, w, offset=offset, X_val=X, y_val=frame.y, sample_weight_val=w,
        offset_val=offset,
    )  # fmt: skip
    loaded = package.load(model)
    assert list(loaded.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(loaded.predict(X), same.predict(X))
    np.testing.assert_array_equal(loaded.trace_.validation_loss, same.trace_.validation_loss)
    for option, expected in (
        ((), same.predict(X)),
        (("--offset", "log_years"), same.predict(X, offset)),
    ):
        done = rgboost("predict", model, train, "--out", tmp_path / "p.csv", *option)
        assert done.code == 0, done.err
        found = pd.read_csv(tmp_path / "p.csv").prediction
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("option", ["--weight", "--offset"])
def test_columns_that_are_not_there_or_not_numbers(rgboost, train, frame, tmp_path, option):
    fit = ("fit", train, "--target", "y", "--out", tmp_path / "m.rgb", *FAST)
    done = rgboost(*fit, option, "v")
    assert done.code == 3
    assert f"there is no column 'v', which {option} names" in done.err
    frame.assign(w="much").to_csv(train, index=False)
    done = rgboost(*fit, option, "w")
    assert done.code == 3
    assert f"the column 'w', which {option} names, has texts" in done.err
    dump_svmlight_file(frame[["a"]], frame.y, str(tmp_path / "train.svm"))
    done = rgboost("fit", tmp_path / "train.svm", "--out", tmp_path / "m.rgb", option, "w", *FAST)
    assert done.code == 2
    assert f"{option} names a column, and LIBSVM files have none" in done.err


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("Quantile(0.9)", Quantile(0.9)),
        ("huber(5)", Huber(5.0)),
        ("Tweedie(power=1.7)", Tweedie(1.7)),
        (" Gamma() ", Gamma()),
        ("Ridged(Huber(2), 0.1)", Ridged(Huber(2.0), 0.1)),
    ],
)
def test_losses_with_numbers(rgboost, train, frame, tmp_path, text, loss):
    frame.assign(y=frame.y + 0.5).to_csv(train, index=False)
    done = rgboost("fit", train, "--target", "y", "--loss", text, "--out", tmp_path / "m", *FAST)
    assert done.code == 0, done.err
    assert package.load(tmp_path / "m").loss_ == loss


def test_loss_of_classes(rgboost, train, tmp_path):
    fit = ("fit", train, "--target", "y", "--task", "classification", "--out", tmp_path / "m")
    done = rgboost(*fit, "--loss", "Logistic(0.5)", *FAST)
    assert done.code == 0, done.err
    assert package.load(tmp_path / "m").loss == Logistic(0.5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Quantil(0.9)", "there is no loss Quantil"),
        ("Quantile(0.9", "was never closed"),
        ("Quantile(1.5)", "level=1.5 must be greater than 0 and less than 1"),
        ("Quantile(0.9, 3)", "positional argument"),
        ("Quantile(colour=1)", "colour"),
        ("__import__('os').system('true')", "this is no loss"),
        ("Huber(open('x'))", "there is no loss open"),
        ("Loss()", "there is no loss Loss"),
    ],
)
def test_losses_that_are_none(rgboost, train, tmp_path, text, reason):
    done = rgboost("fit", train, "--target", "y", "--loss", text, "--out", tmp_path / "m", *FAST)
    assert done.code == 2
    assert reason in done.err
    assert "such as Quantile(0.9) or Huber(delta=5), with one of AbsoluteError," in done.err
    assert len(done.err.splitlines()) == 1


def test_numbers_in_the_first_line(rgboost, train, frame, tmp_path):
    frame.to_csv(train, index=False, header=False)
    fit = ("fit", train, "--target", "-1", "--task", "regression", "--out", tmp_path / "m", *FAST)
    done = rgboost(*fit)
    assert done.code == 3
    assert "train.csv:1: the names of the columns are mostly numbers" in done.err
    assert "--no-header, else by --read header=true" in done.err
    done = rgboost(*fit, "--no-header")
    assert done.code == 0, done.err
    assert list(package.load(tmp_path / "m").feature_names_in_) == ["x0", "x1", "x2", "x3"]
    predict = ("predict", tmp_path / "m", train, "--out", tmp_path / "p.csv")
    assert "mostly numbers" in rgboost(*predict).err
    assert rgboost(*predict, "--no-header").code == 0
    assert len(pd.read_csv(tmp_path / "p.csv")) == len(frame)
    wide = frame.rename(columns={"a": "2019", "b": "2020", "w": "2021"})
    wide.to_csv(train, index=False)
    assert "mostly numbers, such as 2019" in rgboost(*fit).err
    done = rgboost(*fit, "--read", "header=true")
    assert done.code == 0, done.err
    assert "2019" in package.load(tmp_path / "m").feature_names_in_


def test_names_of_features(rgboost, tmp_path):
    rng = np.random.default_rng(0)
    X = random_array((200, 4), density=0.5, format="csr", rng=rng)
    dump_svmlight_file(
        X, X[:, [1]].toarray().ravel() * 3, str(tmp_path / "t.svm"), zero_based=False
    )
    names = tmp_path / "names.txt"
    names.write_text("age\nhëight\nincome\nsize\nnever seen\n", encoding="utf-8")
    fit = ("fit", tmp_path / "t.svm", "--out", tmp_path / "m", "--feature-names", names, *FAST)
    done = rgboost(*fit, "--valid", tmp_path / "t.svm", "--task", "regression")
    assert done.code == 0, done.err
    assert "hëight" in done.out
    model = package.load(tmp_path / "m")
    assert list(model.feature_names_in_) == ["age", "hëight", "income", "size", "never seen"]
    assert model.explain_global()["hëight"].values.any()
    done = rgboost("predict", tmp_path / "m", tmp_path / "t.svm", "--out", tmp_path / "p.csv")
    assert done.code == 0
    assert "feature names" not in done.err
    X.resize((200, 5))
    with pytest.warns(UserWarning, match="valid feature names"):
        expected = model.predict(X)
    np.testing.assert_allclose(pd.read_csv(tmp_path / "p.csv").prediction, expected, rtol=1e-4)
    for text, reason in (
        ("a\nb\n", "there are 2 names, and"),
        ("a\nb\n\nd\n", "names.txt:3: there is no name"),
        ("a\nb\nc\na\n", "names.txt:4: the name 'a' is there twice"),
    ):
        names.write_text(text)
        done = rgboost(*fit)
        assert done.code == 3
        assert reason in done.err
    names.unlink()
    assert "names.txt: cannot be read" in rgboost(*fit).err


def test_names_of_features_are_for_libsvm(rgboost, train, tmp_path):
    done = rgboost(
        "fit", train, "--target", "y", "--out", tmp_path / "m", "--feature-names", train, *FAST
    )
    assert done.code == 2
    assert "--feature-names is for LIBSVM files" in done.err


def test_archives(rgboost, train, tmp_path):
    packed = tmp_path / "train.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(train, "some/folder/train.csv")
    for path in (train, packed):
        done = rgboost(
            "fit", path, "--target", "y", "--task", "regression", "--out", tmp_path / path.stem,
            *FAST,
        )  # fmt: skip
        assert done.code == 0, done.err
        done = rgboost("predict", tmp_path / path.stem, path)
        assert done.code == 0, done.err
        assert len(done.out.splitlines()) == 301
    done = rgboost("predict", tmp_path / "train", train, "--out", tmp_path / "p.csv.zip")
    assert done.code == 2
    assert "must end in .csv" in done.err
