"""Planted bugs between threads: races, barriers, endless loops, shuffles, and kernels that end themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.executors.empty import empty

from .case import Case, by_block, counts, floats, ints, shifted, zeros

BITS = 1 << np.arange(32)  # a lane's bit in a mask


def one_above(rng: np.random.Generator, size: int, at: list[int]) -> Any:
    """Numbers below 1, and 3 at a few places."""
    x = floats(rng, size)
    x[at] = 3.0
    return x


RACES = [
    Case(
        "race_tile",
        2,
        64,
        lambda rng: [empty(128, "f4"), floats(rng, 128)],
        lambda y, x: by_block(x, 64, np.flip),
        space="shared",
    ),
    Case(
        "race_next_tile",
        1,
        64,
        lambda rng: [empty(64, "f4"), floats(rng, 7, 64), 7],
        lambda y, x, n: (x - 2 * np.roll(x, 32, 1)).sum(0),
    ),
    Case(
        "race_reduction",
        3,
        128,
        lambda rng: [empty(3, "i4"), ints(rng, 384)],
        lambda y, x: by_block(x, 128, np.sum),
    ),
    Case(
        "race_two_writers",
        2,
        64,
        lambda rng: [empty(2, "i4"), one_above(rng, 128, [3, 40, 41, 64 + 7, 64 + 63])],
        lambda y, x: [3, 7],
    ),
    Case(
        "race_halo",
        3,
        64,
        lambda rng: [empty(150, "f4"), floats(rng, 150), 150],
        lambda y, x, n: shifted(x, -1) + 2 * x + shifted(x, 1),
    ),
    Case(
        "race_histogram",
        1,
        64,
        lambda rng: [empty(16, "i4"), ints(rng, 300, 0, 16), 300],
        lambda y, x, n: counts(x, 16),
    ),
    Case(
        "race_atomic_and_store",
        2,
        64,
        lambda rng: [empty(2, "i4"), ints(rng, 128)],
        lambda y, x: by_block(x, 64, np.sum),
    ),
    Case(
        "race_read_of_counter",
        2,
        64,
        lambda rng: [empty(128, "i4"), floats(rng, 128)],
        lambda y, x: by_block(x, 64, lambda part: np.full(64, (part > 0).sum())),
    ),
    Case("race_scan", 1, 64, lambda rng: [empty(64, "i4"), ints(rng, 64)], lambda y, x: np.cumsum(x)),
    Case(
        "race_double_buffer",
        1,
        64,
        lambda rng: [empty(64, "f4"), floats(rng, 7, 64), 7],
        lambda y, x, n: np.arange(1, 8) @ x[:, ::-1],
    ),
    Case(
        "race_transpose",
        (3, 2),
        (16, 16),
        lambda rng: [empty((41, 27), "f4"), floats(rng, 27, 41), 27, 41],
        lambda y, x, *_: x.T,
    ),
    Case(
        "race_warp_reduction",
        3,
        32,
        lambda rng: [empty(3, "i4"), ints(rng, 96)],
        lambda y, x: by_block(x, 32, np.sum),
        severity="warning",
    ),
    Case(
        "race_cp_async_wait",
        2,
        64,
        lambda rng: [empty(128, "f4"), floats(rng, 128)],
        lambda y, x: by_block(x, 64, np.flip),
    ),
    Case(
        "race_cp_async_barrier",
        2,
        64,
        lambda rng: [empty(128, "f4"), floats(rng, 128)],
        lambda y, x: by_block(x, 64, np.flip),
    ),
    Case(
        "race_cp_async_stage",
        1,
        64,
        lambda rng: [empty(64, "f4"), floats(rng, 7, 64), 7],
        lambda y, x, n: np.arange(1, 8) @ x[:, ::-1],
    ),
    Case(
        "race_bytes",
        1,
        64,
        lambda rng: [empty(64, "u1"), ints(rng, 64, 0, 256).astype("u1")],
        lambda y, x: np.roll(x, -33) ^ 0x5A,
    ),
    Case(
        "race_vector_and_scalar",
        1,
        64,
        lambda rng: [empty(256, "f4"), floats(rng, 256)],
        lambda y, x: x,
    ),
    Case(
        "race_wmma",
        1,
        64,
        lambda rng: [empty((2, 16, 16), "f4"), floats(rng, 16, 16).astype("f2")],
        lambda y, x: np.stack([x.astype("f4") @ x] * 2),
    ),
    Case(
        "race_cp_async_overwrite",
        1,
        64,
        lambda rng: [empty(64, "f4"), floats(rng, 7, 64), 7],
        lambda y, x, n: np.arange(1, 8) @ x[:, ::-1],
    ),
    Case(
        "race_second_look",
        1,
        96,
        lambda rng: [empty(96, "i4"), ints(rng, 96)],
        lambda y, x: np.full(96, x.sum() + x.sum() // 2),
    ),
    Case(
        "race_named_outsider",
        1,
        96,
        lambda rng: [empty(96, "i4"), ints(rng, 64)],
        lambda y, x: np.r_[x[::-1], x[:32]],
    ),
    Case(
        "race_two_locks",
        1,
        64,
        lambda rng: [empty(64, "i4"), ints(rng, 64)],
        lambda y, x: np.full(64, x.sum()),
    ),
]

BARRIERS = [
    Case(
        "barrier_two_branches",
        1,
        64,
        lambda rng: [zeros(64), floats(rng, 64)],
        lambda y, x: np.where(np.arange(64) < 40, x + 1, 2 * x - 1),
    ),
    Case(
        "barrier_trip_count",
        1,
        64,
        lambda rng: [zeros(64, dtype="i4"), ints(rng, 64, 1, 5), 5],
        lambda y, trips, most: np.full(64, trips.sum()),
    ),
    Case(
        "barrier_early_return",
        2,
        64,
        lambda rng: [zeros(100), floats(rng, 100), 100],
        lambda y, x, n: np.r_[x[63::-1], x[:63:-1]],
        severity="warning",
    ),
    Case(
        "barrier_in_branch",
        1,
        64,
        lambda rng: [zeros(128), floats(rng, 64), 40],
        lambda y, x, width: np.r_[x[39::-1], np.zeros(24), -x],
        severity="warning",
    ),
    Case(
        "barrier_named_count",
        1,
        128,
        lambda rng: [zeros(128), floats(rng, 128)],
        lambda y, x: np.r_[x[63::-1], x[64:]],
    ),
    Case("barrier_arrive_elsewhere", 1, 64, lambda rng: [zeros(32), floats(rng, 32)], lambda y, x: x[::-1]),
    Case(
        "barrier_count_in_branch",
        1,
        64,
        lambda rng: [zeros(64, dtype="i4"), floats(rng, 64)],
        lambda y, x: np.where(np.arange(64) < 32, (x[:32] > 0).sum(), -1),
    ),
]

LOOPS = [
    Case(
        "loop_never_advances",
        1,
        32,
        lambda rng: [zeros(75), floats(rng, 75), 75],
        lambda y, x, n: 2 * x,
        budget=60_000,
    ),
    Case(
        "loop_flag",
        1,
        64,
        lambda rng: [zeros(64, dtype="i4"), zeros(1, dtype="i4")],
        lambda y, flag: 7 * np.arange(64),
        budget=60_000,
    ),
    Case(
        "loop_lock",
        2,
        32,
        lambda rng: [zeros(1, dtype="i4"), zeros(1, dtype="i4"), ints(rng, 64)],
        lambda y, lock, x: [x.sum()],
        budget=60_000,
    ),
    Case("loop_float", 1, 32, lambda rng: [zeros(32, dtype="i4"), 0.1], lambda y, step: np.full(32, 10), budget=60_000),
    Case(
        "loop_blocks",
        3,
        64,
        lambda rng: [zeros(4, dtype="i4"), zeros(1, dtype="i4"), ints(rng, 192)],
        lambda y, arrived, x: np.full(4, x.sum()),
        budget=60_000,
    ),
]

SHUFFLES = [
    Case(
        "shuffle_inactive_lane",
        2,
        32,
        lambda rng: [empty(32, "i4"), ints(rng, 64)],
        lambda y, x: by_block(x, 32, lambda part: part[:16] + part[16:]),
    ),
    Case(
        "shuffle_mask_omits_caller",
        1,
        32,
        lambda rng: [empty(32, "i4"), ints(rng, 32)],
        lambda y, x: np.full(32, x[5]),
    ),
    Case(
        "shuffle_half_left",
        1,
        32,
        lambda rng: [empty(16, "i4"), ints(rng, 32)],
        lambda y, x: np.r_[x[:8] - x[8:16], np.zeros(8)],
        severity="warning",
    ),
    Case(
        "shuffle_partial_warp",
        1,
        40,
        lambda rng: [empty(5, "i4"), ints(rng, 40)],
        lambda y, x: x.reshape(5, 8).sum(1),
        severity="warning",
    ),
    Case(
        "shuffle_vote_in_branch",
        1,
        32,
        lambda rng: [empty(32, "u4"), ints(rng, 32, -50, 50)],
        lambda y, x: np.repeat([(x[:20] > 0) @ BITS[:20], (x[20:] > 9) @ BITS[20:]], [20, 12]),
    ),
]

ENDINGS = [
    Case(
        "assert_fails",
        2,
        32,
        lambda rng: [zeros(9, dtype="i4"), np.r_[ints(rng, 49, 0, 8), [8]].astype("i4"), 50, 9],
        lambda y, x, *_: counts(x, 9),
    ),
    Case(
        "trap_reached",
        2,
        32,
        lambda rng: [zeros(50, dtype="i4"), np.r_[ints(rng, 49, 0, 90), [95]].astype("i4"), 50],
        lambda y, x, n: x // 2,
    ),
]
