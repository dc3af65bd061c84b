"""Stored models, read for a command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .errors import CommandError, ExitCode


def load_model(path: Path) -> Any:
    """The estimator in a file; whatever is wrong with the file is bad data."""
    from ..estimators import load

    try:
        return load(path)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise CommandError(
            f"{path}: cannot be read ({reason}), check the path", ExitCode.DATA
        ) from error
    except ValueError as error:
        raise CommandError(str(error), ExitCode.DATA) from error


def feature_names(estimator: Any) -> list[str] | None:
    """The columns that the model was fitted to, None if they had no names."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def shown_names(estimator: Any) -> list[str]:
    """Names of the features for people; a LIBSVM file's features go by its own numbers."""
    first = 1 if getattr(estimator, "zero_based_", None) is False else 0
    numbers = [f"feature {g + first}" for g in range(estimator.n_features_in_)]
    return feature_names(estimator) or numbers


def is_classifier(estimator: Any) -> bool:
    return hasattr(estimator, "classes_")
