from __future__ import annotations

import sys

import pytest

from convlab.errors import CompileError
from convlab.executors import machine_code as listing
from convlab.executors.compile import compile
from convlab.executors.machine_code import machine_code

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="NVIDIA makes no disassembler for macOS")

SOURCE = """
extern "C" __global__ void add(float* x) { x[threadIdx.x] += 1.0f; }
extern "C" __global__ void choose(double* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 3.0; }
extern "C" __global__ void spill(float* x, int i) {
    float local[64];
    for (int j = 0; j < 64; ++j) local[(j * i) & 63] = x[j];  // which register it would be, nobody knows
    x[64] = local[i];
}
"""


def opcodes(name: str, arch: str = "sm_90") -> list[str]:
    return [text.split()[0] for text in machine_code(compile(SOURCE).kernels[name], arch)]


def test_each_kernel_has_its_own_instructions() -> None:
    assert "FADD" in opcodes("add")
    assert "DMUL" not in opcodes("add")
    assert "DMUL" in opcodes("choose")
    assert "EXIT" in opcodes("choose", "sm_75")


def test_a_guard_is_not_taken_for_the_instruction() -> None:
    assert not [opcode for opcode in opcodes("choose") if opcode.startswith("@")]
    assert opcodes("choose").count("EXIT") == 2  # of the threads outside, under a guard, and of all others


def test_local_memory_is_seen() -> None:
    assert {opcode.split(".")[0] for opcode in opcodes("spill")} >= {"STL", "LDL"}


def test_without_a_disassembler_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "disassembler", lambda: None)
    with pytest.raises(CompileError, match=r"not to be had\.\n  Fix: pip install nvidia-cuda-nvdisasm"):
        machine_code(compile(SOURCE).kernels["add"], "sm_90")


def test_without_a_compiler_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = compile(SOURCE).kernels["add"]
    monkeypatch.setattr(listing, "why_not", lambda: "It is hidden.")
    with pytest.raises(CompileError, match=r"assembler, which is not to be had: It is hidden\."):
        machine_code(kernel, "sm_90")


def test_an_architecture_without_an_instruction_is_the_compilers_error() -> None:
    source = '#include "cuda_pipeline.h"\n' + SOURCE + 'extern "C" __global__ void f() { asm("cp.async.wait_all;"); }'
    with pytest.raises(CompileError):
        machine_code(compile(source).kernels["add"], "sm_75")
