"""Ladders of GEMM kernels whose speeds others have published, and kernels that climb the same rungs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from convlab.kernels.ladder import method
from convlab.kernels.method import Launch, Plan
from convlab.perf.gpus import Gpu, gpu
from convlab.perf.trial import random_array
from convlab.perf.work import Work, work_of_plan
from convlab.spec import GemmSpec

FOLDER = Path(__file__).parent / "ladders"

A6000 = Gpu(
    name="RTX A6000",
    model="NVIDIA RTX A6000 (48 GB)",
    compute_capability=(8, 6),
    sms=84,
    warps_per_sm=48,
    blocks_per_sm=16,
    fp32_lanes_per_sm=128,
    tensor_fma_per_sm={"float16": 512, "bfloat16": 512, "tf32": 256},
    l1_kb=128,
    shared_kb=100,
    shared_block_kb=99,
    l2_mb=6,
    dram_type="GDDR6",
    dram_gb=48,
    dram_gbs=768,
    dram_bits=384,
    dram_pin_gbps=16,
    base_mhz=1410,
    boost_mhz=1800,
    fp32_tflops=38.7,
    tensor_tflops={"float16": 154.8, "bfloat16": 154.8, "tf32": 77.4},
    source="NVIDIA RTX A6000 data sheet; NVIDIA Ampere GA102 GPU Architecture",
)

# Per cent of cuBLAS. SGEMM_CUDA's README, 4096³ in float32 on an RTX A6000:
SGEMM = {
    "sgemm_uncoalesced": 1.3,
    "gemm_naive": 8.5,
    "gemm_tiled": 12.8,
    "sgemm_column": 36.5,
    "gemm_register": 68.7,
    "sgemm_vector": 78.4,
    "gemm_warp": 93.7,
}
# A ladder of mma.sync kernels in float16 on a GPU of compute capability 12.0, whose first warp tiles are not known:
HGEMM = {"plain": 21.0, "ldmatrix": 26.0, "swizzle": 72.0, "async": 78.0, "stages": 106.0}

LADDERS = {  # of which GPU, and at which M, N, K the model is asked
    "sgemm": (SGEMM, A6000, (4096, 4096, 4096)),
    "hgemm": (HGEMM, gpu("RTX 5090"), (8192, 8192, 2048)),
}

FILES = {  # name → (BM, BN, block)
    "sgemm_uncoalesced": (32, 32, (32, 32, 1)),
    "sgemm_column": (64, 64, (512, 1, 1)),
    "sgemm_vector": (128, 128, (256, 1, 1)),
}
STEPS = {  # name → (side of the block's tile, warp tile, macros)
    "plain": (64, (32, 16), {}),
    "ldmatrix": (64, (32, 16), {"LDMATRIX": 1}),
    "swizzle": (64, (32, 16), {"LDMATRIX": 1, "SWIZZLE": 1}),
    "async": (64, (32, 16), {"LDMATRIX": 1, "SWIZZLE": 1, "ASYNC": 1}),
    "stages": (128, (64, 64), {"LDMATRIX": 1, "SWIZZLE": 1, "ASYNC": 1, "STAGES": 2}),
}


def plan(name, m, n, k):
    """The one launch of a kernel of either ladder; sizes are multiples of its tiles."""
    arguments = ("a", "b", "y", m, n, k)
    if name in FILES:
        bm, bn, block = FILES[name]
        grid = (m // bm, n // bn, 1) if name == "sgemm_uncoalesced" else (n // bn, m // bm, 1)
        return Plan((Launch(str(FOLDER / f"{name}.cu"), name, grid, block, arguments),))
    if name in STEPS:
        side, (wm, wn), macros = STEPS[name]
        macros = {"BM": side, "BN": side, "WM": wm, "WN": wn, **macros}
        threads = side // wm * (side // wn) * 32
        shared = macros.get("STAGES", 1) * 2 * side * 128
        options = tuple(f"-D{macro}={value}" for macro, value in macros.items())
        grid = (n // side, m // side, 1)
        return Plan((Launch(str(FOLDER / "hgemm.cu"), "hgemm", grid, (threads, 1, 1), arguments, shared, options),))
    return method(name).plan(GemmSpec(m, n, k))


def tensors(name, m, n, k, y):
    """Random factors, the second of half ones [n][k], and an output."""
    half = name in STEPS
    dtype = "float16" if half else "float32"
    rng = np.random.default_rng(1)
    return {"a": random_array((m, k), dtype, rng), "b": random_array((n, k) if half else (k, n), dtype, rng), "y": y}


def counted(name, m, n, k, y):
    """The work of a kernel of either ladder, from one block: the tiles fit, and all blocks do the same."""
    dtype = "float16" if name in STEPS else "float32"
    return Work((m, n, k), name, work_of_plan(plan(name, m, n, k), tensors(name, m, n, k, y), dtype, sample=1))
