"""Reasons against a sort by hand."""

import numpy as np
import pytest

from ..editing.models import binary, classes, pairs


def by_hand(local, reference, i, k):
    found = [
        (reference[t] - local.contributions[i, t], t)
        for t in range(len(local.names))
        if reference[t] - local.contributions[i, t] > 0
    ]
    return sorted(found, key=lambda one: (-one[0], one[1]))[:k]


@pytest.mark.parametrize("make", [binary, pairs])
@pytest.mark.parametrize("reference", ["mean", "best", "rows"])
def test_the_terms_that_cost_most(make, reference):
    model, X, _ = make()
    local = model.explain_local(X)
    given = X.iloc[:7] if reference == "rows" else reference
    found = model.reason_codes(X, 2, reference=given)
    at = {
        "mean": local.means,
        "rows": local.contributions[:7].mean(axis=0),
        "best": [_best(term) for term in model.explain_global().terms],
    }[reference]
    np.testing.assert_allclose(found.reference, at, rtol=0, atol=1e-13)
    shown = local.shown_values()
    for i in range(len(X)):
        expected = by_hand(local, found.reference, i, 2)
        names = [name for name in found.names[i] if name is not None]
        assert names == [local.names[t] for _, t in expected]
        np.testing.assert_allclose(found.costs[i, : len(names)], [c for c, _ in expected])
        assert np.isnan(found.costs[i, len(names) :]).all()
        if names:
            np.testing.assert_equal(found.values[i, 0], shown[i, expected[0][1]])


def _best(term):
    if hasattr(term, "axes"):
        return term.values[term.weights > 0].max()
    values = [*term.values[term.weights > 0]]
    return max([*values, term.missing] if term.missing_weight > 0 else values)


def test_costs_of_all_terms_add_up():
    """Against the mean, what terms cost a row is the mean score less its own."""
    model, X, _ = binary()
    local = model.explain_local(X)
    found = model.reason_codes(X, 99)
    gained = (local.contributions - found.reference).clip(min=0).sum(axis=1)
    lost = np.nansum(found.costs, axis=1)
    centered = model.explain_global().centered().intercept
    np.testing.assert_allclose(centered - lost + gained, local.score(), rtol=0, atol=1e-12)


def test_the_other_class_has_other_reasons():
    model, X, _ = binary()
    yes, no = model.reason_codes(X, 9, label="yes"), model.reason_codes(X, 9, label="no")
    for i in range(20):
        assert not {*yes.names[i]} & {*no.names[i]} - {None}
    assert "of class no" in str(no)
    assert "the mean of the training rows" in str(yes)


def test_several_classes():
    model, X, _ = classes()
    local = model.explain_local(X).of_class("top")
    found = model.reason_codes(X, 1, label="top")
    costs = found.reference - local.contributions
    worst = [local.names[t] for t in costs.argmax(axis=1)]
    expected = [name if some else None for name, some in zip(worst, costs.max(1) > 0, strict=True)]
    assert found.names[:, 0].tolist() == expected
    with pytest.raises(ValueError, match="label is missing"):
        model.reason_codes(X)


def test_bad_references():
    model, X, _ = binary()
    with pytest.raises(ValueError, match="reference='worst'"):
        model.reason_codes(X, reference="worst")
    with pytest.raises(ValueError, match="k=0"):
        model.reason_codes(X, 0)
    with pytest.raises(ValueError, match="0 sample"):
        model.reason_codes(X, reference=X.iloc[:0])
