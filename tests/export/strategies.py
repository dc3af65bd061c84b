"""Made-up `Terms`, and rows that probe them."""

import math

import numpy as np
from hypothesis import strategies as st

from rgboost.export import Axis, Curve, Feature, Pair, Terms
from rgboost.losses import Link

numbers = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 0.1, 1e-300, 1e300, -1e300, 2.0**53])
values = st.floats(-5.0, 5.0)
letters = st.characters(codec="utf-8", exclude_characters="\0")
texts = st.text(letters, max_size=6) | st.sampled_from(
    ["'", '"', "\\", "`", "\n", "</script>", "{{model}}", "--", "/*", "${x}", "NULL", "nan", "é"]
)
names = texts.filter(bool) | st.sampled_from(["prediction", "score", "select", "cell", "x", "t_x"])


@st.composite
def axes(draw, g, kind):
    """Of a feature: some edges, or some categories."""
    if kind == "number":
        return Axis(g, np.unique(draw(st.lists(numbers, max_size=5))))
    labels = texts if kind == "text" else numbers
    known = sorted(draw(st.sets(labels, min_size=1, max_size=4)))
    return Axis(g, np.empty(0), tuple(known), draw(st.booleans()))


def tables(draw, *shape):
    flat = draw(st.lists(values, min_size=math.prod(shape), max_size=math.prod(shape)))
    return np.array(flat).reshape(shape)


def different(names):
    """For tables: also when capitals are not told apart."""
    return len({name.lower().strip() for name in names}) == len(names)


@st.composite
def some_terms(draw):
    chosen = draw(st.lists(names, min_size=1, max_size=4, unique=True).filter(different))
    kinds = [draw(st.sampled_from(["number", "text", "code"])) for _ in chosen]
    features = tuple(Feature(*one) for one in zip(chosen, kinds, strict=True))
    n_classes = draw(st.sampled_from([None, 2, 3]))
    outputs = 3 if n_classes == 3 else 1
    none = np.empty(0)
    curves = []
    for g, kind in enumerate(kinds):
        if draw(st.booleans()):
            axis = draw(axes(g, kind))
            curves.append(Curve(axis, tables(draw, axis.size, outputs), none, none, none))
    pairs = []
    for h in range(1, len(kinds)):
        if draw(st.booleans()):
            both = draw(axes(h - 1, kinds[h - 1])), draw(axes(h, kinds[h]))
            sizes = both[0].size, both[1].size
            pairs.append(Pair(both, tables(draw, *sizes, outputs), np.ones(sizes)))
    link = {None: st.sampled_from([Link(), Link("log")]), 3: st.just(Link("softmax"))}.get(
        n_classes, st.sampled_from([Link("logistic"), Link("logistic", 2.0)])
    )
    labels = None
    if n_classes is not None:
        some = st.lists(texts, min_size=n_classes, max_size=n_classes, unique=True)
        labels = tuple(draw(some | st.just(list(range(-1, n_classes - 1)))))
    intercept = tables(draw, outputs)
    return Terms(features, intercept, tuple(curves), tuple(pairs), draw(link), labels, 1.0)


def probes(terms, g):
    """Values of a feature that are at or beside something, unknown, or missing."""
    mine = [axis for term in terms.terms for axis in term.axes if axis.feature == g]
    edges = np.concatenate([np.empty(0), *(axis.edges for axis in mine)])
    known = [label for axis in mine for label in axis.categories or ()]
    if terms.features[g].kind == "text":
        return st.sampled_from([*known, "never seen", None])
    if terms.features[g].kind == "code":
        return st.sampled_from([*known, 12345.678, None])
    beside = [np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)]
    at = np.concatenate([edges, *beside]).tolist()
    return st.sampled_from([*at, None]) | numbers


@st.composite
def terms_and_rows(draw):
    terms = draw(some_terms())
    row = st.fixed_dictionaries({f.name: probes(terms, g) for g, f in enumerate(terms.features)})
    return terms, draw(st.lists(row, min_size=1, max_size=6))
