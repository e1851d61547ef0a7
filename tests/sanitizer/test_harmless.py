"""Kernels that look like bugs and are none give no report, and compute what NumPy does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch

from .case import by_block, counts, floats, ints, zeros

SOURCE = Path(__file__).with_name("harmless.cu").read_text(encoding="utf-8")
LANES = np.arange(128)


def longest_run(x):
    """The sum of the first longest run of rising numbers of each six in a row."""
    sums = []
    for at in range(len(x) - 5):
        run, best = [], []
        for value in x[at : at + 6].tolist():
            run = [*run, value] if run and value >= run[-1] else [value]
            best = max(best, run, key=len)
        sums.append(sum(best))
    return np.array(sums)


# Name, grid, block, arguments (the output first), and the output from the other arguments.
KERNELS = [
    ("own_total", 1, 96, lambda rng: [empty(96, "i4"), ints(rng, 2)], lambda x: np.r_[x[0] + x[1], np.zeros(95)]),
    ("same_value", 2, 64, lambda rng: [empty(64, "i4")], lambda: np.ones(64)),
    ("tile_groups", 1, 128, lambda rng: [empty(128, "i4"), ints(rng, 128)], lambda x: by_block(x, 8, np.flip)[::-1]),
    ("warp_exchange", 1, 128, lambda rng: [empty(128, "i4"), ints(rng, 128)], lambda x: x[LANES ^ 17] + 1),
    ("half_warps", 1, 32, lambda rng: [empty(32, "i4"), ints(rng, 32)], lambda x: np.r_[x[15::-1], 2 * x[:15:-1]]),
    (
        "handoff",
        1,
        64,
        lambda rng: [empty(32, "f4"), floats(rng, 7, 32), 7],
        lambda x, n: np.arange(1, 8) @ x[:, ::-1],
    ),
    ("ended_warp", 1, 96, lambda rng: [empty(64, "i4"), ints(rng, 64)], lambda x: x[::-1]),
    (
        "last_block",
        3,
        64,
        lambda rng: [empty(1, "i4"), empty(3, "i4"), zeros(1, dtype="u4"), ints(rng, 192)],
        lambda partial, done, x: [x.sum()],
    ),
    ("bytes", 1, 64, lambda rng: [empty(100, "u1"), ints(rng, 100)], lambda x: x[::-1] & 1),
    (
        "struct_with_holes",
        1,
        32,
        lambda rng: [empty(32, "f8"), floats(rng, 32).astype("f8")],
        lambda x: (x + 3 * LANES[:32])[::-1],
    ),
    (
        "pairs_of_halves",
        1,
        64,
        lambda rng: [empty(64, "f2"), floats(rng, 64).astype("f2")],
        lambda x: np.repeat(x[::2] + x[1::2], 2),
    ),
    ("mixed_atomics", 1, 64, lambda rng: [empty(8, "i4"), ints(rng, 64)], lambda x: counts(x & 7, 8)),
    (
        "three_stages",
        1,
        32,
        lambda rng: [empty(32, "f4"), floats(rng, 7, 128), 7],
        lambda x, n: np.arange(1, 8) @ x[:, :95:-1],
    ),
    (
        "zero_filled",
        1,
        32,
        lambda rng: [empty(128, "f4"), floats(rng, 104), 102],
        lambda x, n: np.pad(x[:n], (0, 26))[::-1],
    ),
    (
        "counting_barrier",
        1,
        64,
        lambda rng: [empty(64, "i4"), ints(rng, 64)],
        lambda x: x[::-1] + (x > 50).sum(),
    ),
    (
        "idle_threads",
        3,
        64,
        lambda rng: [empty(3, "f4"), floats(rng, 150), 150],
        lambda x, n: by_block(np.pad(x, (0, 42)), 64, np.sum),
    ),
    (
        "three_of_four",
        2,
        64,
        lambda rng: [empty(64, "i4"), ints(rng, 8)],
        lambda x: np.tile(x.reshape(2, 4)[:, :3] @ [1, 2, 3], 32),
    ),
    ("longest_run", 1, 40, lambda rng: [empty(40, "i4"), ints(rng, 45)], longest_run),
    (
        "critical_section",
        1,
        64,
        lambda rng: [empty(64, "i4"), ints(rng, 64)],
        lambda x: np.full(64, x.sum()),
    ),
]


@pytest.mark.parametrize(
    ("name", "grid", "block", "arguments", "expected"), KERNELS, ids=[kernel[0] for kernel in KERNELS]
)
def test_a_harmless_kernel_gives_no_fault(name, grid, block, arguments, expected):
    result, *rest = arguments(np.random.default_rng(4))
    wanted = expected(*[each.copy() if isinstance(each, np.ndarray) else each for each in rest])
    kernel = compile(SOURCE, "harmless.cu").kernels[name]
    run = launch(kernel, grid, block, [result, *rest], device="emulator", faults="record")
    assert run.faults == []
    np.testing.assert_allclose(result, wanted, rtol=1e-5 if result.dtype.kind == "f" else 0, atol=1e-5)


def test_every_harmless_kernel_is_run():
    assert set(compile(SOURCE, "harmless.cu").kernels) == {kernel[0] for kernel in KERNELS}
