from __future__ import annotations

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


def test_an_output_without_a_window_of_two_by_two_cannot_be_pooled():
    conv = ConvSpec(n=1, c=1, h=3, w=9, k=1, r=3, s=3)
    with pytest.raises(
        ValueError, match=r"output of 1×7 has no window of 2×2\.\n  In: BlockSpec\(.*\n  Fix: Use pool=F"
    ):
        BlockSpec(conv, pool=True)
