"""A provider of statistics that is none of ours gives the bits of the one in memory."""

import numpy as np
import pytest

from rgboost import boost
from rgboost.learners import Stumps
from rgboost.losses import Logistic, Poisson, Softmax, Squared
from rgboost.selection import RandomLearners
from rgboost.statistics.base import fold_of_rows
from rgboost.statistics.pieces import MemoryRows, Pieces
from rgboost.steps import ConstantStep, NewtonStep
from rgboost.training import EarlyStopping

from .far_rows import FarRows

LENGTHS = (400, 0, 77, 523)


def mixed_rows(seed=0):
    """1,000 rows of numbers, some of them missing, and categories."""
    rng = np.random.default_rng(seed)
    n = sum(LENGTHS)
    X = rng.normal(size=(n, 5)).round(2)
    X[:, 3] = rng.integers(0, 9, n)
    X[rng.random(n) < 0.1, 1] = np.nan
    score = np.sin(2 * X[:, 0]) + 0.5 * np.nan_to_num(X[:, 1], nan=1.0) + (X[:, 3] % 3 == 1)
    return X, score + 0.3 * rng.normal(size=n)


def labels(loss, score):
    if loss.outputs > 1:
        return np.digitize(score, np.quantile(score, [0.3, 0.7])).astype(float)
    if isinstance(loss, Logistic):
        return np.where(score > np.median(score), 1.0, -1.0)
    return np.round(np.exp(0.5 * score)) if isinstance(loss, Poisson) else score


def settings(loss, fold):
    """What an estimator at its defaults asks for, but for the number of iterations."""
    return dict(
        loss=loss, learner=Stumps(max_bins=32, categorical=(3,), smooth=True, min_frequency=5),
        selection=RandomLearners("sqrt"), learning_rate=0.2, n_iter=2000, start_score=None,
        step=NewtonStep() if loss.smoothness is None else ConstantStep(), fold=fold, random_state=7,
        early_stopping=EarlyStopping(30) if fold else None, gram_memory=1 << 28,
    )  # fmt: skip


def pieces_of(*parts):
    """X and y, and weight and offset if there are any, of each piece."""
    ends = np.cumsum(LENGTHS)
    return [
        [None if part is None else part[a:b] for part in parts]
        for a, b in zip(ends - LENGTHS, ends, strict=True)
    ]


def weight_and_offset(kind, loss):
    """Of all rows; None where rows have none."""
    rng = np.random.default_rng(5)
    n = sum(LENGTHS)
    shape = n if loss.outputs == 1 else (n, loss.outputs)
    offset = 0.3 * rng.normal(size=shape)
    if loss.outputs > 1:
        offset -= offset.mean(axis=1, keepdims=True)
    return rng.uniform(
        0.5, 2.0, n
    ) if "weight" in kind else None, offset if "offset" in kind else None


KINDS = ["plain", "weight", "weight and offset"]


LOSSES = [Squared(), Logistic(0.0), Poisson(), Softmax(3)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("fold", [5, None], ids=["mean", "one run"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_bits_of_rows_in_memory(loss, fold, kind):
    X, score = mixed_rows()
    pieces = pieces_of(X, labels(loss, score), *weight_and_offset(kind, loss))
    options = settings(loss, fold)
    if fold is None or kind != "plain":
        options |= {"n_iter": 200}
    first = np.cumsum([0, *LENGTHS])
    here = Pieces([MemoryRows(*piece, first=a) for piece, a in zip(pieces, first, strict=False)])
    far = FarRows(pieces)
    one, other = (boost(None, None, statistics=rows, **options) for rows in (here, far))
    assert far.failed.count("binned") == len(LENGTHS)
    assert far.failed.count("sums") == len(LENGTHS) - 1  # the empty piece has no statistics
    assert one.trace.train_loss.tobytes() == other.trace.train_loss.tobytes()
    assert one.trace.learner.tobytes() == other.trace.learner.tobytes()
    assert one.model.score(X).tobytes() == other.model.score(X).tobytes()


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("fold", [5, None], ids=["mean", "one run"])
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_rows_in_memory(loss, fold, kind):
    """The same fit on X and y, up to the order of summation."""
    X, score = mixed_rows()
    y, (weight, offset) = labels(loss, score), weight_and_offset(kind, loss)
    options = settings(loss, fold) | {"n_iter": 60}
    if loss.outputs > 1 and offset is not None:
        options |= {"start_score": 0.0}  # by itself it would follow from the labels alone
    pieces = pieces_of(X, y, weight, offset)
    far = boost(None, None, statistics=FarRows(pieces), **options)
    engine = "gram" if loss.quadratic else "quadratic"
    if fold is not None:
        options |= {"fold": fold_of_rows(0, len(y), fold, 7)}
    here = boost(X, y, weight=weight, offset=offset, engine=engine, **options)
    np.testing.assert_allclose(far.trace.train_loss, here.trace.train_loss, rtol=1e-9)
    np.testing.assert_allclose(far.model.score(X), here.model.score(X), rtol=1e-7, atol=1e-9)


def test_rows_are_given_once():
    X, y = mixed_rows()
    with pytest.raises(ValueError, match="give None for X and y"):
        boost(X, y, statistics=MemoryRows(X, y), **settings(Squared(), 5))


def test_the_direct_engine_needs_rows():
    X, y = mixed_rows()
    with pytest.raises(ValueError, match="statistics have none"):
        boost(None, None, statistics=MemoryRows(X, y), engine="direct", **settings(Squared(), 5))
