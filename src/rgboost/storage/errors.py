"""The error of this package."""


class StorageError(ValueError):
    """A model that cannot be stored, or a file that is not a whole model of a known version."""
