"""Functions that others call are compiled as a part of those others, and not by themselves.

Numba optimises each function and makes machine code of it when the first caller is compiled, links
it into the caller, and optimises it there again: of a tree of functions the leaves are optimised as
often as the tree is deep. Here a function that is compiled because another one calls it stays
unoptimised until it is linked into one that Python calls; that saves a third of the time. If Python
calls it later, it is compiled once more, then by itself.
"""

from __future__ import annotations

from typing import Any

from numba.core import sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from . import compiling


class _Part(JITCodeLibrary):
    """The code of a function that is to be linked into others: there is nothing to run."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironment()


class _NoEnvironment:
    """Where Numba puts what a running function needs. A part does not run."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class PartCompiler(Compiler):
    """Makes a part of a function that is compiled on behalf of another one."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        if compiling.depth() > 1:
            flags.no_cpython_wrapper = True
            library = _Part(targetctx.codegen(), "part")
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


class Kernel(CPUDispatcher):
    """A compiled function. Python finds those of its versions that were compiled for Python."""

    @global_compiler_lock
    def compile(self, sig: Any) -> Any:
        args, _ = sigutils.normalize_signature(sig)
        existing = self.overloads.get(tuple(args))
        if existing is not None and compiling.depth() == 0 and is_part(existing):
            del self.overloads[tuple(args)]
        return super().compile(sig)

    def add_overload(self, compiled: Any) -> None:
        if is_part(compiled):
            self.overloads[tuple(compiled.signature.args)] = compiled
        else:
            super().add_overload(compiled)


def is_part(compiled: Any) -> bool:
    """Whether what was compiled is for other functions only."""
    return isinstance(compiled.library, _Part)
