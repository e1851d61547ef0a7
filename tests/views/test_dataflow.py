"""The picture of a dataflow against the run that it shows: its counts, its output, and its trace cycle by cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
import pytest

from convlab.dataflow import DATAFLOWS, Array, Dataflow, row_stationary, systolic_gemm, weight_stationary
from convlab.dataflow.counts import MEMORIES
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec
from convlab.views import dataflow
from convlab.views.dataflow import DataflowView
from convlab.views.dataflow_film import Tally, Way, moved_by_loop
from convlab.views.dataflow_tensors import INDICES, Planes
from convlab.views.samples import sample_filter, sample_image

SPECS = {
    "plain": ConvSpec(n=1, c=2, h=5, w=6, k=3, r=3, s=2),
    "steps": ConvSpec(n=1, c=1, h=7, w=6, k=2, r=2, s=3, stride=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2)),
    "groups": ConvSpec(n=2, c=4, h=4, w=3, k=6, r=1, s=2, groups=2),
}
ARRAYS = {"multicast": Array(3, 4, registers=40), "systolic": Array(3, 2, registers=40, network="systolic")}
NESTS = [
    "dram: n g k p q c s | rows: r | cols: k2",
    "grid: g q | dram: n c k | buffer(x): p | rows: s | cols: k2 | regs: r",
    "dram: q c | buffer(w y): n g p2 k r | rows: p | regs: s",
    "gemm | dram: g c | buffer: q k | rows: c2 | cols: k2",
]
FLOWS = [*DATAFLOWS, *NESTS]
each_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
each_network = pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
each_flow = pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: getattr(flow, "name", flow))


def values(spec: ConvSpec) -> tuple[np.ndarray, np.ndarray]:
    """The tensors that the picture is of, word by word."""
    x = np.zeros(spec.input_shape)
    for n, c, h, w in np.ndindex(*x.shape):
        x[n, c, h, w] = sample_image(n)(np.array(c), np.array(h), np.array(w))
    return x, np.stack([sample_filter(k, *spec.weight_shape[1:]) for k in range(spec.k)])


def text(view: DataflowView, frame: int, panel: str, place: tuple[int, int]) -> str:
    """What a cell shows in a frame."""
    cell = int(view.ids[panel][place])
    made = {each.name: each for each in view.panels}[panel]
    at_rest = made.values[place[0] * made.cols + place[1]] if made.values else ""
    return str(view.frames[frame].values.get(cell, at_rest))


@each_network
@each_spec
@each_flow
def test_the_last_step_has_moved_all_words_and_shows_the_convolution(
    flow: Dataflow | str, spec: ConvSpec, array: Array
) -> None:
    view = dataflow(flow, spec, array)
    counts, last = view.done.counts, len(view.frames) - 1
    for (i, level), (j, tensor) in product(enumerate(MEMORIES), enumerate("xwy")):
        traffic = counts[tensor, level]
        words = traffic.moves if level == "array" else traffic.reads + traffic.writes
        assert text(view, last, "words", (i, j)) == f"{words:,}", (tensor, level)
    x, w = values(spec)
    y = oracle(x, w, None, spec)
    assert (view.done.output == y).all()
    if not view.done.nest.gemm:
        planes = Planes("y", y.shape)
        for at in np.ndindex(*y.shape):
            assert text(view, last, "y", planes.place(at)) == f"{y[at]:.0f}".replace("-", "−")


@each_network
def test_each_frame_shows_the_cycle_of_the_trace(array: Array) -> None:
    spec = SPECS["steps"]
    view = dataflow("dram: k c | buffer: p q | rows: r2 | cols: s2 | regs: s", spec, array)
    assert len(view.frames) == len(view.done.trace) > view.done.counts.cycles
    seen = Counter[str]()
    for number, cycle in enumerate(view.done.trace):
        frame = view.frames[number]
        for row, col in product(range(array.rows), range(array.cols)):
            cells = view.ids["PEs"][2 * row : 2 * row + 2, 2 * col : 2 * col + 2].ravel().tolist()
            work = cycle.work.get((row, col))
            if work is None:
                assert [frame.kinds[cell] for cell in cells] == ["idle"] * 4
                assert not {*cells} & frame.values.keys()
                continue
            k, _, r, s = work.w
            pixel = "0" if work.x is None else f"{work.x[2]},{work.x[3]}"
            assert frame.kinds.get(cells[1], "input") == ("padding" if work.x is None else "input")
            assert [frame.values[cell] for cell in cells[:3]] == [f"{k},{r},{s}", pixel, ",".join(map(str, work.y[1:]))]
            assert frame.values[cells[3]] == f"{work.total:.0f}".replace("-", "−")
            seen["padding" if work.x is None else "pixel"] += 1
    assert seen["padding"] > 0
    assert seen["padding"] + seen["pixel"] == spec.macs


def loops(nest: str, spec: ConvSpec) -> Iterator[tuple[int, ...]]:
    """The indices of the loops, as nested loops give them."""
    assert nest == "dram: k c | buffer: p2 q | regs: p r s"
    for k, c, p1, q, p0, r, s in product(*map(range, (spec.k, spec.c, 2, spec.q, -(-spec.p // 2), spec.r, spec.s))):
        if p1 * -(-spec.p // 2) + p0 < spec.p:
            yield k, c, p1, q, p0, r, s


def test_the_loops_stand_where_nested_loops_do() -> None:
    spec, nest = ConvSpec(n=1, c=2, h=5, w=6, k=3, r=3, s=2), "dram: k c | buffer: p2 q | regs: p r s"
    view = dataflow(nest, spec, Array(1, 1, registers=60))
    cells = view.ids["loop nest"]
    expected = [*loops(nest, spec)]
    assert len(view.frames) == len(expected) + 1  # the last result moves after the last product
    pe = int(view.ids["PEs"][0, 0])
    for number, indices in enumerate(expected):
        stands = [cells[row, index] for row, index in enumerate(indices)]
        assert [cell for cell in view.frames[number].lit if cell in cells] == stands
        assert linked(view, number, pe) & {*cells.ravel().tolist()} == {*stands}


def test_a_loop_of_many_rounds_has_a_cell_for_several() -> None:
    view = dataflow("buffer: q", ConvSpec(n=1, c=1, h=1, w=31, k=1, r=1, s=1), Array(1, 1))
    panel = next(each for each in view.panels if each.name == "loop nest")
    assert [*panel.values] == [str(i) for i in range(0, 31, 3)]
    cells = view.ids["loop nest"][0]
    stands = [next(int(cell) - cells[0] for cell in frame.lit if cell in cells) for frame in view.frames[:31]]
    assert stands == [i // 3 for i in range(31)]


def linked(view: DataflowView, frame: int, cell: int) -> set[int]:
    links = np.concatenate([view.links, view.frames[frame].links])
    return {*links[links[:, 0] == cell, 1].tolist(), *links[links[:, 1] == cell, 0].tolist()}


def test_hovering_a_pe_lights_what_it_holds_and_where_its_loops_stand() -> None:
    spec = SPECS["plain"]
    view = dataflow("dram: k | buffer: c q | rows: r3 | cols: p3 | regs: s", spec, ARRAYS["multicast"])
    nest, planes = view.ids["loop nest"], {tensor: Planes(tensor, shape) for tensor, shape in shapes(spec).items()}
    number = 2 * spec.q * spec.s + 3
    cycle = view.done.trace[number]
    for (row, col), work in cycle.work.items():
        w, x, y, total = view.ids["PEs"][2 * row : 2 * row + 2, 2 * col : 2 * col + 2].ravel().tolist()
        (_, k, p, q), (_, c, r, s) = work.y, work.w
        stands = {int(nest[i, index]) for i, index in enumerate((k, c, q, r, p, s))}
        words = {name: {place(view, planes[name], at) for at in cycle.held[row, col][name]} for name in "xwy"}
        assert linked(view, number, w) == stands | words["w"] | {x, y, total}
        assert linked(view, number, x) == stands | words["x"] | {w, y, total}
        assert linked(view, number, y) == stands | words["y"] | {w, x, total}
        used = {place(view, planes[name], at) for name, at in zip("xwy", (work.x, work.w, work.y), strict=True) if at}
        assert linked(view, number, total) == stands | used | {w, x, y}
    assert len(cycle.work) == 9
    assert (col, row) == (2, 2)
    assert int(nest[3, row]) in linked(view, number, total)  # r lies along the rows of PEs
    assert int(nest[4, col]) in linked(view, number, total)  # and p along the columns


def shapes(spec: ConvSpec) -> dict[str, tuple[int, ...]]:
    return {"x": spec.input_shape, "w": spec.weight_shape, "y": spec.output_shape}


def place(view: DataflowView, planes: Planes, at: tuple[int, ...]) -> int:
    return int(view.ids[planes.tensor][planes.place(at)])


@each_network
@each_flow
def test_loops_share_all_moves_but_the_last_results(flow: Dataflow | str, array: Array) -> None:
    view = dataflow(flow, SPECS["plain"], array)
    moved = sum((Counter(each) for each in moved_by_loop(view.done).values()), Counter[Way]())
    everything = Counter[Way]()
    for move in (move for cycle in view.done.trace for move in cycle.moves):
        source, target = (end if isinstance(end, str) else "PE" for end in (move.source, move.target))
        everything[move.tensor, source, target] += 1
    assert not moved - everything
    last = everything - moved
    assert {(tensor, target) for tensor, _, target in last} <= {("y", "PE"), ("y", "buffer"), ("y", "dram")}
    assert sum(count for (_, _, target), count in last.items() if target == "dram") > 0


def test_a_loop_says_what_moves_as_it_advances_and_lights_it() -> None:
    # Three PEs keep the weights of a filter while seven pixels pass; the five sums go from PE to PE and to the buffer.
    view = dataflow("dram: k | buffer: q | cols: s3", ConvSpec(n=1, c=1, h=1, w=7, k=2, r=1, s=3), Array(1, 4))
    notes = dict(label.split(". ") for label in view.panels[4].labels if ". " in label)
    assert notes["dram: k = 1 of 0 to 1"] == (
        "As it advances (2 times): 7 x DRAM → buffer, 6 w DRAM → buffer, 6 x buffer → PE, 6 w buffer → PE, "
        "2 y PE → PE, 1 y PE → buffer, 5 y buffer → DRAM"
    )
    along = "As it advances (8 times): 16 y PE → PE, 8 y PE → buffer, 24 x buffer → PE"
    assert [notes[f"buffer: q = {i} of 0 to 4"] for i in range(5)] == [along] * 5
    assert notes["cols: s = 2 of 0 to 2"] == "Its PEs work side by side"
    words, loops = view.ids["words"], view.ids["loop nest"]
    moving = {int(words[level, tensor]) for level, tensor in ((1, 0), (2, 0), (1, 2), (2, 2))}
    assert {*view.linked(int(loops[1, 4]))} == moving
    assert view.linked(int(view.ids["energy"][2, 1])) == [words[2, 1]]
    assert {*view.linked(int(loops[0, 1]))} == moving | {int(words[0, i]) for i in range(3)} | {
        int(words[1, 1]),
        int(words[2, 1]),
    }


def test_arrows_run_from_where_words_are_to_where_they_go() -> None:
    spec = ConvSpec(n=1, c=1, h=5, w=6, k=3, r=3, s=2)
    view = dataflow("dram: k | buffer: p q | rows: r3 | cols: s2", spec, ARRAYS["multicast"])
    words, pes = view.ids["words"], view.ids["PEs"]
    chain = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]  # of PEs that have a part of the sum
    x = {(words[1, 0], pes[2 * row, 2 * col + 1]) for row, col in chain}
    along = {tuple(pes[2 * row + 1, 2 * col + 1] for row, col in pair) for pair in pairwise(chain)}
    assert {*view.frames[3].arrows} == x | along | {(pes[5, 2], words[1, 2])}
    first = {*view.frames[0].arrows}
    assert first > {(words[0, i], words[1, i]) for i in range(2)} | {(words[1, 1], pes[4, 2])}
    assert len(first) == 2 + 6 + 6
    assert {*view.frames[-1].arrows} == along | {(pes[5, 2], words[1, 2]), (words[1, 2], words[0, 2])}


def test_what_moves_and_multiplies_is_bright_and_what_stays_is_not() -> None:
    spec = ConvSpec(n=1, c=1, h=5, w=6, k=3, r=3, s=2)
    view = dataflow("dram: k | buffer: p q | rows: r3 | cols: s2", spec, Array(3, 2))
    cells = view.ids["PEs"]
    weights, pixels, sums = ({*cells[i::2, j::2].ravel().tolist()} for i, j in ((0, 0), (0, 1), (1, 1)))
    for number, frame in enumerate(view.frames[:-1]):
        lit, another_filter = {*frame.lit}, number % (spec.p * spec.q) == 0
        assert lit >= pixels | sums
        assert lit & weights == (weights if another_filter else set())


@pytest.mark.parametrize(
    ("tensor", "shape", "size"),
    [
        ("x", (1, 3, 4, 5), (8, 10)),
        ("x", (2, 1, 4, 5), (4, 10)),
        ("x", (1, 9, 1, 16), (9, 16)),
        ("w", (4, 2, 3, 2), (12, 4)),
        ("w", (5, 1, 3, 2), (9, 4)),
        ("w", (5, 4, 1, 1), (5, 4)),
        ("y", (1, 1, 3, 4), (3, 4)),
    ],
)
def test_every_word_has_a_place_of_its_own_and_planes_stay_whole(
    tensor: str, shape: tuple[int, ...], size: tuple[int, int]
) -> None:
    planes = Planes(tensor, shape)
    assert planes.size == size
    places = {at: planes.place(at) for at in np.ndindex(*shape)}
    assert len({*places.values()}) == len(places)
    assert [places[at] for at in planes.addresses] == sorted(places.values())
    for at, (row, col) in places.items():
        first = places[*at[:2], 0, 0]
        assert (row - first[0], col - first[1]) == at[2:]
    panel = planes.panel(np.arange(float(np.prod(shape))).reshape(shape))
    for at, (row, col) in places.items():
        label = panel.labels[row * panel.cols + col]
        index = ", ".join(f"{letter}={i}" for letter, i in zip(INDICES[tensor], at, strict=True))
        assert label == f"{tensor}[{index}] = {np.ravel_multi_index(at, shape)}"
    assert {panel.labels[i] for i, kind in enumerate(panel.cell_kinds) if kind == "gap"} <= {"no word"}
    assert [*panel.cell_kinds].count("gap") == size[0] * size[1] - len(places)


def test_a_matrix_is_numbered_by_its_planes() -> None:
    panel = Planes("x", (1, 9, 1, 16)).panel(None)
    assert (panel.row_axis, panel.row_index[-1], panel.col_axis, panel.col_index[-1]) == ("C", "8", "W", "15")
    assert not [*panel.row_lines, *panel.col_lines]
    weights = Planes("w", (5, 4, 1, 1)).panel(None)
    assert (weights.row_axis, weights.col_axis) == ("K", "C")


def test_the_words_say_which_nest_it_is_and_how_busy_the_array() -> None:
    view = dataflow(row_stationary, ConvSpec(n=1, c=1, h=6, w=6, k=1, r=3, s=3), Array(4, 4))
    assert view.title == "Row stationary on 4 × 4 PEs, cycle by cycle"
    assert view.captions[0] == f"The nest is {view.done.nest}, that is: {row_stationary.idea}."
    assert view.captions[1].startswith("144 multiply-adds in 12 cycles: PEs are busy 75% of the time.")
    assert "im2col" in dataflow(systolic_gemm, SPECS["plain"], ARRAYS["systolic"]).captions[-1]


def test_a_tally_of_nothing_is_empty() -> None:
    assert not Tally(systolic=False).totals()


@pytest.mark.parametrize(
    ("spec", "array", "message"),
    [
        (
            ConvSpec(n=1, c=16, h=9, w=8, k=16, r=3, s=3),
            Array(4, 4),
            "1,152 words in a tensor are too many to follow: the picture has room for 400",
        ),
        (ConvSpec(n=1, c=4, h=8, w=9, k=4, r=3, s=3), Array(4, 4), "6,048 multiply-adds are too many"),
        (ConvSpec(n=1, c=1, h=5, w=6, k=1, r=3, s=3), Array(7, 4), "7 rows of PEs are too many"),
        (ConvSpec(n=1, c=1, h=5, w=6, k=1, r=3, s=3), Array(4, 12), "12 columns of PEs are too many"),
    ],
)
def test_what_is_too_large_to_follow_is_refused(spec: ConvSpec, array: Array, message: str) -> None:
    with pytest.raises(ValueError, match="too many") as error:
        dataflow(weight_stationary, spec, array)
    if "words" not in message:
        assert str(error.value).startswith(message)
    assert "views.dataflow_costs compares large ones." in str(error.value)
