"""Occupancy against published cases, and cases at which each of the rules decides."""

from __future__ import annotations

import pytest

from convlab.perf.gpus import GPUS
from convlab.perf.occupancy import CAPABILITIES, occupancy


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks", "warps", "limit"),
    [
        # CUDA C++ Best Practices Guide, "Occupancy": 75 % and 63 % with 37 registers.
        ("sm_80", 128, 37, 0, 12, 48, "registers"),
        ("sm_80", 320, 37, 0, 4, 40, "registers"),
        ("sm_80", 256, 32, 0, 8, 64, "warps"),
        ("sm_80", 256, 40, 0, 6, 48, "registers"),
        ("sm_80", 256, 65, 0, 3, 24, "registers"),  # 65 registers cost as much as 72
        ("sm_80", 256, 72, 0, 3, 24, "registers"),
        ("sm_80", 32, 32, 0, 32, 32, "blocks"),
        ("sm_80", 128, 32, 48 << 10, 3, 12, "shared memory"),  # 49 KB each with the system's share
        ("sm_80", 128, 32, 163 << 10, 1, 4, "shared memory"),
        ("sm_80", 1024, 64, 0, 1, 32, "registers"),
        ("sm_80", 1024, 65, 0, 0, 0, "registers"),
        ("sm_75", 1024, 32, 0, 1, 32, "warps"),
        ("sm_75", 128, 64, 0, 8, 32, "warps"),
        ("sm_75", 256, 32, 32 << 10, 2, 16, "shared memory"),
        ("sm_86", 256, 32, 0, 6, 48, "warps"),
        ("sm_86", 64, 32, 0, 16, 32, "blocks"),
        ("sm_86", 128, 40, 20 << 10, 4, 16, "shared memory"),
        ("sm_89", 64, 32, 0, 24, 48, "warps"),
        ("sm_90", 96, 168, 0, 4, 12, "registers"),  # three of these warps in a partition
        ("sm_90", 128, 255, 0, 2, 8, "registers"),
        ("sm_90", 256, 32, 227 << 10, 1, 8, "shared memory"),
        ("sm_120", 256, 32, 99 << 10, 1, 8, "shared memory"),
        ("sm_120", 100, 32, 0, 12, 48, "warps"),  # 100 threads are 4 warps
    ],
)
def test_known_cases(arch, threads, registers, shared, blocks, warps, limit):
    found = occupancy(arch, threads, registers, shared)
    assert (found.blocks, found.warps, found.limited_by) == (blocks, warps, limit)
    assert found.share == warps / CAPABILITIES[arch].warps


def test_a_block_that_does_not_fit_has_no_occupancy():
    assert occupancy("sm_86", 128, 32, shared=100 << 10).blocks == 0


def test_the_limits_agree_with_the_table_of_gpus():
    for gpu in GPUS.values():
        major, minor = gpu.compute_capability
        sm = CAPABILITIES[f"sm_{major}{minor}"]
        assert (sm.warps, sm.shared, sm.registers) == (gpu.warps_per_sm, gpu.shared_kb << 10, gpu.registers_per_sm)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sm_50", 128, 32), r"There is no architecture 'sm_50' in the table\. It has: sm_75, sm_80"),
        (("sm_80", 0, 32), "No kernel has threads=0, registers=32, shared=0"),
        (("sm_80", 1025, 32), "Fix: threads are 1 to 1024, registers 0 to 255"),
        (("sm_80", 32, 256), "registers=256"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        occupancy(*arguments)
