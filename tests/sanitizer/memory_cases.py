"""Planted bugs in memory accesses: out of bounds, misaligned, never written, and where the line is found."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.executors.empty import empty

from .case import Case, by_block, correlate, counts, floats, ints, shifted, zeros

TAPS = np.array([0.5, -1.0, 2.0, 0.25, 3.0])
ORDER = np.array([2, 0, 3, 1, 4], "i4")
WEIGHTS = np.arange(1, 6)


def eighths(rng: np.random.Generator, size: int) -> Any:
    """Multiples of 1/8 from 0 to 1, all of them."""
    return rng.permutation(np.arange(size) % 9 / 8).astype("f4")


def packed(rng: np.random.Generator, records: int) -> Any:
    """A header of four bytes and records of a float and an int, as bytes."""
    pairs = np.zeros(records, [("value", "f4"), ("index", "i4")])
    pairs["value"], pairs["index"] = floats(rng, records), ints(rng, records)
    return np.frombuffer(b"head" + pairs.tobytes(), "u1").copy()


def highest(x: Any, node: int) -> Any:
    """The largest value in the subtree of a node of a heap."""
    return max([x[node]] + [highest(x, child) for child in (2 * node + 1, 2 * node + 2) if 2 * node + 2 < x.size])


BOUNDS = [
    Case(
        "bounds_before_start",
        3,
        32,
        lambda rng: [empty(90, "f4"), floats(rng, 90), 90],
        lambda y, x, n: x - shifted(x, -1),
        space="global",
    ),
    Case(
        "bounds_write_after_end",
        3,
        32,
        lambda rng: [empty(77, "f4"), floats(rng, 77), 77],
        lambda y, x, n: shifted(x, -1),
        space="global",
    ),
    Case(
        "bounds_loop_off_by_one",
        1,
        32,
        lambda rng: [empty(11, "f4"), floats(rng, 11, 7), 11, 7],
        lambda y, x, *_: x.sum(1),
    ),
    Case(
        "bounds_wrong_stride",
        9,
        8,
        lambda rng: [empty((9, 5), "f4"), floats(rng, 9, 5), 9, 5],
        lambda y, x, *_: 1 - x,
    ),
    Case("bounds_last_block", 3, 64, lambda rng: [empty(150, "f4"), floats(rng, 150), 150], lambda y, x, n: 2 * x),
    Case(
        "bounds_negative_halo",
        2,
        32,
        lambda rng: [empty(50, "f4"), floats(rng, 50), floats(rng, 5), 50, 5],
        lambda y, x, w, *_: correlate(np.pad(x, 2), w, 50),
    ),
    Case(
        "bounds_float4_tail",
        1,
        32,
        lambda rng: [empty(22, "f4"), floats(rng, 86), 86],
        lambda y, x, n: np.pad(x, (0, 2)).reshape(-1, 4).sum(1),
    ),
    Case(
        "bounds_shared_past_end",
        2,
        64,
        lambda rng: [empty(100, "f4"), floats(rng, 100), 100],
        lambda y, x, n: x + shifted(x, 1),
        space="shared",
    ),
    Case(
        "bounds_shared_before_start",
        1,
        64,
        lambda rng: [empty(16, "i4"), ints(rng, 200, 3, 19), 7, 200],
        lambda y, x, first, n: counts(x[x >= first] - first, 16),
        space="shared",
    ),
    Case(
        "bounds_dynamic_shared",
        2,
        32,
        lambda rng: [empty(60, "f4"), floats(rng, 60), 60],
        lambda y, x, n: shifted(x, -1) + x + shifted(x, 1),
        space="shared",
        shared=32 * 4,
    ),
    Case(
        "bounds_local_past_end",
        2,
        32,
        lambda rng: [empty(45, "f4"), floats(rng, 45, 5), ORDER, 45, 5],
        lambda y, x, *_: x[:, :4] @ WEIGHTS[:4],
        space="local",
    ),
    Case(
        "bounds_constant_past_end",
        2,
        32,
        lambda rng: [empty(41, "f4"), floats(rng, 46), 41, 5],
        lambda y, x, *_: correlate(x, TAPS, 41),
        space="const",
    ),
    Case(
        "bounds_device_variable",
        2,
        32,
        lambda rng: [empty(50, "f4"), eighths(rng, 50), 50],
        lambda y, x, n: np.minimum(8 * x, 7) ** 2,
        space="global",
    ),
    Case("bounds_null_pointer", 2, 32, lambda rng: [empty(40, "f4"), floats(rng, 40), None, 40], lambda y, x, *_: x),
    Case(
        "bounds_unsigned_row",
        6,
        16,
        lambda rng: [empty((6, 13), "f4"), floats(rng, 6, 13), 13],
        lambda y, x, w: x - np.pad(x, ((1, 0), (0, 0)))[:-1],
    ),
    Case(
        "bounds_sizeof_twice",
        7,
        16,
        lambda rng: [empty((7, 11), "f4"), floats(rng, 7, 11), 11],
        lambda y, x, w: x * x,
    ),
    Case(
        "bounds_atomic",
        2,
        32,
        lambda rng: [zeros(8, dtype="i4"), eighths(rng, 50), 50, 8],
        lambda y, x, *_: counts(np.minimum(8 * x, 7).astype(int), 8),
    ),
    Case(
        "bounds_generic_pointer",
        1,
        32,
        lambda rng: [empty(32, "f4"), floats(rng, 33), 33],
        lambda y, x, n: (x[1:] + x[:-1]) ** 2,
        space="shared",
    ),
    Case(
        "bounds_wmma",
        1,
        32,
        lambda rng: [empty((16, 16), "f4"), floats(rng, 16, 24).astype("f2"), floats(rng, 32, 16).astype("f2"), 24],
        lambda y, a, b, k: a[:, :16].astype("f4") @ b[:16],
        space="global",
    ),
]

MISALIGNED = [
    Case(
        "misaligned_float4_global",
        1,
        32,
        lambda rng: [empty(20, "f4"), floats(rng, 81), 20],
        lambda y, x, n: x[1::4] * x[2::4] + x[3::4] * x[4::4],
        space="global",
    ),
    Case(
        "misaligned_float4_shared",
        1,
        (32, 8),
        lambda rng: [empty(64, "f4"), floats(rng, 256)],
        lambda y, x: x[0::4] + x[1::4] * x[2::4] - x[3::4],
        space="shared",
    ),
    Case(
        "misaligned_double",
        1,
        32,
        lambda rng: [empty(21, "f8"), floats(rng, 43), 21],
        lambda y, x, n: x[:42].view("f8"),
    ),
    Case(
        "misaligned_struct",
        1,
        32,
        lambda rng: [empty(19, "f4"), packed(rng, 19), 19],
        lambda y, x, n: x[4:].copy().view("f4")[::2] * x[4:].copy().view("i4")[1::2],
    ),
    Case(
        "misaligned_half2",
        5,
        16,
        lambda rng: [empty((5, 6), "f4"), floats(rng, 5, 13).astype("f2"), 13],
        lambda y, x, w: x[:, :12:2].astype("f4") - x[:, 1:12:2],
    ),
    Case(
        "misaligned_atomic",
        1,
        32,
        lambda rng: [zeros(4, dtype="u4"), ints(rng, 30), 30],
        lambda y, x, n: [30, 0, x.sum(), 0],
    ),
    Case(
        "misaligned_store",
        1,
        32,
        lambda rng: [zeros(51), floats(rng, 25), 25],
        lambda y, x, n: np.r_[0, np.stack([x, -x], 1).ravel()],
    ),
    Case(
        "misaligned_cp_async",
        2,
        32,
        lambda rng: [zeros(256), floats(rng, 2 * 131), 131],
        lambda y, x, w: x.reshape(2, 131)[:, 127::-1].ravel(),
    ),
    Case(
        "misaligned_ldmatrix",
        1,
        32,
        lambda rng: [empty(32, "u4"), floats(rng, 64).astype("f2")],
        lambda y, x: x.view("u4"),
        space="shared",
    ),
]

UNINITIALIZED = [
    Case(
        "uninit_tile_edge",
        2,
        64,
        lambda rng: [empty(100, "f4"), floats(rng, 100), 100],
        lambda y, x, n: shifted(x, -1) + shifted(x, 1),
        space="shared",
    ),
    Case(
        "uninit_buffer",
        2,
        32,
        lambda rng: [empty(50, "f4"), floats(rng, 50), empty(50, "f4"), 50],
        lambda y, x, *_: x * x + x,
        space="global",
    ),
    Case(
        "uninit_local",
        1,
        32,
        lambda rng: [empty(30, "f4"), floats(rng, 34), ORDER, 30],
        lambda y, x, *_: correlate(x, WEIGHTS, 30),
        space="local",
    ),
    Case(
        "uninit_accumulate",
        2,
        32,
        lambda rng: [empty(50, "f4"), floats(rng, 54), floats(rng, 5), 50, 5],
        lambda y, x, w, *_: correlate(x, w, 50),
        space="global",
    ),
    Case(
        "uninit_one_past_written",
        1,
        64,
        lambda rng: [empty(43, "f4"), floats(rng, 43), 43],
        lambda y, x, n: np.r_[x[1:], x[-1]] - x,
    ),
    Case(
        "uninit_counter",
        2,
        64,
        lambda rng: [empty(2, "i4"), floats(rng, 128)],
        lambda y, x: by_block(x, 64, lambda part: (part > 0).sum()),
    ),
    Case(
        "uninit_fourth_channel",
        1,
        32,
        lambda rng: [empty(32, "f4"), floats(rng, 3, 32)],
        lambda y, x: (WEIGHTS[:3] @ x)[::-1],
    ),
    Case(
        "uninit_bins",
        1,
        32,
        lambda rng: [empty(48, "i4"), ints(rng, 300, 0, 48), 300, 48],
        lambda y, x, *_: counts(x, 48),
        shared=48 * 4,
    ),
    Case(
        "uninit_histogram", 1, 64, lambda rng: [empty(8, "i4"), ints(rng, 60, 0, 8), 60], lambda y, x, n: counts(x, 8)
    ),
]

UNWRITTEN = [
    Case(
        "unwritten_last_column",
        6,
        32,
        lambda rng: [empty((6, 23), "f4"), floats(rng, 6, 23), 23],
        lambda y, x, w: x / 2,
        severity="warning",
    ),
    Case(
        "unwritten_tail",
        1,
        32,
        lambda rng: [empty(102, "f4"), floats(rng, 102), 102],
        lambda y, x, n: x + 1,
        severity="warning",
    ),
    Case(
        "unwritten_nan",
        4,
        32,
        lambda rng: [np.full((6, 23), np.nan, "f4"), floats(rng, 6, 23), 6, 23],
        lambda y, x, *_: 3 * x,
        severity="warning",
    ),
]

FRAMES = [
    Case(
        "frames_inlined",
        2,
        32,
        lambda rng: [empty(50, "f4"), floats(rng, 50), 50],
        lambda y, x, n: np.r_[x[1:], x[-1]] - 2 * x + np.r_[x[0], x[:-1]],
    ),
    Case(
        "frames_macro",
        6,
        16,
        lambda rng: [empty((6, 13), "f4"), floats(rng, 6, 13), 6, 13],
        lambda y, x, *_: np.pad(x, ((0, 1), (0, 0)))[1:] - x,
    ),
    Case(
        "frames_method",
        6,
        16,
        lambda rng: [empty((6, 13), "f4"), floats(rng, 6, 13), 6, 13],
        lambda y, x, *_: np.pad(x, ((1, 0), (0, 0)))[:-1] + x,
    ),
    Case(
        "frames_template",
        2,
        32,
        lambda rng: [empty(50, "f4"), floats(rng, 54), 54],
        lambda y, x, w: correlate(x, WEIGHTS, 50),
    ),
    Case(
        "frames_lambda",
        2,
        32,
        lambda rng: [empty(90, "f4"), floats(rng, 90), 90],
        lambda y, x, n: x * np.r_[x[1:], x[-1]],
    ),
    Case(
        "frames_toolkit",
        2,
        32,
        lambda rng: [empty(50, "f4"), floats(rng, 50), 50],
        lambda y, x, n: x - shifted(x, 1),
    ),
    Case(
        "frames_recursion",
        1,
        8,
        lambda rng: [empty(8, "f4"), floats(rng, 15), 15],
        lambda y, x, n: [highest(x, node) for node in range(8)],
    ),
]
