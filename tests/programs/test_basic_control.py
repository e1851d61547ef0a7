"""Textbook programs about control flow, calls, atomics, votes, locks and text, against NumPy and Python."""

from __future__ import annotations

import numpy as np
import pytest

from .programs import ARCHES, blocks, program, run, within

pytestmark = pytest.mark.parametrize("arch", ARCHES)

EXACT = ("-fmad=false",)  # each operation rounds by itself, as in NumPy


def test_a_block_counts(arch):
    x, count = np.random.default_rng(1).standard_normal(333, "f4"), np.full(4, -1, "i4")
    run(program("block_votes", arch).kernels["count_above"], 4, 96, [x, count, 0.25, 333])
    assert count.tolist() == [(x[first : first + 96] > 0.25).sum() for first in range(0, 333, 96)]


def test_a_block_agrees(arch):
    x = np.random.default_rng(2).integers(0, 1000, 290, "i4")
    x[:80].sort()
    x[160:240].sort()
    x[200:] -= 500
    x[160:240].sort()
    in_order, negative = np.full((2, 4), -1, "i4")
    run(program("block_votes", arch).kernels["examine"], 4, 80, [x, in_order, negative, 290])
    parts = np.split(x, [80, 160, 240])
    assert in_order.tolist() == [bool((np.diff(part) >= 0).all()) for part in parts] == [1, 0, 1, 0]
    assert negative.tolist() == [(part < 0).any() for part in parts] == [0, 0, 1, 1]


def test_labels_spread_until_nothing_changes(arch):
    colour, label = np.random.default_rng(3).integers(0, 2, 250, "i4"), np.full(250, -1, "i4")
    colour[20:50] = 1
    run(program("block_votes", arch).kernels["label_runs"], 3, 100, [colour, label, 250])
    starts = np.r_[True, colour[1:] != colour[:-1]] | (np.arange(250) % 100 == 0)
    np.testing.assert_array_equal(label, np.flatnonzero(starts)[np.cumsum(starts) - 1])


@pytest.mark.parametrize("name", ["histogram_global", "histogram_shared"])
def test_histogram(arch, name):
    data = (np.random.default_rng(4).standard_normal(1111) * 20 + 90).astype("u1")
    bins = np.full(40, 5, "u4")  # counts are added to what is there
    run(program("histogram", arch).kernels[name], 3, 96, [data, bins, 1111])
    np.testing.assert_array_equal(bins, 5 + np.bincount(data % 40, minlength=40))


def test_extremes_bits_and_tickets(arch):
    data = np.random.default_rng(5).integers(-9999, 9999, 205, "i4")
    low, high, seen, ticket = np.zeros(1, "i4"), np.zeros(1, "i4"), np.zeros(1, "u4"), np.full(206, 205, "i4")
    run(program("histogram", arch).kernels["summary"], 4, 64, [data, low, high, seen, ticket, 205])
    assert (low[0], high[0], ticket[205]) == (data.min(), data.max(), 0)
    assert seen[0] == np.bitwise_or.reduce(1 << (data.astype("i8") & 31))
    assert sorted(ticket[:205]) == sorted(data)  # each element has drawn a place of its own


def test_parts_are_sorted(arch):
    data = np.random.default_rng(6).integers(-500, 500, 300, "i4")
    expected = np.concatenate([np.sort(data[first : first + 128]) for first in (0, 128, 256)])
    run(program("bitonic_sort", arch).kernels["sort_parts"], 3, 128, [data, 300])
    np.testing.assert_array_equal(data, expected)


def test_warps_sort_pairs(arch):
    rng = np.random.default_rng(7)
    key, value = rng.permutation(np.linspace(-3, 3, 150, dtype="f4")), rng.integers(0, 99, 150, "i4")
    parts = [slice(first, min(first + 32, 150)) for first in range(0, 150, 32)]
    order = np.concatenate([part.start + np.argsort(-key[part]) for part in parts])
    sorted_key, sorted_value = key.copy(), value.copy()
    kernel = program("bitonic_sort", arch).kernels["sort_warps_descending"]
    run(kernel, 3, 64, [sorted_key, sorted_value, 150])
    np.testing.assert_array_equal(sorted_key, key[order])
    np.testing.assert_array_equal(sorted_value, value[order])


FRAME = [("left", "f4"), ("top", "f4"), ("step", "f4"), ("width", "i4"), ("height", "i4")]


def escape_times(cx, cy, limit):
    """The same f32 operations in the same order, on all points at once."""
    x, y, count = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, "i4")
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(limit):
            going = x * x + y * y <= 4
            x, y = np.where(going, x * x - y * y + cx, x), np.where(going, 2 * x * y + cy, y)
            count += going
    return count


def points(frame, dx, dy):
    cols, rows = np.arange(frame["width"], dtype="f4"), np.arange(frame["height"], dtype="f4")[:, None]
    cx, cy = (
        frame["left"] + (cols + np.float32(dx)) * frame["step"],
        frame["top"] - (rows + np.float32(dy)) * frame["step"],
    )
    return np.broadcast_arrays(cx, cy)


def test_mandelbrot(arch):
    frame, kernel = (
        np.array((-2.1, 1.2, 0.061, 53, 37), FRAME)[()],
        program("mandelbrot", arch, EXACT).kernels["mandelbrot"],
    )
    lanes = {}
    for limit in (1, 60):
        image = np.full((37, 53), -1, "i4")
        lanes[limit] = run(kernel, (4, 5), (16, 8), [image, frame, limit]).counters.active_lanes
        np.testing.assert_array_equal(image, escape_times(*points(frame, 0, 0), limit))
    assert lanes[60] < 0.9 * lanes[1]  # neighbours leave the loop at different times


def test_mandelbrot_with_early_exits(arch):
    frame, mask = np.array((-2.1, 1.2, 0.061, 53, 37), FRAME)[()], np.full((37, 53), 9, "u1")
    run(program("mandelbrot", arch, EXACT).kernels["inside"], (4, 5), (16, 8), [mask, frame, 40])
    hits = sum(escape_times(*points(frame, dx, dy), 40) == 40 for dx in (0, 0.5) for dy in (0, 0.5))
    np.testing.assert_array_equal(mask, hits >= 2)


def sparse(rng, rows, cols):
    """A CSR matrix with rows of very different lengths, empty ones too, and the same as a dense one."""
    dense = rng.standard_normal((rows, cols), "f4") * (rng.random((rows, cols)) < rng.random((rows, 1)) ** 3)
    dense[5] = 0
    start = np.r_[0, np.cumsum((dense != 0).sum(axis=1))].astype("i4")
    return start, np.nonzero(dense)[1].astype("i4"), dense[dense != 0], dense


@pytest.mark.parametrize(("name", "lanes"), [("spmv_scalar", 1), ("spmv_warp", 32)])
def test_sparse_matrix_times_vector(arch, name, lanes):
    rng = np.random.default_rng(8)
    start, column, value, dense = sparse(rng, 83, 101)
    x, y = rng.standard_normal(101, "f4"), np.full(83, np.nan, "f4")
    run(program("spmv", arch).kernels[name], blocks(83 * lanes, 96), 96, [start, column, value, x, y, 83])
    within(y, dense.astype("f8") @ x, np.diff(start).max() + 5, np.abs(dense) @ np.abs(x))


def test_transposed_sparse_matrix_times_vector(arch):
    rng = np.random.default_rng(9)
    start, column, value, dense = sparse(rng, 83, 61)
    x, y = rng.standard_normal(83, "f4"), np.zeros(61, "f4")
    run(program("spmv", arch).kernels["spmv_transposed"], 2, 64, [start, column, value, x, y, 83])
    within(y, x.astype("f8") @ dense, 83, np.abs(x) @ np.abs(dense))


def quotient(a, b):
    """Division as in C: towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def byte(a, b, n):
    return (a & 0xFFFFFFFF | (b & 0xFFFFFFFF) << 32) >> 8 * n & 0xFF


OPERATIONS = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: quotient(a, b) if b else 0,
    lambda a, b: a - b * quotient(a, b) if b else 0,
    lambda a, b: a & b,
    lambda a, b: a | b,
    lambda a, b: a ^ b,
    lambda a, b: ~a,
    lambda a, b: -a,
    lambda a, b: a << (b & 31),
    lambda a, b: a >> (b & 31),
    lambda a, b: (a & 0xFFFFFFFF) >> (b & 31),
    min,
    max,
    lambda a, b: a == b,
    lambda a, b: a < b,
    lambda a, b: abs(a),
    lambda a, b: (a & 0xFFFFFFFF).bit_count(),
    lambda a, b: 32 - (a & 0xFFFFFFFF).bit_length(),
    lambda a, b: int(f"{a & 0xFFFFFFFF:032b}"[::-1], 2),
    lambda a, b: (a & -a).bit_length(),
    lambda a, b: a * b >> 32,
    lambda a, b: sum(byte(a, b, n) << 8 * place for place, n in enumerate((5, 1, 7, 3))),
]


def wrapped(value):
    return (int(value) + 2**31) % 2**32 - 2**31


def test_a_switch_of_24_cases(arch):
    rng = np.random.default_rng(10)
    operation = np.append(np.tile(np.arange(24), 9), [24, -1]).astype("i4")
    a, b = rng.integers(-(2**31), 2**31, (2, operation.size)).astype("i4")
    a[::3], b[::2], b[::7] = a[::3] % 100 - 50, b[::2] % 90 - 45, 0
    a[5::24] = b[5::24]
    out = np.full(operation.size, 77, "i4")
    arguments = [operation, a, b, out, out.size]
    run(program("switch_cases", arch).kernels["calculate_all"], 4, 64, arguments)
    cases = zip(operation.tolist(), a.tolist(), b.tolist(), strict=True)
    assert out.tolist() == [wrapped(OPERATIONS[op](x, y)) if 0 <= op < 24 else -1 for op, x, y in cases]


def test_lanes_interpret_programs_of_their_own(arch):
    triple = [1, 3, 4, 0]  # 3 i
    square_less_7 = [5, 4, 1, 7, 3, 0]  # i² - 7
    # i rounds of s = 3 s + 1: push 0, swap, and leave at once for i = 0; the body begins at 17.
    rounds = [1, 0, 6, 8, 17, 7, 0, 6, 1, 3, 4, 1, 1, 2, 6, 1, 1, 3, 8, 17, 7, 0]
    code = np.array(triple + square_less_7 + rounds, "i4")
    entry = np.array([0, 4, 10], "i4")[np.arange(75) % 3]
    out = np.full(75, -1, "i4")
    run(program("switch_cases", arch).kernels["interpret"], 3, 32, [code, entry, out, 75])
    assert out.tolist() == [wrapped(interpreted(code.tolist(), pc, i)) for i, pc in enumerate(entry.tolist())]
    assert out[[3, 4, 5]].tolist() == [9, 9, 121]


def interpreted(code, pc, i):
    """The same machine in Python."""
    stack = [i]
    while True:
        op, pc = code[pc], pc + 1
        if op == 1 or (op == 8 and stack[-1] == 0):
            stack += [code[pc]] if op == 1 else []
            pc += 1
        elif op in (2, 3, 4):
            b, a = stack.pop(), stack.pop()
            stack.append({2: a + b, 3: a - b, 4: a * b}[op])
        elif op == 5:
            stack.append(stack[-1])
        elif op == 6:
            stack[-2:] = stack[-1], stack[-2]
        elif op == 7:
            stack.pop()
        elif op == 8:
            pc = code[pc]
        else:
            return stack[-1]


def test_hello_from_every_thread(arch):
    done = run(program("printing", arch).kernels["hello"], 3, 35, [])
    expected = [f"block {block}, thread {thread} of 35" for block in range(3) for thread in range(35)]
    assert sorted(done.stdout.splitlines()) == sorted(expected)  # a GPU promises whole lines, in no order


def test_formats(arch):
    x = np.array([1.5, -2.25, 1234.5678, 0, 1e-3], "f4")
    done = run(program("printing", arch).kernels["formats"], 1, 5, [x, -(2**40)])
    lines = [f"{t:2d}: {x[t]:8.3f}|{t * t:<6d}|{x[t]:06.2f}|{x[t]:e}" for t in (0, 2, 4)]
    lines += [f"text and c, 4000000000, beef, {-(2**40)}, 100%", "no arguments"]
    assert sorted(done.stdout.splitlines()) == sorted(lines)


def test_texts_in_local_and_shared_memory(arch):
    done = run(program("printing", arch).kernels["spell"], 2, 5, [])
    expected = [f"t{t} of {'ab'[b] * 2}{'(null)' if t == 3 else ''}" for b in range(2) for t in range(5)]
    assert sorted(done.stdout.splitlines()) == sorted(expected)


def test_only_what_went_wrong_is_printed(arch):
    a, first = np.random.default_rng(11).integers(0, 99, 90, "i4"), np.full(1, 90, "i4")
    kernel = program("printing", arch).kernels["report"]
    assert not run(kernel, 1, 40, [a, a.copy(), first, 90]).stdout
    b = a.copy()
    b[[83, 61]] += 5
    done = run(kernel, 1, 40, [a, b, first, 90])
    assert done.stdout == f"a[61] = {a[61]}, but b[61] = {b[61]}\n"


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m, n):
    return (n + 1, n + 2, 2 * n + 3)[m]  # the closed forms


def test_functions_that_call_themselves(arch):
    fib, ack, even = np.zeros(70, "u4"), np.zeros(70, "i4"), np.full(70, -1, "i4")
    run(program("recursion", arch).kernels["numbers"], 2, 48, [fib, ack, even, 70])
    assert fib.tolist() == [fibonacci(i % 11) for i in range(70)]
    assert ack.tolist() == [ackermann(i % 3, i % 5) for i in range(70)]
    assert even.tolist() == [i % 17 % 2 == 0 for i in range(70)]


def test_each_thread_sorts_a_row_in_local_memory(arch):
    rng = np.random.default_rng(12)
    data, length = rng.integers(-20, 20, (45, 12), "i4"), rng.integers(0, 13, 45, "i4")
    expected = [sorted(row[:size]) + row[size:] for row, size in zip(data.tolist(), length.tolist(), strict=True)]
    run(program("recursion", arch).kernels["sort_rows"], 2, 32, [data, length, 45])
    assert data.tolist() == expected


FUNCTIONS = [lambda x: x * x, lambda x: 3 * x - 1, lambda x: np.where(x < 0.5, x, 1 - x), lambda x: 1 / (1 + x)]


def test_a_table_of_functions(arch):
    rng = np.random.default_rng(13)
    which, x, y = rng.integers(0, 4, 133, "i4"), rng.random(133, "f4") * 2, np.full(133, np.nan, "f4")
    run(program("function_table", arch).kernels["apply"], 3, 48, [which, x, y, 133])
    within(y, np.choose(which, [f(x.astype("f8")) for f in FUNCTIONS]), 2, 3 * x + 1)


def test_a_function_is_an_argument(arch):
    to, area, steps = np.random.default_rng(14).random(77, "f4") + 0.5, np.full(77, np.nan, "f4"), 9
    run(program("function_table", arch).kernels["integrals"], 2, 48, [area, to, steps, 77])
    middle = (np.arange(steps) + 0.5)[:, None] * to.astype("f8") / steps
    values = np.choose(np.arange(77) % 4, [f(middle) for f in FUNCTIONS])
    within(area, values.mean(axis=0) * to, steps + 8, (3 * to + 1) * to)


def test_lanes_apply_functions_one_after_the_other(arch):
    rng = np.random.default_rng(15)
    plan, x = rng.integers(-1, 4, (77, 5), "i4"), rng.random(77, "f4")
    expected = x.copy()
    for row, steps in enumerate(plan):
        for step in steps[: np.append(steps, -1).tolist().index(-1)]:
            expected[row] = FUNCTIONS[step](expected[row])
    run(program("function_table", arch, EXACT).kernels["pipeline"], 2, 48, [plan, x, 5, 77])
    np.testing.assert_array_equal(x, expected)
