"""Fitted models: scores for new rows from collapsed tables or from trees, not from the path of
weak-learners."""

from .class_model import ClassStumpModel
from .coverage import Coverage
from .dictionary_model import DictionaryModel
from .pair_tables import PairTables
from .path import Path
from .stump_model import StumpModel
from .trees import TreesModel
from .with_pairs import RawPair, with_pairs

__all__ = [
    "ClassStumpModel",
    "Coverage",
    "DictionaryModel",
    "PairTables",
    "Path",
    "RawPair",
    "StumpModel",
    "TreesModel",
    "with_pairs",
]
