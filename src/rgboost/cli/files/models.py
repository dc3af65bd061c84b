"""Stored models, read for a command."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CommandError, ExitCode


def load_model(path: Path) -> Any:
    """The estimator in a file; whatever is wrong with the file is bad data."""
    from ...estimators.loading import load

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


def name_features(estimator: Any, names: list[str]) -> None:
    """Give names to the features of a model that was fitted to rows without names."""
    found = np.array(names, dtype=object)
    estimator.input_ = dataclasses.replace(estimator.input_, names=found)
    estimator.feature_names_in_ = found


def text_features(estimator: Any) -> list[str]:
    """The columns whose categories are texts: they stay texts, whatever a file has in them."""
    from ...data.input.labels import are_strings

    schema = getattr(estimator, "input_", None)
    if schema is None or schema.names is None:
        return []
    return [str(schema.names[g]) for g, found in schema.labels.items() if are_strings(found)]


def is_classifier(estimator: Any) -> bool:
    return hasattr(estimator, "classes_")
