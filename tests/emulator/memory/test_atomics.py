"""Every atomic operation on every type, against Python that goes lane after lane; with many lanes at one address."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from convlab.emulator.memory.atomics import OPERATIONS
from convlab.errors import UnsupportedInstruction

from ..conftest import HEAD, kernel, launch

THREADS, PLACES = 70, 5


def wrapped(value: int, dtype: str) -> int:
    bits = 8 * np.dtype(dtype).itemsize
    value %= 1 << bits
    return value - (1 << bits) if dtype[0] == "i" and value >> bits - 1 else value


INTEGERS = {
    "add": lambda old, a, b: old + a,
    "min": lambda old, a, b: min(old, a),
    "max": lambda old, a, b: max(old, a),
    "exch": lambda old, a, b: a,
    "cas": lambda old, a, b: b if old == a else old,
    "and": lambda old, a, b: old & a,
    "or": lambda old, a, b: old | a,
    "xor": lambda old, a, b: old ^ a,
    "inc": lambda old, a, b: 0 if old >= a else old + 1,
    "dec": lambda old, a, b: a if old == 0 or old > a else old - 1,
}
CASES = [
    *[("add", kind) for kind in ("s32", "u32", "u64")],
    *[(name, kind) for name in ("min", "max") for kind in ("s32", "u32", "s64", "u64")],
    *[(name, kind) for name in ("exch", "cas", "and", "or", "xor") for kind in ("b32", "b64")],
    *[("cas", "b16"), ("inc", "u32"), ("dec", "u32")],
]
assert set(INTEGERS) == set(OPERATIONS)


def dtype_of(kind: str) -> str:
    return f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}"


def atomics(opcode: str, memory: np.ndarray, *values: np.ndarray, space: str = "global") -> tuple[list, np.ndarray]:
    """What each thread found, and memory afterwards; thread t goes to place t mod PLACES of global or shared memory."""
    size = memory.itemsize
    register = {2: "%h", 4: "%r", 8: "%rd"}[size]
    operands = [f"{register}{4 + n}" for n in range(len(values))]
    loads = [
        f"mul.wide.u32 %rd10, %r0, {size}; add.s64 %rd11, %rd{2 + n}, %rd10; ld.global.b{8 * size} {operand}, [%rd11];"
        for n, operand in enumerate(operands)
    ]
    at = f"rem.u32 %r2, %r0, {PLACES}; mul.wide.u32 %rd12, %r2, {size}; add.s64 %rd13, %rd1, %rd12;"
    before, where, after = "", "%rd13", ""
    if space == "shared":  # the first threads carry memory in and out
        copy = f"setp.lt.u32 %p1, %r0, {PLACES}; @!%p1 bra {{label}}; {{move}} {{label}}: bar.sync 0;"
        move_in = f"ld.global.b{8 * size} {register}7, [%rd13]; st.shared.b{8 * size} [%rd15], {register}7;"
        move_out = f"ld.shared.b{8 * size} {register}7, [%rd15]; st.global.b{8 * size} [%rd13], {register}7;"
        before = ".shared .align 8 .b8 tile[40]; mov.u64 %rd14, tile; add.s64 %rd15, %rd14, %rd12; "
        before += f"{copy.format(label='IN', move=move_in)}"
        where, after = "%rd15", f"bar.sync 0; {copy.format(label='OUT', move=move_out)}"
    text = f"""
        {at} {before} {"".join(loads)}
        atom.{space}.{opcode} {register}6, [{where}], {", ".join(operands)};
        mul.wide.u32 %rd10, %r0, {size}; add.s64 %rd11, %rd0, %rd10;
        st.global.b{8 * size} [%rd11], {register}6; {after}"""
    found, memory = np.zeros(THREADS, memory.dtype), memory.copy()
    assert not launch(kernel(text, 2 + len(values)), found, memory, *values).faults
    return found.tolist(), memory


def operands(dtype: str, count: int) -> tuple[np.ndarray, ...]:
    """Memory and values, from few numbers, so that they often meet, and from the edges of the type."""
    rng = np.random.default_rng(11)
    info = np.iinfo(dtype)
    pool = np.array([info.min, info.max, 0, 1, 2, 3, 5, info.max - 1, 77], dtype)
    return tuple(rng.choice(pool, size) for size in (PLACES, *[THREADS] * count))


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_integers(name, kind, space):
    dtype = dtype_of(kind)
    memory, *values = operands(dtype, 2 if name == "cas" else 1)
    found, after = atomics(f"{name}.{kind}", memory, *values, space=space)
    expected, seen = memory.tolist(), []
    for t in range(THREADS):
        old = expected[t % PLACES]
        seen.append(old)
        expected[t % PLACES] = wrapped(INTEGERS[name](old, int(values[0][t]), int(values[-1][t])), dtype)
    assert found == seen
    assert after.tolist() == expected


FLOATS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
def test_floats_add_one_after_the_other_and_round_each_time(kind, space):
    number, bits = FLOATS[kind], f"u{np.dtype(FLOATS[kind]).itemsize}"
    rng = np.random.default_rng(5)
    memory, values = (rng.standard_normal(n).astype(number) for n in (PLACES, THREADS))
    values[:3] = np.array([np.inf, -0.0, 1e-7], number)
    name = f"add.noftz.{kind}" if kind in ("f16", "bf16") else f"add.{kind}"
    found, after = atomics(name, memory.view(bits), values.view(bits), space=space)
    expected, seen = memory.copy(), []
    for t in range(THREADS):
        seen.append(expected[t % PLACES])
        expected[t % PLACES] = number(expected[t % PLACES] + values[t])
    assert found == np.array(seen).view(bits).tolist()
    assert (after == expected.view(bits)).all()


@pytest.mark.parametrize("kind", ["f16x2", "bf16x2"])
def test_pairs_of_halves_add_each_by_itself(kind):
    number = FLOATS[kind.removesuffix("x2")]
    rng = np.random.default_rng(6)
    memory, values = (rng.standard_normal((n, 2)).astype(number) for n in (PLACES, THREADS))
    found, after = atomics(f"add.noftz.{kind}", memory.view("u4")[:, 0], values.view("u4")[:, 0])
    expected, seen = memory.copy(), []
    for t in range(THREADS):
        seen.append(expected[t % PLACES].copy())
        for half in range(2):
            expected[t % PLACES, half] = number(expected[t % PLACES, half] + values[t, half])
    assert found == np.array(seen).view("u4")[:, 0].tolist()
    assert (after == expected.view("u4")[:, 0]).all()


@pytest.mark.parametrize("opcode", ["red.global.add.u32", "red.relaxed.gpu.global.add.u32", "red.add.u32"])
def test_a_reduction_gives_nothing_back(opcode):
    total = np.zeros(1, "u4")
    assert not launch(kernel(f"{opcode} [%rd0], %r0;"), total, grid=(3, 1, 1), block=(70, 1, 1)).faults
    assert total[0] == 3 * sum(range(70))


def test_a_vector_of_atomics_is_one_for_each_element():
    text = kernel("""
        cvt.rn.f32.u32 %f1, %r0; mov.f32 %f2, 0f40000000;
        atom.global.add.v2.f32 {%f3, %f4}, [%rd0], {%f1, %f2};""")
    out = np.zeros(2, "f4")
    launch(text, out, block=(40, 1, 1))
    assert out.tolist() == [sum(range(40)), 80]


def test_a_loop_of_compare_and_swap_loses_no_update():
    # out = max over |x|, as of floats before there was an instruction for it
    text = kernel(
        """
        mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd1, %rd10; ld.global.f32 %f1, [%rd11];
        ld.global.b32 %r1, [%rd0];
        AGAIN: mov.b32 %f2, %r1; add.f32 %f3, %f1, %f2; mov.b32 %r2, %f3;
        atom.global.cas.b32 %r3, [%rd0], %r1, %r2; setp.eq.s32 %p1, %r3, %r1; mov.u32 %r1, %r3; @!%p1 bra AGAIN;""",
        2,
    )
    x, out = np.arange(1, 97, dtype="f4"), np.zeros(1, "f4")
    for seed in (None, 1):
        out[:] = 0
        assert not launch(text, out, x, block=(96, 1, 1), seed=seed).faults
        assert out[0] == math.fsum(x)


@pytest.mark.parametrize(
    "opcode", ["and.f32", "inc.f32", "cas.f16", "exch.f16x2", "xor.f64", "frob.u32", "add.pred", "add"]
)
def test_what_a_type_cannot_do_is_refused(opcode):
    with pytest.raises(UnsupportedInstruction, match=f"`atom.global.{opcode}`"):
        launch(kernel(f"atom.global.{opcode} %r1, [%rd0], %r2, %r3;"), np.zeros(1, "u4"))


@pytest.mark.parametrize(("offset", "kind"), [(400, "out_of_bounds"), (2, "misaligned"), (-4, "out_of_bounds")])
def test_a_bad_atomic_is_a_fault_that_changes_nothing(offset, kind):
    out = np.ones(4, "u4")
    (fault,) = launch(kernel(f"atom.global.add.u32 %r1, [%rd0+{offset}], 7;"), out).faults
    assert (fault.kind, fault.count) == (kind, 4)
    assert fault.message.startswith("updates p0")
    assert (out == 1).all()


def test_a_read_only_variable_is_not_updated():
    text = kernel("mov.u64 %rd1, table; atom.global.add.u32 %r1, [%rd1], 7;", head=HEAD + ".const .u32 table = 3;\n")
    (fault,) = launch(text, np.zeros(1, "u4")).faults
    assert (fault.kind, fault.message) == ("out_of_bounds", "updates table, which is constant.")
