"""Stored models: safetensors files with a versioned schema, no pickle.

`container` knows bytes (header, checksum), `values` turns parameters into JSON and back, `schema`
says what a model of this version consists of, `model_file` puts the three together.
"""

from .errors import StorageError
from .model_file import MOST_BYTES, VERSION, read_model, write_model

__all__ = ["MOST_BYTES", "VERSION", "StorageError", "read_model", "write_model"]
