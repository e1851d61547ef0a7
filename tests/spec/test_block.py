from __future__ import annotations

import re

import pytest

from convlab.spec import BlockSpec, ConvSpec

CONV = ConvSpec(n=2, c=3, h=9, w=7, k=6, r=3, s=2)


def test_pooling_leaves_an_odd_last_row_out():
    assert CONV.output_shape == (2, 6, 7, 6)
    assert BlockSpec(CONV, pool=True).output_shape == (2, 6, 3, 3)
    assert BlockSpec(CONV).output_shape == (2, 6, 7, 6)
    assert (BlockSpec(CONV).macs, BlockSpec(CONV).flops) == (CONV.macs, CONV.flops)
    assert str(BlockSpec(CONV, relu=True, pool=True)).endswith(", ReLU, 2×2 max pooling")
    assert str(BlockSpec(CONV, relu=False)) == str(CONV)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (3,),
            r"conv=3 is not a ConvSpec\.\n  In: BlockSpec\(conv=3, relu=True, pool=False\)\n  Fix: Give conv a ConvS",
        ),
        ((CONV, 2), rf"relu=2 is not a bool\.\n  In: .*conv={re.escape(repr(CONV))}, .*\n  Fix: Give relu a bool"),
        ((CONV, True, "no"), r"pool='no' is not a bool"),
    ],
)
def test_what_is_no_spec_or_no_bool_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        BlockSpec(*arguments)


def test_an_output_without_a_window_of_two_by_two_cannot_be_pooled():
    conv = ConvSpec(n=1, c=1, h=3, w=9, k=1, r=3, s=3)
    with pytest.raises(
        ValueError, match=r"output of 1×7 has no window of 2×2\.\n  In: BlockSpec\(.*\n  Fix: Use pool=F"
    ):
        BlockSpec(conv, pool=True)
