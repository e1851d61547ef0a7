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
