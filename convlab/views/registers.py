"""Registers: what more outputs a thread save in loads, and cost in registers and occupancy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from convlab.executors.resources import ARCHITECTURES
from convlab.perf.gpus import GPUS
from convlab.perf.gpus import gpu as find
from convlab.perf.occupancy import Occupancy, occupancy
from convlab.views.grid import Ids, Panel, cell_ids, join, pairs
from convlab.views.register_tiles import RegisterTile, compiler, recorded
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["RegistersView", "registers"]

MOST_REGISTERS = 255  # of a thread, on every GPU
# What the rows and the columns of a thread's tile are.
_WORDS = {"gemm_register": ("rows of A", "columns of B"), "multi_output": ("filters", "pixels")}
_WIDTH = 5  # of a bar, in cells


@dataclass(frozen=True, eq=False, kw_only=True)
class RegistersView(View):
    """The picture of a kernel's variants; ``tile`` is the one drawn, ``occupancy`` its own on the GPU."""

    tile: RegisterTile
    occupancy: Occupancy


def registers(kernel: str = "gemm_register", gpu: str = "A100", row: int | None = None) -> RegistersView:
    """Show one kernel compiled for more and more outputs a thread: registers, occupancy, and values read.

    >>> view = registers("gemm_register", "A100", row=5)
    >>> view.tile.outputs, view.tile.registers["sm_80"], view.tile.shared_loads, view.occupancy.warps
    (16, 58, 0.5, 32)

    Parameters: ``kernel`` is gemm_register, a matrix product, or multi_output, a convolution; ``gpu`` a name of
    ``perf.gpus.GPUS``; ``row`` the variant whose tile is drawn, counted from 1, the last but one where None. Registers
    were counted by NVIDIA's assembler, and values read by running the kernels on the emulator: see
    ``register_tiles.json``. The occupancy follows from the registers.

    Raises ``ValueError`` for a kernel or a row that is not there, and for a GPU whose registers were not counted.
    """
    tiles = recorded().get(kernel, ())
    number = len(tiles) - 1 if row is None else row
    arch = find(gpu).arch
    if not 1 <= number <= len(tiles) or arch not in ARCHITECTURES:
        raise ValueError(_reason(kernel, gpu, row, len(tiles)))
    tile = tiles[number - 1]
    held = [occupancy(arch, each.threads, each.registers[arch], each.shared) for each in tiles]
    sizes = (max(each.tm for each in tiles), max(each.tn for each in tiles))
    panels = [*_table(tiles, held, arch, gpu), *_step(tile, sizes)]
    ids = cell_ids(panels)
    mine = held[number - 1]
    captions = _captions(tiles, tile, mine, arch, gpu)
    title = f"{kernel}: outputs of a thread against registers, occupancy and loads, on the {gpu}"
    return RegistersView(
        title=title,
        alt=f"{title}. {_rows_in_words(tiles, held, arch)} {' '.join(captions)}",
        panels=panels,
        links=_links(tile, number - 1, ids),
        captions=captions,
        legend={"idle": "room for a larger tile"},
        example=int(ids["registers"][number - 1, 0]),
        tile=tile,
        occupancy=mine,
    )


def _reason(kernel: str, gpu: str, row: int | None, rows: int) -> str:
    if not rows:
        return f"There are no variants of {kernel!r}.\n  Fix: take one of {', '.join(recorded())}."
    if row is not None and not 1 <= row <= rows:
        return f"row={row} is not there: {kernel} has {rows} variants.\n  Fix: choose a row from 1 to {rows}."
    known = ", ".join(name for name, each in GPUS.items() if each.arch in ARCHITECTURES)
    return f"Registers were not counted for the {gpu}.\n  Fix: choose one of {known}."


def _size(tile: RegisterTile) -> str:
    return f"{tile.tm} × {tile.tn} = {tile.outputs}"


def _table(tiles: Sequence[RegisterTile], held: Sequence[Occupancy], arch: str, gpu: str) -> list[Panel]:
    """A panel for each measure, a row for each variant."""
    counts = [tile.registers[arch] for tile in tiles]
    shared, loads = [tile.shared_loads for tile in tiles], [tile.global_loads for tile in tiles]
    limits = [f"{each.warps} of {each.of} warps, limited by {each.limited_by}" for each in held]
    return [
        _bars(
            ("registers", "Registers", f"of a thread, at most {MOST_REGISTERS}"),
            tiles,
            [f"{each}" for each in counts],
            [f"{each} registers a thread" for each in counts],
            [each / MOST_REGISTERS for each in counts],
            row_index=[_size(tile) for tile in tiles],
        ),
        _bars(
            ("warps", "Occupancy", f"warps on an SM of the {gpu}"),
            tiles,
            [f"{each.warps} of {each.of}" for each in held],
            limits,
            [each.share for each in held],
        ),
        _bars(
            ("shared", "Read from shared", "values for a multiply-add"),
            tiles,
            [f"{each:.3g}" for each in shared],
            [f"{each:.4g} values read from shared memory for a multiply-add" for each in shared],
            [each / max(shared) for each in shared],
        ),
        _bars(
            ("global", "Read from global", "values for a multiply-add"),
            tiles,
            [f"{each:.3g}" for each in loads],
            [f"{each:.4g} values read from global memory for a multiply-add" for each in loads],
            [each / max(loads) for each in loads],
        ),
    ]


def _bars(
    words: tuple[str, str, str],
    tiles: Sequence[RegisterTile],
    values: Sequence[str],
    labels: Sequence[str],
    bars: Sequence[float],
    row_index: Sequence[str] = (),
) -> Panel:
    name, title, subtitle = words
    return Panel(
        name=name,
        title=title,
        subtitle=subtitle,
        rows=len(tiles),
        cols=1,
        labels=[f"{_size(tile)} outputs: {label}" for tile, label in zip(tiles, labels, strict=True)],
        values=values,
        kinds="register",
        bars=bars,
        row_index=row_index,
        cell_width=_WIDTH,
    )


def _step(tile: RegisterTile, sizes: tuple[int, int]) -> list[Panel]:
    """One step of a thread: what it reads, and the sums that it adds products to, in room for the largest tile."""
    rows, cols = sizes
    down, across = _WORDS[tile.kernel]
    left = [(f"value {i} of {down}, read once for {tile.tn} products", i < tile.tm) for i in range(rows)]
    top = [(f"value {j} of {across}, read once for {tile.tm} products", j < tile.tn) for j in range(cols)]
    sums = [(f"sum {i}, {j}: one multiply-add", i < tile.tm and j < tile.tn) for i in range(rows) for j in range(cols)]
    return [
        _part("rows", f"{tile.tm} of the {down}", (rows, 1), left, "filter", ""),
        _part("columns", f"{tile.tn} of the {across}", (1, cols), top, "input", "×"),
        _part("sums", f"{count_text(tile.outputs, 'sum')} in registers", (rows, cols), sums, "output", "+"),
    ]


def _part(
    name: str, title: str, shape: tuple[int, int], cells: Sequence[tuple[str, bool]], kind: str, operator: str
) -> Panel:
    return Panel(
        name=name,
        title=title,
        subtitle="a step: a multiply-add each" if name == "sums" else "read from shared memory",
        rows=shape[0],
        cols=shape[1],
        labels=[label if used else "room for a larger tile" for label, used in cells],
        kinds=[kind if used else "idle" for _, used in cells],
        operator=operator,
        line=1,
    )


def _links(tile: RegisterTile, row: int, ids: Mapping[str, Ids]) -> Ids:
    """All measures of a variant; of the one that is drawn, its sums too; each sum with its two factors."""
    table = np.concatenate([ids[name] for name in ("registers", "warps", "shared", "global")], axis=1)
    first, second = np.triu_indices(table.shape[1], k=1)
    sums = ids["sums"][: tile.tm, : tile.tn]
    rows, columns = ids["rows"][: tile.tm], ids["columns"][:, : tile.tn]
    return join(
        pairs(table[:, first], table[:, second]),
        *(pairs(table[row].reshape(-1, 1), part.reshape(1, -1)) for part in (rows, columns, sums)),
        pairs(sums, rows),
        pairs(sums, columns),
    )


def _captions(tiles: Sequence[RegisterTile], tile: RegisterTile, held: Occupancy, arch: str, gpu: str) -> list[str]:
    spilled = tile.spills[arch]
    spills = f", and {spilled} bytes that do not fit" if spilled else ""
    fewer = tiles[0].shared_loads / tile.shared_loads
    compared = "" if tile is tiles[0] else f", {fewer:.3g} times fewer than in the first row"
    return [
        f"{tile.tm} × {tile.tn} outputs: in each step a thread reads {tile.tm} + {tile.tn} values for {tile.outputs} "
        f"multiply-adds, {tile.shared_loads:.3g} a multiply-add{compared}.",
        f"That takes {tile.registers[arch]} registers a thread{spills}: an SM of the {gpu} holds {held.warps} of "
        f"{held.of} warps ({100 * held.share:.0f} %), limited by {held.limited_by}. Fewer warps are not slower as long "
        "as each has enough independent sums to work on.",
        f"All blocks have {tile.threads} threads. Registers: by {compiler()}. Values read: counted on the emulator.",
    ]


def _rows_in_words(tiles: Sequence[RegisterTile], held: Sequence[Occupancy], arch: str) -> str:
    return " ".join(
        f"{_size(tile)} outputs: {tile.registers[arch]} registers, {each.warps} of {each.of} warps, "
        f"{tile.shared_loads:.3g} values read from shared memory for a multiply-add."
        for tile, each in zip(tiles, held, strict=True)
    )
