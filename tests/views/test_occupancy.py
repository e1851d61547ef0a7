"""The plot of occupancy: its curves and its dot are those of perf.occupancy, and its words say the same."""

from __future__ import annotations

import pytest

from convlab.perf.gpus import GPUS
from convlab.perf.occupancy import occupancy as compute
from convlab.views.occupancy import _figure, occupancy


@pytest.mark.parametrize(("gpu", "threads", "registers", "shared_kb"), [("T4", 96, 77, 9), ("H100", 640, 33, 50)])
def test_each_curve_varies_one_thing(gpu: str, threads: int, registers: int, shared_kb: int) -> None:
    picture = occupancy(gpu, threads, registers, shared_kb)
    arch, figure = GPUS[gpu].arch, _figure()
    curves = [dict(zip(*line.get_data(), strict=True)) for line in figure.lines]
    assert curves[0][100] == 100 * compute(arch, threads, 100, shared_kb << 10).share
    assert curves[1][512] == 100 * compute(arch, 512, registers, shared_kb << 10).share
    assert curves[2][31] == 100 * compute(arch, threads, registers, 31 << 10).share
    found = compute(arch, threads, registers, shared_kb << 10)
    assert [dot.get_data() for dot in figure.dots] == [
        ([x], [100 * found.share]) for x in (registers, threads, shared_kb)
    ]
    assert f"{found.warps} of {found.of} warps" in picture.alt
    assert picture.alt.endswith(
        f"The kernel has {registers} registers of a thread, {threads} threads of a block, "
        f"{shared_kb} KB of shared memory of a block."
    )
    assert figure.title.get_text() == f"{gpu}: {found.warps} of {found.of} warps, limited by {found.limited_by}"


def test_a_block_that_does_not_fit_is_said() -> None:
    assert occupancy("T4", 1024, 255).alt.startswith("T4: no block fits, because of its registers. The kernel has 255")


def test_the_shared_memory_ends_where_a_block_may_have_no_more() -> None:
    occupancy("T4")
    assert max(_figure().lines[2].get_xdata()) == 64


def test_what_no_kernel_has_is_refused() -> None:
    with pytest.raises(ValueError, match="No kernel has threads=2048"):
        occupancy("A100", threads=2048)
    with pytest.raises(ValueError, match="There is no GPU 'A10O'"):
        occupancy("A10O")
