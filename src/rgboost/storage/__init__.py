"""Stored models: safetensors files, no pickle.

A file holds arrays and a document, JSON that says which object has which of them. `container` knows
bytes and their checksum, `values` turns values and objects into JSON and arrays and back,
`model_file` says what an estimator consists of. What an object is made of, and what its arrays must
fulfil, the object's class knows (`rgboost._core.stored`).
"""

from .._core.stored import StorageError
from .model_file import MOST_BYTES, VERSION, assemble, read_model, write_model

__all__ = ["MOST_BYTES", "VERSION", "StorageError", "assemble", "read_model", "write_model"]
