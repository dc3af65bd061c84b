"""What `Terms` say, a row at a time: the naive twin of every export."""

import bisect
import math

import numpy as np


def is_missing(value):
    return value is None or value != value


def bin_of(axis, value):
    if is_missing(value):
        return axis.missing
    if axis.categories is None:
        return bisect.bisect_left(axis.edges, float(value))  # edges below the value
    places = [k for k, category in enumerate(axis.categories) if category == value]
    return places[0] if places else axis.unknown


def contributions(terms, row):
    """(terms, outputs)."""
    found = [
        term.values[tuple(bin_of(a, row[terms.features[a.feature].name]) for a in term.axes)]
        for term in terms.terms
    ]
    return np.array(found).reshape(-1, terms.outputs)


def score(terms, row):
    found = terms.intercept.copy()
    for added in contributions(terms, row):
        found += added
    return found


def answer(terms, row):
    """What the link makes of the scores: a prediction, or the probabilities of all classes."""
    scores, link = score(terms, row), terms.link
    if link.name == "softmax":
        shares = np.exp(scores - scores.max())
        return shares / shares.sum()
    (f,) = scores.tolist()
    if link.name == "log":
        f = math.exp(min(max(f, -700), 700))
    if link.name == "logistic":
        f = 1 / (1 + math.exp(min(-link.scale * f, 700)))
    return np.array([f]) if terms.classes is None else np.array([1 - f, f])


def label(terms, row):
    """The predicted class."""
    scores = score(terms, row)
    return terms.classes[int(scores[0] > 0) if len(scores) == 1 else int(scores.argmax())]
