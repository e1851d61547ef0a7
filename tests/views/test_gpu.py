from __future__ import annotations

import dataclasses

import pytest

from convlab.perf import gpus
from convlab.views.gpu import _oblong, gpu
from convlab.views.view import View


@pytest.fixture(scope="module")
def view() -> View:
    return gpu("A100")


def lit(view: View, panel: str, cell: int) -> dict[str, list[int]]:
    """What lights with a cell, as places within each panel."""
    linked = view.linked(int(view.ids[panel].ravel()[cell]))
    found = {
        name: [i for i, number in enumerate(ids.ravel().tolist()) if number in linked] for name, ids in view.ids.items()
    }
    return {name: places for name, places in found.items() if places}


ALL_SMS, ALL_WARPS, ALL_LANES = list(range(108)), list(range(64)), list(range(32))


@pytest.mark.parametrize("lane", [0, 5, 31])
def test_registers_belong_to_one_lane(view: View, lane: int) -> None:
    assert lit(view, "registers", lane) == {"lanes": [lane]}


def test_shared_memory_belongs_to_one_sm_and_its_warps(view: View) -> None:
    assert lit(view, "L1", 0) == {"SMs": [0], "warps": ALL_WARPS}


@pytest.mark.parametrize("memory", ["L2", "DRAM"])
def test_l2_and_dram_belong_to_all_sms(view: View, memory: str) -> None:
    assert lit(view, memory, 0) == {"SMs": ALL_SMS}


def test_a_lane_belongs_to_its_warp_and_its_sm(view: View) -> None:
    assert lit(view, "lanes", 7) == {"SMs": [0], "warps": [0], "registers": [7]}


def test_a_warp_has_its_lanes_and_belongs_to_its_sm(view: View) -> None:
    assert lit(view, "warps", 0) == {"SMs": [0], "L1": [0], "lanes": ALL_LANES}
    assert lit(view, "warps", 17) == {"SMs": [0], "L1": [0]}


def test_an_sm_has_its_warps_and_the_memories_that_it_uses(view: View) -> None:
    assert lit(view, "SMs", 0) == {"L2": [0], "DRAM": [0], "warps": ALL_WARPS, "L1": [0], "lanes": ALL_LANES}
    assert lit(view, "SMs", 50) == {"L2": [0], "DRAM": [0]}


def test_the_panels_have_the_published_counts(view: View) -> None:
    shapes = {panel.name: (panel.rows, panel.cols) for panel in view.panels}
    assert shapes["SMs"] == (6, 18)
    assert shapes["warps"] == (4, 16)  # a row for each scheduler
    assert shapes["lanes"] == shapes["registers"] == (2, 16)
    assert shapes["L1"] == shapes["L2"] == shapes["DRAM"] == (1, 1)


def test_the_words_hold_the_published_sizes_and_the_waits(view: View) -> None:
    heads = {panel.name: f"{panel.title}; {panel.subtitle}" for panel in view.panels}
    assert heads["L2"] == "L2 cache: 40 MB; wait: about 200 to 260 cycles"
    assert heads["DRAM"] == "DRAM: 40 GB; wait: about 290 to 470 cycles"
    assert heads["L1"] == "Shared memory and L1 cache: 192 KB; wait: about 23 to 38 cycles"
    assert heads["registers"] == "Registers: each lane its own; no wait; 256 KB in each SM, for all its warps"
    assert view.captions[-1].endswith("arXiv 2208.11174; Luo et al. (2024), arXiv 2402.13499.")
    assert all(size in view.alt for size in ("108 SMs", "64 warps", "32 lanes", "192 KB", "40 MB", "40 GB"))


def test_labels_are_sentences_without_the_full_stop_that_the_status_line_adds(view: View) -> None:
    for panel in view.panels:
        assert all(label[0].isupper() and not label.endswith(".") and len(label) > 40 for label in panel.labels)
    labels = {panel.name: panel.labels for panel in view.panels}
    assert "1,555 GB a second" in labels["DRAM"][0]
    assert "Up to 164 KB are shared memory" in labels["L1"][0]
    assert "32 numbers of 4 bytes" in labels["registers"][3]


def test_the_tour_begins_with_one_lane_and_lights_what_pointing_would(view: View) -> None:
    first, *steps = view.frames
    assert [*first.lit] == [int(view.ids[name].ravel()[0]) for name in ("SMs", "warps", "lanes", "registers")]
    pointed = [frame for frame in steps if frame.here is not None]
    assert len(pointed) == 4  # the four levels of memory
    for frame in pointed:
        assert sorted(frame.lit) == view.linked(frame.here)


def test_a_gpu_without_measured_waits_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    unmeasured = dataclasses.replace(gpus.gpu("A100"), name="B1", sms=58, waits=None)
    monkeypatch.setattr(gpus, "GPUS", {"B1": unmeasured})
    view = gpu("B1")
    assert {panel.name: panel.subtitle for panel in view.panels}["DRAM"] == "wait: not published"
    assert "Waits" not in view.captions[-1]
    assert view.ids["SMs"].size == 58


@pytest.mark.parametrize("name", gpus.GPUS)
def test_every_gpu_of_the_table_has_its_picture(name: str) -> None:
    record, view = gpus.gpu(name), gpu(name)
    assert view.ids["SMs"].size == record.sms
    assert view.ids["warps"].size == record.warps_per_sm
    assert record.model in view.title
    assert record.source in view.captions[-1]


def test_a_wait_that_was_measured_once_is_one_number() -> None:
    subtitles = {panel.name: panel.subtitle for panel in gpu("RTX 5090").panels}
    assert (subtitles["L1"], subtitles["DRAM"]) == ("wait: about 44 cycles", "wait: about 940 cycles")


def test_an_unknown_gpu_is_named() -> None:
    with pytest.raises(ValueError, match="There is no GPU 'Z80'"):
        gpu("Z80")


@pytest.mark.parametrize(
    ("count", "shape"), [(108, (6, 18)), (132, (6, 22)), (80, (5, 16)), (58, (2, 29)), (1, (1, 1)), (13, (1, 13))]
)
def test_sms_are_laid_out_without_an_empty_place(count: int, shape: tuple[int, int]) -> None:
    assert _oblong(count) == shape
