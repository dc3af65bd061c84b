"""Input of many kinds (arrays, sparse matrices, data frames) as a matrix of numbers."""

from .schema import InputSchema, learn_input, plain_schema, read_input
from .targets import read_labels

__all__ = ["InputSchema", "learn_input", "plain_schema", "read_input", "read_labels"]
