"""Models for programs that know nothing of rgboost.

`terms` says what a model is, as plain data; `extract` makes that of a fitted estimator, and every
export is written from it alone. The methods of the estimators lead here: ``to_json``, ``to_onnx``,
``to_sql``, ``to_python``, ``to_javascript``.
"""

from .document import document_of, schema, write_document
from .extract import extract
from .methods import ExportsMixin
from .rebuild import read_document
from .terms import Axis, Curve, ExportError, Feature, Pair, Terms

__all__ = [
    "Axis",
    "Curve",
    "ExportError",
    "ExportsMixin",
    "Feature",
    "Pair",
    "Terms",
    "document_of",
    "extract",
    "read_document",
    "schema",
    "write_document",
]
