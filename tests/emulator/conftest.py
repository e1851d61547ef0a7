"""Small PTX kernels by hand: one instruction between loads and stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from convlab.emulator import Buffer, Result, parse, run

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}


def kernel(body: str, params: int = 1, head: str = HEAD) -> str:
    """A kernel ``f`` with pointers p0, p1, … in %rd0, %rd1, …, and the thread's number in %r0."""
    declared = ", ".join(f".param .u64 p{n}" for n in range(params))
    loads = "\n".join(f"ld.param.u64 %rd{n}, [p{n}];" for n in range(params))
    return (
        f"{head}.visible .entry f({declared}) {{\n"
        ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .b64 %rd<24>;\n"
        f"{loads}\nmov.u32 %r0, %tid.x;\n{body}\nret;\n}}\n"
    )


def launch(text: str, *arrays: Any, grid: Any = (1, 1, 1), block: Any = None, **options: Any) -> Result:
    """Run the only kernel of a PTX text on arrays, one thread for each element of the first."""
    entry = next(iter(parse(text).entries.values()))
    buffers = [a if a is None or isinstance(a, bytes | Buffer) else Buffer(f"p{n}", a) for n, a in enumerate(arrays)]
    shape = (arrays[0].size, 1, 1) if block is None else block
    return run(entry, grid, shape, buffers, **options)


@pytest.fixture
def elementwise() -> Callable[..., Any]:
    """Apply one instruction to arrays, lane by lane: ``elementwise("add.s32", "i4", a, b)``."""

    def apply(opcode: str, result: str, *inputs: Any) -> Any:
        out = np.zeros(inputs[0].size, result)
        lines = []
        for n, array in enumerate(inputs, start=1):
            size = array.itemsize
            lines += [
                f"mul.wide.u32 %rd10, %r0, {size};",
                f"add.s64 %rd11, %rd{n}, %rd10;",
                f"ld.global.b{8 * size} %in{n}, [%rd11];",
            ]
        size = out.itemsize
        operands = ", ".join(f"%in{n}" for n in range(1, len(inputs) + 1))
        lines += [
            f"{opcode} %out, {operands};",
            f"mul.wide.u32 %rd10, %r0, {size};",
            "add.s64 %rd11, %rd0, %rd10;",
            f"st.global.b{8 * size} [%rd11], %out;",
        ]
        declared = [f".reg .{REGISTERS[array.itemsize]} %in{n};" for n, array in enumerate(inputs, start=1)]
        declared.append(f".reg .{REGISTERS[size]} %out;")
        launch(kernel("\n".join(declared + lines), len(inputs) + 1), out, *inputs)
        return out

    return apply
