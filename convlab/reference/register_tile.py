"""The register tile: a small block of a matrix product whose sums stay in the CPU's registers until they are complete.

Numba's compiler keeps single numbers in registers, but an array it keeps in memory, so that every addition to a tile
loads a vector and stores it again. Here the tile is written for LLVM, the compiler below Numba, in LLVM's own vector
type: TM sums of TN numbers each, all in registers over the whole depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

__all__ = ["TM", "TN", "register_tile"]

# Sums must fill most of the registers and leave some: 14 of 32 with AVX-512, 12 of 16 with AVX2, 24 of 32 with NEON.
# LLVM splits a vector of TN numbers into as many registers as it takes.
TM, TN = (7, 32) if binding.get_host_cpu_features().get("avx512f") else (6, 16)

_FLOAT, _INT, _INDEX = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, TN)
_FUSE: tuple[str, ...] = ("contract",)  # a multiplication and an addition may become one fused multiply-add


@intrinsic
def register_tile(
    _context: Any, sums: Any, to: Any, a: Any, at: Any, step: Any, panel: Any, first: Any, depth: Any
) -> tuple[Any, Callable[..., Any]]:
    """Add TM rows of ``a`` times a panel of TN columns to a tile of sums, in compiled code only.

    >>> import numpy as np
    >>> from numba import njit
    >>> @njit
    ... def multiply(sums, a, panel):  # (TM, TN), (TM, K), (K, TN), all flattened
    ...     depth = len(a) // TM
    ...     register_tile(sums, 0, a, 0, depth, panel, 0, depth)
    >>> a, panel, sums = np.ones((TM, 5), "f4"), np.ones((5, TN), "f4"), np.zeros((TM, TN), "f4")
    >>> multiply(sums.ravel(), a.ravel(), panel.ravel())
    >>> bool((sums == 5).all())
    True

    Parameters: ``sums``, ``a`` and ``panel`` are flat float32 arrays, contiguous. The tile's TM·TN sums begin
    at ``to``; row i of ``a`` begins at ``at + i·step`` and has ``depth`` numbers, at least one; the panel's
    ``depth`` rows of TN numbers begin at ``first``. Nothing is checked: all TM rows are read.

    Source: Goto and van de Geijn, Anatomy of high-performance matrix multiplication (2008), the inner kernel.
    """
    index = types.intp
    return types.void(sums, index, a, index, index, panel, index, index), _write_tile


def _write_tile(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the tile's code: load the sums, loop over the depth, store the sums."""
    _, to, _, at, step, _, first, depth = arguments

    def place_in(array: int, offset: Any) -> Any:
        data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
        return builder.gep(data, [offset])

    tile = builder.bitcast(place_in(0, to), _VECTOR.as_pointer())
    panel = builder.bitcast(place_in(5, first), _VECTOR.as_pointer())
    top = place_in(2, at)
    rows = [builder.gep(top, [builder.mul(step, _INDEX(i))]) for i in range(TM)]
    places = [builder.gep(tile, [_INDEX(i)]) for i in range(TM)]
    sums = [builder.load(place, align=4) for place in places]
    for place, total in zip(places, _write_loop(builder, sums, rows, panel, depth), strict=True):
        builder.store(total, place, align=4)
    return context.get_dummy_value()


def _write_loop(builder: Any, sums: Any, rows: Any, panel: Any, depth: Any) -> Any:
    """Write the loop over the depth, in which each sum is a value that changes from turn to turn; give the last."""
    before, loop, after = builder.block, builder.append_basic_block("depth"), builder.append_basic_block("end")
    builder.branch(loop)
    builder.position_at_end(loop)
    k, *totals = (builder.phi(kind) for kind in (_INDEX, *[_VECTOR] * TM))
    vector = builder.load(builder.gep(panel, [k]), align=4)  # (TN,)
    news = [builder.add(k, _INDEX(1))]
    for row, total in zip(rows, totals, strict=True):
        product = builder.fmul(_spread(builder, builder.load(builder.gep(row, [k]))), vector, flags=_FUSE)
        news.append(builder.fadd(product, total, flags=_FUSE))
    for value, first, new in zip((k, *totals), (_INDEX(0), *sums), news, strict=True):
        value.add_incoming(first, before)
        value.add_incoming(new, loop)
    builder.cbranch(builder.icmp_signed("<", news[0], depth), loop, after)
    builder.position_at_end(after)
    return news[1:]


def _spread(builder: Any, number: Any) -> Any:
    """Write a vector that holds one number TN times."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(nothing, number, _INT(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_INT, TN), [0] * TN))
