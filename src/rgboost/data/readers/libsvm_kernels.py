"""The compiled parser of LIBSVM text.

It reads bytes and writes into the arrays of a `Sink`; numbers that it cannot round (see
`decimals`) are listed there for Python. A fault ends it at once with a status and the place of
the faulty token; the words for it are Python's business.

::

    line     = blanks [label [blanks "qid:" integer] (blanks feature)*] blanks [comment] newline
    feature  = index ":" number
    comment  = "#" anything
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from .decimals import DECIDED, NOT_A_NUMBER, UNDECIDED, read_decimal

# What `parse_lines` can say.
OK = 0
BAD_LABEL = 1
BAD_FEATURE = 2
INDEX_BELOW = 3
INDEX_ABOVE = 4
UNSORTED = 5
REPEATED = 6
BAD_VALUE = 7
LABEL_TOO_LARGE = 8
VALUE_TOO_LARGE = 9
BAD_QUERY = 10
QUERY_MISSING = 11
QUERY_UNEXPECTED = 12

# The parser's memory, an int64 array.
LINE = 0  # lines begun
ROWS = 1  # rows in the sink
ENTRIES = 2  # entries in the sink
HARD = 3  # undecided numbers in the sink
WIDEST = 4  # largest index so far
HAS_ZERO = 5  # an index 0 was seen
EDGE_LINE = 6  # where index == rules.most_index was first seen: wrong if the file is zero-based
EDGE_AT = 7
QUERIES = 8  # do rows have a qid: 0 not known yet, 1 yes, 2 no
STATE_SIZE = 9

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH, _COLON = 9, 10, 13, 32, 35, 58
_DIGIT_0, _DIGIT_9 = 48, 57
_Q, _I, _D = (ord(c) for c in "qid")
_MOST_INDEX = 1 << 40
_MOST_QUERY = np.iinfo(np.int64).max // 10 - 1


class Rules(NamedTuple):
    """What is allowed."""

    least_index: int
    most_index: int
    most_value: float
    keep_zeros: bool


class Sink(NamedTuple):
    """Where rows go. Room for any text of a given size: see `make_sink`."""

    labels: NDArray[np.float64]
    row_ends: NDArray[np.int64]
    query_ids: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.floating]
    hard: NDArray[np.int64]
    """Of each undecided number: its entry, or ``-1 - row`` for a label, and its place."""


def make_sink(n_bytes: int, dtype: type[np.floating]) -> Sink:
    """A row takes two bytes at least ("1" and a newline), an entry four (" 1:1")."""
    n_rows = n_bytes // 2 + 1
    n_entries = n_bytes // 4 + 1
    return Sink(
        np.empty(n_rows, np.float64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_entries, np.int32),
        np.empty(n_entries, dtype),
        np.empty((n_entries, 2), np.int64),
    )


@kernel()
def parse_lines(buffer, at, stop, most_rows, rules, powers, sink, state):
    """Parse whole lines of ``buffer[at:stop]`` until there are ``most_rows`` rows: (status, at).

    ``buffer[stop - 1]`` must be a newline. Fills the sink from its beginning.
    """
    state[ROWS] = 0
    state[ENTRIES] = 0
    state[HARD] = 0
    while at < stop and state[ROWS] < most_rows:
        state[LINE] += 1
        status, at = parse_line(buffer, at, rules, powers, sink, state)
        if status != OK:
            return status, at
    return OK, at


@kernel()
def parse_line(buffer, at, rules, powers, sink, state):
    """Parse one line: (status, start of the next line, or place of the faulty token)."""
    at = skip_blanks(buffer, at)
    if buffer[at] == _NEWLINE or buffer[at] == _HASH:
        return OK, skip_line(buffer, at)
    row = state[ROWS]
    status, at = parse_label(buffer, at, powers, sink, state)
    if status != OK:
        return status, at
    at = skip_blanks(buffer, at)
    status, at = parse_query(buffer, at, sink, state)
    if status != OK:
        return status, at
    entry = state[ENTRIES]
    previous = np.int64(-1)
    at = skip_blanks(buffer, at)
    while buffer[at] != _NEWLINE and buffer[at] != _HASH:
        status, end, index, value, value_at, decided = parse_feature(buffer, at, powers)
        if status == OK:
            status = check_feature(index, previous, value, decided, rules)
        if status != OK:
            is_value = status in (BAD_VALUE, VALUE_TOO_LARGE)
            return status, value_at if is_value else at
        if index == 0:
            state[HAS_ZERO] = 1
        if index == rules.most_index and state[EDGE_LINE] == 0:
            state[EDGE_LINE] = state[LINE]
            state[EDGE_AT] = at
        sink.indices[entry] = index
        sink.values[entry] = value  # float32 can make a zero of it
        if decided == UNDECIDED:
            put_hard(entry, value_at, sink, state)
        if decided == UNDECIDED or rules.keep_zeros or sink.values[entry] != 0:
            entry += 1
        previous = index
        at = skip_blanks(buffer, end)
    state[WIDEST] = max(state[WIDEST], previous)
    state[ENTRIES] = entry
    sink.row_ends[row] = entry
    state[ROWS] = row + 1
    return OK, skip_line(buffer, at)


@kernel()
def parse_label(buffer, at, powers, sink, state):
    decided, value, end = read_decimal(buffer, at, powers)
    if decided == NOT_A_NUMBER or not ends_token(buffer[end]):
        return BAD_LABEL, at
    row = state[ROWS]
    if decided == UNDECIDED:
        put_hard(-1 - row, at, sink, state)
    elif np.isinf(value):
        return LABEL_TOO_LARGE, at
    sink.labels[row] = value
    return OK, end


@kernel()
def parse_query(buffer, at, sink, state):
    """The ``qid:N`` after the label: on all rows or on none."""
    # Short circuits keep this inside of the text: a newline is no letter.
    has_query = (
        buffer[at] == _Q
        and buffer[at + 1] == _I
        and buffer[at + 2] == _D
        and buffer[at + 3] == _COLON
    )
    if state[QUERIES] == 0:
        state[QUERIES] = 1 if has_query else 2
    if not has_query:
        return (OK if state[QUERIES] == 2 else QUERY_MISSING), at
    if state[QUERIES] == 2:
        return QUERY_UNEXPECTED, at
    end = at + 4
    query = np.int64(0)
    while _DIGIT_0 <= buffer[end] <= _DIGIT_9 and query < _MOST_QUERY:
        query = 10 * query + np.int64(buffer[end] - _DIGIT_0)
        end += 1
    if end == at + 4 or not ends_token(buffer[end]):
        return BAD_QUERY, at
    sink.query_ids[state[ROWS]] = query
    return OK, end


@kernel()
def parse_feature(buffer, at, powers):
    """Parse ``index:value``: (status, end, index, value, place of the value, decided)."""
    index = np.int64(0)
    end = at
    while _DIGIT_0 <= buffer[end] <= _DIGIT_9:
        if index < _MOST_INDEX:
            index = 10 * index + np.int64(buffer[end] - _DIGIT_0)
        end += 1
    if end == at or buffer[end] != _COLON:
        return BAD_FEATURE, at, index, 0.0, at, DECIDED
    value_at = end + 1
    decided, value, end = read_decimal(buffer, value_at, powers)
    status = OK
    if decided == NOT_A_NUMBER or not ends_token(buffer[end]):
        status = BAD_VALUE
    return status, end, index, value, value_at, decided


@kernel()
def check_feature(index, previous, value, decided, rules):
    """Whether the index is in range and above the one before it, and the value in range."""
    if index <= previous:
        return REPEATED if index == previous else UNSORTED
    if index < rules.least_index:
        return INDEX_BELOW
    if index > rules.most_index:
        return INDEX_ABOVE
    if decided == DECIDED and abs(value) > rules.most_value:
        return VALUE_TOO_LARGE
    return OK


@kernel()
def put_hard(slot, at, sink, state):
    k = state[HARD]
    sink.hard[k, 0] = slot
    sink.hard[k, 1] = at
    state[HARD] = k + 1


@kernel()
def skip_blanks(buffer, at):
    while buffer[at] == _SPACE or buffer[at] == _TAB or buffer[at] == _RETURN:
        at += 1
    return at


@kernel()
def skip_line(buffer, at):
    """The start of the next line."""
    while buffer[at] != _NEWLINE:
        at += 1
    return at + 1


@kernel()
def ends_token(c):
    return c in (_SPACE, _NEWLINE, _RETURN, _TAB, _HASH)
