"""`Terms` as the plain data that the Python file and the JavaScript function hold."""

from __future__ import annotations

from typing import Any

from .terms import Axis, Terms


def tables_of(terms: Terms) -> dict[str, Any]:
    """Lists, numbers and strings; the values of a term are one list: of the first axis, the second
    one, and the outputs."""
    return {
        "intercept": terms.intercept.tolist(),
        "link": terms.link.name,
        "scale": terms.link.scale,
        "classes": None if terms.classes is None else list(terms.classes),
        "terms": [
            {
                "name": terms.term_name(term),
                "axes": [_axis(terms, axis) for axis in term.axes],
                "values": term.values.ravel().tolist(),
            }
            for term in terms.terms
        ],
    }


def _axis(terms: Terms, axis: Axis) -> dict[str, Any]:
    feature = terms.features[axis.feature]
    found: dict[str, Any] = {"feature": feature.name, "kind": feature.kind, "size": axis.size}
    if axis.categories is None:
        return {**found, "edges": axis.edges.tolist()}
    return {**found, "categories": list(axis.categories)}
