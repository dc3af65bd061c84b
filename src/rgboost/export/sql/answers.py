"""Scores, probabilities and predictions from what the terms add."""

from __future__ import annotations

from typing import Any

from . import words as sql
from .steps import Query


def add_answers(query: Query, contributions: bool) -> Any:
    """Add the steps of the scores, and give the SELECT that is the end: the columns that stay, the
    contributions if they are wanted, scores, probabilities, and the prediction last."""
    terms, several = query.terms, query.terms.outputs > 1
    out = sql.Names(query.kept)
    shown: list[Any] = list(query.keep())
    on_the_way: list[Any] = list(query.keep())
    if contributions:
        for name, columns in zip(terms.term_names, query.added, strict=True):
            for c, found in enumerate(columns):
                label = f"_{terms.classes[c]}" if several and terms.classes else ""
                on_the_way.append(sql.column(found))
                wanted = out.new(f"contribution_{name}{label}")
                shown.append(sql.named(sql.column(found), wanted))
    scores = [query.names.new(f"score_{c}" if several else "score") for c in range(terms.outputs)]
    for c, name in enumerate(scores):
        start = sql.as_double(sql.double(float(terms.intercept[c])))
        score = sql.total([start, *(sql.column(names[c]) for names in query.added)])
        on_the_way.append(sql.named(score, name))
    query.step("scores", sql.select(on_the_way, query.last))
    labels = [f"_{label}" for label in terms.classes] if several and terms.classes else [""]
    for name, label in zip(scores, labels, strict=True):
        shown.append(sql.named(sql.column(name), out.new(f"score{label}")))
    if several:
        shares, most = _add_shares(query, on_the_way, scores)
    else:
        shares, most = _two_shares(query, scores[0]), ""
    for label, share in zip(terms.classes or (), shares, strict=True):
        shown.append(sql.named(share, out.new(f"probability_{label}")))
    shown.append(sql.named(_prediction(query, scores, most), out.new("prediction")))
    return sql.select(shown, query.last)


def _two_shares(query: Query, score: str) -> list[Any]:
    """The probabilities of two classes; none of a regression."""
    if query.terms.classes is None:
        return []
    return [sql.less(sql.double(1.0), _linked(query, score)), _linked(query, score)]


def _linked(query: Query, score: str) -> Any:
    """What the link makes of a score."""
    link, found = query.terms.link, sql.column(score)
    if link.name == "log":
        return sql.bounded_exp(found)
    if link.name == "logistic":
        share = sql.total([sql.double(1.0), sql.bounded_exp(sql.times(found, -link.scale))])
        return sql.over(sql.double(1.0), share)
    return found


def _add_shares(query: Query, columns: list[Any], scores: list[str]) -> tuple[list[Any], str]:
    """The probabilities of several classes, and the column of the largest score."""
    keep = [sql.column(one.alias_or_name) for one in columns]
    most = query.names.new("most")
    largest = sql.named(sql.greatest([sql.column(name) for name in scores], query.dialect), most)
    query.step("most", sql.select([*keep, largest], query.last))
    shares = [query.names.new(f"share_{c}") for c in range(len(scores))]
    found = [
        sql.named(sql.bounded_exp(sql.less(sql.column(score), sql.column(most))), share)
        for score, share in zip(scores, shares, strict=True)
    ]
    again = [sql.column(one.alias_or_name) for one in (*columns, largest)]
    query.step("shares", sql.select([*again, *found], query.last))
    total = [sql.total([sql.column(share) for share in shares]) for _ in shares]
    return [sql.over(sql.column(s), t) for s, t in zip(shares, total, strict=True)], most


def _prediction(query: Query, scores: list[str], most: str) -> Any:
    classes = query.terms.classes
    if classes is None:
        return _linked(query, scores[0])
    labels = [sql.literal(label) for label in classes]
    if not most:
        positive = sql.greater(sql.column(scores[0]), sql.double(0.0))
        return sql.case([(positive, labels[1])], labels[0])
    first = [
        (sql.equal(sql.column(score), sql.column(most)), label)
        for score, label in zip(scores[:-1], labels[:-1], strict=True)
    ]
    return sql.case(first, labels[-1])
