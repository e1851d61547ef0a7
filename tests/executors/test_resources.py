from __future__ import annotations

from dataclasses import replace

import pytest

from convlab.errors import CompileError
from convlab.executors.compile import compile
from convlab.executors.module import load_ptx
from convlab.executors.resources import ARCHITECTURES, Resources, counted, resources
from convlab.kernels.layers import launches

# Plenty of values that are all alive at once, or few, by a macro.
GREEDY = """
__global__ void __launch_bounds__(1024, LEAST) greedy(const float* x, float* y) {
    __shared__ float tile[96];
    float v[96];
    for (int i = 0; i < 96; ++i) v[i] = x[i * 1024 + threadIdx.x];
    tile[threadIdx.x % 96] = v[5];
    __syncthreads();
    for (int k = 0; k < 9; ++k)
        for (int i = 0; i < 96; ++i) v[i] = v[i] * v[(i * 7 + 1) % 96] + tile[(i + k) % 96];
    for (int i = 0; i < 96; ++i) y[i * 1024 + threadIdx.x] = v[i];
}
extern "C" __global__ void idle() { }
"""


def test_resources_are_those_of_each_kernel_on_each_architecture():
    kernels = compile(GREEDY, "greedy.cu", options=["-DLEAST=1"]).kernels
    assert list(kernels["idle"].resources) == list(ARCHITECTURES)
    greedy = kernels["greedy"].resources["sm_80"]
    assert greedy.shared == 384
    assert 32 < greedy.registers <= 64  # 1024 threads leave no more of 65,536
    assert greedy.spill_stores > 0
    assert greedy.spill_loads > 0
    idle = kernels["idle"].resources["sm_90"]
    assert idle.registers < 20
    assert (idle.shared, idle.stack, idle.spill_stores, idle.spill_loads) == (0, 0, 0, 0)


def test_they_are_shown_by_architecture():
    text = repr(compile(GREEDY, "greedy.cu", options=["-DLEAST=1"]).kernels["idle"].resources)
    assert [line.split()[0] for line in text.splitlines()] == list(ARCHITECTURES)
    assert "Resources(registers=" in text


def test_they_are_assembled_once(monkeypatch):
    kernel = compile(GREEDY, "greedy.cu", options=["-DLEAST=1"]).kernels["idle"]
    first = kernel.resources["sm_80"]
    monkeypatch.setattr("convlab.executors.resources.nvrtc", None)
    assert kernel.resources["sm_80"] is first
    assert isinstance(first, Resources)


def test_an_instruction_that_an_architecture_lacks_is_an_error_of_its_line():
    source = """__global__ void f(unsigned* p) {
    asm volatile("cp.async.commit_group;");
}"""
    kernel = compile(source, "copy.cu").kernels["f"]
    assert kernel.resources["sm_80"].registers
    with pytest.raises(CompileError, match=r"cp\.async"):
        kernel.resources["sm_75"]


def test_what_cannot_be_counted_says_why(monkeypatch):
    with pytest.raises(KeyError, match="'ampere' is no architecture; write it as 'sm_80'"):
        compile(GREEDY, options=["-DLEAST=1"]).kernels["idle"].resources["ampere"]
    with pytest.raises(KeyError, match="80 is no architecture"):
        compile(GREEDY, options=["-DLEAST=1"]).kernels["idle"].resources[80]
    ptx = load_ptx(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry idle() { ret; }")
    with pytest.raises(CompileError, match="is PTX without CUDA C"):
        ptx.kernels["idle"].resources["sm_80"]
    monkeypatch.setenv("CONVLAB_HIDE_NVRTC", "1")
    with pytest.raises(
        CompileError, match="Registers are counted by NVIDIA's assembler, which is not to be had: NVRTC"
    ):
        resources("another", "f.cu", (), "sm_80")


def test_without_a_compiler_the_courses_kernels_have_their_shipped_resources(monkeypatch):
    step = next(step for _, step in launches() if step.entry == "conv_naive")
    kernel = compile(step.text(), step.source, options=step.options).kernels["conv_naive"]
    monkeypatch.setenv("CONVLAB_HIDE_NVRTC", "1")
    monkeypatch.setattr("convlab.executors.resources.nvrtc", None)
    assert all(16 < found.registers <= 64 for found in kernel.resources.values())


SOME = [step for record, step in launches(variants=False) if record.since == 75][::5]


@pytest.mark.parametrize("step", SOME, ids=lambda step: step.entry)
def test_shipped_resources_are_those_that_the_assembler_counts(step):
    for arch in ("sm_75", "sm_90"):
        known, now = (count(step.text(), step.source, step.options, arch)[step.entry] for count in (resources, counted))
        assert now.registers == pytest.approx(known.registers, abs=4)  # some vary each time that it is asked
        assert replace(now, registers=0) == replace(known, registers=0)
