"""Fitted models: scores for new rows from collapsed tables, not from the path of weak-learners."""

from .coverage import Coverage
from .dictionary_model import DictionaryModel
from .path import Path
from .stump_model import StumpModel

__all__ = ["Coverage", "DictionaryModel", "Path", "StumpModel"]
