"""The wmma API, as NVRTC compiles mma.h: all shapes, types and layouts, against products in double precision."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch as run

from .conftest import kernel, launch

WMMA = r"""
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;

// D = 2 * relu(A * B + C - 1), each warp its own matrices, one after the other in memory.
template <int M, int N, int K, typename T, typename U, typename Store, typename LA, typename LB, int LC, int LD>
__device__ void multiply(const Store* a, const Store* b, const U* c, U* d, int lda, int ldb, int ldc, int ldd) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> x;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> y;
    wmma::fragment<wmma::accumulator, M, N, K, U> z, sum;
    bool left = std_is_row<LA>(), right = std_is_row<LB>();
    int warp = threadIdx.x / 32;
    wmma::load_matrix_sync(x, a + warp * lda * (left ? M : K), lda);
    wmma::load_matrix_sync(y, b + warp * ldb * (right ? K : N), ldb);
    wmma::load_matrix_sync(z, c + warp * ldc * (LC ? M : N), ldc, LC ? wmma::mem_row_major : wmma::mem_col_major);
    wmma::mma_sync(sum, x, y, z);
    for (int i = 0; i < sum.num_elements; ++i) {
        U above = sum.x[i] - U(1);
        sum.x[i] = above > U(0) ? above + above : U(0);
    }
    wmma::store_matrix_sync(d + warp * ldd * (LD ? M : N), sum, ldd, LD ? wmma::mem_row_major : wmma::mem_col_major);
}
"""
LAYOUTS = {"row": "wmma::row_major", "col": "wmma::col_major"}
THREE = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
# type in CUDA C, type in memory, accumulator, NumPy's type, shapes, least architecture
TYPES = {
    "half": ("half", "half", "half", "f2", THREE, "compute_75"),
    "half_float": ("half", "half", "float", "f2", THREE, "compute_75"),
    "bf16": ("__nv_bfloat16", "__nv_bfloat16", "float", "u2", THREE, "compute_80"),
    "tf32": ("wmma::precision::tf32", "float", "float", "f4", ((16, 16, 8),), "compute_80"),
    "s8": ("signed char", "signed char", "int", "i1", THREE, "compute_75"),
    "u8": ("unsigned char", "unsigned char", "int", "u1", THREE, "compute_75"),
    "double": ("double", "double", "double", "f8", ((8, 8, 4),), "compute_80"),
}
VARIANTS = (("row", "col", 1, 1), ("col", "row", 0, 1), ("row", "row", 1, 0), ("col", "col", 0, 0))


@cache
def wmma_module(name: str, arch: str):
    """All kernels of one type, named by shape and layouts."""
    kind, memory, accumulator, _, shapes, _ = TYPES[name]
    text = WMMA.replace("std_is_row<", "is_row<").replace(
        "// D =",
        "template <typename L> __device__ bool is_row() { return false; }\n"
        "template <> __device__ bool is_row<wmma::row_major>() { return true; }\n// D =",
    )
    for m, n, k in shapes:
        for left, right, c, d in VARIANTS:
            text += (
                f'extern "C" __global__ void m{m}n{n}k{k}_{left}_{right}_{c}{d}(const {memory}* a, const {memory}* b, '
                f"const {accumulator}* c, {accumulator}* d, int lda, int ldb, int ldc, int ldd) {{ "
                f"multiply<{m}, {n}, {k}, {kind}, {accumulator}, {memory}, {LAYOUTS[left]}, {LAYOUTS[right]}, {c}, {d}>"
                "(a, b, c, d, lda, ldb, ldc, ldd); }\n"
            )
    return compile(text, name="wmma.cu", arch=arch)


def stored(values: np.ndarray, row_major: bool, padding: int) -> tuple[np.ndarray, int]:
    """Matrices of several warps as they lie in memory, with ``padding`` elements after each line; and the stride."""
    lines = values if row_major else values.swapaxes(1, 2)
    padded = np.pad(lines, ((0, 0), (0, 0), (0, padding)))
    return np.ascontiguousarray(padded), padded.shape[2]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("name", "shape"), [(name, shape) for name in TYPES for shape in TYPES[name][4]])
def test_wmma(name, shape, variant):
    _, _, accumulator, dtype, _, arch = TYPES[name]
    (m, n, k), (left, right, c_row, d_row) = shape, variant
    rng = np.random.default_rng(m + n)
    sizes = ((2, m, k), (2, k, n))
    if dtype in ("i1", "u1"):
        a, b = (rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, size).astype(dtype) for size in sizes)
        x, y = a.astype("i8"), b.astype("i8")
    elif name == "bf16":
        a, b = ((rng.normal(size=size).astype("f4").view("u4") >> 16).astype("u2") for size in sizes)
        x, y = ((v.astype("u4") << 16).view("f4").astype("f8") for v in (a, b))
    else:
        a, b = (rng.normal(size=size).astype(dtype) for size in sizes)
        x, y = a.astype("f8"), b.astype("f8")
        if name == "tf32":
            x, y = ((v.view("u4") >> 13 << 13).view("f4").astype("f8") for v in (a, b))
    out = {"half": "f2", "float": "f4", "int": "i4", "double": "f8"}[accumulator]
    c = (rng.normal(size=(2, m, n)) * (300000 if out == "i4" else 1)).astype(out)
    memory_a, lda = stored(a, left == "row", 16 // a.itemsize)
    memory_b, ldb = stored(b, right == "row", 32 // b.itemsize)
    memory_c, ldc = stored(c, bool(c_row), 16 // c.itemsize)
    d = np.full((2, m, n + 16) if d_row else (2, n, m + 16), 99, out)
    entry = wmma_module(name, arch).kernels[f"m{m}n{n}k{k}_{left}_{right}_{c_row}{d_row}"]
    run(entry, 1, 64, [memory_a, memory_b, memory_c, d, lda, ldb, ldc, d.shape[2]], device="emulator")
    found = d[:, :m, :n] if d_row else d[:, :n, :m].swapaxes(1, 2)
    expected = 2 * np.maximum(np.matmul(x, y) + c - 1, 0)
    if out == "i4":
        assert (found == expected).all()
    else:
        relative, absolute = {"f2": (2e-3, 4e-3), "f4": (1e-6, 1e-5), "f8": (1e-14, 1e-14)}[out]
        np.testing.assert_allclose(found, expected, rtol=relative, atol=absolute)
    assert (d[..., n if d_row else m :] == 99).all()
    assert (found == 0).any()
    assert (found != 0).any()


def test_wmma_without_a_stride():
    values = "{" + ", ".join(f"%f{n}" for n in range(8)) + "}"
    text = kernel(
        f"wmma.load.c.sync.aligned.row.m32n8k16.global.f32 {values}, [%rd1];\n"
        f"wmma.store.d.sync.aligned.col.m32n8k16.global.f32 [%rd0], {values};",
        params=2,
    )
    matrix = np.random.default_rng(6).normal(size=(32, 8)).astype("f4")
    out = np.zeros((8, 32), "f4")
    launch(text, out, matrix, block=(32, 1, 1))
    assert (out == matrix.T).all()


def test_a_warp_loads_a_half_matrix_in_four_requests():
    entry = wmma_module("half_float", "compute_80").kernels["m16n16k16_row_col_11"]
    a = np.zeros((2, 16, 16), "f2")
    c = np.zeros((2, 16, 16), "f4")
    counters = run(entry, 1, 64, [a, a, c, c.copy(), 16, 16, 16, 16], device="emulator").counters
    # A and B: four requests of 8 lines, 16 bytes of each; a sector holds the line. C and D: four of 8 lines, 32 bytes.
    assert counters.requests_global_load == 2 * (4 + 4 + 4)
    assert counters.sectors_global_load == 2 * 8 * (4 + 4 + 4)
    assert counters.requests_global_store == 2 * 4


def test_an_incomplete_warp_is_reported_and_counts_as_zeros():
    entry = wmma_module("half_float", "compute_80").kernels["m16n16k16_row_col_11"]
    rng = np.random.default_rng(4)
    a, b = (rng.normal(size=(2, 16, 16)).astype("f2") for _ in "ab")
    c, d = np.full((2, 16, 16), 5, "f4"), np.full((2, 16, 16), 99, "f4")
    done = run(entry, 1, 44, [a, b, c, d, 16, 16, 16, 16], device="emulator", faults="record")
    # Lanes 0 to 11 of the second warp hold rows 0 to 2 and 8 to 10 of A, and those columns of B.
    lines = [0, 1, 2, 8, 9, 10]
    full = np.matmul(a.astype("f8"), b.astype("f8").swapaxes(1, 2))
    expected = 2 * np.maximum(full + 5 - 1, 0)
    np.testing.assert_allclose(d[0], expected[0], rtol=1e-6, atol=1e-5)
    block = np.ix_(lines, lines)
    np.testing.assert_allclose(d[1][block], expected[1][block], rtol=1e-6, atol=1e-5)
    assert (d[1][3:8] == 99).all()
    kinds = {(fault.kind, fault.severity) for fault in done.faults}
    assert kinds == {("shuffle", "error")}
    assert {fault.thread for fault in done.faults} == {(32, 0, 0)}
    assert "works on a matrix with 12 lanes of its warp: this instruction takes all 32." in done.faults[0].message


@pytest.mark.parametrize(
    ("operand", "offset", "stride", "reported"),
    [
        ("c.f32", 32, 20, ""),
        ("c.f32", 16, 16, "a pointer 16 bytes past a multiple of 32, and lines 64 bytes apart"),
        ("c.f32", 0, 18, "a pointer 0 bytes past a multiple of 32, and lines 72 bytes apart"),
        ("a.f16", 0, 24, ""),
        ("a.f16", 0, 20, "a pointer 0 bytes past a multiple of 32, and lines 40 bytes apart"),
        ("a.s8", 8, 24, ""),  # a lane has 8 bytes of such a matrix
        ("a.s8", 4, 24, "a pointer 4 bytes past a multiple of 8, and lines 24 bytes apart"),
    ],
)
def test_wmma_asks_for_alignment(operand, offset, stride, reported):
    name, kind = operand.split(".")
    count, bank = {"c.f32": (8, "%f"), "a.f16": (8, "%r"), "a.s8": (2, "%r")}[operand]
    values = "{" + ", ".join(f"{bank}{n}" for n in range(count)) + "}"
    body = f"wmma.load.{name}.sync.aligned.row.m16n16k16.global.{kind} {values}, [%rd0+{offset}], {stride};"
    faults = launch(kernel(body), np.zeros(400, "f4"), block=(32, 1, 1)).faults
    if not reported:
        assert faults == []
        return
    ((found, severity, count, message),) = [(f.kind, f.severity, f.count, f.message) for f in faults]
    assert (found, severity, count) == ("misaligned", "warning", 32)
    assert f"passes wmma {reported}: here pointers must be multiples of" in message
