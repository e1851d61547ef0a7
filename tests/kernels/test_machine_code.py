"""Signs of speed in the machine code: wide accesses, Tensor Cores, nothing in local memory, enough warps on an SM."""

from __future__ import annotations

import sys

import pytest

from convlab.executors.compile import compile
from convlab.executors.machine_code import machine_code
from convlab.kernels.layers import launches
from convlab.perf.occupancy import occupancy

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="NVIDIA makes no disassembler for macOS")

KERNELS = {"-".join((step.entry, *step.options)): step for _, step in launches(variants=False)}
REFERENCE = "sm_90"  # of the GPUs that the ladder is meant for

WIDE_GEMM = ("LDG.E.128", "STS.128", "LDS.128", "STG.E.128")
COPIED = ("LDGSTS.E.BYPASS.128", "LDSM.16.M88.4")
# Entry → what its machine code must hold, from compute capability 8.0 on.
SIGNS = {
    "gemm_warp": WIDE_GEMM,
    "gemm_warp_batched": WIDE_GEMM,
    "conv_multi_output": ("LDS.128",),
    "conv_implicit_gemm": ("LDG.E.128", "LDS.128"),
    "conv_implicit_gemm_nhwc": ("LDG.E.128", "LDS.128", "STG.E.128"),
    "conv_grouped": ("LDS.128",),
    "conv_winograd": ("LDG.E.128", "STS.128", "LDS.128"),
    "conv_wmma": ("LDSM.16.M88.4", "HMMA.16816.F32"),
    "conv_mma": (*COPIED, "STG.E.128"),
    "conv_mma_gather": (*COPIED, "STG.E.128"),
    "conv_mma_any": ("LDSM.16.M88.4", "STS.128"),
}
PRODUCTS = {"half": "HMMA.16816.F32", "__nv_bfloat16": "HMMA.16816.F32.BF16", "float": "HMMA.1688.F32.TF32"}

# Entry → loads of 16 bytes that it must have at least: of both factors, before the loop and in it.
WIDE_LOADS = {"gemm_warp": 6, "gemm_warp_batched": 6, "conv_implicit_gemm_nhwc": 7}

# Kernels whose threads keep many sums: an SM of an A100 or H100 is planned to hold 16 of their warps at least, and 12
# of those that keep 8 × 8 sums and the elements of the next step.
HEAVY = {*SIGNS, "gemm_register", "conv_pointwise", "separable_3x3"} - {"conv_grouped"}
WARPS, FEW_WARPS = 16, 12
AND_MORE = {"gemm_warp", "gemm_warp_batched", "conv_implicit_gemm--DBM=64"}


def kernel_of(step):
    return compile(step.text(), step.source, options=step.options).kernels[step.entry]


def opcodes(step, arch):
    return {text.split()[0] for text in machine_code(kernel_of(step), arch)}


def expect(found, signs):
    missing = [sign for sign in signs if not any(opcode.startswith(sign) for opcode in found)]
    assert missing == [], sorted(found)


@pytest.mark.parametrize("name", KERNELS)
def test_no_kernel_touches_local_memory(name):
    assert [opcode for opcode in opcodes(KERNELS[name], REFERENCE) if opcode.startswith(("LDL", "STL"))] == []


@pytest.mark.parametrize("arch", ["sm_80", REFERENCE])
@pytest.mark.parametrize("name", [name for name, step in KERNELS.items() if step.entry in SIGNS])
def test_a_rungs_idea_is_in_its_machine_code(name, arch):
    expect(opcodes(KERNELS[name], arch), SIGNS[KERNELS[name].entry])


@pytest.mark.parametrize("name", [name for name, step in KERNELS.items() if step.entry in WIDE_LOADS])
def test_both_factors_are_loaded_by_16_bytes(name):
    found = [text for text in machine_code(kernel_of(KERNELS[name]), REFERENCE) if text.startswith("LDG.E.128")]
    assert len(found) >= WIDE_LOADS[KERNELS[name].entry], found


def test_every_sign_is_of_a_kernel():
    assert {step.entry for step in KERNELS.values()} >= SIGNS.keys() | WIDE_LOADS.keys() | HEAVY
    assert KERNELS.keys() >= AND_MORE


@pytest.mark.parametrize(
    "name", [name for name, step in KERNELS.items() if step.entry in ("conv_mma", "conv_mma_gather", "conv_mma_any")]
)
def test_products_are_the_tensor_cores_of_their_type(name):
    """None is left to the ordinary lanes."""
    (element,) = (option.removeprefix("-DELEMENT=") for option in KERNELS[name].options if "ELEMENT" in option)
    found = opcodes(KERNELS[name], REFERENCE)
    assert {opcode for opcode in found if opcode.startswith("HMMA")} == {PRODUCTS[element]}
    assert not {"FFMA", "HFMA2"} & found


def test_turing_multiplies_the_same_in_halves_and_copies_without_cp_async():
    found = opcodes(KERNELS["conv_mma--DELEMENT=half--DBM=64--DBN=64--DPIECES=2"], "sm_75")
    expect(found, ("HMMA.1688.F32", "LDSM.16.M88.4", "LDG.E.128", "STS.128"))


@pytest.mark.parametrize("arch", ["sm_80", REFERENCE])
@pytest.mark.parametrize("name", [name for name, step in KERNELS.items() if step.entry in HEAVY])
def test_an_sm_holds_the_warps_that_are_planned(name, arch):
    step = KERNELS[name]
    threads = step.block[0] * step.block[1] * step.block[2]
    need = kernel_of(step).resources[arch]
    found = occupancy(arch, threads, need.registers, need.shared + step.shared)
    assert found.warps >= (FEW_WARPS if name in AND_MORE else WARPS), (need, found)
