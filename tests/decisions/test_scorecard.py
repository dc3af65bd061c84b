"""Tables of points against a row added up by hand."""

import math

import numpy as np
import pytest

from rgboost import RGBMClassifier

from ..editing.models import binary, classes, frame, pairs


def by_hand(card, model, row):
    """The points of a row: its line of every term, found by the words of its bin."""
    total = card.base
    for shape in model.explain_global():
        x = row[shape.name]
        own = [entry for entry in card.entries if entry.term == shape.name]
        if x is None or x != x:
            k = len(own) - 1
        elif shape.categories is not None:
            k = [entry.bin for entry in own].index(x)
        else:
            k = sum(cut < x for cut in shape.cuts)
        total += own[k].points
    return total


def test_points_are_added_up_from_the_table():
    model, X, _ = binary()
    card = model.to_scorecard()
    points = card.score(X)
    assert points.dtype == np.int64
    for i in range(60):
        assert points[i] == by_hand(card, model, X.iloc[i])
    assert {type(entry.points) for entry in card.entries} == {int}
    assert sum(e.weight for e in card.entries if e.term == "a") == model.coverage_.total


def test_the_scale():
    """points at these odds, pdo more for twice the odds; exact before rounding."""
    model, X, _ = binary()
    card = model.to_scorecard(pdo=40, odds=20, points=500)
    p = model.predict_proba(X)[:, 1]
    expected = 500 + 40 * np.log2(p / (1 - p) / 20)
    np.testing.assert_allclose(card.exact_score(X), expected, rtol=0, atol=1e-9)
    assert card.probability(500) == pytest.approx(20 / 21)
    assert card.probability(540) == pytest.approx(40 / 41)
    off = np.abs(card.exact_score(X) - card.score(X))
    assert 0 < off.max() <= card.most_off
    assert card.most_off <= 0.5 * (len(model.term_names_) + 1)


def test_rounding_is_told():
    model, X, y = binary()
    coarse = model.to_scorecard(pdo=1.0).rounding(X, y)
    fine = model.to_scorecard(pdo=2000.0).rounding(X, y)
    p = model.predict_proba(X)[np.arange(len(y)), (y == "yes").astype(int)]
    assert fine.exact_loss == pytest.approx(-np.log(p).mean())
    assert fine.rounded_loss == pytest.approx(fine.exact_loss, rel=1e-3)
    assert coarse.rounded_loss > coarse.exact_loss
    assert coarse.rounded_loss - coarse.exact_loss > 10 * abs(fine.rounded_loss - fine.exact_loss)
    assert coarse.mean < coarse.most
    assert model.to_scorecard().rounding(X).exact_loss is None


def test_the_other_class():
    model, X, _ = binary()
    no = model.to_scorecard(label="no")
    assert no.label == "no"
    np.testing.assert_allclose(
        no.predict_proba(X), model.predict_proba(X)[:, 0], atol=no.most_off * math.log(2) / 20 / 4
    )


def test_cells_of_pairs_have_points():
    X, y = frame(seed=5)
    labels = y > 0.5
    settings = {"max_bins": 8, "random_state": 0, "n_iter_no_change": 20, "early_stopping": True}
    model = RGBMClassifier(**settings, interactions=[("a", "b")]).fit(X, labels)
    assert "a x b" in model.term_names_
    card = model.to_scorecard()
    assert any(entry.term == "a x b" and ", " in entry.bin for entry in card.entries)
    assert np.abs(card.exact_score(X) - card.score(X)).max() <= card.most_off
    frame_of = card.to_frame()
    assert list(frame_of) == ["term", "bin", "points", "exact", "weight"]
    assert "rounding moves a row by at most" in str(card)


def test_labels_that_are_none():
    model, X, y = binary()
    card = model.to_scorecard()
    with pytest.raises(ValueError, match="y has the class 'maybe', which is none of"):
        card.rounding(X, np.where(y == y[0], y, "maybe"))
    with pytest.raises(ValueError, match=r"y has the shape \(3,\)"):
        card.rounding(X, y[:3])


@pytest.mark.parametrize("make", [classes, pairs])
def test_what_has_no_points(make):
    model, _, _ = make()
    if make is pairs:
        assert not hasattr(model, "to_scorecard")
        return
    with pytest.raises(ValueError, match="log-odds of two classes"):
        model.to_scorecard()


def test_bad_scales():
    model, _, _ = binary()
    for name in ("pdo", "odds"):
        with pytest.raises(ValueError, match=f"{name}=0"):
            model.to_scorecard(**{name: 0})
    with pytest.raises(ValueError, match="label='maybe'"):
        model.to_scorecard(label="maybe")
    X, y = frame(100)
    half = RGBMClassifier(loss="exponential", max_iter=5, interactions=0).fit(X, y > 0)
    with pytest.raises(ValueError, match="half the log-odds"):
        half.to_scorecard()
