"""What beginners write in CUDA C, compiled for several architectures and run on the emulator, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch

X = np.linspace(-2, 2, 70).astype("f4")
I = np.arange(70)  # noqa: E741 - as in the kernels


def collatz(k: int) -> int:
    steps = 0
    while k != 1 and steps < 200:
        k, steps = (3 * k + 1 if k % 2 else k // 2), steps + 1
    return steps


CASES = {
    "y[i] = expf(x[i]);": np.exp(X),
    "y[i] = powf(fabsf(x[i]) + 1, x[i]);": (np.abs(X) + 1) ** X,
    "y[i] = logf(fabsf(x[i]) + 1);": np.log(np.abs(X) + 1),
    "y[i] = sinf(x[i]) + cosf(x[i]);": np.sin(X) + np.cos(X),
    "y[i] = tanhf(x[i]);": np.tanh(X),
    "y[i] = 1 / (1 + __expf(-x[i]));": 1 / (1 + np.exp(-X)),
    "y[i] = roundf(x[i] * 3);": np.copysign(np.floor(np.abs(X * 3) + np.float32(0.5)), X),
    "y[i] = floorf(x[i] * 3) + ceilf(x[i]) + truncf(x[i]);": np.floor(X * 3) + np.ceil(X) + np.trunc(X),
    "y[i] = fmodf(x[i] * 7, 2.5f);": np.fmod(X * 7, np.float32(2.5)),
    "y[i] = fmaxf(x[i], 0.0f) - fminf(x[i], 0.0f);": np.abs(X),
    "y[i] = x[i] > 0 ? x[i] : 0.1f * x[i];": np.where(X > 0, X, np.float32(0.1) * X),
    "y[i] = sqrtf(fabsf(x[i])) * rsqrtf(fabsf(x[i]) + 1);": np.sqrt(np.abs(X) / (np.abs(X) + 1)),
    "y[i] = __saturatef(x[i]);": np.clip(X, 0, 1),
    "y[i] = (int)(x[i] * 100) % 7;": np.fmod((X * 100).astype("i4"), 7),
    "y[i] = (i - 35) / 4 + (i - 35) % 4;": np.trunc((I - 35) / 4) + np.fmod(I - 35, 4),
    "y[i] = (unsigned)(i - 10) % 7u;": (I - 10) % 2**32 % 7,
    "y[i] = (i << 3) + ((i - 40) >> 2) + ((unsigned)(i - 40) >> 28);": (I << 3)
    + ((I - 40) >> 2)
    + ((I - 40) % 2**32 >> 28),
    "y[i] = __popc(i) + __clz(i);": [int(i).bit_count() + 32 - int(i).bit_length() for i in I],
    "bool b = x[i] > 0, c = i % 2; y[i] = (b && c) + 2 * (b || c) + 4 * (b ^ c);": [
        (b and c) + 2 * (b or c) + 4 * (b ^ c) for b, c in zip(X > 0, I % 2 == 1, strict=True)
    ],
    "signed char c = i * 37; unsigned short s = i * 7919; y[i] = c + s;": (I * 37).astype("i1")
    + (I * 7919).astype("u2").astype("f4"),
    "y[i] = (long long)i * 1234567891011LL % 1000;": I * 1234567891011 % 1000,
    "y[i] = (i + 1) * 0x9E3779B97F4A7C15ULL / 1000 % 777;": [
        (int(i) + 1) * 0x9E3779B97F4A7C15 % 2**64 // 1000 % 777 for i in I
    ],
    "double d = x[i]; y[i] = d * d + 1.0 / 3 + sqrt(fabs(d));": X.astype("f8") ** 2 + 1 / 3 + np.sqrt(np.abs(X)),
    "switch (i % 4) { case 0: y[i] = 1; break; case 1: y[i] = x[i]; case 9: break; default: y[i] = -1; }": np.select(
        [I % 4 == 0, I % 4 == 1], [1, X], -1
    ),
    "int k = i + 27, n = 0; while (k != 1 && n < 200) { k = k % 2 ? 3 * k + 1 : k / 2; ++n; } y[i] = n;": [
        collatz(int(i) + 27) for i in I
    ],
    "float s = 0; for (int k = 0; k < i; ++k) { if (k % 3 == 0) continue; if (k > 40) break; s += k; } y[i] = s;": [
        sum(k for k in range(min(int(i), 41)) if k % 3) for i in I
    ],
    "float a[5]; for (int k = 0; k < 5; ++k) a[k] = k * x[i]; y[i] = a[(i * 7) % 5];": (I * 7) % 5 * X,
    "y[i] = __int_as_float(__float_as_int(x[i]) ^ 0x80000000);": -X,
    "float4 v = ((const float4*)x)[i / 4]; y[i] = i % 4 == 0 ? v.x : i % 4 == 1 ? v.y : i % 4 == 2 ? v.z : v.w;": X,
}


@pytest.mark.parametrize("arch", ["compute_75", "compute_80", "compute_90"])
@pytest.mark.parametrize("body", CASES)
def test_scalar_cuda_c_is_numpy(body, arch):
    head = 'extern "C" __global__ void f(const float* x, float* y, int n) {'
    source = f"{head}\n  int i = threadIdx.x + blockIdx.x * blockDim.x;\n  if (i < n) {{ {body} }}\n}}"
    y = np.full(70, np.nan, "f4")
    padded = np.concatenate([X, np.zeros(2, "f4")])  # whole float4s
    launch(compile(source, arch=arch).kernels["f"], 3, 32, [padded, y, 70], device="emulator")
    assert np.allclose(y, np.asarray(CASES[body], "f8"), rtol=2e-6, atol=2e-6)


def test_device_functions_templates_structs_and_module_variables():
    source = """
    struct Pair { int first; float second; };
    __device__ int calls[2] = {3, 4};
    template <int N> __device__ float power(float v) { float r = 1; for (int k = 0; k < N; ++k) r *= v; return r; }
    extern "C" __global__ void f(float* y, Pair p) {
        y[threadIdx.x] = power<3>(p.second) + p.first + calls[threadIdx.x % 2];
        if (threadIdx.x == 0) calls[0] += 10;
    }"""
    pair = np.array((5, 0.5), [("first", "i4"), ("second", "f4")])[()]
    kernel, y = compile(source).kernels["f"], np.zeros(3, "f4")
    for expected in ([8.125, 9.125, 8.125], [18.125, 9.125, 18.125]):  # module variables outlive a launch
        launch(kernel, 1, 3, [y, pair], device="emulator")
        assert y.tolist() == expected
    launch(compile(source).kernels["f"], 1, 3, [y, pair], device="emulator")  # and are fresh in each module
    assert y.tolist() == [8.125, 9.125, 8.125]
