"""Models that people change: edits that are checked, recorded, and never made in place."""

from .document import FORMAT, VERSION, checksum, read_document, write_document

__all__ = ["FORMAT", "VERSION", "checksum", "read_document", "write_document"]
