"""The program: which commands there are, and how it ends."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from .errors import ExitCode, tell
from .options import with_debug

COMMANDS = {
    "fit": "Fit a model to a file and store it.",
    "compare": "What a readable model costs, on held-out rows.",
    "predict": "Predict the rows of a file with a stored model.",
    "explain": "Draw what a stored model has learnt, as a page for the browser.",
    "edit": "Make the edits of a file to a stored model, which stays as it is.",
    "report": "How well a model does on the rows of a file, and what it would say if.",
    "export": "Write a stored model as ONNX, SQL, JSON, Python or JavaScript.",
    "reproduce": "The paper's experiments: figures, tables and verdicts.",
    "theory": "The paper's figures of its theory.",
    "bench": "Measure the speed on this machine.",
    "warm-up": "Compile ahead of time what fits need: for images and CI.",
    "info": "Versions and settings, for a bug report.",
}
"""Name and help of every command. Command ``x-y`` is the function ``x_y`` of
``rgboost.cli.commands.x_y``, or the `typer.Typer` called ``app`` there. A command whose file
does not exist is left out."""


def _function(name: str) -> str:
    return name.replace("-", "_")


def _module(name: str) -> str:
    return f"{__package__}.commands.{_function(name)}"


@contextmanager
def quick_imports() -> Iterator[None]:
    """Import within. The collector rests meanwhile (it would take a fifth of the time) and does not
    visit these objects later, not at the end of the process either."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def load_command(name: str) -> Any:
    """The command, ready to run."""
    with quick_imports():
        module = importlib.import_module(_module(name))
    sub = getattr(module, "app", None)
    if sub is None:
        sub = typer.Typer(add_completion=False, rich_markup_mode=None)
        sub.command(name)(with_debug(getattr(module, _function(name))))
    command = typer.main.get_command(sub)
    command.name = name
    return command


class _Commands(typer.core.TyperGroup):
    """Lists the commands by their names and imports only the one that is asked for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and command.name is not None:
            command = load_command(command.name)
        return name, command, rest


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="Exits: 1 bug, 2 usage, 3 data, 4 output, 5 package, 6 memory, 130 Ctrl-C.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"rgboost {version('rgboost')}")
        raise typer.Exit


@app.callback()
def rgboost(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Randomized Gradient Boosting Machines: fast additive models."""


def _never_called() -> None:
    """Stands for a command in the list; `_Commands` puts the real one in its place."""


for _name, _help in COMMANDS.items():
    if importlib.util.find_spec(_module(_name)):
        app.command(_name, help=_help)(_never_called)


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit; faults are told in a line, not as a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        code = _run(arguments)
        sys.stdout.flush()  # a full disk shows here at the latest
    except BrokenPipeError:  # the reader of our output has gone: nobody to tell
        _forget_output()
        code = ExitCode.OUTPUT
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in arguments:
            traceback.print_exc()
        code = tell(error, as_json="--json" in arguments)
        try:
            sys.stdout.flush()
        except OSError:
            _forget_output()
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    try:
        app(args=arguments, prog_name="rgboost")
    except SystemExit as end:  # how typer returns
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        return end.code if isinstance(end.code, int) else 0
    return 0


def _forget_output() -> None:
    """Keep the interpreter from complaining about what it cannot write when it ends."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
