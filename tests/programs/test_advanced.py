"""Programs about threads that work together and about the language itself, against NumPy."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from .programs import ARCHES, blocks, program, run, within

BF16 = ml_dtypes.bfloat16
everywhere = pytest.mark.parametrize("arch", ARCHES)
since_ampere = pytest.mark.parametrize("arch", ARCHES[1:])


def pieces(x, size, fill=0):
    """Rows of a size, the last one filled up."""
    return np.pad(x, (0, -len(x) % size), constant_values=fill).reshape(-1, size)


def softmax(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@everywhere
@pytest.mark.parametrize("size", [32, 8])
def test_tiles_reduce(arch, size):
    rng, n = np.random.default_rng(201), 1003
    x, out = rng.integers(-1000, 1000, n, "i4"), np.full(blocks(n, size), -7, "i4")
    run(program("tile_reduce", arch).kernels[f"sum_{size}"], 11, 96, [x, out, n])
    np.testing.assert_array_equal(out, pieces(x, size).sum(1))


@everywhere
def test_a_block_reduces_its_tiles(arch):
    rng, n = np.random.default_rng(202), 1003
    x, out = rng.integers(-1000, 1000, n, "i4"), np.full(11, -7, "i4")
    run(program("tile_reduce", arch).kernels["sum_block"], 11, 96, [x, out, n])
    np.testing.assert_array_equal(out, pieces(x, 96).sum(1))


@everywhere
def test_cooperative_groups_reduce(arch):
    rng, n = np.random.default_rng(203), 1003
    x, y = rng.integers(-1000, 1000, n, "i4"), rng.integers(-99, 99, n).astype("f4")
    largest, total = np.full(n, -7, "i4"), np.full(n, np.nan, "f4")
    run(program("tile_reduce", arch).kernels["reduce_16"], 11, 96, [x, y, largest, total, n])
    np.testing.assert_array_equal(largest, pieces(x, 16, fill=-9999).max(1).repeat(16)[:n])
    np.testing.assert_array_equal(total, pieces(y, 16).sum(1).repeat(16)[:n])


@everywhere
def test_aggregated_atomics_keep_all_that_pass(arch):
    rng, n = np.random.default_rng(204), 1003
    x, kept, count = rng.standard_normal(n, "f4"), np.full(n, -7, "f4"), np.zeros(1, "i4")
    run(program("aggregated_filter", arch).kernels["filter"], 8, 128, [x, kept, count, n, 0.3])
    assert count[0] == (x > np.float32(0.3)).sum()
    np.testing.assert_array_equal(np.sort(kept[: count[0]]), np.sort(x[x > np.float32(0.3)]))
    assert (kept[count[0] :] == -7).all()


@everywhere
def test_each_branch_aggregates_its_own_atomics(arch):
    rng, n = np.random.default_rng(205), 1003
    x, y, counts = rng.standard_normal(n, "f4"), np.full(n, np.nan, "f4"), np.zeros(2, "i4")
    run(program("aggregated_filter", arch).kernels["partition"], 8, 128, [x, y, counts, n, -0.4])
    small = x < np.float32(-0.4)
    assert counts.tolist() == [small.sum(), (~small).sum()]
    np.testing.assert_array_equal(np.sort(y[: counts[0]]), np.sort(x[small]))
    np.testing.assert_array_equal(np.sort(y[counts[0] :]), np.sort(x[~small]))


@everywhere
def test_histogram_by_matching_lanes(arch):
    rng, n = np.random.default_rng(206), 1003
    keys, counts = (rng.random(n) ** 2 * 11).astype("i4"), np.zeros(11, "i4")
    run(program("match_histogram", arch).kernels["histogram"], 16, 64, [keys, counts, n])
    np.testing.assert_array_equal(counts, np.bincount(keys, minlength=11))


@everywhere
def test_match_finds_the_equal_lanes_before(arch):
    rng, n = np.random.default_rng(207), 205
    keys = rng.integers(0, 4, n) << 33  # equal in their low words
    keys[64:96] = 3 << 33
    rank, agree = np.full(n, -7, "i4"), np.full(n, -7, "i4")
    run(program("match_histogram", arch).kernels["ranks"], 4, 64, [keys, rank, agree, n])
    warps = [keys[start : start + 32] for start in range(0, n, 32)]
    assert rank.tolist() == [int((warp[:lane] == warp[lane]).sum()) for warp in warps for lane in range(len(warp))]
    assert agree.tolist() == [int((warp == warp[0]).all()) for warp in warps for _ in warp]


@everywhere
def test_a_vote_ends_the_search(arch):
    rng = np.random.default_rng(208)
    x, first = rng.standard_normal((13, 75), "f4"), np.full(13, -7, "i4")
    run(program("vote_search", arch).kernels["find_first"], 4, 128, [x, first, 13, 75, 2.2])
    hits = x > np.float32(2.2)
    assert not hits.any(1).all()
    np.testing.assert_array_equal(first, np.where(hits.any(1), hits.argmax(1), -1))


@everywhere
def test_a_warp_iterates_until_all_lanes_agree(arch):
    rng, n = np.random.default_rng(209), 150
    x, y, steps = rng.random(n) * 1e5, np.full(n, np.nan), np.full(n, 0, "i4")
    x[70] = 1e7
    run(program("vote_search", arch).kernels["roots"], 3, 64, [x, y, steps, n])
    np.testing.assert_allclose(y * y, x, rtol=1e-12)
    for warp in range(0, n, 32):
        assert len(set(steps[warp : warp + 32])) == 1
    assert (steps < 0).tolist() == [64 <= i < 96 for i in range(n)]
    assert (np.abs(steps) < 40).all()


@since_ampere
def test_one_instruction_reduces_a_warp(arch):
    rng, n = np.random.default_rng(210), 205
    x = rng.integers(-(2**31), 2**31, n).astype("i4")
    signed, unsigned = np.zeros((7, 3), "i4"), np.zeros((7, 4), "u4")
    run(program("redux", arch).kernels["statistics"], 4, 64, [x, signed, unsigned, n])
    for warp, start in enumerate(range(0, n, 32)):
        part = x[start : start + 32]
        bits = part.view("u4")
        assert signed[warp].tolist() == [part.sum(dtype="i4"), part.min(), part.max()]
        reduced = [operation.reduce(bits) for operation in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
        assert unsigned[warp].tolist() == [*reduced, bits.max()]


@everywhere
def test_a_warp_sorts_in_registers(arch):
    rng, n = np.random.default_rng(211), 150
    keys, values = rng.integers(-9, 9, n, "i4"), rng.permutation(n).astype("i4")
    expected = [sorted(zip(keys[at : at + 32], values[at : at + 32], strict=True)) for at in range(0, n, 32)]
    run(program("warp_sort", arch).kernels["sort"], 3, 64, [keys, values, n])
    assert list(zip(keys, values, strict=True)) == [pair for warp in expected for pair in warp]


@everywhere
def test_segmented_scan(arch):
    rng, (rows, columns) = np.random.default_rng(212), (7, 101)
    x = rng.integers(-100, 100, (rows, columns), "i4")
    heads, sums = (rng.random((rows, columns)) < 0.03).astype("u1"), np.full((rows, columns), -7, "i4")
    run(program("segmented_scan", arch).kernels["segmented_scan"], 4, 64, [x, heads, sums, rows, columns])
    expected = np.zeros_like(x)
    for row in range(rows):
        for column in range(columns):
            before = 0 if heads[row, column] or not column else expected[row, column - 1]
            expected[row, column] = before + x[row, column]
    np.testing.assert_array_equal(sums, expected)


@everywhere
@pytest.mark.parametrize("block", [96, 32])
def test_layer_norm(arch, block):
    rng, (rows, columns) = np.random.default_rng(213), (6, 301)
    x = rng.standard_normal((rows, columns), "f4") * 3 + rng.standard_normal((rows, 1), "f4") * 5
    gain, bias, y = rng.standard_normal(columns, "f4"), rng.standard_normal(columns, "f4"), np.full_like(x, np.nan)
    run(program("layer_norm", arch).kernels["layer_norm"], rows, block, [x, gain, bias, y, columns, 1e-5])
    wide = x.astype("f8")
    normal = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    # Some 20 merges, each with a few roundings of numbers up to 15.
    np.testing.assert_allclose(y, normal * gain + bias, rtol=0, atol=100 * 2**-23 * np.abs(normal * gain).max())


@everywhere
def test_online_softmax(arch):
    rng, (rows, columns) = np.random.default_rng(214), (5, 333)
    x, y = rng.standard_normal((rows, columns), "f4") * 6, np.full((rows, columns), np.nan, "f4")
    run(program("online_softmax", arch).kernels["softmax"], rows, 64, [x, y, columns], shared=64 * 8)
    # An exponent of up to 40 is off by 40 roundings' worth; so is each of the sum's corrections.
    np.testing.assert_allclose(y, softmax(x.astype("f8")), rtol=1e-5)


@everywhere
@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention(arch, causal):
    rng, heads, n, d = np.random.default_rng(215), 2, 75, 32
    q, k, v = (rng.standard_normal((heads, n, d), "f4") for _ in range(3))
    out = np.full_like(q, np.nan)
    run(program("flash_attention", arch).kernels["attention"], (2, heads), 64, [q, k, v, out, n, causal])
    scores = np.einsum("hid,hjd->hij", q.astype("f8"), k) / math.sqrt(d)
    if causal:
        scores[:, ~np.tri(n, dtype=bool)] = -np.inf
    weights = softmax(scores)
    # 75 rescalings, each within a few roundings of the approximate exponential.
    within(out, weights @ v, 75 * 8, weights @ np.abs(v))


@everywhere
def test_bf16_softmax(arch):
    rng, (rows, columns) = np.random.default_rng(216), (7, 75)
    x, y = (rng.standard_normal((rows, columns)) * 4).astype(BF16), np.full((rows, columns), np.nan, BF16)
    run(program("bf16_softmax", arch).kernels["softmax"], 4, 64, [x, y, rows, columns])
    # Eight significant bits: half a unit of the last place is up to 2**-8 of the number, and float adds little.
    np.testing.assert_allclose(y.astype("f8"), softmax(x.astype("f8")), rtol=1.01 * 2**-8)


@everywhere
@pytest.mark.parametrize(("grid", "count"), [(3, 11), (3, 2), (1, 7)])
def test_named_barriers_join_producer_and_consumer(arch, grid, count):
    rng = np.random.default_rng(217)
    x, y = rng.integers(-1000, 1000, (count, 32), "i4"), np.full(count, -7, "i4")
    run(program("named_barriers", arch).kernels["pipeline"], grid, 64, [x, y, count])
    np.testing.assert_array_equal(y, (x * x).sum(1))


@everywhere
@pytest.mark.parametrize("name", ["stencil", "stencil_by_group"])
def test_asynchronous_copies_in_small_pieces(arch, name):
    rng, n = np.random.default_rng(224), 301
    x, y = rng.integers(-99, 99, n).astype("f4"), np.full(n, np.nan, "f4")
    source = x if name == "stencil" else np.pad(x, 3)
    run(program("async_stencil", arch).kernels[name], 3, 128, [source, y, n])
    np.testing.assert_array_equal(y, np.convolve(x, [1, 2, 3, 4, 3, 2, 1], "same"))


@everywhere
def test_volatile_reduction_with_syncwarp(arch):
    rng, n = np.random.default_rng(218), 1003
    x, out = rng.integers(-1000, 1000, n).astype("f4"), np.full(4, np.nan, "f4")
    run(program("volatile_reduction", arch).kernels["reduce"], 4, 128, [x, out, n])
    np.testing.assert_array_equal(out, pieces(x, 256).sum(1))


@everywhere
@pytest.mark.parametrize(
    ("name", "dtype", "per_thread", "operation"),
    [
        ("_Z9transformIf6SquareLi4EEvPKT_PS1_i", "f4", 4, lambda x: x * x),
        ("_Z9transformId5ClampLi3EEvPKT_PS1_i", "f8", 3, lambda x: np.clip(x, -2, 3)),
        ("_Z9transformIs6SquareLi1EEvPKT_PS1_i", "i2", 1, lambda x: (x.astype("i4") ** 2).astype("i2")),
    ],
)
def test_instances_of_a_template(arch, name, dtype, per_thread, operation):
    rng, n = np.random.default_rng(219), 1003
    x, y = (rng.standard_normal(n) * 200).astype(dtype), np.full(n, -7, dtype)
    run(program("templates", arch).kernels[name], blocks(n, 128 * per_thread), 128, [x, y, n])
    np.testing.assert_array_equal(y, operation(x))


@everywhere
@pytest.mark.parametrize("dtype", ["i4", "f4"])
def test_what_a_type_decides(arch, dtype):
    rng, n = np.random.default_rng(220), 203
    x, y = (rng.standard_normal(n) * 200).astype(dtype), np.full(n, -7, dtype)
    kernel = program("templates", arch).kernels["neighbours_int" if dtype == "i4" else "neighbours_float"]
    run(kernel, 2, 128, [x, y, n])
    expected = np.full(n, -7, dtype)
    sums = x[:-2] + (x[1:-1] + x[2:])
    expected[1:-1] = sums if dtype == "i4" else sums / np.float32(3)
    np.testing.assert_array_equal(y, expected)


@everywhere
def test_objects_that_know_their_function(arch):
    rng, n = np.random.default_rng(221), 203
    kinds, sizes, out = rng.integers(0, 3, n, "i4"), rng.random((n, 2), "f4"), np.full(n, np.nan, "f4")
    run(program("dispatch", arch).kernels["measure"], 4, 64, [kinds, sizes, out, n])
    factor = np.array([1, 3.14159265, 0.5], "f4")[kinds]
    np.testing.assert_array_equal(out, factor * sizes[:, 0] * sizes[:, 1])


@everywhere
def test_virtual_functions(arch):
    rng, n, leak = np.random.default_rng(222), 203, np.float32(0.1)
    kinds, x = rng.integers(0, 3, n, "i4"), rng.standard_normal(n, "f4")
    y, slopes = np.full(n, np.nan, "f4"), np.full(n, np.nan, "f4")
    run(program("virtual_functions", arch).kernels["activate"], 4, 64, [kinds, x, y, slopes, n, float(leak)])
    relu, leaky = np.maximum(x, 0), np.where(x > 0, x, leak * x)
    np.testing.assert_array_equal(y, np.choose(kinds, [relu, leaky, x * x * x]))
    rise = (x > 0).astype("f4")
    np.testing.assert_array_equal(slopes, np.choose(kinds, [rise, np.maximum(rise, leak), 3 * x * x]))


@everywhere
def test_only_what_was_allocated_can_be_deleted(arch):
    kernel = program("virtual_functions", arch).kernels["destroy"]
    (fault,) = run(kernel, 1, 32, [None], clean=False, faults="record").faults
    assert (fault.kind, fault.severity, fault.thread) == ("out_of_bounds", "error", (3, 0, 0))
    assert fault.message == "frees memory that malloc never gave."


@everywhere
def test_assertions_that_hold(arch):
    rng, n = np.random.default_rng(223), 203
    x, index = rng.standard_normal(50, "f4"), rng.integers(0, 50, n, "i4")
    y, ticks = np.full(n, np.nan, "f4"), np.full(n, -1)
    run(program("checked_gather", arch).kernels["gather"], 4, 64, [x, index, y, ticks, n, 50])
    np.testing.assert_array_equal(y, x[index])
    assert (ticks >= 0).all()


@everywhere
def test_an_assertion_that_does_not_hold(arch):
    x, index = np.ones(50, "f4"), np.full(70, 3, "i4")
    index[66] = 50
    args = [x, index, np.zeros(70, "f4"), np.zeros(70, "i8"), 70, 50]
    (fault,) = run(program("checked_gather", arch).kernels["gather"], 2, 64, args, clean=False, faults="record").faults
    assert (fault.kind, fault.file, fault.line) == ("assert", "checked_gather.cu", 10)
    assert (fault.block, fault.thread) == ((1, 0, 0), (2, 0, 0))


@everywhere
def test_assertions_that_make_a_permutation_certain(arch):
    rng, n = np.random.default_rng(225), 203
    x, index, y = rng.standard_normal(n, "f4"), rng.permutation(n).astype("i4"), np.full(n, -7, "f4")
    scatter = program("checked_gather", arch).kernels["scatter"]
    run(scatter, 4, 64, [x, index, y, np.zeros(n, "i4"), n])
    np.testing.assert_array_equal(y[index], x)
    index[70] = index[3]
    args = [x, index, y, np.zeros(n, "i4"), n]
    (fault,) = run(scatter, 4, 64, args, clean=False, faults="record").faults
    assert (fault.kind, fault.line) == ("assert", 26)
    assert "index is no permutation" in fault.message
