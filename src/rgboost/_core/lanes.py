"""Eight numbers, or two, that are added at once; and numbers that are asked for before their time.

The compiler makes vectors of loops, not of eight additions in a row, and a loop of eight is
unrolled before it looks. So the vector is asked for. It does not know which rows come next, either.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 8


def add_lanes(values: Any, i: int, sums: Any, j: int) -> None:
    """Add the i-th eight of some values to the j-th eight of some sums, in double precision."""
    a, b = LANES * int(i), LANES * int(j)
    sums[b : b + LANES] += values[a : a + LANES]


def add_pair(values: Any, i: int, sums: Any, j: int) -> None:
    """Add the i-th two of some values to the j-th two of some sums, in double precision."""
    a, b = 2 * int(i), 2 * int(j)
    sums[b : b + 2] += values[a : a + 2]


def _adder(lanes: int) -> Any:
    """``(values, i, sums, j)``: add the i-th vector of some values to the j-th of some sums."""
    vector = ir.VectorType(ir.DoubleType(), lanes)

    @intrinsic
    def add_vector(typing_context, values, i, sums, j):
        def codegen(context, builder, signature, args):
            def place(array, number, kind):
                data = context.make_array(kind)(context, builder, array).data
                first = builder.mul(number, ir.Constant(number.type, lanes))
                return builder.bitcast(builder.gep(data, [first]), vector.as_pointer())

            source = place(args[0], args[1], signature.args[0])
            target = place(args[2], args[3], signature.args[2])
            total = builder.fadd(builder.load(target, align=8), builder.load(source, align=8))
            builder.store(total, target, align=8)
            return context.get_dummy_value()

        return types.void(values, types.int64, sums, types.int64), codegen

    return add_vector


_add_eight, _add_two = _adder(LANES), _adder(2)


@overload(add_lanes, inline="always")
def _eight(values, i, sums, j):
    return lambda values, i, sums, j: _add_eight(values, i, sums, j)


@overload(add_pair, inline="always")
def _two(values, i, sums, j):
    return lambda values, i, sums, j: _add_two(values, i, sums, j)


def fetch(values: Any, i: int) -> None:
    """Ask memory for the i-th of some values, which will be read soon."""


@intrinsic
def _fetch(typing_context, values, i):
    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(values, types.int64), codegen


@overload(fetch, inline="always")
def _fetch_it(values, i):
    return lambda values, i: _fetch(values, i)
