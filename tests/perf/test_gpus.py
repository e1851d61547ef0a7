"""The table of GPUs: what its sources print must follow from what else they print."""

from __future__ import annotations

import dataclasses
import re

import pytest

from convlab.perf.gpus import GPUS, Gpu, gpu, recognise
from convlab.perf.occupancy import CAPABILITIES, PARTITIONS

PEAK, BANDWIDTH = 0.02, 0.01  # how far a printed figure may lie from what it follows from
TYPES = {"float32", "float16", "float16_acc16", "bfloat16", "tf32", "int8", "float8"}
SINCE = {"bfloat16": (8, 0), "tf32": (8, 0), "float8": (8, 9)}  # compute capability


@pytest.fixture(params=GPUS)
def any_gpu(request: pytest.FixtureRequest) -> Gpu:
    return GPUS[request.param]


def agree(computed: float, printed: float) -> bool:
    """Within two per cent, or what a printed figure of two digits was rounded from."""
    return computed == pytest.approx(printed, rel=PEAK) or float(f"{computed:.2g}") == printed


def test_the_table_has_the_gpus_of_every_architecture() -> None:
    assert [*GPUS] == ["T4", "RTX 2080 Ti", "A100", "RTX 3060", "RTX 4090", "L4", "H100", "H200", "B200", "RTX 5090"]
    assert {record.arch for record in GPUS.values()} == {*CAPABILITIES}
    assert all(GPUS[capability.gpu].arch == arch for arch, capability in CAPABILITIES.items())


def test_the_float32_peak_is_lanes_times_two_times_clock(any_gpu: Gpu) -> None:
    lanes = any_gpu.sms * any_gpu.fp32_lanes_per_sm
    assert agree(lanes * 2 * any_gpu.boost_mhz * 1e-6, any_gpu.fp32_tflops)
    assert any_gpu.peak_tflops("float32") == pytest.approx(lanes * 2e-6 * any_gpu.boost_mhz)


def test_the_tensor_peaks_are_rates_times_two_times_clock(any_gpu: Gpu) -> None:
    printed_types = {"float16_acc16"} if any_gpu.name == "RTX 3060" else {*any_gpu.tensor_fma_per_sm}
    assert {*any_gpu.tensor_tflops} == printed_types
    for dtype, printed in any_gpu.tensor_tflops.items():
        assert agree(any_gpu.peak_tflops(dtype), printed), dtype


def test_a_tensor_core_does_narrower_types_faster(any_gpu: Gpu) -> None:
    rates = any_gpu.tensor_fma_per_sm
    assert {*any_gpu.dtypes} <= TYPES
    for dtype, since in SINCE.items():
        assert (dtype in rates) == (any_gpu.compute_capability >= since)
    # GeForce halves the rate where sums are float32; elsewhere both rates are one, and listed once.
    full = rates.get("float16_acc16", rates["float16"])
    assert ("float16_acc16" in rates) == ("GeForce" in any_gpu.model) == (full == 2 * rates["float16"])
    assert rates["int8"] == 2 * full
    assert rates.get("bfloat16", rates["float16"]) == 2 * rates.get("tf32", rates["float16"] / 2) == rates["float16"]
    assert rates.get("float8", 2 * rates["float16"]) == 2 * rates["float16"]


def test_the_bandwidth_is_pins_times_data_rate(any_gpu: Gpu) -> None:
    if any_gpu.dram_pin_gbps is None:
        assert any_gpu.name == "H200"
        return
    assert any_gpu.dram_bits / 8 * any_gpu.dram_pin_gbps == pytest.approx(any_gpu.dram_gbs, rel=BANDWIDTH)


def test_dram_is_as_wide_and_as_fast_as_its_kind(any_gpu: Gpu) -> None:
    unit, slowest, fastest = {  # bits of a controller, and the data rates of a pin that are on sale
        "GDDR6": (32, 10, 20),
        "GDDR6X": (32, 19, 24),
        "GDDR7": (32, 28, 36),
        "HBM2": (512, 2, 2.5),
        "HBM3": (512, 5, 6.5),
        "HBM3e": (512, 6, 9.8),
    }[any_gpu.dram_type]
    assert any_gpu.dram_bits % unit == 0
    assert slowest <= any_gpu.dram_gbs * 8 / any_gpu.dram_bits <= fastest


def test_an_sm_holds_what_its_architecture_holds(any_gpu: Gpu) -> None:
    sm = CAPABILITIES[any_gpu.arch]
    assert (any_gpu.warps_per_sm, any_gpu.blocks_per_sm, any_gpu.registers_per_sm) == (
        sm.warps,
        sm.blocks,
        sm.registers,
    )
    assert (any_gpu.shared_kb << 10, any_gpu.shared_block_kb << 10) == (sm.shared, sm.shared_block)


def test_counts_fit_together(any_gpu: Gpu) -> None:
    assert any_gpu.threads_per_warp == 32
    assert any_gpu.schedulers_per_sm == PARTITIONS
    assert any_gpu.warps_per_sm % any_gpu.schedulers_per_sm == 0
    assert any_gpu.fp32_lanes_per_sm % any_gpu.schedulers_per_sm == 0
    # All resident threads have at least the registers that a kernel cannot do without, and at most 255 count.
    assert 16 <= any_gpu.registers_per_sm / any_gpu.threads_per_sm <= 255
    # One KB of the shared memory of each block belongs to the system, so less than all can be asked for.
    assert 0 < any_gpu.shared_block_kb <= any_gpu.shared_kb < any_gpu.l1_kb


def test_clocks_are_in_order(any_gpu: Gpu) -> None:
    assert 0 < (any_gpu.base_mhz or 1) < any_gpu.boost_mhz
    assert 0.9 * any_gpu.boost_mhz < (any_gpu.tensor_mhz or any_gpu.boost_mhz) <= any_gpu.boost_mhz


def test_memories_grow_and_waits_grow_with_the_distance(any_gpu: Gpu) -> None:
    sizes = (any_gpu.l1_kb * 2**10, any_gpu.l2_mb * 2**20, any_gpu.dram_gb * 2**30)
    assert list(sizes) == sorted(sizes)
    if waits := any_gpu.waits:
        ranges = [wait for wait in (waits.arithmetic, waits.l1, waits.l2, waits.dram) if wait]
        assert all(least <= most for least, most in ranges)
        assert ranges == sorted(ranges)
        assert re.search("arXiv|AI_kernels", waits.source)


def test_l2_is_faster_than_dram_where_its_width_is_published() -> None:
    assert gpu("A100").l2_gbs == pytest.approx(7219, rel=1e-4)  # 5,120 bytes a cycle at 1,410 MHz
    assert [name for name, record in GPUS.items() if record.l2_gbs] == ["A100"]
    assert gpu("T4").l2_gbs is None


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


@pytest.mark.parametrize(
    ("name", "lanes", "l2", "dram"),
    [  # FP32 lanes of the whole GPU as data sheets print them; bytes of L2 and MB of DRAM as the driver reports them
        ("T4", 2560, 4_194_304, 15_102),
        ("RTX 2080 Ti", 4352, 5_767_168, 11_019),
        ("A100", 6912, 41_943_040, 40_536),
        ("RTX 3060", 3584, 2_359_296, 12_288),
        ("RTX 4090", 16384, 75_497_472, 24_210),
        ("L4", 7424, 50_331_648, 22_518),
        ("H100", 16896, 52_428_800, 81_090),
        ("H200", 16896, 62_914_560, 143_156),
        ("B200", 18944, 132_644_864, 182_631),
        ("RTX 5090", 21760, 100_663_296, 32_101),
    ],
)
def test_totals_are_those_that_others_print(name: str, lanes: int, l2: int, dram: int) -> None:
    assert gpu(name).sms * gpu(name).fp32_lanes_per_sm == lanes
    assert gpu(name).l2_mb * 2**20 == l2
    assert 0.91 < dram / 1024 / gpu(name).dram_gb <= 1  # on GDDR6, error correction takes a sixteenth


def test_l1_and_shared_memory_are_as_large_as_the_programming_guide_says(any_gpu: Gpu) -> None:
    sizes = {"sm_75": 96, "sm_80": 192, "sm_86": 128, "sm_89": 128, "sm_90": 256, "sm_100": 256, "sm_120": 128}
    assert any_gpu.l1_kb == sizes[any_gpu.arch]


@pytest.mark.parametrize(
    ("name", "dtype", "flop_per_byte"),
    [  # printed dense peak over printed bandwidth
        ("T4", "float16", 65e12 / 320e9),
        ("RTX 4090", "float16", 165.2e12 / 1008e9),
        ("RTX 4090", "float16_acc16", 330.3e12 / 1008e9),
        ("H100", "float32", 66.9e12 / 3352e9),
        ("H200", "bfloat16", 989e12 / 4.8e12),
        ("H200", "int8", 1979e12 / 4.8e12),
        ("B200", "float8", 4.5e15 / 7.7e12),
    ],
)
def test_the_ridge_is_peak_over_bandwidth(name: str, dtype: str, flop_per_byte: float) -> None:
    assert gpu(name).ridge(dtype) == pytest.approx(flop_per_byte, rel=PEAK)


def test_a_type_without_lanes_is_refused_with_those_that_have_some() -> None:
    message = r"^The T4 has no peak for 'bfloat16'\. Its types: float32, float16, int8\.$"
    with pytest.raises(ValueError, match=message):
        gpu("T4").peak_tflops("bfloat16")
    with pytest.raises(ValueError, match=r"^The A100 has no peak for 'float8'\. Its types: float32, float16, bfloat16"):
        gpu("A100").ridge("float8")


def test_each_record_is_frozen_hashable_named_and_has_a_source(any_gpu: Gpu) -> None:
    assert GPUS[any_gpu.name] is any_gpu
    assert any_gpu.name in any_gpu.model
    assert re.search("NVIDIA", any_gpu.source)
    assert "CUDA C++ Programming Guide" in any_gpu.source
    assert not re.search("http|www", any_gpu.source)
    assert hash(any_gpu) == hash(dataclasses.replace(any_gpu))
    with pytest.raises(dataclasses.FrozenInstanceError):
        any_gpu.sms = 1  # type: ignore[misc]


def test_an_unknown_gpu_names_the_nearest_and_all() -> None:
    with pytest.raises(ValueError, match=r"^There is no GPU 'a100' in the table\. Did you mean 'A100'\? It has: T4, "):
        gpu("a100")
    with pytest.raises(ValueError, match=r"^There is no GPU 'Voodoo' in the table\. It has: T4, RTX 2080 Ti, A100"):
        gpu("Voodoo")


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("NVIDIA H200", "H200"),
        ("Tesla T4", "T4"),
        ("NVIDIA GeForce RTX 2080 Ti", "RTX 2080 Ti"),
        ("NVIDIA A100-SXM4-40GB", "A100"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA L4", "L4"),
        ("NVIDIA L40", None),
        ("NVIDIA A100-SXM4-80GB", None),
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA GeForce RTX 3060 Ti", None),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA GeForce RTX 4090 D", None),
        ("this CPU", None),
    ],
)
def test_a_driver_names_a_gpu_at_more_length(device: str, name: str | None) -> None:
    found = recognise(device)
    assert (found and found.name) == name


def test_a_part_of_a_gpu_is_not_recognised_as_all_of_it() -> None:
    for device in ("NVIDIA H200 MIG 1g.18gb", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA H200 NVL", "NVIDIA H100 NVL"):
        assert recognise(device) is None


def test_every_gpu_is_recognised_by_its_own_name(any_gpu: Gpu) -> None:
    assert recognise(any_gpu.name) == any_gpu
    assert recognise(any_gpu.model) == any_gpu
