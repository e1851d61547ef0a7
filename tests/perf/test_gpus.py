from __future__ import annotations

import dataclasses

import pytest

from convlab.perf.gpus import GPUS, Gpu, gpu

# What data sheets round: the last digit they print.
ROUNDED = 0.005


@pytest.fixture(params=GPUS)
def any_gpu(request: pytest.FixtureRequest) -> Gpu:
    return GPUS[request.param]


def test_the_peak_is_lanes_times_two_times_clock(any_gpu: Gpu) -> None:
    lanes = any_gpu.sms * any_gpu.fp32_lanes_per_sm
    assert lanes * 2 * any_gpu.boost_mhz * 1e6 == pytest.approx(any_gpu.fp32_tflops * 1e12, rel=ROUNDED)


def test_the_bandwidth_is_pins_times_two_bits_times_clock(any_gpu: Gpu) -> None:
    bytes_per_second = any_gpu.dram_bits * 2 * any_gpu.dram_mhz * 1e6 / 8
    assert bytes_per_second == pytest.approx(any_gpu.dram_gbs * 1e9, rel=ROUNDED)


def test_counts_fit_together(any_gpu: Gpu) -> None:
    assert any_gpu.threads_per_warp == 32
    assert any_gpu.warps_per_sm % any_gpu.schedulers_per_sm == 0
    assert any_gpu.fp32_lanes_per_sm % any_gpu.schedulers_per_sm == 0
    # All resident threads have at least the registers that a kernel cannot do without, and at most 255 count.
    assert 16 <= any_gpu.registers_per_sm / any_gpu.threads_per_sm <= 255
    # One KB of the shared memory of each block belongs to the system, so less than all can be asked for.
    assert 0 < any_gpu.shared_kb < any_gpu.l1_kb


def test_memories_grow_and_waits_grow_with_the_distance(any_gpu: Gpu) -> None:
    sizes = (any_gpu.l1_kb * 2**10, any_gpu.l2_mb * 2**20, any_gpu.dram_gb * 1e9)
    assert list(sizes) == sorted(sizes)
    if any_gpu.waits:
        *ranges, source = any_gpu.waits
        assert all(least <= most for least, most in ranges)
        assert ranges == sorted(ranges)
        assert "arXiv" in source


def test_the_a100_adds_up_to_the_totals_that_its_white_paper_prints() -> None:
    a100 = gpu("A100")
    assert a100.sms * a100.fp32_lanes_per_sm == 6912  # "FP32 Cores / GPU"
    assert a100.sms * a100.register_kb == 27648  # "Register File Size / GPU", KB
    assert a100.l2_mb * 1024 == 40960  # "L2 Cache Size", KB
    assert a100.dram_bits == 10 * 512  # ten memory controllers of 512 bits
    assert a100.threads_per_sm == 2048
    assert a100.threads == 221_184
    assert a100.register_kb == 256
    assert a100.compute_capability == (8, 0)


def test_each_record_is_frozen_named_and_has_a_source(any_gpu: Gpu) -> None:
    assert GPUS[any_gpu.name] is any_gpu
    assert any_gpu.name in any_gpu.model
    assert any_gpu.source
    with pytest.raises(dataclasses.FrozenInstanceError):
        any_gpu.sms = 1  # type: ignore[misc]


def test_an_unknown_gpu_names_the_nearest_and_all() -> None:
    with pytest.raises(ValueError, match=r"^There is no GPU 'a100' in the table\. Did you mean 'A100'\? It has: A100"):
        gpu("a100")
    with pytest.raises(ValueError, match=r"^There is no GPU 'Voodoo' in the table\. It has: A100"):
        gpu("Voodoo")
