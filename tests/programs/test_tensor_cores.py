"""Programs for Tensor Cores, against NumPy: small whole numbers, whose sums are exact in any order, and fractions."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from .programs import ARCHES, blocks, program, run, within

BF16 = ml_dtypes.bfloat16
everywhere = pytest.mark.parametrize("arch", ARCHES)
since_ampere = pytest.mark.parametrize("arch", ARCHES[1:])


def whole(rng, *shape):
    """Numbers from -3 to 3: a sum of 200 products stays below 2048, where half is exact."""
    return rng.integers(-3, 4, shape)


def fractions(rng, *shape):
    return rng.standard_normal(shape, "f4")


def nan(*shape, dtype="f4"):
    return np.full(shape, np.nan, dtype)


def equals_product(c, a, b, depth):
    """One rounding at most for each of the products that an element of C adds up."""
    a, b = a.astype("f8"), b.astype("f8")
    within(c, a @ b, depth, np.abs(a) @ np.abs(b))


@everywhere
@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("fill", [whole, fractions])
def test_wmma_with_either_accumulator(arch, dtype, fill):
    rng = np.random.default_rng(101)
    m, n, k = 48, 80, 64  # 15 tiles: the last of four blocks has a warp without work
    a, b, c = fill(rng, m, k).astype("f2"), fill(rng, k, n).astype("f2"), nan(m, n, dtype=dtype)
    kernel = program("wmma_matmul", arch).kernels["multiply_f32" if dtype == "f4" else "multiply_f16"]
    run(kernel, 4, 128, [a, b, c, m, n, k])
    equals_product(c, a, b, k * (fill is fractions))


@everywhere
def test_wmma_for_any_size_with_alpha_and_beta(arch):
    rng = np.random.default_rng(102)
    m, n, k = 50, 70, 43
    a, b = whole(rng, m, k).astype("f2"), whole(rng, k, n).astype("f2")
    c, d = whole(rng, m, n).astype("f4"), nan(m, n)
    run(program("wmma_gemm", arch).kernels["gemm"], (3, 2), 128, [a, b, c, d, m, n, k, -0.5, 2.0])
    np.testing.assert_array_equal(d, -0.5 * (a.astype("f4") @ b.astype("f4")) + 2 * c)


@everywhere
@pytest.mark.parametrize(("tile", "m", "n"), [((32, 8), 96, 40), ((8, 32), 40, 96)])
def test_wmma_tiles_that_are_not_square(arch, tile, m, n):
    rng, k = np.random.default_rng(103), 48
    a, b, c = fractions(rng, m, k).astype("f2"), fractions(rng, k, n).astype("f2"), nan(n, m)
    kernel = program("wmma_shapes", arch).kernels["multiply_{}x{}".format(*tile)]
    run(kernel, 4, 128, [a, b.T.copy(), c, m, n, k])
    equals_product(c.T, a, b, k)


@since_ampere
@pytest.mark.parametrize(("tile", "m", "n"), [((16, 16), 48, 80), ((32, 8), 96, 40), ((8, 32), 40, 96)])
def test_wmma_bf16_has_the_range_of_float(arch, tile, m, n):
    rng, k = np.random.default_rng(104), 80
    rows, columns = 2.0 ** rng.integers(-60, 60, (m, 1)), 2.0 ** rng.integers(-60, 60, (1, n))
    a, b, c = (whole(rng, m, k) * rows).astype(BF16), (whole(rng, k, n) * columns).astype(BF16), nan(m, n)
    kernel = program("wmma_bf16", arch).kernels["multiply_{}x{}".format(*tile)]
    run(kernel, 4, 128, [a, b.T.copy(), c, m, n, k])
    np.testing.assert_array_equal(c, a.astype("f8") @ b.astype("f8"))


def tf32(x):
    """To ten bits behind the point, ties away from zero."""
    return ((x.view("u4") + 0x1000) & 0xFFFFE000).view("f4")


@since_ampere
@pytest.mark.parametrize("fill", [whole, fractions])
def test_wmma_tf32(arch, fill):
    rng = np.random.default_rng(105)
    m, n, k = 48, 80, 40
    a, b, c = fill(rng, m, k).astype("f4"), fill(rng, k, n).astype("f4"), nan(m, n)
    run(program("wmma_tf32", arch).kernels["multiply"], 4, 128, [a, b, c, m, n, k])
    equals_product(c, tf32(a), tf32(b), k * (fill is fractions))


@everywhere
@pytest.mark.parametrize(
    ("name", "dtype", "m", "n"),
    [
        ("signed_16x16", "i1", 48, 80),
        ("signed_32x8", "i1", 96, 40),
        ("unsigned_16x16", "u1", 48, 80),
        ("unsigned_8x32", "u1", 40, 96),
    ],
)
def test_wmma_of_bytes_is_exact(arch, name, dtype, m, n):
    rng, k, limits = np.random.default_rng(106), 64, np.iinfo(dtype)
    a, b = (rng.integers(limits.min, limits.max + 1, shape).astype(dtype) for shape in ((m, k), (n, k)))
    c = np.full((m, n), -1, "i4")
    run(program("wmma_int8", arch).kernels[name], 4, 128, [a, b, c, m, n, k])
    np.testing.assert_array_equal(c, a.astype("i4") @ b.T.astype("i4"))


@since_ampere
@pytest.mark.parametrize("fill", [whole, fractions])
def test_mma_with_ldmatrix_has_no_bank_conflict(arch, fill):
    rng = np.random.default_rng(107)
    m, n, k = 70, 72, 88
    a, b, c = fill(rng, m, k).astype("f2"), fill(rng, k, n).astype("f2"), nan(m, n)
    counters = run(program("mma_ldmatrix", arch).kernels["multiply"], (2, 2), 128, [a, b, c, m, n, k]).counters
    equals_product(c, a, b, k * (fill is fractions))
    assert counters.wavefronts_shared_load > 0
    assert counters.conflicts_shared_load == counters.conflicts_shared_store == 0


@since_ampere
@pytest.mark.parametrize("fill", [whole, fractions])
def test_mma_with_cp_async_and_two_buffers(arch, fill):
    rng = np.random.default_rng(108)
    m, n, k = 70, 40, 88
    a, b, c = fill(rng, m, k).astype("f2"), fill(rng, k, n).astype("f2"), nan(m, n)
    run(program("mma_cp_async", arch).kernels["multiply"], (2, 2), 128, [a, b, c, m, n, k])
    equals_product(c, a, b, k * (fill is fractions))


@everywhere
@pytest.mark.parametrize("k", [16, 48])
def test_pipeline_memcpy_async(arch, k):
    rng = np.random.default_rng(109)
    m, n = 64, 96
    a, b, c = fractions(rng, m, k).astype("f2"), fractions(rng, k, n).astype("f2"), nan(m, n)
    run(program("mma_pipeline", arch).kernels["multiply"], (n // 32, m // 32), 128, [a, b, c, m, n, k])
    equals_product(c, a, b, k)


@everywhere
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_mma_of_turing_in_half(arch, dtype):
    rng = np.random.default_rng(110)
    m, n, k = 32, 24, 40
    a, b, c = fractions(rng, m, k).astype("f2"), fractions(rng, k, n).astype("f2"), nan(m, n, dtype=dtype)
    kernel = program("mma_turing", arch).kernels["multiply_f32" if dtype == "f4" else "multiply_f16"]
    run(kernel, (n // 8, m // 16), 32, [a, b.T.copy(), c, m, n, k])
    equals_product(c, a, b, k)


@everywhere
def test_mma_of_turing_in_bytes(arch):
    rng = np.random.default_rng(111)
    m, n, k = 24, 40, 48
    a, b = (rng.integers(-128, 128, shape).astype("i1") for shape in ((m, k), (n, k)))
    c = np.full((m, n), -1, "i4")
    run(program("mma_turing", arch).kernels["multiply_s8"], (n // 8, m // 8), 32, [a, b, c, m, n, k])
    np.testing.assert_array_equal(c, a.astype("i4") @ b.T.astype("i4"))


@since_ampere
@pytest.mark.parametrize("fill", [whole, fractions])
def test_mma_tf32_of_any_size(arch, fill):
    rng = np.random.default_rng(112)
    m, n, k = 37, 21, 19
    a, b, c = fill(rng, m, k).astype("f4"), fill(rng, k, n).astype("f4"), nan(m, n)
    grid = (blocks(n, 8), blocks(m, 16))
    run(program("mma_tf32", arch).kernels["multiply"], grid, 32, [a, b, c, m, n, k])
    equals_product(c, tf32(a), tf32(b), k * (fill is fractions))


@since_ampere
def test_mma_of_bytes_saturates_at_each_step(arch):
    rng = np.random.default_rng(113)
    m, n, k = 37, 21, 44
    a, b = (rng.integers(-128, 128, shape).astype("i1") for shape in ((m, k), (n, k)))
    c = rng.choice([-(2**31) + 9000, -5, 2**31 - 9000], (m, n)).astype("i4")
    exact = c.astype("i8")
    for step in range(0, k, 16):
        exact += a[:, step : step + 16].astype("i8") @ b[:, step : step + 16].T.astype("i8")
        exact = np.clip(exact, -(2**31), 2**31 - 1)
    assert (exact == 2**31 - 1).any()
    assert (exact == -(2**31)).any()
    grid = (blocks(n, 8), blocks(m, 16))
    run(program("mma_int8", arch).kernels["multiply_k16"], grid, 32, [a, b, c, m, n, k])
    np.testing.assert_array_equal(c, exact)


@since_ampere
def test_mma_of_bytes_32_deep(arch):
    rng = np.random.default_rng(114)
    m, n, k = 37, 21, 76
    a, b = (rng.integers(-128, 128, shape).astype("i1") for shape in ((m, k), (n, k)))
    c = np.full((m, n), -1, "i4")
    grid = (blocks(n, 8), blocks(m, 16))
    run(program("mma_int8", arch).kernels["multiply_k32"], grid, 32, [a, b, c, m, n, k])
    np.testing.assert_array_equal(c, a.astype("i4") @ b.T.astype("i4"))


@since_ampere
def test_mma_bf16(arch):
    rng = np.random.default_rng(115)
    m, n, k = 80, 24, 48  # five rows of tiles in blocks of two warps: the last warp has none
    a, b, c = fractions(rng, m, k).astype(BF16), fractions(rng, k, n).astype(BF16), nan(m, n)
    run(program("mma_bf16", arch).kernels["multiply"], (n // 8, 3), 64, [a, b, c, m, n, k])
    equals_product(c, a, b, k)
