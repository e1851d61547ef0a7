from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.executors.arguments import bind
from convlab.executors.compile import compile
from convlab.executors.module import load_ptx

SOURCE = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct Sizes { int n; double scale; };
struct __align__(16) Opaque { int n; };
extern "C" __global__ void take(PARAMETERS) { }
"""
SIZES = np.dtype([("n", "i4"), ("scale", "f8")], align=True)


def kernel(*parameters: str):
    return compile(SOURCE.replace("PARAMETERS", ", ".join(parameters)), "take.cu").kernels["take"]


def refusal(parameter: str, value: object) -> str:
    """The message for one wrong argument, without what every message has."""
    with pytest.raises(ArgumentError) as caught:
        bind(kernel("int before", parameter), [1, value])
    head, context, fix = str(caught.value).split("\n")
    assert head.startswith(f"take, argument 2, `{parameter}`: ")
    assert context == f"  In: take(int before, {parameter})"
    assert fix.startswith("  Fix: ")
    return f"{head.removeprefix(f'take, argument 2, `{parameter}`: ')} {fix.removeprefix('  Fix: ')}"


@pytest.mark.parametrize(
    ("parameter", "value", "dtype"),
    [
        ("int n", -7, "<i4"),
        ("int n", np.int64(-7), "<i4"),
        ("unsigned n", 2**32 - 1, "<u4"),
        ("char c", -128, "<i1"),
        ("unsigned char c", 255, "<u1"),
        ("short s", -(2**15), "<i2"),
        ("long long n", -(2**63), "<i8"),
        ("size_t n", 2**64 - 1, "<u8"),
        ("float x", 0.1, "<f4"),
        ("float x", np.float64(0.1), "<f4"),
        ("float x", -math.inf, "<f4"),
        ("double x", np.float32(0.1), "<f8"),
        ("half x", 0.1, "<f2"),
        ("bool b", True, "?"),
        ("bool b", np.False_, "?"),
    ],
)
def test_a_number_becomes_the_bytes_of_its_parameter(parameter, value, dtype):
    _, bound = bind(kernel("int before", parameter), [1, value])
    assert bound.array is None
    assert bound.data == np.array(value, dtype=dtype).tobytes()


def test_bfloat16_rounds_as_an_independent_implementation_does():
    take = kernel("__nv_bfloat16 x")
    rng = np.random.default_rng(0)
    ties = np.array([0x3F808000, 0x3F818000, 0x00008000, 0x7F7FFFFF, 0x80000000], np.uint32).view(np.float32)
    for value in [*rng.standard_normal(200).astype("f4"), *ties, math.inf, -math.inf]:
        (bound,) = bind(take, [float(value)])
        assert bound.data == ml_dtypes.bfloat16(value).tobytes()
    (bound,) = bind(take, [math.nan])
    assert math.isnan(np.frombuffer(bound.data, ml_dtypes.bfloat16)[0])
    (bound,) = bind(take, [ml_dtypes.bfloat16(1.5)])
    assert bound.data == ml_dtypes.bfloat16(1.5).tobytes()


def test_a_struct_takes_a_structured_scalar_of_its_size():
    sizes = np.array((7, 0.5), SIZES)
    for value in (sizes, sizes[()]):
        (bound,) = bind(kernel("Sizes s"), [value])
        assert bound.data == sizes.tobytes()
        assert len(bound.data) == 16


@pytest.mark.parametrize(
    ("parameter", "dtype"),
    [
        ("float* x", "f4"),
        ("float4* x", "f4"),
        ("half* x", "f2"),
        ("half2* x", "f2"),
        ("__nv_bfloat16* x", "u2"),
        ("__nv_bfloat16* x", ml_dtypes.bfloat16),
        ("int* x", "i4"),
        ("unsigned* x", "u4"),
        ("char* x", "i1"),
        ("char* x", "u1"),
        ("double* x", "f8"),
        ("long long* x", "i8"),
        ("bool* x", "?"),
        ("Sizes* x", SIZES),
        ("Opaque* x", SIZES),
        ("void* x", "c16"),
        ("float x[]", "f4"),
    ],
)
def test_a_pointer_takes_arrays_of_its_type_and_null(parameter, dtype):
    array = np.zeros((2, 3), dtype)
    bound, null = bind(kernel(parameter, "float* other"), [array, None])
    assert bound.array is array
    assert bound.data is None
    assert (null.array, null.data) == (None, None)


WRONG = [
    ("int n", 2.0, "got float 2.0 for an integer. pass int(2.0)."),
    ("int n", 2.5, "got float 2.5 for an integer. pass a whole number."),
    ("int n", np.float32(2), "got float32 np.float32(2.0) for an integer. pass int(np.float32(2.0))."),
    ("int n", True, "got bool True for an integer. pass int(True)."),
    ("int n", math.nan, "got float nan for an integer. pass a whole number."),
    ("int n", "2", "got str '2' for an integer. pass a whole number."),
    ("int n", None, "got NoneType None for an integer. pass a whole number."),
    (
        "int n",
        np.arange(3),
        "got an array of int64 with shape (3,) for an integer. pass one number, such as int(n[0]).",
    ),
    (
        "int n",
        2**31,
        "2147483648 does not fit: the type holds -2147483648 to 2147483647. "
        "pass a value in that range, or give the parameter a wider type.",
    ),
    (
        "unsigned n",
        -1,
        "-1 does not fit: the type holds 0 to 4294967295. "
        "pass a value in that range, or give the parameter a wider type.",
    ),
    ("float x", 2, "got int 2 for a floating-point number. pass float(2)."),
    ("float x", np.int32(2), "got int32 np.int32(2) for a floating-point number. pass float(np.int32(2))."),
    ("float x", "2", "got str '2' for a floating-point number. pass a float."),
    ("float x", np.ones(1), "got an array of float64 with shape (1,) for a floating-point number. pass float(x)."),
    (
        "float x",
        1e39,
        "1e+39 is too large for the type. pass a smaller number, or give the parameter a wider type.",
    ),
    ("half x", 7e4, "70000.0 is too large for the type. pass a smaller number, or give the parameter a wider type."),
    ("bool b", 1, "got int 1 for a bool. pass True or False."),
    (
        "Sizes s",
        (7, 0.5),
        "got tuple (7, 0.5) for a struct. "
        "pass a structured scalar of 16 bytes: np.array((…), dtype=[(field, type), …])[()].",
    ),
    (
        "Sizes s",
        np.array((7, 0.5), [("n", "i4"), ("scale", "f8")])[()],
        "the dtype has 12 bytes, the struct 16. "
        "give the dtype all fields in the struct's order: np.dtype([(field, type), …], align=True).",
    ),
    ("float* x", 2.0, "got float 2.0 for a pointer. pass an array, such as np.array(…, dtype=np.float32)."),
    ("int* x", [1, 2], "got list [1, 2] for a pointer. pass an array, such as np.array(…, dtype=np.int32)."),
    (
        "float* x",
        np.zeros((2, 3)),
        "got an array of float64 with shape (2, 3). pass x.astype(np.float32), and read results from that array.",
    ),
    (
        "float* x",
        np.zeros(3, ">f4"),
        "got an array of >f4 with shape (3,). pass x.astype(np.float32), and read results from that array.",
    ),
    ("char* x", np.zeros(3, "f4"), "got an array of float32 with shape (3,). pass an array of np.int8 or np.uint8."),
    (
        "__nv_bfloat16* x",
        np.zeros(3, "f2"),
        "got an array of float16 with shape (3,). pass an array of np.uint16 or ml_dtypes.bfloat16.",
    ),
    (
        "void* x",
        np.array([print]),
        "got an array of object with shape (1,). pass x.astype(np.float32), and read results from that array.",
    ),
    (
        "Sizes* x",
        np.zeros(3, "f4"),
        "got an array of float32 with shape (3,). pass an array with a structured dtype of 16 bytes.",
    ),
    (
        "float* x",
        np.zeros((3, 4), "f4")[:, ::2],
        "got an array of float32 with shape (3, 2) that is not contiguous (strides (16, 8) bytes). "
        "pass np.ascontiguousarray(x), and read results from that array.",
    ),
]


@pytest.mark.parametrize(("parameter", "value", "message"), WRONG)
def test_a_wrong_argument_is_named_with_the_way_to_mend_it(parameter, value, message):
    assert refusal(parameter, value) == message


def test_a_read_only_array_is_for_pointers_to_const():
    array = np.zeros(3, "f4")
    array.flags.writeable = False
    assert bind(kernel("const float* x"), [array])[0].array is array
    assert refusal("float* x", array) == (
        "got an array of float32 with shape (3,) that is read-only, and the kernel may write to it. "
        "pass x.copy(), and read results from that; or make the parameter a pointer to const."
    )


X, Y = np.zeros(4, "f4"), np.zeros(4, "i4")


@pytest.mark.parametrize(
    ("args", "count"),
    [
        ([], "0 were given; missing: `float* x`, `int* y`, `int n`, `float by`"),
        ([X, Y, 4], "3 were given; missing: `float by`"),
        ([X, 4, 0.5], "3 were given; missing: `int* y`"),
        ([Y, 4], "2 were given; missing: `float* x`, `float by`"),
        (["?", "?"], "2 were given; missing: `int n`, `float by`"),
        ([X, Y, 4, 0.5, "more", Y], "6 were given; surplus: str 'more', an array of int32 with shape (4,)"),
    ],
)
def test_missing_and_surplus_arguments_are_named(args, count):
    with pytest.raises(ArgumentError) as caught:
        bind(kernel("float* x", "int* y", "int n", "float by"), args)
    fix = "pass one argument for each parameter" + ("" if "surplus" in count else "; None is a null pointer")
    assert str(caught.value) == (
        f"take takes 4 arguments, {count}.\n  In: take(float* x, int* y, int n, float by)\n  Fix: {fix}."
    )


def test_with_ptx_alone_sizes_and_floats_are_checked():
    ptx = kernel("float* x", "int n", "unsigned m", "float by", "Sizes s").module.ptx
    take = load_ptx(ptx).kernels["take"]
    sizes = np.array((7, 0.5), SIZES)
    bound = bind(take, [np.zeros(3, "i2"), -1, 2**32 - 1, 0.5, sizes])
    assert [each.data for each in bound[1:3]] == [b"\xff" * 4] * 2
    assert bind(take, [2**40, 1, 1, 0.5, sizes])[0].data == (2**40).to_bytes(8, "little")
    assert bind(take, [None, 1, 1, 0.5, sizes])[0].data is None
    with pytest.raises(ArgumentError, match=r"take, argument 4, `\.f32`: got int 1 for a floating-point number"):
        bind(take, [None, 1, 1, 1, sizes])


class InGpuMemory:
    """What CuPy's arrays offer."""

    def __init__(self, array: np.ndarray) -> None:
        self.dtype, self.shape, self.strides, self.flags = array.dtype, array.shape, array.strides, array.flags
        self.__cuda_array_interface__ = {"data": (0x7000, False)}


def test_arrays_in_gpu_memory_are_for_the_gpu():
    array, wrong = InGpuMemory(np.zeros(3, "f4")), InGpuMemory(np.zeros(3))
    assert bind(kernel("float* x"), [array], device_arrays=True)[0].array is array
    with pytest.raises(ArgumentError, match=r"got an array of float64 with shape \(3,\)\.\n"):
        bind(kernel("float* x"), [wrong], device_arrays=True)
    assert refusal("float* x", array) == (
        "got an array in GPU memory. pass cupy.asnumpy(x), or launch on device='cuda'."
    )


def test_a_subclass_is_the_array_below_it():
    class Own(np.ndarray):
        def view(self, *_):
            raise AssertionError("memory asks for no view of a subclass")

    for array in (np.zeros(4, "f4").view(Own), np.zeros(4, "f4").view(np.recarray)):
        (bound,) = bind(kernel("float* x"), [array])
        assert type(bound.array) is np.ndarray
        assert np.shares_memory(bound.array, array)


def test_a_masked_array_is_refused():
    with pytest.raises(ArgumentError, match=r"kernels know no masks(.|\n)*pass x.filled"):
        bind(kernel("float* x"), [np.ma.masked_array(np.zeros(4, "f4"), mask=[0, 1, 0, 1])])


@pytest.mark.parametrize("dtype", ["V0", ">f4", "O"])
def test_what_has_no_bytes_of_this_machine_is_for_no_pointer(dtype):
    with pytest.raises(ArgumentError, match="got an array of"):
        bind(kernel("void* x"), [np.zeros(4, dtype)])


def test_bits_of_ptx_take_a_float_of_their_size():
    text = ".version 8.0\n.target sm_80\n.entry f(.param .b32 a, .param .b16 b, .param .u32 c) { ret; }"
    entry = load_ptx(text).kernels["f"]
    a, b, _ = bind(entry, [np.float32(1.5), np.float16(-2.0), 7])
    assert (a.data, b.data) == (np.float32(1.5).tobytes(), np.float16(-2.0).tobytes())
    for wrong in ([1.5, 0, 0], [np.float64(1.5), 0, 0], [0, np.float32(1), 0], [0, 0, np.float32(1)]):
        with pytest.raises(ArgumentError, match="for an integer"):
            bind(entry, wrong)
