"""Input of many kinds (arrays, sparse matrices, data frames) as a matrix of numbers."""

from .schema import InputSchema, learn_input, plain_schema, read_input
from .sparse import clean_sparse
from .targets import read_labels

__all__ = [
    "InputSchema",
    "clean_sparse",
    "learn_input",
    "plain_schema",
    "read_input",
    "read_labels",
]
