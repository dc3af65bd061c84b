"""A model as an ONNX graph.

Of a number x the graph counts the edges that x is at most: 0 of a missing value, 1 above all edges
(an infinite one is added), K + 1 up to the first of K edges. Of a category it looks up the code.
What a curve adds is then an entry of a table, and the cell of a pair is the sum of two entries.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codes import Codes, codes_of
from .terms import Axis, Curve, Pair, Terms, refuse

OPSET, ML_OPSET, IR_VERSION = 15, 2, 8
"""Old enough for runtimes of 2021, and with all that is needed for double."""


def write_onnx(terms: Terms, written_by: str, contributions: bool) -> Any:
    """The `onnx.ModelProto` of ``estimator.to_onnx()``."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx: pip install 'rgboost[export]'"
        ) from error
    if not all(feature.name for feature in terms.features):
        refuse("a feature has an empty name, and an input of an ONNX graph needs one; rename it.")
    if contributions and not terms.terms:
        refuse("the model has no terms; leave out contributions=True.")
    graph = _Graph(terms)
    _add_outputs(graph, _add_scores(graph, contributions))
    model = onnx.helper.make_model(
        graph.finish(),
        producer_name="rgboost",
        producer_version=written_by.removeprefix("rgboost "),
        ir_version=IR_VERSION,
        opset_imports=[
            onnx.helper.make_opsetid("", OPSET),
            onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
    )
    told = {"term_names": terms.term_names, "classes": terms.classes}
    onnx.helper.set_model_props(model, {name: json.dumps(what) for name, what in told.items()})
    return model


class _Graph:
    """A graph that grows; values inside of it have names that no feature has."""

    def __init__(self, terms: Terms) -> None:
        from onnx import TensorProto, helper, numpy_helper

        self.terms, self.types = terms, TensorProto
        self._helper, self._as_tensor = helper, numpy_helper.from_array
        self._taken = {feature.name for feature in terms.features}
        self._nodes: list[Any] = []
        self._constants: dict[tuple[Any, ...], Any] = {}
        self._made: dict[tuple[Any, ...], str] = {}
        self._outputs: list[Any] = []

    def new_name(self, wanted: str) -> str:
        """That name, with underscores if it is taken."""
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted

    def constant(self, values: Any, dtype: Any = None) -> str:
        """The name of an array, the same for equal ones."""
        array = np.asarray(values, dtype)
        texts = array.dtype == object
        key = (array.dtype.str, array.shape, tuple(array.flat) if texts else array.tobytes())
        if key not in self._constants:
            name = self.new_name(f"constant_{len(self._constants)}")
            self._constants[key] = self._as_tensor(array, name)
        return str(self._constants[key].name)

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The name of the result of an operator, which stands in the graph once."""
        key = (operator, inputs, json.dumps(attributes))
        if key not in self._made:
            name = self.new_name(f"{operator.lower()}_{len(self._nodes)}")
            self._put(operator, inputs, name, attributes)
            self._made[key] = name
        return self._made[key]

    def _put(self, operator: str, inputs: Any, name: str, attributes: dict[str, Any]) -> None:
        domain = "ai.onnx.ml" if operator == "LabelEncoder" else ""
        node = self._helper.make_node(operator, inputs, [name], name, domain=domain, **attributes)
        self._nodes.append(node)

    def output(self, wanted: str, value: str, kind: int, *sizes: Any) -> None:
        """Give a value the name of an output."""
        name = self.new_name(wanted)
        self._put("Identity", [value], name, {})
        self._outputs.append(self._helper.make_tensor_value_info(name, kind, ["rows", *sizes]))

    def finish(self) -> Any:
        inputs = [
            self._helper.make_tensor_value_info(
                f.name, self.types.STRING if f.kind == "text" else self.types.DOUBLE, ["rows"]
            )
            for f in self.terms.features
        ]
        return self._helper.make_graph(
            self._nodes, "rgboost", inputs, self._outputs, list(self._constants.values())
        )


def _add_scores(graph: _Graph, contributions: bool) -> str:
    """The scores (rows, outputs), added in the order of the model."""
    terms = graph.terms.terms or (_nothing(graph.terms),)
    codes, tables = codes_of(terms), []
    for term in terms:
        if isinstance(term, Curve):
            tables.append(_add_curve(graph, term, codes[term.axis.feature]))
        else:
            tables.append(_add_pair(graph, term, codes))
    if contributions:
        places = graph.constant([1])
        wide = [graph.add("Unsqueeze", table, places) for table in tables]
        _output_contributions(graph, graph.add("Concat", *wide, axis=1))
    return graph.add("Sum", graph.constant(graph.terms.intercept[None]), *tables)


def _nothing(terms: Terms) -> Curve:
    """A curve that is zero: without terms nothing would tell how many rows there are."""
    text = terms.features[0].kind == "text"
    axis = Axis(0, np.empty(0), () if text else None)
    none = np.empty(0)
    return Curve(axis, np.zeros((axis.size, terms.outputs)), none, none, none)


def _output_contributions(graph: _Graph, value: str) -> None:
    sizes = [len(graph.terms.terms), graph.terms.outputs]
    if graph.terms.outputs == 1:
        value, sizes = graph.add("Squeeze", value, graph.constant([2])), sizes[:1]
    graph.output("contributions", value, graph.types.DOUBLE, *sizes)


def _add_curve(graph: _Graph, curve: Curve, codes: Codes) -> str:
    """What a curve adds: (rows, outputs)."""
    place, order = _add_place(graph, curve.axis, codes)
    table = curve.values[codes.bins(curve.axis)[order]]
    return graph.add("Gather", graph.constant(table), place)


def _add_pair(graph: _Graph, pair: Pair, codes: dict[int, Codes]) -> str:
    """What a pair adds: (rows, outputs)."""
    cells = []
    for axis, stride in zip(pair.axes, (pair.axes[1].size, 1), strict=True):
        place, order = _add_place(graph, axis, codes[axis.feature])
        steps = graph.constant(stride * codes[axis.feature].bins(axis)[order])
        cells.append(graph.add("Gather", steps, place))
    table = graph.constant(pair.values.reshape(-1, graph.terms.outputs))
    return graph.add("Gather", table, graph.add("Add", *cells))


def _add_place(graph: _Graph, axis: Axis, codes: Codes) -> tuple[str, NDArray[np.int64]]:
    """A number for every row, and the code that each of these numbers stands for."""
    feature = graph.terms.features[axis.feature]
    if feature.kind == "text":
        return _add_encoder(graph, feature.name, codes), np.arange(codes.missing + 1)
    if codes.categories is None:
        counted = graph.constant(np.append(codes.edges, np.inf)[None])
        order = np.append(codes.missing, np.arange(codes.unknown, -1, -1))
    else:  # a category is what lies between it and the number below it
        alone = np.array(codes.categories, np.float64)
        counted = graph.constant(np.append(_with_lower_ends(alone), np.inf)[None])
        order = np.full(2 * len(alone) + 2, codes.unknown)
        order[0] = codes.missing
        order[2::2] = np.arange(len(alone))[::-1]
    x = graph.add("Unsqueeze", feature.name, graph.constant([1]))
    below = graph.add("LessOrEqual", x, counted)
    numbers = graph.add("Cast", below, to=int(graph.types.INT32))
    return graph.add("ReduceSum", numbers, graph.constant([1]), keepdims=0), order


def _with_lower_ends(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each value after the number below it."""
    return np.column_stack([np.nextafter(values, -np.inf), values]).ravel()


def _add_encoder(graph: _Graph, name: str, codes: Codes) -> str:
    """The code of a string; an empty one is missing unless it is a category."""
    keys: dict[Any, int] = {"": codes.missing}
    keys |= {label: k for k, label in enumerate(codes.categories or ())}
    return graph.add(
        "LabelEncoder", name, keys_strings=list(keys), values_int64s=list(keys.values()),
        default_int64=codes.unknown,
    )  # fmt: skip


def _add_outputs(graph: _Graph, scores: str) -> None:
    """What the link makes of scores."""
    terms, double = graph.terms, graph.types.DOUBLE
    several = terms.outputs > 1
    one = scores if several else graph.add("Squeeze", scores, graph.constant([1]))
    if terms.classes is None:
        graph.output("prediction", _add_link(graph, one), double)
    else:
        _add_label(graph, one)
        if several:
            shares = graph.add("Softmax", scores, axis=1)
        else:
            second = _add_link(graph, scores)
            first = graph.add("Sub", graph.constant(1.0), second)
            shares = graph.add("Concat", first, second, axis=1)
        graph.output("probabilities", shares, double, len(terms.classes))
    graph.output("score", one, double, *([terms.outputs] if several else []))


def _add_label(graph: _Graph, scores: str) -> None:
    """The predicted class of every row."""
    terms, types = graph.terms, graph.types
    if terms.outputs > 1:
        chosen = graph.add("ArgMax", scores, axis=1, keepdims=0)
    else:
        positive = graph.add("Greater", scores, graph.constant(0.0))
        chosen = graph.add("Cast", positive, to=int(types.INT64))
    labels = np.array(terms.classes)
    kind = {"b": types.BOOL, "i": types.INT64, "f": types.DOUBLE}.get(labels.dtype.kind)
    if kind is None:
        labels, kind = np.array(terms.classes, object), types.STRING
    label = graph.add("Gather", graph.constant(labels), chosen)
    graph.output("prediction", label, kind)


def _add_link(graph: _Graph, scores: str) -> str:
    link = graph.terms.link
    if link.name == "log":
        ends = graph.constant(-700.0), graph.constant(700.0)
        return graph.add("Exp", graph.add("Clip", scores, *ends))
    if link.name == "logistic":
        return graph.add("Sigmoid", graph.add("Mul", scores, graph.constant(link.scale)))
    return scores
