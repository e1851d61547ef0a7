from __future__ import annotations

import pytest

from convlab.spec import ConvSpec, SeparableSpec

DEPTHWISE = ConvSpec(n=2, c=3, h=9, w=7, k=6, r=3, s=2, stride=(2, 1), padding=1, groups=3)


def test_the_second_convolution_starts_from_the_first_ones_output():
    spec = SeparableSpec(DEPTHWISE, k=5)
    assert spec.pointwise.input_shape == DEPTHWISE.output_shape == (2, 6, 5, 8)
    assert spec.output_shape == (2, 5, 5, 8)
    assert spec.macs == 2 * 5 * 8 * (6 * 6 + 6 * 5)
    assert spec.flops == 2 * spec.macs
    assert str(spec).endswith("groups 3, then 5 filters 1×1")


@pytest.mark.parametrize(
    ("groups", "k", "message"),
    [
        (1, 5, r"depthwise has groups=1, but c=3 channels\.\n  In: SeparableSpec\(.*\n  Fix: Make it with groups=3"),
        (3, 0, r"k=0 is less than 1"),
        (3, 2**60, r"The output has \d+ elements, beyond 2\^63 − 1"),
    ],
)
def test_what_does_not_fit_is_said_with_the_fix(groups, k, message):
    with pytest.raises(ValueError, match=message):
        SeparableSpec(ConvSpec(n=2, c=3, h=9, w=7, k=6, r=3, s=2, groups=groups), k)


def test_what_is_no_spec_is_refused():
    with pytest.raises(
        ValueError, match=r"depthwise=3 is not a ConvSpec\.\n  In: .*\n  Fix: Give depthwise a ConvSpec"
    ):
        SeparableSpec(3, k=5)


def test_shapes_make_the_spec_of_both():
    options = {"stride": (2, 1), "padding": 1}
    assert SeparableSpec.from_shapes((2, 3, 9, 7), (6, 1, 3, 2), (5, 6, 1, 1), **options) == SeparableSpec(DEPTHWISE, 5)


@pytest.mark.parametrize(
    ("shapes", "fact", "fix"),
    [
        (
            ((2, 3, 9), (3, 1, 3, 2), (5, 3, 1, 1)),
            "x has shape (2, 3, 9), but it needs (N, C, H, W)",
            "Give x four axes",
        ),
        (
            ((2, 3, 9, 7), (3, 1, 3), (5, 3, 1, 1)),
            "w_depthwise has shape (3, 1, 3), but it needs (C·m, 1, R, S)",
            "Give",
        ),
        (((2, 3, 9, 7), (3, 1, 3, 2), ()), "w_pointwise has shape (), but it needs (K, C·m, 1, 1)", "Give w_pointwise"),
        (
            ((2, 3, 9, 7), (4, 1, 3, 2), (5, 4, 1, 1)),
            "w_depthwise has shape (4, 1, 3, 2), but x has c=3 channels",
            "Give w_depthwise the shape (3·m, 1, R, S), for m filters a channel",
        ),
        (
            ((2, 3, 9, 7), (3, 3, 3, 2), (5, 3, 1, 1)),
            "w_depthwise has shape (3, 3, 3, 2), but x has c=3",
            "Give w_depth",
        ),
        (
            ((2, 3, 9, 7), (6, 1, 3, 2), (5, 3, 1, 1)),
            "w_pointwise has shape (5, 3, 1, 1), but w_depthwise makes 6 channels",
            "Give w_pointwise the shape (K, 6, 1, 1)",
        ),
        (
            ((2, 3, 9, 7), (3, 1, 3, 2), (5, 3, 1, 2)),
            "w_pointwise has shape (5, 3, 1, 2), but w_depthwise makes 3",
            "Give",
        ),
    ],
)
def test_shapes_that_do_not_belong_together_are_refused(shapes, fact, fix):
    with pytest.raises(ValueError, match="Fix: ") as caught:
        SeparableSpec.from_shapes(*shapes)
    lines = str(caught.value).split("\n")
    assert lines[0].startswith(fact)
    assert lines[1].startswith("  In: SeparableSpec.from_shapes(x_shape=(2, 3, 9")
    assert lines[2].startswith(f"  Fix: {fix}")
