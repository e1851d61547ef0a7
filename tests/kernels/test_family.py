from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from convlab.kernels.ladder import method
from convlab.ops.conv2d import conv2d
from convlab.spec import ConvSpec

from .cases_family import DEPTHWISE
from .rungs import check_rung

RECORD = method("depthwise")


def test_the_cases_reach_every_entry_of_depthwise():
    entries = Counter(RECORD.plan(spec).launches[0].entry for spec in DEPTHWISE)
    assert entries.keys() == {
        *(
            "conv_depthwise_3x3",
            "conv_depthwise_3x3_stride2",
            "conv_depthwise_5x5",
            "conv_depthwise_5x5_stride2",
            "conv_depthwise_any",
        )
    }
    assert min(entries.values()) >= 6
    assert sum(spec.k > spec.c for spec in DEPTHWISE) > 20
    assert sum(RECORD.plan(spec).launches[0].grid[0] > 1 for spec in DEPTHWISE) > 25


@pytest.mark.parametrize(
    ("sizes", "entry"),
    [
        ({}, "conv_depthwise_3x3"),
        ({"stride": (2, 3), "dilation": (1, 2)}, "conv_depthwise_3x3_stride2"),  # columns may lie as they like
        ({"r": 5, "s": 5, "stride": (1, 2)}, "conv_depthwise_5x5"),
        ({"r": 5, "s": 5, "stride": 2}, "conv_depthwise_5x5_stride2"),
        ({"dilation": (2, 1)}, "conv_depthwise_any"),
        ({"stride": (3, 1)}, "conv_depthwise_any"),
        ({"s": 5}, "conv_depthwise_any"),
        ({"r": 7, "s": 7}, "conv_depthwise_any"),
    ],
)
def test_the_plan_picks_the_entry_that_fits(sizes, entry):
    spec = ConvSpec(**{"n": 2, "c": 3, "h": 13, "w": 15, "k": 3, "r": 3, "s": 3, "groups": 3, **sizes})
    assert RECORD.plan(spec).launches[0].entry == entry


def test_what_is_not_depthwise_is_declined():
    sentence = r"It computes depthwise convolutions \(groups = C\) only, and this is groups=2 with C=4\."
    x, w = np.ones((2, 4, 7, 6), "f4"), np.ones((6, 2, 3, 3), "f4")
    with pytest.raises(ValueError, match=rf"(?s)Method 'depthwise' does not support this conv2d: {sentence}.*In: "):
        conv2d(x, w, groups=2, method="depthwise")


def test_more_strips_than_an_int_can_count_are_declined():
    spec = ConvSpec(n=40000, c=10000, h=1, w=6, k=10000, r=1, s=1, groups=10000)
    assert RECORD.supports(spec) == "2400000000 strips of outputs are too many for the 32-bit int that numbers them."


def test_a_stride_larger_than_the_image_skips_no_output():
    check_rung("depthwise", ConvSpec(n=2, c=3, h=5, w=4, k=3, r=3, s=3, stride=2**28, groups=3), seed=1)


def test_turing_computes_the_same():
    check_rung("depthwise", DEPTHWISE[0], seed=1, arch="compute_75")
