"""The compiled check of CSV text: does every record have as many cells as the first?

It sees every byte before the parser does, so that a fault is reported with its line, whatever the
parser makes of it. Records end at a newline (LF, CRLF or CR) outside of quotes; a cell is quoted
when its first character after blanks is a quote; two quotes in a quoted cell stand for one.
"""

from __future__ import annotations

from ..._core.jit import kernel

# What `check_records` can say.
OK = 0
WRONG_COUNT = 1
TEXT_AFTER_QUOTE = 2
NUL_BYTE = 3

# The checker's memory, an int64 array. Offsets count from the beginning of the file.
MODE = 0
CELLS = 1  # cells of the record so far
EXPECTED = 2  # cells of every record, 0 while not known
LINE = 3  # line of the next byte
RECORD_LINE = 4  # line on which the record began
LINE_START = 5  # offset of the line
IS_BLANK = 6  # only blanks so far in this record
AFTER_CR = 7  # the last byte was a carriage return
QUOTE_LINE = 8  # where the last quoted cell began
QUOTE_COLUMN = 9
OFFSET = 10  # offset of the next byte
STATE_SIZE = 11

CELL_START, IN_CELL, IN_QUOTES, AFTER_QUOTES = 0, 1, 2, 3

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE = 9, 10, 13, 32, 34


@kernel()
def check_records(buffer, stop, delimiter, state):
    """Go over ``buffer[:stop]``: (status, place). The memory carries over to the next buffer."""
    base = state[OFFSET]
    mode = state[MODE]
    for at in range(stop):
        c = buffer[at]
        if c == 0:
            return NUL_BYTE, at
        if mode == IN_QUOTES:
            if c == _QUOTE:
                mode = AFTER_QUOTES
            elif c == _NEWLINE:
                state[LINE] += 1
                state[LINE_START] = base + at + 1
        elif c == delimiter:
            mode = CELL_START
            state[CELLS] += 1
            state[IS_BLANK] = 0
        elif c in (_NEWLINE, _RETURN):
            if c == _NEWLINE and state[AFTER_CR] == 1:
                state[LINE_START] = base + at + 1
            elif end_record(state, base + at + 1) != OK:
                return WRONG_COUNT, at
            mode = CELL_START
            state[AFTER_CR] = c == _RETURN
            continue
        elif c == _QUOTE and mode != IN_CELL:
            if mode == CELL_START:
                state[QUOTE_LINE] = state[LINE]
                state[QUOTE_COLUMN] = base + at - state[LINE_START] + 1
                state[IS_BLANK] = 0
            mode = IN_QUOTES
        elif c != _SPACE and c != _TAB:
            if mode == AFTER_QUOTES:
                return TEXT_AFTER_QUOTE, at
            mode = IN_CELL
            state[IS_BLANK] = 0
        state[AFTER_CR] = 0
    state[MODE] = mode
    state[OFFSET] = base + stop
    return OK, stop


@kernel()
def end_record(state, next_start):
    """Count the cells of a record that ends here; blank lines are no records."""
    if state[IS_BLANK] == 0:
        if state[EXPECTED] == 0:
            state[EXPECTED] = state[CELLS]
        elif state[CELLS] != state[EXPECTED]:
            return WRONG_COUNT
    state[CELLS] = 1
    state[IS_BLANK] = 1
    state[LINE] += 1
    state[RECORD_LINE] = state[LINE]
    state[LINE_START] = next_start
    return OK
