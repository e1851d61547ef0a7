"""Every kernel of the ladder compiles for every GPU that has its instructions, and spills no register."""

from __future__ import annotations

import pytest

from convlab.executors.compile import compile
from convlab.executors.resources import ARCHITECTURES
from convlab.kernels.layers import launches
from convlab.perf.occupancy import occupancy

KERNELS = list(launches())
USUAL = ("sm_80", "sm_90")  # the others in CI
ARCHS = [pytest.param(arch, marks=[] if arch in USUAL else pytest.mark.slow) for arch in ARCHITECTURES]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("record", "step"), KERNELS, ids=["-".join((step.entry, *step.options)) for _, step in KERNELS]
)
def test_no_kernel_spills(record, step, arch):
    kernel = compile(step.text(), step.source, options=step.options).kernels[step.entry]
    if int(arch.removeprefix("sm_")) < record.since:
        return
    found = kernel.resources[arch]
    assert (found.spill_stores, found.spill_loads, found.stack) == (0, 0, 0)
    threads = step.block[0] * step.block[1] * step.block[2]
    assert occupancy(arch, threads, found.registers, found.shared + step.shared).blocks >= 1
