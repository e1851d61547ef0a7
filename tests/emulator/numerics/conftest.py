"""Fixtures for instructions whose result is a predicate, or needs more than one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ..conftest import REGISTERS, kernel, launch


@pytest.fixture
def lines() -> Callable[..., Any]:
    """Run lines that read ``%in1``, ``%in2`` … and write ``%out``."""

    def apply(text: str, result: str, *inputs: Any) -> Any:
        out = np.zeros(inputs[0].size, result)
        loads = [
            f".reg .{REGISTERS[x.itemsize]} %in{n}; mul.wide.u32 %rd10, %r0, {x.itemsize};"
            f"add.s64 %rd11, %rd{n}, %rd10;"
            f"ld.global.b{8 * x.itemsize} %in{n}, [%rd11];"
            for n, x in enumerate(inputs, start=1)
        ]
        size = out.itemsize
        store = f"mul.wide.u32 %rd10, %r0, {size}; add.s64 %rd11, %rd0, %rd10; st.global.b{8 * size} [%rd11], %out;"
        declared = f".reg .{REGISTERS[size]} %out;"
        launch(kernel("\n".join([declared, *loads, text, store]), len(inputs) + 1), out, *inputs)
        return out

    return apply


@pytest.fixture
def predicate(lines: Callable[..., Any]) -> Callable[..., list[bool]]:
    """Run lines that write ``%p1``, and see it lane by lane."""

    def apply(text: str, *inputs: Any) -> list[bool]:
        return [bool(v) for v in lines(f"{text} selp.b32 %out, 1, 0, %p1;", "i4", *inputs)]

    return apply
