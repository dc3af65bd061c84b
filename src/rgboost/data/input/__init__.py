"""Input of many kinds (arrays, sparse matrices, data frames) as a matrix of numbers."""

from .labels import read_labels
from .schema import InputSchema, learn_input, plain_schema, read_input

__all__ = [
    "InputSchema",
    "learn_input",
    "plain_schema",
    "read_input",
    "read_labels",
]
