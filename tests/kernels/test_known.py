from __future__ import annotations

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.kernels.conv_struct import CONV_DTYPE, conv_struct
from convlab.kernels.known import known_sizes
from convlab.kernels.ladder import method
from convlab.perf.work import work
from convlab.spec import ConvSpec

SPEC = ConvSpec(n=2, c=6, h=19, w=17, k=4, r=3, s=2, stride=(2, 3), padding=(1, 0, 2, 1), dilation=(1, 2), groups=2)
FIELDS = f"""#include "common.cuh"
extern "C" __global__ void f(int* y, Conv v) {{
    int all[] = {{{", ".join(f"v.{name}" for name in CONV_DTYPE.names)}}};
    for (int i = 0; i < {len(CONV_DTYPE.names)}; ++i) y[i] = all[i];
}}"""


@pytest.mark.parametrize(
    ("sizes", "macros"),
    [
        ({"r": 7, "s": 7, "stride": 2}, ("-DFILTER=7", "-DSTRIDE=2")),
        ({"r": 5, "s": 5, "stride": 3}, ("-DFILTER=5",)),
        ({"r": 5, "s": 5, "stride": (1, 2)}, ("-DFILTER=5",)),
        ({"r": 3, "s": 3, "dilation": (1, 2)}, ("-DFILTER=3",)),
        ({"r": 1, "s": 3}, ()),
        ({"r": 2, "s": 2}, ()),
    ],
)
def test_what_is_usual_is_known(sizes, macros):
    assert known_sizes(ConvSpec(n=1, c=1, h=19, w=17, k=1, **sizes)) == macros


@pytest.mark.parametrize(
    ("macros", "changed"),
    [
        ((), {}),
        (("-DFILTER=7",), {"R": 7, "S": 7}),
        (
            ("-DFILTER=7", "-DSTRIDE=4"),
            {"R": 7, "S": 7, "stride_h": 4, "stride_w": 4, "dilation_h": 1, "dilation_w": 1},
        ),
    ],
)
def test_numbers_hide_the_fields_and_leave_the_others_where_they_were(macros, changed):
    y = np.zeros(len(CONV_DTYPE.names), np.int32)
    kernel = compile(FIELDS, "fields.cu", options=macros).kernels["f"]
    launch(kernel, 1, 1, [y, conv_struct(SPEC)], device="emulator")
    told = dict(zip(CONV_DTYPE.names, conv_struct(SPEC).item(), strict=True))
    assert dict(zip(CONV_DTYPE.names, y.tolist(), strict=True)) == {**told, **changed}


@pytest.mark.parametrize(("name", "factor"), [("naive", 3), ("tiled", 3), ("constant_weights", 2), ("dilated", 1.5)])
def test_they_save_instructions(name, factor):
    """Against a filter of about as many taps, whose size the compiler does not know."""
    usual, unusual = (ConvSpec(n=1, c=8, h=32, w=32, k=4, r=r, s=s, padding=1) for r, s in ((3, 3), (4, 2)))
    assert method(name).plan(unusual).launches[0].options == method(name).plan(usual).launches[0].options[:-2]
    a, b = (work(spec, name).counters.instructions / spec.macs for spec in (usual, unusual))
    assert a * factor < b
