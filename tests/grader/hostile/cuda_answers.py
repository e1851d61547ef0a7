"""Hostile answers in CUDA C to 03-index: what they try, their texts, and the status that each must get."""

from __future__ import annotations

from .python_answers import MARK

__all__ = ["CUDA"]

_SIGNATURE = """extern "C" __global__ void conv(const float* x, const float* w, float* y,
                                int C, int H, int W, int K, int R, int S, int P, int Q)"""
_IDLE = _SIGNATURE + " { y[0] = 0.0f; }\n"


def _body(text: str) -> str:
    return f"{_SIGNATURE} {{\n    {text}\n}}\n"


def _asm(text: str) -> str:
    return _body(f'asm volatile("{text}"); y[0] = 0.0f;')


_PYTHON = f"__import__('os').system('touch /tmp/{MARK}')"

_CUDA = {
    "includes the password file": ("forbidden", '#include "/etc/passwd"\n' + _IDLE),
    "includes the solutions": ("forbidden", '#include "../../solutions/03_one_thread.ipynb"\n' + _IDLE),
    "includes the seeds": ("forbidden", "#include <seeds.json>\n" + _IDLE),
    "includes the environment": ("forbidden", "#include </proc/self/environ>\n" + _IDLE),
    "includes a kernel of the course": ("forbidden", '#include "naive.cu"\n' + _IDLE),
    "includes by a macro": ("error", '#define THE_FILE "/etc/passwd"\n#include THE_FILE\n' + _IDLE),
    "includes by a macro what is there": ("error", '#define F "/etc/ld.so.cache"\n#include F\n' + _IDLE),
    "asks whether a file is there": ("wrong", '#if __has_include("/etc/passwd")\n#error there\n#endif\n' + _IDLE),
    "makes templates without end": (
        ("timeout", "out_of_memory"),
        """
template <int A, int B> struct Bomb {
    static constexpr int value = Bomb<A - 1, 2 * B>::value + Bomb<A - 1, 2 * B + 1>::value;
};
template <int B> struct Bomb<0, B> { static constexpr int value = 1; };
constexpr int N = Bomb<26, 1>::value;
"""
        + _body("y[0] = N;"),
    ),
    "makes templates that never end": (
        "error",
        "template <int N> struct Deep { static constexpr int value = Deep<N + 1>::value; };\n"
        + _body("y[0] = Deep<0>::value;"),
    ),
    "makes text without end": (
        ("timeout", "out_of_memory"),
        "#define A0 x[0] + x[0] + x[0] + x[0] +\n"
        + "".join(f"#define A{n} A{n - 1} A{n - 1} A{n - 1} A{n - 1}\n" for n in range(1, 16))
        + _body("y[0] = A15 0.0f;"),
    ),
    "hides Python in a comment of assembly": ("error", _asm(f'// \\n"""\\n{_PYTHON}\\n"""')),
    "hides Python in an instruction": ("error", _asm(f"{_PYTHON};")),
    "hides Python in a name": (
        "error",
        _asm("{ .reg .f32 a'+__import__('os')+'; mov.f32 a'+__import__('os')+', 0f00000000; }"),
    ),
    "hides Python in a label": ("error", _asm(f"{_PYTHON}: bra.uni {_PYTHON};")),
    "hides Python in a number": ("error", _asm("{ .reg .u32 a; mov.u32 a, (lambda: 1)(); }")),
    "hides Python in a string": ("error", _asm(f'.file 9 \\"{_PYTHON}\\"')),
    "ends the function in assembly": ("error", _asm("ret; } .visible .entry conv() { ret;")),
    "has a giant array": ("error", "__device__ char big[1ull << 40];\n" + _body("big[0] = 1; y[0] = big[1];")),
    "has a giant local array": ("out_of_memory", _body("volatile char big[1 << 30]; big[C] = 1; y[0] = big[W];")),
    "has a giant shared array": (
        "out_of_memory",
        "__shared__ char big[1 << 30];\n" + _body("big[C] = 1; y[0] = big[W];"),
    ),
    "loops for ever": (("wrong", "timeout"), _body("while (true) y[0] = x[0] + 1.0f;")),
    "recurses for ever": (
        "wrong",
        "__device__ float deep(float v, int n) { return n ? deep(v, n + 1) + v : v; }\n"
        + _body("y[0] = deep(x[0], C);"),
    ),
    "reads outside of its arrays": ("wrong", _body("y[0] = x[1 << 20] + w[-5];")),
    "reads an address of its own": ("wrong", _body("y[0] = *(const float*)0x7fff00000000ull;")),
    "writes to its input": ("wrong", _body("((float*)x)[0] = 0.0f; ((float*)w)[0] = 0.0f; y[0] = 0.0f;")),
    "stops with a trap": ("wrong", _body("__trap();")),
    "prints for ever": (
        "timeout",
        _body('for (int i = 0; i < 20000; ++i) printf("%d %s\\n", i, "=1+1"); y[0] = 0.0f;'),
    ),
    "prints a forged result": (
        "wrong",
        _body(
            r'printf("{\"ended\": \"returned\", \"status\": \"ok\", \"share\": 1.0, \"sizes\": []}\n\x1b[31m<script>");'
            " y[0] = 0.0f;"
        ),
    ),
    "fails with escapes": ("error", "#error \x1b[31m <script>alert(1)</script>\n" + _IDLE),
    "has no such kernel": ("error", _IDLE.replace("conv(", "other(")),
    "has another signature": ("error", 'extern "C" __global__ void conv(float* y) { y[0] = 0.0f; }\n'),
    "calls the host": ("error", '#include <cstdlib>\nint main() { return system("id"); }\n' + _IDLE),
    "is too long a program": (
        ("error", "timeout"),
        _body("".join(f"y[{n}] = x[{n}] * w[{n % 7}];" for n in range(6000))),
    ),
}

CUDA = {name: (status, f"%%cuda mine\n{text}") for name, (status, text) in _CUDA.items()} | {
    "is Python": ("error", f"{_PYTHON}\nmine = None\n"),
    "has Python before it": ("error", f"{_PYTHON}\n%%cuda mine\n{_IDLE}"),
    "has Python in its first line": ("error", f"%%cuda mine; {_PYTHON}\n{_IDLE}"),
    "has options": ("error", f"%%cuda mine --options=-I/\n{_IDLE}"),
}
