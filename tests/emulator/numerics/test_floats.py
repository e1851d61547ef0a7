"""Floating-point instructions of every size and rounding against exact fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .exact import ARITY, FLOATS, MODES, OPERATIONS, canonical, expected, operands


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_every_operation_rounds_once_in_every_direction(elementwise, kind, name, mode):
    inputs = operands(kind, ARITY.get(name, 2))
    found = elementwise(f"{name}.{mode}.{kind}", FLOATS[kind].dtype, *inputs)
    assert canonical(kind, found) == expected(kind, name, mode, inputs)


@pytest.mark.parametrize("opcode", ["add", "add.rn", "sub", "sub.rn", "mul", "mul.rn", "fma.rn"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_halves_round_once_and_their_nan_is_the_canonical_one(elementwise, kind, opcode):
    name = opcode.split(".")[0]
    inputs = operands(kind, ARITY.get(name, 2), 1500)
    assert elementwise(f"{opcode}.{kind}", "u2", *inputs).tolist() == expected(kind, name, "rn", inputs)


@pytest.mark.parametrize(("kind", "tiny"), [("f16", 2.0**-24), ("bf16", 2.0**-130)])
def test_the_smallest_addend_decides_a_tie_of_halves(elementwise, kind, tiny):
    form = FLOATS[kind]
    step = 2.0**-form.digits
    addends = np.array([form.code(v) for v in (tiny, -tiny, 0.0)], "u2")
    b = np.full(3, form.code(1.5), "u2")
    for steps, lower, even in ((1, 1, 2), (3, 4, 4)):  # 1.5 + 1.5 steps, and 1.5 + 4.5 steps
        results = [form.code(1.5 + n * step) for n in (lower + 1, lower, even)]
        a = np.full(3, form.code(1 + steps * step), "u2")
        assert elementwise(f"fma.rn.{kind}", "u2", a, b, addends).tolist() == results


def pair(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low.astype("u4") | high.astype("u4") << np.uint32(16)


@pytest.mark.parametrize("opcode", ["add", "sub.rn", "mul", "fma.rn"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_pairs_of_halves_are_computed_each_for_itself(elementwise, kind, opcode):
    name = opcode.split(".")[0]
    inputs = operands(kind, ARITY.get(name, 2))
    backwards = [x[::-1] for x in inputs]
    found = elementwise(f"{opcode}.{kind}x2", "u4", *(pair(x, y) for x, y in zip(inputs, backwards, strict=True)))
    results = expected(kind, name, "rn", inputs)
    assert (found & 0xFFFF).tolist() == results
    assert (found >> 16).tolist() == results[::-1]


@pytest.mark.parametrize("name", ["add", "sub", "fma"])
@pytest.mark.parametrize("narrow", ["f16", "bf16"])
@pytest.mark.parametrize("mode", MODES)
def test_mixed_forms_widen_all_operands_but_the_last(elementwise, name, narrow, mode):
    wide = operands("f32", 1)[0]
    halves = [np.resize(x, wide.size) for x in operands(narrow, ARITY.get(name, 2) - 1)]
    found = elementwise(f"{name}.{mode}.f32.{narrow}", "u4", *halves, wide)
    singles = [np.array([FLOATS["f32"].code(FLOATS[narrow].value(c)) for c in x.tolist()], "u4") for x in halves]
    assert canonical("f32", found) == expected("f32", name, mode, [*singles, wide])


def extreme(kind: str, name: str, nan: bool, signs: bool, a: int, b: int) -> int:
    """``min`` or ``max`` by the text of the PTX ISA, on bits."""
    form = FLOATS[kind]
    top = 1 << form.bits - 1
    sign = (a ^ b) & top
    if signs:
        a, b = a & ~top, b & ~top
    x, y = form.value(a), form.value(b)
    if math.isnan(x) or math.isnan(y):
        if nan or (math.isnan(x) and math.isnan(y)):
            return top - 1
        result = b if math.isnan(x) else a
    else:
        order = sorted([(x, math.copysign(1, x), a), (y, math.copysign(1, y), b)])
        result = order[0 if name == "min" else 1][2]
    return (result & ~top) | sign if signs else result


@pytest.mark.parametrize("modifier", ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"])
@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_minimum_and_maximum_order_zeros_and_treat_nan_as_they_say(elementwise, kind, name, modifier):
    a, b = operands(kind, 2)
    found = elementwise(f"{name}{modifier}.{kind}", FLOATS[kind].dtype, a, b)
    flags = ("NaN" in modifier, "xorsign" in modifier)
    results = [extreme(kind, name, *flags, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert canonical(kind, found) == canonical(kind, np.array(results, FLOATS[kind].dtype))


def test_minimum_and_maximum_of_three(elementwise):
    a, b, c = (np.array(v, "f4") for v in ([1, np.nan, 3, -0.0], [2, 5, np.nan, 0.0], [-3, 4, 1, 0.0]))
    assert elementwise("min.f32", "f4", a, b, c).tolist() == [-3, 4, 1, 0]
    assert elementwise("max.f32", "f4", a, b, c).tolist() == [2, 5, 3, 0]
    assert elementwise("max.abs.f32", "f4", a, b, c).tolist() == [3, 5, 3, 0]
    assert np.isnan(elementwise("min.NaN.f32", "f4", a, b, c)).tolist() == [False, True, True, False]


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64", "f16x2", "bf16x2"])
def test_signs_change_as_bits(elementwise, kind):
    half = kind.removesuffix("x2")
    (a,) = operands(half, 1)
    top, both = 1 << FLOATS[half].bits - 1, lambda x: pair(x, x) if kind != half else x
    number = np.array([not math.isnan(FLOATS[half].value(code)) for code in a.tolist()])
    dtype = both(a).dtype.str[1:]
    flipped, cleared = (
        np.array([f(code) for code in a.tolist()], a.dtype) for f in (lambda c: c ^ top, lambda c: c & ~top)
    )
    assert elementwise(f"neg.{kind}", dtype, both(a))[number].tolist() == both(flipped)[number].tolist()
    assert elementwise(f"abs.{kind}", dtype, both(a))[number].tolist() == both(cleared)[number].tolist()


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_sign_is_copied_from_the_first_operand_to_the_second(elementwise, kind):
    a, b = operands(kind, 2)
    top = 1 << FLOATS[kind].bits - 1
    results = [x & top | y & ~top for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert elementwise(f"copysign.{kind}", FLOATS[kind].dtype, a, b).tolist() == results


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_denormals_are_flushed_before_and_after(elementwise, kind):
    form = FLOATS[kind]
    inputs = operands(kind, 2)
    top, tiny = 1 << form.bits - 1, 1 << form.digits

    def flush(code: int) -> int:
        return code & top if code & ~top < tiny else code

    flushed = [np.array([flush(code) for code in x.tolist()], form.dtype) for x in inputs]
    for name in ("add", "mul"):
        found = elementwise(f"{name}.ftz.{kind}", form.dtype, *inputs)
        assert canonical(kind, found) == [flush(code) for code in expected(kind, name, "rn", flushed)]


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_results_saturate_to_one_and_nan_to_zero(elementwise, kind):
    form = FLOATS[kind]
    inputs = operands(kind, 3)
    values = (form.value(code) for code in expected(kind, "fma", "rn", inputs))
    results = [form.code(min(max(v, 0.0), 1.0) if v > 0 else 0.0) for v in values]
    assert elementwise(f"fma.rn.sat.{kind}", form.dtype, *inputs).tolist() == results


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_relu_clears_what_is_negative_and_keeps_nan(elementwise, kind):
    form = FLOATS[kind]
    inputs = operands(kind, 3)
    results = [0 if form.value(code) <= 0 else code for code in expected(kind, "fma", "rn", inputs)]
    assert elementwise(f"fma.rn.relu.{kind}", form.dtype, *inputs).tolist() == results


APPROXIMATE = {
    "ex2": lambda v: 2.0**v,
    "tanh": math.tanh,
    "lg2": math.log2,
    "sin": math.sin,
    "cos": math.cos,
    "rcp": lambda v: 1 / v,
    "sqrt": math.sqrt,
    "rsqrt": lambda v: v**-0.5,
}


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("name", APPROXIMATE)
def test_approximations_are_within_two_last_places(elementwise, name, kind):
    form = FLOATS[kind]
    if kind != "f32" and name not in ("ex2", "tanh"):
        return
    codes = np.array([form.code(float(v)) for v in np.random.default_rng(1).uniform(0.1, 3.0, 200)], form.dtype)
    found = [form.value(code) for code in elementwise(f"{name}.approx.{kind}", form.dtype, codes).tolist()]
    for code, result in zip(codes.tolist(), found, strict=True):
        exact = APPROXIMATE[name](form.value(code))
        assert abs(result - exact) <= 2.5 * max(abs(exact) * 2.0**-form.digits, 2.0**-22 if kind == "f32" else 0)


def test_the_rough_reciprocals_of_doubles_have_twenty_bits(elementwise):
    a = np.array([3.0, -7.5, 1e300, 1e-300, 5e-324, math.inf, 0.0])
    found = elementwise("rcp.approx.ftz.f64", "f8", a)
    assert (found.view("u8") & 0xFFFFFFFF == 0).all()
    assert np.allclose(found[:4], 1 / a[:4], rtol=2.0**-19)
    assert found[4:].tolist() == [math.inf, 0.0, math.inf]
    roots = elementwise("rsqrt.approx.ftz.f64", "f8", np.abs(a))
    assert np.allclose(roots[:4], np.abs(a[:4]) ** -0.5, rtol=2.0**-19)


def properties(value: float, tiny: float) -> dict[str, bool]:
    subnormal = value != 0 and abs(value) < tiny
    return {
        "finite": math.isfinite(value),
        "infinite": math.isinf(value),
        "number": not math.isnan(value),
        "notanumber": math.isnan(value),
        "normal": math.isfinite(value) and not subnormal,
        "subnormal": subnormal,
    }


@pytest.mark.parametrize("name", ["finite", "infinite", "number", "notanumber", "normal", "subnormal"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_properties_of_floats(predicate, kind, name):
    form = FLOATS[kind]
    (a,) = operands(kind, 1)
    results = [properties(form.value(code), 2.0**form.lowest)[name] for code in a.tolist()]
    assert predicate(f"testp.{name}.{kind} %p1, %in1;", a) == results
