"""Fitted models: scores for new rows from collapsed tables, not from the path of weak-learners."""

from .class_model import ClassStumpModel
from .coverage import Coverage
from .dictionary_model import DictionaryModel
from .path import Path
from .stump_model import StumpModel

__all__ = ["ClassStumpModel", "Coverage", "DictionaryModel", "Path", "StumpModel"]
