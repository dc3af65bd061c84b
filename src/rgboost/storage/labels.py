"""Names and labels of categories as tensors.

Strings are one UTF-8 text and the places where each ends. Labels of features, strings or numbers,
are kept one feature after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.input import InputSchema
from ..data.input.labels import are_strings
from .errors import StorageError
from .schema import require

Tensors = Mapping[str, NDArray]


def encode_texts(texts: Sequence[str], name: str) -> dict[str, NDArray]:
    """The tensors ``name.ends`` and ``name.text``."""
    encoded = [text.encode(errors="surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {f"{name}.ends": ends, f"{name}.text": np.frombuffer(b"".join(encoded), np.uint8)}


def decode_texts(tensors: Tensors, name: str) -> list[str] | None:
    """The strings; None if the file has none."""
    ends, text = tensors.get(f"{name}.ends"), tensors.get(f"{name}.text")
    require((ends is None) == (text is None), name)
    if ends is None or text is None:
        return None
    starts = np.concatenate([[0], ends])
    require((starts[1:] >= starts[:-1]).all() and starts[-1] == len(text), f"{name}.ends")
    raw = text.tobytes()
    try:
        return [
            raw[a:b].decode(errors="surrogatepass") for a, b in zip(starts[:-1], ends, strict=True)
        ]
    except UnicodeDecodeError as error:
        raise StorageError(f"Its value {name}.text is not valid UTF-8.") from error


def encode_input(schema: InputSchema) -> dict[str, NDArray]:
    """Names, and what is categorical and how its categories are called."""
    tensors = {} if schema.names is None else encode_texts(list(schema.names), "names")
    if schema.categorical.any():
        tensors["input.categorical"] = schema.categorical.astype(np.uint8)
    found = schema.labels
    if not found:
        return tensors
    is_text = np.array([are_strings(labels) for labels in found.values()], np.uint8)
    texts = [str(t) for labels in found.values() if are_strings(labels) for t in labels]
    numbers = [labels for labels in found.values() if not are_strings(labels)]
    return {
        **tensors,
        "labels.features": np.array(list(found), np.int64),
        "labels.sizes": np.array([len(labels) for labels in found.values()], np.int64),
        "labels.strings": is_text,
        "labels.numbers": np.concatenate([*numbers, np.empty(0)]),
        **encode_texts(texts, "labels"),
    }


def decode_input(tensors: Tensors, n_features: int) -> InputSchema:
    """What `encode_input` was given."""
    names: NDArray[Any] | None = None
    listed = decode_texts(tensors, "names")
    if listed is not None:
        require(len(listed) == n_features, "names")
        names = np.empty(n_features, object)
        names[:] = listed
    categorical = np.zeros(n_features, np.bool_)
    if "input.categorical" in tensors:
        require(int(tensors["input.categorical"].max(initial=0)) <= 1, "input.categorical")
        categorical = tensors["input.categorical"].astype(np.bool_)
    labels: dict[int, NDArray] = {}
    texts = decode_texts(tensors, "labels")
    present = [f"labels.{part}" in tensors for part in ("features", "sizes", "strings", "numbers")]
    require(all(present) if texts is not None else not any(present), "labels")
    if texts is not None:
        for g, found in _decode_labels(tensors, texts, n_features):
            require(categorical[g], "input.categorical")
            labels[g] = found
    return InputSchema(names, categorical, labels)


def _decode_labels(tensors: Tensors, texts: list[str], n_features: int) -> Any:
    """(feature, labels), one after the other."""
    features, sizes = tensors["labels.features"], tensors["labels.sizes"]
    is_text, numbers = tensors["labels.strings"], tensors["labels.numbers"]
    inside = not len(features) or (features[0] >= 0 and features[-1] < n_features)
    require(bool((features[1:] > features[:-1]).all()) and inside, "labels.features")
    require(int(is_text.max(initial=0)) <= 1, "labels.strings")
    most = len(texts) + len(numbers)
    require(bool(((sizes >= 0) & (sizes <= most)).all()), "labels.sizes")
    require(int(sizes[is_text == 1].sum()) == len(texts), "labels.sizes")
    require(int(sizes[is_text == 0].sum()) == len(numbers), "labels.sizes")
    n_texts = n_numbers = 0
    for g, size, kind in zip(features.tolist(), sizes.tolist(), is_text.tolist(), strict=True):
        if kind:
            own = texts[n_texts : n_texts + size]
            n_texts += size
            yield g, np.array(own, dtype=object)
        else:
            yield g, numbers[n_numbers : n_numbers + size].copy()
            n_numbers += size
