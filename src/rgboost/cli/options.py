"""Options that are generated: the estimators' parameters, and those that every command has."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from .errors import CommandError, ExitCode
from .losses import read_loss

_DEBUG = inspect.Parameter(
    "debug",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")],
)


def with_debug(function: Callable[..., None]) -> Callable[..., None]:
    """``function`` with an option --debug, which the program itself looks at."""

    @functools.wraps(function)
    def command(*args: Any, debug: bool = False, **kwargs: Any) -> None:
        function(*args, **kwargs)

    _set_parameters(command, [*_parameters(function), _DEBUG])
    return command


def with_estimator_parameters(
    function: Callable[..., None], without: tuple[str, ...] = ()
) -> Callable[..., None]:
    """``function`` with an option for every parameter of the estimators but those ``without``.

    ``function`` gets those that were given as one dictionary, its argument ``parameters``.
    """
    found = [one for one in estimator_parameters() if one.name not in without]

    @functools.wraps(function)
    def command(**kwargs: Any) -> None:
        texts = {one.name: kwargs.pop(one.name) for one in found}
        given = {name: _value(text, name) for name, text in texts.items() if text is not None}
        given = {**PROGRAM_DEFAULTS, **given}
        function(**kwargs, parameters=given)

    own = [one for one in _parameters(function) if one.name != "parameters"]
    _set_parameters(command, [*own, *(one.option() for one in found)])
    return command


@dataclass(frozen=True)
class EstimatorParameter:
    """A parameter as the estimators' signatures and docstrings have it."""

    name: str
    type: str
    meaning: str
    default: str

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    def words(self) -> list[str]:
        """The values that are words, for the completion of the shell."""
        return re.findall(r'"([^"]+)"', self.type)

    def option(self) -> inspect.Parameter:
        about = f"{self.meaning} ({self.type}; default: {self.default})"
        info = typer.Option(
            self.flag,
            metavar="VALUE",
            help=about,
            show_default=False,
            autocompletion=lambda: self.words(),
        )
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[str | None, info],
        )


OBJECTS = ("callbacks",)
"""Parameters whose values cannot be written on a command line."""


PROGRAM_DEFAULTS = {"verbose": 1}
"""Where the program's default is not the estimators'."""


def estimator_parameters() -> list[EstimatorParameter]:
    """The parameters of the two estimators, in the order of their signatures."""
    from ..estimators import RGBMClassifier, RGBMRegressor

    regressor, classifier = _defaults(RGBMRegressor), _defaults(RGBMClassifier)
    documented = _both(_documented(RGBMRegressor), _documented(RGBMClassifier))
    regressor, classifier = regressor | PROGRAM_DEFAULTS, classifier | PROGRAM_DEFAULTS
    return [
        EstimatorParameter(name, *documented[name], _default(name, regressor, classifier))
        for name in {**regressor, **classifier}
        if name not in OBJECTS
    ]


def _defaults(estimator: type) -> dict[str, Any]:
    every = inspect.signature(estimator).parameters.values()
    return {one.name: one.default for one in every}


def _default(name: str, regressor: dict[str, Any], classifier: dict[str, Any]) -> str:
    if name not in classifier or name not in regressor:
        task = "regression" if name in regressor else "classification"
        return f"{_word({**regressor, **classifier}[name])}; only for {task}"
    if regressor[name] == classifier[name]:
        return _word(regressor[name])
    return f"{_word(regressor[name])}, for classes {_word(classifier[name])}"


def _word(value: Any) -> str:
    return value if isinstance(value, str) else str(value).lower()


def _both(
    regressor: dict[str, tuple[str, str]], classifier: dict[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """What the two docstrings say; where they differ, both."""
    found = {**classifier, **regressor}
    for name in regressor.keys() & classifier.keys():
        (kind, ours), (_, theirs) = regressor[name], classifier[name]
        if ours != theirs:
            found[name] = kind, f"{ours}; for classes: {theirs}"
    return found


def _documented(estimator: type) -> dict[str, tuple[str, str]]:
    """Type and meaning of every parameter in the docstring."""
    text = inspect.getdoc(estimator) or ""
    section = text.partition("Parameters\n----------\n")[2].partition("\nAttributes\n-----")[0]
    return {
        name: (_unquote(kind), _first_sentence(_unquote(" ".join(body.split()))))
        for name, kind, body in _entries(section)
    }


def _entries(section: str) -> Iterator[tuple[str, str, str]]:
    entry = re.compile(r"^(\w[\w, ]*) : (.*)\n((?:[ \t]+.*\n?|\n)*)", flags=re.MULTILINE)
    for names, kind, body in entry.findall(section):
        for name in names.split(", "):
            yield name, kind, body


def _unquote(text: str) -> str:
    return text.replace("`", "")


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[^.][.:])\s+(?=[A-Z\"])", text, maxsplit=1)[0].rstrip(".:")


def _value(text: str, name: str) -> Any:
    """The value of a parameter."""
    return read_loss(text) if name == "loss" else literal(text, name)


def literal(text: str, name: str) -> Any:
    """The value that a text stands for: none, true, false, a number, JSON, or the text itself."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise CommandError(
                f"{name}={text!r} is not JSON ({error}), write lists as [1, 2] and texts in "
                "double quotes",
                ExitCode.USAGE,
            ) from error
    return text


def _parameters(function: Callable[..., None]) -> list[inspect.Parameter]:
    return list(inspect.signature(function, eval_str=True).parameters.values())


def _set_parameters(function: Callable[..., None], parameters: list[inspect.Parameter]) -> None:
    """What typer reads instead of the signature in the source."""
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in parameters}
