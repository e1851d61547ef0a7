from __future__ import annotations

import re

import pytest

from convlab.emulator.advice import FUNCTIONS, GENERAL, OPCODES, SPECIAL, advice, refusal
from convlab.emulator.instructions import HANDLERS
from convlab.emulator.program import Instruction, Place, Register, Symbol
from convlab.emulator.specials import CLOCKS, SPECIALS
from convlab.emulator.translate import translate
from convlab.errors import UnsupportedInstruction
from convlab.executors.compile import compile

SHARED = "__shared__ alignas(128) float s[64]; unsigned a = __cvta_generic_to_shared(s);"


def kernel(body: str, parameters: str = "float* x", before: str = "") -> str:
    """CUDA C whose body begins in line 3."""
    return f'{before}\nextern "C" __global__ void f({parameters}) {{\n{body}\n}}'


def asm(text: str, operands: str = "", before: str = "") -> str:
    return kernel(f'{before} asm volatile("{text}" {operands});')


SUMS = '"+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])'
PRODUCT = "float d[4] = {x[0], x[1], x[2], x[3]}; unsigned a = threadIdx.x;"
BINARY = """using namespace nvcuda;
wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> a;
wmma::load_matrix_sync(a, (const unsigned*)x, 128);
x[0] = a.x[0];"""

# what a learner writes → architecture, source, the line that is named, the opcode, what to do instead
CASES = {
    "cuda::barrier": (
        "compute_80",
        kernel(
            "__shared__ cuda::barrier<cuda::thread_scope_block> bar;\ninit(&bar, blockDim.x);\nbar.arrive_and_wait();",
            before="#include <cuda/barrier>",
        ),
        *(4, "mbarrier.init.shared.b64", "Wait with __syncthreads()"),
    ),
    "mbarrier": (
        *("compute_90", asm("mbarrier.init.shared::cta.b64 [%0], %1;", ':: "r"(a), "r"(32)', SHARED)),
        *(3, "mbarrier.init.shared::cta.b64", "__pipeline_wait_prior"),
    ),
    "bulk copies": (
        "compute_90",
        asm(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%0];",
            *(':: "r"(a), "l"(x)', SHARED),
        ),
        *(3, "cp.async.bulk.shared::cluster.global", "__pipeline_memcpy_async"),
    ),
    "bulk reductions": (
        "compute_90",
        asm(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;",
            *(':: "l"(x), "r"(a)', SHARED),
        ),
        *(3, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32", "Add with atomicAdd"),
    ),
    "TMA": (
        "compute_90",
        asm(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%0, %0}], [%0];",
            *(':: "r"(a), "l"(x)', SHARED),
        ),
        *(3, "cp.async.bulk.tensor.2d.shared::cluster.global", "__pipeline_memcpy_async"),
    ),
    "textures": (
        "compute_80",
        kernel("x[0] = tex2D<float>(t, x[1], x[2]);", "float* x, cudaTextureObject_t t"),
        *(3, "tex.2d.v4.f32.f32", "Read the array through a pointer (const float* __restrict__)"),
    ),
    "texture gathers": (
        "compute_80",
        kernel("*(float4*)x = tex2Dgather<float4>(t, x[1], x[2]);", "float* x, cudaTextureObject_t t"),
        *(3, "tld4.r.2d.v4.f32.f32", "clamp or interpolate the index in the kernel"),
    ),
    "reading surfaces": (
        "compute_80",
        kernel("surf2Dread(x, s, 8, 0);", "float* x, cudaSurfaceObject_t s"),
        *(3, "suld.b.2d.b32.trap", "Read and write the array through a pointer"),
    ),
    "writing surfaces": (
        "compute_80",
        kernel("surf2Dwrite(x[0], s, 8, 0);", "float* x, cudaSurfaceObject_t s"),
        *(3, "sust.b.2d.b32.trap", "Read and write the array through a pointer"),
    ),
    "asynchronous stores": (
        "compute_90",
        asm("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], 1, [%0];", ':: "r"(a)', SHARED),
        *(3, "st.async.shared::cluster.mbarrier", "since the emulator runs no clusters"),
    ),
    "cluster.sync()": (
        "compute_90",
        kernel("x[0] = 1.0f;\ncooperative_groups::this_cluster().sync();", before="#include <cooperative_groups.h>"),
        *(4, "barrier.cluster.arrive", "since the emulator runs no clusters"),
    ),
    "cache hints": (
        "compute_80",
        asm("ld.global.L2::cache_hint.f32 %0, [%1], %1;", ': "=f"(x[1]) : "l"(x)'),
        *(3, "ld.global.L2::cache_hint.f32", "it changes no result"),
    ),
    "fp4": (
        "compute_100a",
        kernel("x[0] = float(__nv_fp4_e2m1(x[1]));", before="#include <cuda_fp4.h>"),
        *(3, "cvt.rn.satfinite.e2m1x2.f32", "Compile for compute_80, where functions convert"),
    ),
    "wgmma": (
        *("compute_90a", asm("wgmma.fence.sync.aligned;")),
        *(3, "wgmma.fence.sync.aligned", "Use mma.sync or the wmma API"),
    ),
    "tcgen05": (
        *("compute_100a", asm("tcgen05.fence::before_thread_sync;")),
        *(3, "tcgen05.fence::before_thread_sync", "Use mma.sync or the wmma API"),
    ),
    "distributed shared memory": (
        "compute_90",
        kernel(
            "__shared__ float s[32];\nx[0] = *cooperative_groups::this_cluster().map_shared_rank(s, 1);",
            before="#include <cooperative_groups.h>",
        ),
        *(4, "mapa.shared::cluster.u32", "through global memory, since the emulator runs no clusters"),
    ),
    "getctarank": (
        *("compute_90", asm("getctarank.shared::cluster.u32 %0, %0;", ': "+r"(a)', SHARED)),
        *(3, "getctarank.shared::cluster.u32", "through global memory"),
    ),
    "malloc": (
        *("compute_80", kernel("float* p = (float*)malloc(64);\np[threadIdx.x] = 1.0f;\nx[0] = p[3];\nfree(p);")),
        *(3, "call.uni", "Pass a buffer to the kernel"),
    ),
    "new": (
        *("compute_80", kernel("float* p = new float[16];\np[threadIdx.x] = 1.0f;\nx[0] = p[3];")),
        *(3, "call.uni", "or declare an array of a fixed size"),
    ),
    "dynamic parallelism": (
        "compute_80",
        kernel(
            "child<<<1, 32>>>(x);",
            before="#include <cuda_device_runtime_api.h>\n__global__ void child(float* x) { x[0] = 1.0f; }",
        ),
        *(4, "mov.u64", "Launch the other kernel from Python"),
    ),
    "grid.sync()": (
        "compute_80",
        kernel(
            "x[0] = 1.0f;\ncooperative_groups::this_grid().sync();\nx[1] = 2.0f;",
            before="#include <cooperative_groups.h>",
        ),
        *(4, "mov.u32", "End the kernel where the whole grid must meet (grid.sync()), and launch a second one"),
    ),
    "sparse mma": (
        "compute_80",
        asm(
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
            " {%0, %1, %2, %3}, {%4, %4}, {%4, %4}, {%0, %1, %2, %3}, %4, 0x0;",
            *(f': {SUMS} : "r"(a)', PRODUCT),
        ),
        *(3, "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "Multiply the dense matrices with mma.sync"),
    ),
    "fp8 mma": (
        "compute_89",
        asm(
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
            " {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};",
            *(f': {SUMS} : "r"(a)', PRODUCT),
        ),
        *(3, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "Convert to half precision first"),
    ),
    "wmma of bits": (
        *("compute_80", kernel(BINARY, before="#include <mma.h>")),
        *(5, "wmma.load.a.sync.aligned.row.m8n8k128.global.b1", "Count with __popc(a ^ b)"),
    ),
    "redux of floats": (
        *("compute_100a", asm("redux.sync.max.f32 %0, %0, 0xffffffff;", ': "+f"(x[0])')),
        *(3, "redux.sync.max.f32", "Reduce with __shfl_xor_sync"),
    ),
    "pairs of floats": (
        *("compute_100", asm("add.rn.f32x2 %0, %0, %0;", ': "+l"(*(long long*)x)')),
        *(3, "add.rn.f32x2", "Write the two operations one by one"),
    ),
    "multimem": (
        *("compute_90", asm("multimem.ld_reduce.global.add.f32 %0, [%1];", ': "+f"(x[0]) : "l"(x)')),
        *(3, "multimem.ld_reduce.global.add.f32", "in the memory of one GPU"),
    ),
    "cache policies": (
        "compute_80",
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;", ': "+l"(*(long long*)x)'),
        *(3, "createpolicy.fractional.L2::evict_last.b64", "it changes no result"),
    ),
    "stack of variable size": (
        *("compute_80", asm("stacksave.u32 %0;", ': "+r"(a)', SHARED)),
        *(3, "stacksave.u32", "Declare an array of a fixed size"),
    ),
    "performance counters": (
        *("compute_80", asm("mov.u32 %0, %%pm0;", ': "+r"(a)', SHARED)),
        *(3, "mov.u32", "Read run.counters after the launch"),
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_what_learners_meet_names_instruction_line_and_way_out(what):
    arch, source, line, opcode, instead = CASES[what]
    entry = compile(source, "mine.cu", arch).kernels["f"].program_entry
    with pytest.raises(UnsupportedInstruction) as caught:
        translate(entry)
    fact, fix = str(caught.value).splitlines()
    assert fact.startswith(f"mine.cu:{line}: the emulator does not execute `{opcode}")
    assert instead in fix
    assert re.fullmatch(r"  Fix: [A-Z].*; or run on a GPU with device='cuda'\.", fix)


def test_what_no_row_knows_has_the_general_way_out():
    unknown = Instruction(("frobnicate", "s32"), (Register("%r1"),), None, Place("mine.cu", 7))
    assert refusal(unknown, "the operand x") == (
        "mine.cu:7: the emulator does not execute `frobnicate.s32` (the operand x) yet.\n"
        f"  Fix: {GENERAL}; or run on a GPU with device='cuda'."
    )


def test_the_line_is_the_innermost_one_of_the_learners_file():
    calls = (("mine.cu", 4), ("other.h", 8), ("mine.cu", 12))
    deep = Instruction(("frobnicate",), (), None, Place("cuda/header.h", 300, calls))
    assert refusal(deep).startswith("mine.cu:4: ")


def test_all_parts_of_a_row_must_be_there():
    def instead(opcode):
        return advice(Instruction(tuple(opcode.split(".")), (), None, Place("", 0)))

    assert instead("mma.sp::ordered_metadata.sync") == OPCODES["mma.sp"]
    assert instead("mma.sync.aligned.m16n8k256.row.col.f32.f16.f16.f32") == ""
    assert instead("cp.async.ca.shared.global") == ""
    assert instead("cp.async.ca.shared.global.L2::cache_hint") == instead("createpolicy.range.b64")
    assert instead("atom.global.cas.L2::cache_hint.b32") == instead("createpolicy.range.b64")


def test_a_launched_kernel_is_told_from_other_names():
    child = Instruction(("mov", "u64"), (Register("%rd1"), Symbol("child")), None, Place("", 0))
    assert advice(child, ["child", "f"]) == FUNCTIONS["cuda"]
    assert advice(child, ["children"]) == ""


def test_nothing_that_is_executed_has_advice():
    known = {key for key in OPCODES if "." not in key and key in HANDLERS}
    known |= {key for key in SPECIAL for name in (*SPECIALS, *CLOCKS) if name.startswith(key)}
    assert not known
