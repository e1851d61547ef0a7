from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.program import Param
from convlab.executors.compile import compile
from convlab.executors.cuda_types import TYPES
from convlab.executors.signature import Source, match, without_comments

# declaration, then: name, kind, dtypes behind the pointer, const
DECLARATIONS = [
    ("float x", "x", "float", None, False),
    ("const int n", "n", "int", None, False),
    ("unsigned n", "n", "uint", None, False),
    ("long long unsigned int n", "n", "uint", None, False),
    ("size_t n = 3", "n", "uint", None, False),
    ("bool flag", "flag", "bool", None, False),
    ("cuda::std::uint16_t n", "n", "uint", None, False),
    ("float4 v", "v", "struct", None, False),
    ("struct Conv v", "v", "struct", None, False),
    ("real r", "r", "float", None, False),
    ("WORD n", "n", "uint", None, False),
    ("index_t i", "i", "int", None, False),
    ("Unknown u", "u", "", None, False),
    ("pair<int, 2> p", "p", "", None, False),
    ("int", "argument_1", "int", None, False),
    ("unsigned int", "argument_1", "uint", None, False),
    ("float* x", "x", "pointer", ("float32",), False),
    ("float *x", "x", "pointer", ("float32",), False),
    ("const float* __restrict__ x", "x", "pointer", ("float32",), True),
    ("float const * const x", "x", "pointer", ("float32",), True),
    ("float* const x", "x", "pointer", ("float32",), False),
    ("const volatile unsigned char* x", "x", "pointer", ("uint8",), True),
    ("char* x", "x", "pointer", ("int8", "uint8"), False),
    ("signed char* x", "x", "pointer", ("int8",), False),
    ("float x[]", "x", "pointer", ("float32",), False),
    ("const float x[16][3]", "x", "pointer", ("float32",), True),
    ("int (*x)[16]", "x", "pointer", ("int32",), False),
    ("float** rows", "rows", "pointer", ("uint64",), False),
    ("float* rows[4]", "rows", "pointer", ("uint64",), False),
    ("const float4* x", "x", "pointer", ("float32",), True),
    ("half2* x", "x", "pointer", ("float16",), False),
    ("__half* x", "x", "pointer", ("float16",), False),
    ("__nv_bfloat16* x", "x", "pointer", ("uint16", "bfloat16"), False),
    ("void*", "argument_1", "pointer", (), False),
    ("Conv* v", "v", "pointer", (), False),
    ("T* x", "x", "pointer", None, False),
    ("pair<int, float*>* x", "x", "pointer", None, False),
    ("const real* OUT x", "x", "pointer", ("float32",), True),
]

TYPES_OF_THE_LEARNER = """
#define WORD unsigned int
#define OUT __restrict__
#define SIX 6
typedef float real;
using index_t = short;
struct Conv { int n, c; double sum; char name[SIX]; Half2 *p; };
typedef struct { short a; char b[3]; } Small;
struct alignas(16) Odd { int a; };
struct Method { int a; int f() const; };
"""


@pytest.mark.parametrize(("text", "name", "kind", "dtypes", "const"), DECLARATIONS)
def test_a_declaration_is_read(text, name, kind, dtypes, const):
    parameter = Source(TYPES_OF_THE_LEARNER).parameter(text)
    assert parameter.text == text.removesuffix(" = 3")
    assert (parameter.name, parameter.kind, parameter.const) == (name, kind, const)
    assert (parameter.pointee.dtypes if parameter.pointee else None) == dtypes


def test_the_size_of_a_plain_struct_follows_the_rules_of_c():
    structs = Source(TYPES_OF_THE_LEARNER).structs
    sizes = {name: (layout.size, layout.align) for name, layout in structs.items()}
    assert sizes == {"Conv": (32, 8), "Small": (6, 2), "Odd": (0, 0), "Method": (0, 0)}


@pytest.mark.parametrize(
    "fields",
    ["char a; double b; char c;", "short a[3]; int b;", "float4 v; char c;", "char a; float3 b;", "half h; int2 i;"],
)
def test_sizes_are_those_of_the_compiler(fields):
    source = f'#include <cuda_fp16.h>\nstruct S {{ {fields} }};\nextern "C" __global__ void f(S s) {{ }}'
    layout = Source(source).structs["S"]
    (param,) = compile(source).program.entries["f"].params
    assert (layout.size, layout.align) == (param.size, param.align)


def test_sizes_of_types_are_those_of_the_compiler():
    names = [name for name in TYPES if name != "void" and not name.startswith("nv_fp8") and "_t" not in name]
    declared = ", ".join(f"{'__' * name.startswith('nv_')}{name} a{at}" for at, name in enumerate(names))
    source = f'#include <cuda_fp16.h>\n#include <cuda_bf16.h>\nextern "C" __global__ void f({declared}) {{ }}'
    kernel = compile(source).kernels["f"]
    assert len(kernel.parameters) == len(names) > 40
    for name, parameter, param in zip(names, kernel.parameters, kernel.program_entry.params, strict=True):
        assert (name, TYPES[name].size, TYPES[name].align) == (name, param.size, param.align)
        assert parameter.kind == TYPES[name].kind


def test_dtypes_have_the_size_of_their_type():
    for name, known in TYPES.items():
        for dtype in known.dtypes:
            size = 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
            assert known.size % size == 0, name


KERNELS = """
// extern "C" __global__ void commented(int n);
/* __global__ void commented_too(int n) { } */
const char* text = "__global__ void quoted(int n) {";
extern "C" __global__ void
__launch_bounds__(256, 2)
plain(const float* x,   // one, two
      int n /* , int m */);
static void __global__ swapped(int a) { int b = f(a, 3); }
template <typename T, int N>
__global__ void of_template(T* x, Small s) { }
__global__ void nothing() { }
__global__ void nothing_at_all(void) { }
#define MACRO __global__ void from_macro(int n)
"""


def test_every_kernel_of_a_source_is_found_and_nothing_else():
    kernels = {name: [[p.name for p in ps] for ps in found] for name, found in Source(KERNELS).kernels.items()}
    assert kernels == {
        "plain": [["x", "n"]],
        "swapped": [["a"]],
        "of_template": [["x", "s"]],
        "nothing": [[]],
        "nothing_at_all": [[]],
    }


def test_a_mutilated_source_raises_nothing():
    rng = np.random.default_rng(0)
    text = TYPES_OF_THE_LEARNER + KERNELS
    for _ in range(300):
        start, end = sorted(rng.integers(0, len(text), 2))
        for parameters in Source(text[:start] + text[end:]).kernels.values():
            match(Source(text[end:]), "plain", [Param("", "u64", 8, 8)] * len(parameters))


def test_macros_of_the_options_are_types_too():
    assert Source("", ["-DT=double", "--define-macro=U=int", "-DFLAG"]).parameter("T* x").pointee == TYPES["double"]


def test_the_declaration_that_fits_the_ptx_is_taken():
    source = Source("__global__ void f(float x); __global__ void f(int n, double y);")
    params = (Param("p0", "u32", 4, 4), Param("p1", "f64", 8, 8))
    assert [parameter.name for parameter in match(source, "ns::f", params)] == ["n", "y"]


@pytest.mark.parametrize("text", ["__global__ void f(double x)", "__global__ void f(float a, float b)", "int x;", "("])
def test_a_source_that_does_not_fit_leaves_the_types_to_the_ptx(text):
    (parameter,) = match(Source(text), "f", (Param("f_param_0", "f32", 4, 4),))
    assert (parameter.text, parameter.name, parameter.kind, parameter.size) == (".f32", "argument_1", "float", 4)


def test_without_a_source_the_types_are_the_ptxs():
    params = [Param("", kind, size, size) for kind, size in (("u64", 8), ("s32", 4), ("u8", 1), ("f64", 8), ("b8", 64))]
    assert [p.kind for p in match(None, "f", params)] == ["address", "bits", "bits", "float", "struct"]
    assert match(None, "f", params)[-1].text == ".b8[64]"


def test_an_unknown_type_in_the_source_gets_its_kind_from_the_ptx():
    source = Source("__global__ void f(Mode mode, Sizes sizes)")
    mode, sizes = match(source, "f", [Param("", "u32", 4, 4), Param("", "b8", 24, 8)])
    assert (mode.text, mode.kind, mode.size) == ("Mode mode", "bits", 4)
    assert (sizes.kind, sizes.size, sizes.align) == ("struct", 24, 8)


def test_comments_go_and_lines_stay():
    text = 'a; // one\nb /* two\nthree */ c; s = "// kept"; t = \'"\'; // four'
    assert without_comments(text) == 'a;  \nb  \n c; s = "// kept"; t = \'"\';  '
