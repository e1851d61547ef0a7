"""The registers picture against fresh compilations, runs, and the arithmetic of an outer product."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from convlab.executors.compiler import nvrtc_version
from convlab.kernels.ladder import method
from convlab.kernels.layers import LAYERS
from convlab.perf.occupancy import CAPABILITIES
from convlab.views.register_tiles import PATH, TILES, RegisterTile, compiler, count, recorded, text
from convlab.views.registers import RegistersView, registers

VARIANTS = [tile for tiles in recorded().values() for tile in tiles]


@pytest.mark.parametrize("kernel", TILES)
def test_what_is_recorded_is_what_compiling_and_running_gives(kernel: str) -> None:
    found, known = count(kernel, *TILES[kernel][1]), recorded()[kernel][1]
    counted = ("tm", "tn", "threads", "shared", "shared_loads", "global_loads")
    assert [getattr(found, name) for name in counted] == [getattr(known, name) for name in counted]
    if compiler() == f"NVRTC {nvrtc_version()}":  # another version may use other registers
        near = {arch: pytest.approx(count, abs=4) for arch, count in known.registers.items()}  # the assembler varies
        assert found.registers == near
        assert found.spills == known.spills


def test_the_file_has_all_variants_as_they_are_written() -> None:
    assert [(tile.kernel, tile.tm, tile.tn) for tile in VARIANTS] == [
        (kernel, *tile) for kernel, tiles in TILES.items() for tile in tiles
    ]
    assert text(VARIANTS, compiler()) == PATH.read_text(encoding="utf-8")
    assert json.loads(text(VARIANTS[:1], "me"))["tiles"] == [asdict(VARIANTS[0])]


@pytest.mark.parametrize("tile", VARIANTS, ids=lambda tile: f"{tile.kernel}-{tile.tm}x{tile.tn}")
def test_values_read_from_shared_memory_are_those_of_an_outer_product(tile: RegisterTile) -> None:
    assert tile.shared_loads == (tile.tm + tile.tn) / (tile.tm * tile.tn)
    assert tile.threads == 256


@pytest.mark.parametrize("tile", recorded()["gemm_register"], ids=lambda tile: f"{tile.tm}x{tile.tn}")
def test_values_read_from_global_memory_are_those_of_the_blocks_tile(tile: RegisterTile) -> None:
    bm, bn = 16 * tile.tm, 16 * tile.tn
    assert tile.global_loads == (bm + bn) / (bm * bn)


def test_the_rungs_own_tiles_are_among_the_variants() -> None:
    plan = method("multi_output").plan
    assert plan is not None
    (step,) = plan(LAYERS["conv2d"]["standard"]).launches
    assert {"-DTM=8", "-DTN=8"} <= {*step.options}
    assert (8, 8) in TILES["multi_output"]
    assert (8, 8) in TILES["gemm_register"]


def warps_by_hand(arch: str, registers_: int) -> int:
    """Blocks of 8 warps, of which each partition of an SM has 2, that the registers of 4 × 16,384 allow."""
    sm = CAPABILITIES[arch]
    of_warp = -(-registers_ * 32 // 256) * 256
    blocks = min(16384 // of_warp // 2, sm.warps // 8)
    return 8 * blocks


@pytest.mark.parametrize(
    ("gpu", "arch"), [("T4", "sm_75"), ("A100", "sm_80"), ("RTX 3060", "sm_86"), ("B200", "sm_100")]
)
@pytest.mark.parametrize("kernel", TILES)
def test_each_row_has_the_registers_and_the_warps_of_its_variant(kernel: str, gpu: str, arch: str) -> None:
    panels = {panel.name: panel for panel in registers(kernel, gpu).panels}
    tiles = recorded()[kernel]
    assert panels["registers"].row_index == [f"{tile.tm} × {tile.tn} = {tile.outputs}" for tile in tiles]
    assert panels["registers"].values == [str(tile.registers[arch]) for tile in tiles]
    assert panels["registers"].bars == [tile.registers[arch] / 255 for tile in tiles]
    expected = [warps_by_hand(arch, tile.registers[arch]) for tile in tiles]
    assert panels["warps"].values == [f"{warps} of {CAPABILITIES[arch].warps}" for warps in expected]
    assert panels["warps"].bars == [warps / CAPABILITIES[arch].warps for warps in expected]
    assert panels["shared"].bars == [tile.shared_loads / tiles[0].shared_loads for tile in tiles]
    assert [float(value) for value in panels["global"].values] == pytest.approx(
        [t.global_loads for t in tiles], rel=5e-3
    )


def lit(view: RegistersView, panel: str, row: int, col: int) -> dict[str, list[tuple[int, int]]]:
    linked = {*view.linked(int(view.ids[panel][row, col]))}
    found = {
        name: [(i, j) for i in range(ids.shape[0]) for j in range(ids.shape[1]) if int(ids[i, j]) in linked]
        for name, ids in view.ids.items()
    }
    return {name: cells for name, cells in found.items() if cells}


def test_a_sum_lights_its_two_factors_and_a_factor_all_its_sums() -> None:
    view = registers("gemm_register", row=6)
    assert (view.tile.tm, view.tile.tn) == (4, 8)
    table = {name: [(5, 0)] for name in ("registers", "warps", "shared", "global")}
    assert lit(view, "sums", 3, 5) == {**table, "rows": [(3, 0)], "columns": [(0, 5)]}
    assert lit(view, "rows", 2, 0) == {**table, "sums": [(2, j) for j in range(8)]}
    assert lit(view, "columns", 0, 7) == {**table, "sums": [(i, 7) for i in range(4)]}
    assert lit(view, "sums", 4, 5) == {}
    assert view.panels[-1].cell_kinds.count("output") == 32


def test_a_row_lights_all_its_measures_and_the_drawn_one_its_tile() -> None:
    view = registers("multi_output", row=2)
    assert lit(view, "warps", 4, 0) == {name: [(4, 0)] for name in ("registers", "shared", "global")}
    assert len(lit(view, "warps", 1, 0)["sums"]) == 8


def test_captions_have_the_present_numbers() -> None:
    view = registers("gemm_register", "A100", row=5)
    first, second, third = view.captions
    assert first == (
        "4 × 4 outputs: in each step a thread reads 4 + 4 values for 16 multiply-adds, 0.5 a multiply-add, "
        "4 times fewer than in the first row."
    )
    found = view.tile.registers["sm_80"]
    assert second.startswith(f"That takes {found} registers a thread: an SM of the A100 holds 32 of 64 warps (50 %)")
    assert third.endswith(f"Registers: by {compiler()}. Values read: counted on the emulator.")
    assert "times fewer" not in registers(row=1).captions[0]
    assert all(caption in view.alt for caption in view.captions)


def test_spills_are_said() -> None:
    spilling = [(tile, arch) for tile in VARIANTS for arch, spilled in tile.spills.items() if spilled]
    for tile, arch in spilling:
        gpu = CAPABILITIES[arch].gpu
        row = TILES[tile.kernel].index((tile.tm, tile.tn)) + 1
        assert f", and {tile.spills[arch]} bytes that do not fit" in registers(tile.kernel, gpu, row).captions[1]
    calm = registers("gemm_register", "A100", row=3)
    assert calm.tile.spills["sm_80"] == 0
    assert "do not fit" not in calm.captions[1]


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no variants of 'naive'\.\n  Fix: take one of gemm_register, multi_output"):
        registers("naive")
    with pytest.raises(ValueError, match=r"row=9 is not there: gemm_register has 8 variants\.\n  Fix: choose a row"):
        registers(row=9)
    with pytest.raises(ValueError, match=r"not counted for the RTX 4090\.\n  Fix: choose one of T4, "):
        registers(gpu="RTX 4090")
