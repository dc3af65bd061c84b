"""Models that people change: edits that are checked, recorded, and never made in place."""

from .apply import apply_edits
from .document import FORMAT, VERSION, checksum, read_document, write_document
from .editor import Cost, Editor

__all__ = [
    "FORMAT",
    "VERSION",
    "Cost",
    "Editor",
    "apply_edits",
    "checksum",
    "read_document",
    "write_document",
]
