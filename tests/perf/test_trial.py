"""Random data and the check before timing: right outputs of every op pass, one wrong tap does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convlab.errors import ConvlabError
from convlab.kernels.ladder import method, methods
from convlab.perf.trial import PIECES, check, op_of, random_array, random_inputs
from convlab.spec import BlockSpec, ConvSpec, ConvTransposeSpec, GemmSpec, LayoutSpec, SeparableSpec

CONV = ConvSpec(n=3, c=4, h=9, w=7, k=6, r=3, s=2, stride=(2, 1), padding=(1, 0, 2, 1), groups=2)
DEPTHWISE = ConvSpec(n=3, c=4, h=9, w=7, k=4, r=3, s=2, padding=1, groups=4)
SPECS = {
    "conv2d": CONV,
    "conv_transpose2d": ConvTransposeSpec(n=3, c=4, h=5, w=7, k=6, r=3, s=2, stride=2, padding=1),
    "gemm": GemmSpec(41, 13, 7),
    "layout": LayoutSpec(n=3, c=4, h=5, w=7),
    "separable": SeparableSpec(DEPTHWISE, k=5),
    "block": BlockSpec(CONV, relu=True, pool=True),
}


def inputs_of(op, dtype="float32", layout="nchw"):
    return random_inputs(op, SPECS[op], lambda name: dtype, layout)


def right(op):
    """The inputs, and the output of a reference in float32."""
    record = next(m for m in methods(op) if m.reference is not None and m.supports(SPECS[op]) is None)
    inputs = inputs_of(op)
    return inputs, np.array(record.reference(*inputs.values(), SPECS[op]))


@pytest.mark.parametrize("op", SPECS)
def test_an_op_is_known_by_its_spec(op):
    assert op_of(SPECS[op]) == op


def test_what_is_no_spec_has_no_op():
    with pytest.raises(ValueError, match=r"spec is int, which has no sizes of an op\.\n  Fix: pass one of ConvSpec,"):
        op_of(3)


@pytest.mark.parametrize("op", SPECS)
def test_data_is_random_from_minus_one_to_one_and_without_what_is_optional(op):
    for name, array in inputs_of(op).items():
        if array is None:
            assert op != "block"
            assert name.startswith("bias")
        else:
            assert -1 <= array.min() < 0 < array.max() <= 1
            assert np.unique(array).size == array.size


def test_one_array_after_the_other_is_random_without_zeros_in_a_row():
    rng = np.random.default_rng(1)
    one, other = (random_array((3, 700_000), "float32", rng) for _ in range(2))
    assert (one.min() >= -1) & (one.max() < 1)
    assert (one != 0).mean() > 0.999999
    assert (one[0] == one[1]).mean() < 1e-5
    assert (one != other).mean() > 0.99


def test_large_tensors_repeat_numbers_but_no_two_images_are_alike():
    x = random_inputs("conv2d", ConvSpec(n=4, c=8, h=250, w=250, k=1, r=1, s=1), lambda name: "float16")["x"]
    assert x.dtype == "float16"
    assert abs(float(x.mean(dtype="f8"))) < 0.01
    assert all((x[i] != x[j]).any() for i in range(4) for j in range(i))


def test_the_same_data_is_made_once_and_nobody_can_change_it():
    first, again, other = inputs_of("conv2d"), inputs_of("conv2d"), inputs_of("conv2d", "float16")
    assert first["x"] is again["x"]
    assert first["x"].dtype != other["x"].dtype
    with pytest.raises(ValueError, match="read-only"):
        first["x"][0] = 0


def test_data_comes_in_the_layout_that_was_asked_for():
    inputs = inputs_of("conv2d", layout="nhwc")
    assert (inputs["x"].shape, inputs["w"].shape) == ((3, 9, 7, 4), (6, 3, 2, 2))


@pytest.mark.parametrize("op", SPECS)
def test_right_outputs_pass_and_a_wrong_element_of_the_last_piece_does_not(op):
    inputs, y = right(op)
    check("it", op, SPECS[op], inputs, y)
    y[(-1,) * y.ndim] += 0.01
    with pytest.raises(ConvlabError) as caught:
        check("Method 'x'", op, SPECS[op], inputs, y)
    at, (before, after) = (
        f"[{', '.join(str(n - 1) for n in (16 if op == 'gemm' else 1, *y.shape[1:]))}]",
        (
            y[(-1,) * y.ndim],
            y[(-1,) * y.ndim] - 0.01,
        ),
    )
    pieces = y[-16:].size if op == "gemm" else y[-1:].size
    assert str(caught.value) == (
        f"Method 'x' is wrong in 1 of {pieces:,} elements: {at} of the piece checked is {before:.6g}, "
        f"not {after:.6g}.\n  In: {SPECS[op]!r}\n"
        "  Fix: only what is right is timed; of a kernel, device='emulator' says where it goes wrong."
    )


def test_a_number_that_is_none_is_wrong():
    inputs, y = right("conv2d")
    y[0, 0, 0, 0] = np.nan
    with pytest.raises(ConvlabError, match=r"\[0, 0, 0, 0\] of the piece checked is nan"):
        check("it", "conv2d", CONV, inputs, y)


def test_an_output_of_another_shape_is_wrong():
    inputs, y = right("conv2d")
    with pytest.raises(ConvlabError, match=r"it gives the shape \(1, 6, 9, 4\), not \(1, 6, 4, 9\)"):
        check("it", "conv2d", CONV, inputs, y.swapaxes(2, 3))


def test_a_missing_tap_of_a_long_sum_is_seen_also_in_half_precision_and_tf32():
    spec = ConvSpec(n=1, c=512, h=7, w=7, k=3, r=3, s=3, padding=1)
    for dtype, products in (("float16", ""), ("float32", "tf32")):
        inputs = random_inputs("conv2d", spec, lambda name, dtype=dtype: dtype)
        exact = method("direct").reference(*(a if a is None else a.astype("f8") for a in inputs.values()), spec)
        check("it", "conv2d", spec, inputs, exact.astype(dtype), products=products)
        without = inputs["w"].copy()
        without[1, 3, 1, 1] = 0
        x = inputs["x"].astype("f8")
        wrong = method("direct").reference(x, without.astype("f8"), None, spec).astype(dtype)
        with pytest.raises(ConvlabError, match="it is wrong in"):
            check("it", "conv2d", spec, inputs, wrong, products=products)


def test_a_layout_is_exact():
    inputs, y = right("layout")
    y[0, 0, 0, 0] = np.nextafter(y[0, 0, 0, 0], np.float32(2))
    with pytest.raises(ConvlabError, match="wrong in 1 of"):
        check("it", "layout", SPECS["layout"], inputs, y)


def test_another_layout_is_checked_in_it():
    inputs = inputs_of("conv2d", layout="nhwc")
    x, w = inputs["x"].transpose(0, 3, 1, 2), inputs["w"].transpose(0, 3, 1, 2)
    y = method("direct").reference(np.ascontiguousarray(x), np.ascontiguousarray(w), None, CONV)
    check("it", "conv2d", CONV, inputs, np.ascontiguousarray(y.transpose(0, 2, 3, 1)), "nhwc")
    with pytest.raises(ConvlabError, match="gives the shape"):
        check("it", "conv2d", CONV, inputs, y, "nhwc")


def test_an_expected_output_is_compared_as_a_whole():
    inputs, y = right("conv2d")
    expected = y.copy()
    check("it", "conv2d", CONV, inputs, y, expected=expected)
    expected[1, 2, 3, 4] += 0.5  # of the image in the middle, which the oracle is not asked about
    check("it", "conv2d", CONV, inputs, y)
    with pytest.raises(ConvlabError, match=r"wrong in 1 of 648 elements: \[1, 2, 3, 4\] of the result is"):
        check("it", "conv2d", CONV, inputs, y, expected=expected)


@pytest.mark.parametrize("op", SPECS)
def test_a_piece_has_fewer_rows_and_all_else_alike(op):
    piece = PIECES[op](SPECS[op], 2)
    assert piece.output_shape == (2, *SPECS[op].output_shape[1:])
    assert PIECES[op](piece, SPECS[op].output_shape[0]) == SPECS[op]


def test_one_image_is_checked_once(monkeypatch):
    spec, asked = replace(CONV, n=1), []
    inputs = random_inputs("conv2d", spec, lambda name: "float32")
    direct = method("direct")

    def spy(*arguments):
        asked.append(arguments)
        return direct.reference(*arguments)

    monkeypatch.setattr("convlab.perf.trial.method", lambda name: replace(direct, reference=spy))
    check("it", "conv2d", spec, inputs, direct.reference(*inputs.values(), spec))
    assert len(asked) == 1
