"""How this package compiles: one decorator for kernels, one for functions chosen by type.

Numba facts that shape the code (0.61 to 0.68):

- A module-level kernel is found in the disk cache (`rgboost._core.cache`) by the next process; a
  jitted function passed as an argument, a closure or a jitclass is not. So kernels take *data*:
  a ``NamedTuple`` of arrays, whose class tells the compiler which weak-learner family or loss it
  is. `by_type` picks the function for that class at compile time.
- A callee inherits the caller's fastmath flags. Only ``contract`` (fused multiply-add) is on,
  because re-association would break the exact range reduction in `rgboost._core.math`; but for
  `reduction`.
- ``nogil`` lets several Python threads run kernels at once (see `rgboost._core.team`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import config
from numba.extending import overload

from .cache import KernelCache
from .linking import Kernel, PartCompiler

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract"},
    "no_cfunc_wrapper": True,  # nobody calls kernels from C; compiling is a tenth faster
}


def _compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``njit(cache=True)``, but for how functions are linked and where code is kept."""

    def decorate(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        options["nopython"] = True
        compiled = Kernel(function, targetoptions=options, pipeline_class=PartCompiler)
        compiled._cache = KernelCache(function)
        return compiled

    return decorate


scalar = functools.partial(_compiled, forceinline=True, **_OPTIONS)
"""``@scalar()``: always inlined. For the formula of one row, so that the loop around it vectorises;
and for work on one short column, where a call would cost more (it counts the references of every
array in every tuple that it is given)."""

kernel = functools.partial(_compiled, **_OPTIONS)
"""``@kernel()``: compile a module-level function, release the GIL, cache it on disk."""

reduction = functools.partial(_compiled, **{**_OPTIONS, "fastmath": {"contract", "reassoc", "nsz"}})
"""``@reduction()``: a kernel that does nothing but a sum, in the order that suits the machine."""


_READY: set[Any] = set()
"""Functions and the types of arguments that they were compiled for."""


def ready(function: Any, *args: Any) -> None:
    """Compile a kernel for such arguments, or load it, before several threads call it.

    Numba lets threads compile one after the other, but not all that it keeps meanwhile is safe: in
    rare cases the second one fails.
    """
    if not hasattr(function, "typeof_pyval"):  # without JIT, a plain function
        return
    key = function, _types(args)
    if key in _READY:
        return
    function.compile(tuple(function.typeof_pyval(one) for one in args))
    _READY.add(key)


def _types(value: Any) -> Any:
    """What the type of a value depends on: cheaper than ``numba.typeof``."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = flags.c_contiguous, flags.f_contiguous, flags.writeable
        return value.dtype, value.ndim, *layout
    if isinstance(value, tuple):
        return type(value), *map(_types, value)
    return type(value)


def by_type(
    declaration: Callable[..., Any] | None = None,
    *,
    inline: bool = False,
    otherwise: Callable[..., Any] | None = None,
) -> Any:
    """Make ``declaration`` a function whose body is chosen by the class of its first argument.

    The class is a ``NamedTuple``. ``function.register(SomeTuple)`` adds a body; it is a plain
    Python function with the argument names of the declaration. Compiled code resolves the call
    while compiling, Python code while running. ``inline`` is for formulas of one row. ``otherwise``
    is the body for classes that have none of their own. ``function.body_of(SomeTuple)`` is the one
    that is chosen.
    """
    if declaration is None:
        return functools.partial(by_type, inline=inline, otherwise=otherwise)
    bodies: dict[type, Callable[..., Any]] = {}

    @functools.wraps(declaration)
    def dispatch(*args: Any) -> Any:
        body = bodies.get(type(args[0]), otherwise)
        if body is None:
            raise TypeError(f"{declaration.__name__} has no body for {type(args[0]).__name__}.")
        return body(*args)

    def typed(*args: Any) -> Any:
        return bodies.get(getattr(args[0], "instance_class", type(None)), otherwise)

    typed.__signature__ = inspect.signature(declaration)  # type: ignore[attr-defined]
    options = {**_OPTIONS, "no_cpython_wrapper": True, "forceinline": inline}
    options["pipeline_class"] = PartCompiler
    overload(dispatch, strict=False, jit_options=options)(typed)

    def register(tuple_class: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def add(body: Callable[..., Any]) -> Callable[..., Any]:
            bodies[tuple_class] = body
            return body

        return add

    def body_of(tuple_class: type) -> Callable[..., Any] | None:
        return bodies.get(tuple_class, otherwise)

    dispatch.register = register  # type: ignore[attr-defined]
    dispatch.body_of = body_of  # type: ignore[attr-defined]
    return dispatch
