from __future__ import annotations

import pytest

from convlab.spec import LayoutSpec


def test_shapes_in_both_orders():
    spec = LayoutSpec(2, 3, 4, 5, source="nhwc", target="nchw")
    assert spec.input_shape == (2, 4, 5, 3)
    assert spec.output_shape == (2, 3, 4, 5)
    assert str(spec) == "2×4×5×3 nhwc → nchw"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"c": 0}, r"c=0 is less than 1\.\n  In: LayoutSpec\(n=1, c=0, h=2, w=3, source='nchw', target='nhwc'\)"),
        ({"target": "hwcn"}, r"target='hwcn' is no layout\.\n  In: .*\n  Fix: Use nchw or nhwc"),
        ({"n": 2**40, "h": 2**30}, r"The tensor has \d+ elements, beyond 2\^63 − 1"),
        ({"source": "nhwc"}, r"source and target are both nhwc\.\n  In: .*\n  Fix: Leave the tensor as it is"),
    ],
)
def test_what_does_not_fit_is_said_with_the_fix(changes, message):
    with pytest.raises(ValueError, match=message):
        LayoutSpec(**{"n": 1, "c": 4, "h": 2, "w": 3, **changes})


def test_a_shape_is_read_in_the_source_s_order():
    assert LayoutSpec.from_shape((2, 4, 5, 3), "nhwc", "nchw") == LayoutSpec(2, 3, 4, 5, "nhwc", "nchw")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ((2, 3, 4), "nhwc", "nchw"),
            r"x has shape \(2, 3, 4\), but it needs \(N, H, W, C\)\.\n  In: LayoutSpec\.from_shape",
        ),
        (((2, 3, 0, 5),), r"x\.shape\[2\] \(H\)=0 is less than 1"),
        (((2, 3, 4, 5), None), r"source=None is no layout\.\n  In: .*\n  Fix: Use nchw or nhwc"),
    ],
)
def test_a_shape_that_does_not_fit_is_said_with_the_fix(arguments, message):
    with pytest.raises(ValueError, match=message):
        LayoutSpec.from_shape(*arguments)
