"""``rgboost warm-up``."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from ..show.output import AsJson, print_json, print_lines


def warm_up(
    jobs: Annotated[int | None, typer.Option(help="Processes at a time, -1 for all cores.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compile ahead of time what fits at the defaults need.

    For images and CI: the first fit on a machine compiles for some seconds otherwise. Where the
    compiled code is kept: docs/install.md, "New machines and containers".
    """
    from ... import warming

    began = time.perf_counter()
    warming.warm_up(jobs, verbose=not as_json)
    seconds = time.perf_counter() - began
    if as_json:
        print_json({"fits": len(warming.PATHS), "seconds": seconds})
    else:
        print_lines([f"{len(warming.PATHS)} kinds of fits are compiled, {seconds:.0f} s"])
