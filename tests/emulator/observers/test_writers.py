"""Which block wrote what."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.observers.writers import Writers
from convlab.executors.compile import compile
from convlab.executors.launch import launch

HEAD = 'extern "C" __global__ void f(const float* x, float* y) {\n'
INDEX = "int b = blockIdx.x + 3 * blockIdx.y, t = threadIdx.x;\n"


def blocks(body: str, shape: tuple[int, ...] = (6, 8)) -> np.ndarray:
    """What each of 3×2 blocks of 8 threads wrote of y."""
    kernel = compile(f"{HEAD}{INDEX}{body}\n}}").kernels["f"]
    y = np.zeros(shape, "f4")
    writers = Writers(y)
    launch(kernel, (3, 2), 8, [np.ones(64, "f4"), y], device="emulator", faults="record", observers=[writers])
    return writers.blocks()


def test_each_element_bears_its_block() -> None:
    x, y, z = blocks("y[8 * b + t] = x[t];")
    assert np.array_equal(x, np.repeat([0, 1, 2, 0, 1, 2], 8).reshape(6, 8))
    assert np.array_equal(y, np.repeat([0, 0, 0, 1, 1, 1], 8).reshape(6, 8))
    assert not z.any()


def test_what_nobody_wrote_has_no_block_and_reading_or_leaving_the_array_is_no_writing() -> None:
    found = blocks("if (b == 4) y[8 * b + t] = y[t] + x[t]; if (b == 5) y[48 + t] = 1;")
    assert np.array_equal(np.argwhere(found[0] >= 0)[:, 0], np.full(8, 4))
    assert found[:, 4, 0].tolist() == [1, 1, 0]
    assert (np.delete(found, 4, axis=1) == -1).all()


@pytest.mark.parametrize(
    "body",
    [
        "if (t < 2) ((float4*)y)[2 * b + t] = make_float4(x[0], x[1], x[2], x[3]);",
        "atomicAdd(&y[8 * b + t], x[t]);",
    ],
)
def test_wide_stores_and_atomics_write(body: str) -> None:
    x, y, _ = blocks(body)
    assert np.array_equal(x + 3 * y, np.repeat(np.arange(6), 8).reshape(6, 8))


def test_the_last_writer_stands() -> None:
    x, y, _ = blocks("if (b == 0) y[t] = 1; else y[8 + t] = b;")
    assert (x[0] + 3 * y[0] == 0).all()
    assert (x[1] + 3 * y[1] > 0).all()
