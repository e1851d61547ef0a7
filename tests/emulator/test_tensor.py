"""Tensor Core instructions in whole kernels: by hand in PTX, and as NVRTC compiles mma.h and inline assembly."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from convlab.emulator.instructions.tensor import Product, form_of, macs
from convlab.emulator.lanes import Residents
from convlab.emulator.program import Instruction, Place
from convlab.errors import UnsupportedInstruction
from convlab.executors.compile import compile
from convlab.executors.launch import launch as run

from .conftest import kernel, launch
from .test_fragments import ACCUMULATOR, CASES

WARPS = 3
WIDTH = {"f16": 16, "bf16": 16, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4}  # the other types have 32 bits
NUMPY = {"f16": "f2", "f32": "f4", "f64": "f8", "s32": "i4"}


def numbers(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random numbers of a type: as bits, one element each, and as what they are worth."""
    if WIDTH.get(kind, 32) < 16:
        width = WIDTH[kind]
        bits = rng.integers(0, 1 << width, shape)
        return bits, np.where((kind[0] == "s") & (bits >> (width - 1) == 1), bits - (1 << width), bits)
    if kind == "s32":
        values = rng.integers(-100, 100, shape)  # around the limits: half of the sums do not fit
        values = np.where(values < 0, -(2**31) - values, 2**31 - 1 - values)
        return values % 2**32, values
    if kind in ("bf16", "tf32"):
        dropped = {"bf16": 16, "tf32": 13}[kind]
        whole = rng.normal(size=shape).astype("f4").view("u4")
        kept = (whole >> dropped << dropped).view("f4").astype("f8")
        return (whole >> 16 if kind == "bf16" else whole), kept
    values = rng.normal(size=shape).astype(NUMPY[kind])
    return values.view(f"u{values.itemsize}"), values.astype("f8")


def pack(bits: np.ndarray, width: int, count: int, formula) -> np.ndarray:
    """(registers, lanes) from (warps, rows, columns), element by element as the PTX ISA's formula says."""
    per = max(1, 32 // width)
    words = np.zeros((count // per, len(bits), 32), np.uint64)
    for warp, lane, i in np.ndindex(len(bits), 32, count):
        words[i // per, warp, lane] |= np.uint64(int(bits[warp][formula(lane >> 2, lane & 3, i)]) << i % per * width)
    return np.ascontiguousarray(words.reshape(count // per, -1).astype("u8" if width == 64 else "u4"))


def unpack(words: np.ndarray, shape: tuple[int, int], kind: str, count: int, formula) -> np.ndarray:
    """`pack` backwards, for accumulators."""
    values = np.ascontiguousarray(words.reshape(len(words), -1, 32).transpose(1, 2, 0)).view(NUMPY[kind])
    found = np.zeros((len(values), *shape), NUMPY[kind])
    for warp, lane, i in np.ndindex(len(values), 32, count):
        found[warp][formula(lane >> 2, lane & 3, i)] = values[warp, lane, i]
    return found


def fragments_kernel(opcode: str, counts: tuple[int, int, int, int], sizes: tuple[int, int, int, int]) -> str:
    """A kernel that loads each lane's registers of A, B and C, multiplies once, and stores those of D (array 0)."""
    lines, vectors = ["mov.u32 %r1, %ntid.x;"], []
    for operand, (count, size) in enumerate(zip(counts, sizes, strict=True)):
        lines += [f".reg .b{8 * size} %m{operand}_<{count}>;"]
        vectors.append("{" + ", ".join(f"%m{operand}_{n}" for n in range(count)) + "}")
    for operand in (1, 2, 3):
        for n in range(counts[operand]):
            lines += [
                *_address(operand, n, sizes[operand]),
                f"ld.global.b{8 * sizes[operand]} %m{operand}_{n}, [%rd10];",
            ]
    lines.append(f"{opcode} {', '.join(vectors)};")
    for n in range(counts[0]):
        lines += [*_address(0, n, sizes[0]), f"st.global.b{8 * sizes[0]} [%rd10], %m0_{n};"]
    return kernel("\n".join(lines), params=4)


def _address(operand: int, n: int, size: int) -> list[str]:
    return [
        f"mad.lo.s32 %r2, %r1, {n}, %r0;",
        f"mul.wide.u32 %rd10, %r2, {size};",
        f"add.s64 %rd10, %rd10, %rd{operand};",
    ]


def mma(shape, kinds, count_a, a, count_b, b, extra="", seed=0):
    """D and the exact sum of an ``mma`` on random fragments of all warps."""
    rng = np.random.default_rng(seed)
    m, n, k = (int(part) for part in shape.replace("m", "").replace("n", " ").replace("k", " ").split())
    of_c = (m * n // 32, lambda g, t, i: (g + 8 * (i >> 1), 2 * t + (i & 1)))
    sizes = {"a": (m, k), "b": (k, n), "c": (m, n)}
    formulas = {"a": (count_a, a), "b": (count_b, b), "c": of_c}
    arrays, values = [], []
    for operand, kind in zip("abc", kinds[1:], strict=True):
        bits, worth = numbers(kind, (WARPS, *sizes[operand]), rng)
        arrays.append(pack(bits, WIDTH.get(kind, 32), *formulas[operand]))
        values.append(worth)
    size = max(4, np.dtype(NUMPY[kinds[0]]).itemsize)  # of a register
    out = np.zeros((m * n // 32 * np.dtype(NUMPY[kinds[0]]).itemsize // size, WARPS * 32), f"u{size}")
    opcode = f"mma.sync.aligned.{shape}.row.col.{extra}{'.'.join(kinds)}"
    text = fragments_kernel(opcode, tuple(len(x) for x in (out, *arrays)), tuple(x.itemsize for x in (out, *arrays)))
    launch(text, out, *arrays, block=(WARPS * 32, 1, 1))
    x, y, z = values
    if kinds[0] == "s32":
        x, y, z = (v.astype(object) for v in values)
    return unpack(out, (m, n), kinds[0], *of_c), np.matmul(x, y) + z


@pytest.mark.parametrize(("shape", "kind", "count_a", "a", "count_b", "b"), CASES)
def test_mma_of_every_shape(shape, kind, count_a, a, count_b, b):
    d = ACCUMULATOR.get(kind, "f32")
    found, exact = mma(shape, (d, kind, kind, d), count_a, a, count_b, b)
    if d == "s32":
        assert (found == ((exact + 2**31) % 2**32 - 2**31).astype("i8")).all()
    else:
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-5 if d == "f32" else 1e-14)


@pytest.mark.parametrize("shape", ["m16n8k8", "m16n8k16"])
def test_mma_with_half_accumulators(shape):
    case = next(case for case in CASES if case[:2] == (shape, "f16"))
    found, exact = mma(shape, ("f16",) * 4, *case[2:])
    assert (found == exact.astype("f2")).all()


@pytest.mark.parametrize(("a", "b"), [("s8", "u8"), ("u8", "s8"), ("s4", "u4"), ("u4", "s4")])
def test_mma_of_mixed_signs_saturates(a, b):
    case = next(case for case in CASES if case[1] == a)
    found, exact = mma(case[0], ("s32", a, b, "s32"), *case[2:], extra="satfinite.", seed=4)
    assert (found == np.clip(exact, -(2**31), 2**31 - 1)).all()


@pytest.mark.parametrize(("left", "right"), [("row", "col"), ("col", "row"), ("row", "row"), ("col", "col")])
@pytest.mark.parametrize(("d", "c"), [("f32", "f32"), ("f16", "f16"), ("f32", "f16")])
def test_volta_multiplies_four_matrices_at_once(left, right, d, c):
    rng = np.random.default_rng(8)
    a, b, z = rng.normal(size=(4, 8, 4)), rng.normal(size=(4, 4, 8)), rng.normal(size=(4, 8, 8))
    a, b, z = (v.astype("f2") for v in (a, b, z))
    words = {"a": np.zeros((32, 4), "f2"), "b": np.zeros((32, 4), "f2"), "f16": np.zeros((32, 8), "f2")}
    words["f32"] = np.zeros((32, 8), "f4")

    def place(lane: int, i: int, kind: str) -> tuple[int, int]:
        upper = 4 * (lane >= 16)
        if kind == "f16":
            return lane % 4 + upper, i
        return (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)

    for lane in range(32):
        matrix, line, upper = lane % 16 // 4, lane % 4 + 4 * (lane >= 16), 4 * (lane >= 16)
        for i in range(4):
            words["a"][lane, i] = a[matrix][(line, i) if left == "row" else (i + upper, lane % 4)]
            words["b"][lane, i] = b[matrix][(lane % 4, i + upper) if right == "row" else (i, line)]
        for i in range(8):
            words[c][lane, i] = z[matrix][place(lane, i, c)]
    arrays = [np.ascontiguousarray(words[name].view("u4").T) for name in ("a", "b", c)]
    out = np.zeros((8 if d == "f32" else 4, 32), "u4")
    text = fragments_kernel(
        f"mma.sync.aligned.m8n8k4.{left}.{right}.{d}.f16.f16.{c}", tuple(map(len, (out, *arrays))), (4, 4, 4, 4)
    )
    launch(text, out, *arrays, block=(32, 1, 1))
    exact = np.matmul(a.astype("f8"), b.astype("f8")) + z
    found = np.ascontiguousarray(out.T).view(NUMPY[d])
    for lane, i in np.ndindex(32, 8):
        expected = exact[lane % 16 // 4][place(lane, i, d)]
        assert abs(found[lane, i] - expected) <= (1e-6 if d == "f32" else abs(expected) * 2**-11 + 1e-7)


MATRICES = r"""
typedef unsigned short u16;
__device__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Each warp has 32 rows of 8 elements, 48 bytes apart, and writes them as ldmatrix hands them out.
extern "C" __global__ void load(const u16* in, unsigned* out, int count, int turned) {
    __shared__ __align__(16) u16 rows[64][24];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < 8; ++i) rows[threadIdx.x][i] = in[threadIdx.x * 8 + i];
    __syncthreads();
    unsigned r[4] = {9, 9, 9, 9};
    // Lanes whose address does not count point far outside.
    unsigned at = lane < 8 * count ? place(rows[warp * 32 + lane]) : 0x7ffffff1;
    if (count == 1 && !turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
    if (count == 1 && turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
    if (count == 2 && !turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
    if (count == 2 && turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(r[0]), "=r"(r[1]) : "r"(at));
    if (count == 4 && !turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    if (count == 4 && turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    for (int i = 0; i < 4; ++i) out[(warp * 4 + i) * 32 + lane] = r[i];
}

extern "C" __global__ void transpose(const unsigned* in, unsigned* out) {
    unsigned turned;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(in[threadIdx.x]));
    out[threadIdx.x] = turned;
}
"""
STORES = r"""
extern "C" __global__ void store(const unsigned* in, unsigned* out) {
    __shared__ __align__(16) unsigned tiles[16 * 4];
    tiles[threadIdx.x] = tiles[threadIdx.x + 32] = 7;
    __syncthreads();
    // Matrix 1 before matrix 0; the other lanes' addresses do not count.
    unsigned at = threadIdx.x < 16 ? (unsigned)__cvta_generic_to_shared(tiles) + (threadIdx.x ^ 8) * 16 : 1;
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                 :: "r"(at), "r"(in[threadIdx.x]), "r"(in[threadIdx.x + 32]) : "memory");
    __syncthreads();
    out[threadIdx.x] = tiles[threadIdx.x];
    out[threadIdx.x + 32] = tiles[threadIdx.x + 32];
}
"""


@pytest.mark.parametrize("turned", [0, 1])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(count, turned):
    rows = np.random.default_rng(1).integers(0, 1 << 16, (2, 32, 8)).astype("u2")
    out = np.zeros((2, 4, 32), "u4")
    run(compile(MATRICES).kernels["load"], 1, 64, [rows, out, count, turned], device="emulator")
    for warp, matrix in np.ndindex(2, 4):
        tile = rows[warp, 8 * matrix : 8 * matrix + 8]
        tile = np.ascontiguousarray(tile.T if turned else tile)
        expected = tile.view("u4").reshape(-1) if matrix < count else np.full(32, 9)
        assert (out[warp, matrix] == expected).all()


def test_movmatrix():
    tiles = np.random.default_rng(1).integers(0, 1 << 16, (2, 8, 8)).astype("u2")
    out = np.zeros((2, 8, 4), "u4")
    run(compile(MATRICES).kernels["transpose"], 1, 64, [tiles.view("u4"), out], device="emulator")
    assert (out.view("u2") == tiles.swapaxes(1, 2)).all()


def test_stmatrix():
    tiles = np.random.default_rng(1).integers(0, 1 << 16, (2, 8, 8)).astype("u2")
    out = np.zeros((2, 8, 4), "u4")
    run(compile(STORES, arch="compute_90").kernels["store"], 1, 32, [tiles.view("u4"), out], device="emulator")
    assert (out.view("u2") == tiles[::-1]).all()


def test_observers_hear_how_many_multiplications_counted():
    class Listener:
        heard = ()

        def multiply(self, flop, useful, lanes):
            self.heard = (flop, useful, lanes.size)

    listener = Listener()
    known = form_of(instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"))
    product = Product(known, saturate=False)
    ones = np.full(64, 0x00003C00, np.uint32)  # the upper half of each pair is zero: every other k
    lanes = Residents(np.arange(2), 32).everybody
    memory = SimpleNamespace(hooks={"multiply": [listener.multiply]})
    product([ones] * 4, [ones] * 2, [np.float32(0)] * 4, lanes, memory)
    assert listener.heard == (2 * 2048, 2 * 2 * 16 * 8 * 8, 64)


def instruction(opcode: str) -> Instruction:
    return Instruction(tuple(opcode.split(".")), (), None, Place("k.cu", 1))


@pytest.mark.parametrize(
    ("opcode", "expected"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", (2048, "f16")),
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", (4 * 256, "f16")),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", (256, "f64")),
        ("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", (4096, "u8")),
        ("wmma.mma.sync.aligned.row.col.m32n8k16.f32.f16", (4096, "f16")),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16", None),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", None),
        ("add.f32", None),
    ],
)
def test_the_multiply_adds_of_a_product(opcode, expected):
    known = form_of(instruction(opcode))
    assert (known and (macs(known), known.kinds[1])) == expected


@pytest.mark.parametrize(
    "opcode",
    [
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.s32.f16.f16.s32",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
        "mma.sync.aligned.m16n8k64.row.col.f32.f16.f16.f32",
    ],
)
def test_what_is_not_supported_says_so(opcode):
    out = np.zeros((4, 32), "u4")
    with pytest.raises(UnsupportedInstruction, match=f"the emulator does not execute `{opcode}`"):
        launch(fragments_kernel(opcode, (4, 4, 2, 4), (4, 4, 4, 4)), out, out, out, out, block=(32, 1, 1))


def test_a_fragment_of_the_wrong_size():
    opcode = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    out = np.zeros((4, 32), "u4")
    with pytest.raises(UnsupportedInstruction, match="2 registers where the fragment has 4"):
        launch(fragments_kernel(opcode, (4, 2, 2, 4), (4, 4, 4, 4)), out, out, out, out, block=(32, 1, 1))
