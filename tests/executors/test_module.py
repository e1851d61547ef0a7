from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest

from convlab.errors import ArgumentError, CompileError
from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.executors.module import load_ptx

SOURCE = """
namespace tile { __global__ void load(float* x) { } }
extern "C" __global__ void conv_naive(const float* x, int n) { }
__global__ void twice(float* x) { }
template <typename T> __global__ void add(T* x, T by) { }
template __global__ void add<float>(float* x, float by);
template __global__ void add<double>(double* x, double by);
"""


def test_kernels_go_by_the_names_in_the_source():
    module = compile(SOURCE, "all.cu")
    assert sorted(module.kernels) == ["_Z3addIdEvPT_S0_", "_Z3addIfEvPT_S0_", "conv_naive", "tile::load", "twice"]
    assert module.kernels["tile::load"].entry == "_ZN4tile4loadEPf"
    assert module.kernels["twice"].signature == "twice(float* x)"
    by = module.kernels["_Z3addIdEvPT_S0_"].parameters[1]
    assert (by.text, by.kind, by.size) == ("T by", "float", 8)


def test_a_wrong_name_is_answered_with_the_right_ones():
    with pytest.raises(KeyError) as caught:
        compile(SOURCE, "all.cu").kernels["conv_nave"]
    assert str(caught.value).startswith("all.cu has no kernel 'conv_nave'. Did you mean 'conv_naive'? Its kernels are:")
    with pytest.raises(KeyError) as caught:
        compile("__device__ int x;", "none.cu").kernels["f"]
    assert str(caught.value) == (
        "none.cu has no kernel 'f'. It has none: a kernel is marked __global__, and a template needs an explicit "
        "instance."
    )


def test_modules_and_kernels_show_their_signatures():
    module = compile(SOURCE.split("\n")[2], "one.cu")
    assert repr(module) == "module one.cu (compute_80)\n  conv_naive(const float* x, int n)"
    assert repr(module.kernels) == "conv_naive(const float* x, int n)"
    assert repr(module.kernels["conv_naive"]) == "kernel conv_naive(const float* x, int n) of one.cu"
    assert repr(compile("", "none.cu").kernels) == "none.cu has no kernels"


def test_only_modules_without_variables_share_their_program():
    source = "__device__ int count; __constant__ float w[3]; __global__ void f(float* x) { *x = w[count++]; }"
    assert compile(source).program.variables.keys() == {"count", "w"}
    assert compile(source).program is not compile(source).program
    assert compile(SOURCE).program is compile(SOURCE).program


def test_ptx_from_elsewhere_has_types_from_the_ptx():
    module = load_ptx(compile(SOURCE, "all.cu").ptx, "other.ptx")
    assert (module.source, module.arch) == ("", "sm_80")
    kernel = module.kernels["conv_naive"]
    assert repr(kernel) == "kernel conv_naive(.u64, .u32) of other.ptx"
    assert [parameter.kind for parameter in kernel.parameters] == ["address", "bits"]
    assert kernel.program_entry.name == "conv_naive"


def test_what_is_no_ptx_is_refused():
    with pytest.raises(CompileError, match="is no PTX"):
        load_ptx("Ω")


def test_an_open_file_is_no_text():
    with pytest.raises(
        CompileError, match=r"load_ptx takes the text of a PTX file, not BytesIO.\n  Fix: pass its .read\(\)."
    ):
        load_ptx(BytesIO(b""))


VARIABLES = """
__constant__ float weights[6];
__device__ int counter = 3;
extern "C" __global__ void read(float* y, int* n) {
    for (int i = 0; i < 6; ++i) y[i] = weights[i];
    *n = counter++;
}
"""


def test_a_variable_is_filled_before_a_launch():
    module = compile(VARIABLES, "variables.cu")
    y, n = np.zeros(6, "f4"), np.zeros(1, "i4")
    module.write("weights", np.array([[1, 2], [3, 4]], "f4").T)
    launch(module.kernels["read"], 1, 1, [y, n], device="emulator")
    assert (y.tolist(), n.tolist()) == ([1, 3, 2, 4, 0, 0], [3])
    module.write("weights", np.array([9], "f4"))
    launch(module.kernels["read"], 1, 1, [y, n], device="emulator")
    assert (y.tolist(), n.tolist()) == ([9, 3, 2, 4, 0, 0], [4])


def test_what_cannot_be_written_is_said():
    module = compile(VARIABLES, "variables.cu")
    with pytest.raises(
        ArgumentError, match=r"variables\.cu has no variable 'weight'\. Its variables are: weights, counter"
    ):
        module.write("weight", np.zeros(1, "f4"))
    with pytest.raises(ArgumentError, match=r"weights of variables\.cu holds 24 bytes, and the values have 28"):
        module.write("weights", np.zeros(7, "f4"))
    for values in (np.zeros(2), [1.0, 2.0]):
        with pytest.raises(
            ArgumentError,
            match=r"weights of variables\.cu has elements of 4 bytes, and the values are float64\.\n  Fix: co",
        ):
            module.write("weights", values)
    with pytest.raises(ArgumentError, match=r"f\.cu has no variable 'w'\. It has none\."):
        compile("__global__ void f() { }", "f.cu").write("w", np.zeros(1))


def test_modules_share_a_program_unless_it_keeps_something_in_a_variable():
    sizes = """
constexpr int WIDTH = 4, HALF = WIDTH / 2;
__global__ void f(float* x) {
    __shared__ float s[WIDTH];
    s[threadIdx.x] = x[0];
    x[threadIdx.x] = s[threadIdx.x % HALF];
}"""
    assert compile(sizes, "sizes.cu").program.in_global_memory()
    assert compile(sizes, "sizes.cu").program is compile(sizes, "sizes.cu").program
    assert compile(VARIABLES, "variables.cu").program is not compile(VARIABLES, "variables.cu").program
