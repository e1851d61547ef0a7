"""What dataflows cost, side by side: energy by level and by tensor, cycles, and the words that each nest moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from convlab.dataflow.analytic import analyse
from convlab.dataflow.array import TENSORS, Array
from convlab.dataflow.counts import MEMORIES, Counts
from convlab.dataflow.fit import fit
from convlab.dataflow.named import Dataflow
from convlab.dataflow.nest import INDEXED_BY, SPATIAL, Loop, Nest
from convlab.spec import ConvSpec
from convlab.views.dataflow import name_of, nest_of
from convlab.views.dataflow_panels import LEVELS, level_words
from convlab.views.dataflow_tensors import KINDS
from convlab.views.grid import Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["DataflowCostsView", "dataflow_costs"]

_DETAILED = 2  # so many dataflows have room for their loops and words
_MOST = 8
_BESIDE = {"grid": "dram", "dram": "dram", "buffer": "buffer", "rows": "array", "cols": "array", "regs": "register"}
_LEGEND = {"input": "x", "filter": "w", "output": "y", "shared": "loops side by side on the PEs"}


@dataclass(frozen=True, eq=False, kw_only=True)
class DataflowCostsView(View):
    """The picture of some dataflows' costs: ``counts`` and ``nests`` by the dataflow's name."""

    counts: Mapping[str, Counts]
    nests: Mapping[str, Nest]


class _Column(NamedTuple):
    """A column of bars: its title, and the number, the words and the fraction of the cell for each dataflow."""

    title: str
    kind: str
    texts: Sequence[str]
    bars: Sequence[float]
    notes: Sequence[str]


def dataflow_costs(
    nests: Sequence[Dataflow] | Mapping[str, Dataflow | Nest | str], spec: ConvSpec, array: Array
) -> DataflowCostsView:
    """Compare what some dataflows cost on one layer and one array; of two, show the loops and the words too.

    >>> from convlab.dataflow import row_stationary, weight_stationary
    >>> spec = ConvSpec(n=1, c=64, h=28, w=28, k=96, r=3, s=3, padding=1)
    >>> view = dataflow_costs([weight_stationary, row_stationary], spec, Array(rows=12, cols=14))
    >>> [*view.counts], len(view.panels)
    (['weight stationary', 'row stationary'], 7)

    Parameters: ``nests`` are dataflows, or nests (or their lines of text) by the name to show; at most 8. All numbers
    are those of `convlab.dataflow.analyse`. Raises ``ValueError`` for none, for more, and for a nest that does not fit.
    """
    named = nests if isinstance(nests, Mapping) else {name_of(nest): nest for nest in nests}
    if not 1 <= len(named) <= _MOST:
        raise ValueError(f"There are {len(named)} dataflows to compare.\n  Fix: give 1 to {_MOST}.")
    fitted = {name: fit(nest_of(nest, spec, array), spec, array) for name, nest in named.items()}
    counts = {name: analyse(nest, spec, array) for name, nest in fitted.items()}
    panels = [*_totals(counts)]
    if len(named) <= _DETAILED:
        for (name, nest), each in zip(fitted.items(), counts.values(), strict=True):
            panels += [_loops(name, nest), _words(name, each, max(counts.values(), key=_most))]
    title = f"What {count_text(len(named), 'dataflow')} cost on {spec}"
    captions = [*_captions(counts, array)]
    return DataflowCostsView(
        title=title,
        alt=f"{title}. {' '.join(captions)} {_table(counts)}",
        panels=panels,
        links=_links(panels, fitted),
        captions=captions,
        legend=_LEGEND,
        counts=counts,
        nests=fitted,
    )


def _totals(counts: Mapping[str, Counts]) -> Iterator[Panel]:
    """The lines of bars that compare all dataflows: energy by level, energy by tensor, and time."""
    whole = _energy(counts, "in all", "group5", {name: each.energy for name, each in counts.items()})
    levels = [whole, *(_level(counts, level) for level in MEMORIES)]
    tensors = [_tensor(counts, tensor) for tensor in TENSORS]
    yield _bars("energy by level", "Energy by level", "for a multiply-add, itself 1", levels, [*counts])
    yield _bars("energy by tensor", "Energy by tensor", "", tensors, [])
    yield _bars("time", "Time", "", [_cycles(counts), _busy(counts)], [])


def _level(counts: Mapping[str, Counts], level: str) -> _Column:
    energies = {name: sum(each.energies[tensor, level] for tensor in TENSORS) for name, each in counts.items()}
    return _energy(counts, LEVELS[level], "group5", energies)


def _tensor(counts: Mapping[str, Counts], tensor: str) -> _Column:
    energies = {name: sum(each.energies[tensor, level] for level in MEMORIES) for name, each in counts.items()}
    return _energy(counts, tensor, KINDS[tensor], energies)


def _energy(counts: Mapping[str, Counts], title: str, kind: str, energies: Mapping[str, float]) -> _Column:
    """A column of energies for each multiply-add, on the scale of the dearest dataflow's total."""
    most = max(each.energy / each.macs for each in counts.values())
    parts = [energies[name] / each.macs for name, each in counts.items()]
    notes = [f"{part / (each.energy / each.macs):.0%} of its energy" for part, each in _zip(parts, counts)]
    return _Column(title, kind, [f"{part:.3g}" for part in parts], [part / most for part in parts], notes)


def _cycles(counts: Mapping[str, Counts]) -> _Column:
    most = max(each.cycles for each in counts.values())
    cycles = [each.cycles for each in counts.values()]
    notes = [f"{each.cycles / most:.0%} of the slowest" for each in counts.values()]
    return _Column("cycles", "group4", [f"{each:,}" for each in cycles], [each / most for each in cycles], notes)


def _busy(counts: Mapping[str, Counts]) -> _Column:
    parts = [each.utilisation for each in counts.values()]
    notes = [f"{each.macs:,} multiply-adds on {each.array.pes} PEs" for each in counts.values()]
    return _Column("PEs busy", "group4", [f"{part:.0%}" for part in parts], parts, notes)


def _zip(parts: Sequence[float], counts: Mapping[str, Counts]) -> Iterator[tuple[float, Counts]]:
    return zip(parts, counts.values(), strict=True)


def _bars(name: str, title: str, subtitle: str, columns: Sequence[_Column], names: Sequence[str]) -> Panel:
    """A row for each dataflow, a column of bars for each thing to compare."""
    rows = range(len(columns[0].texts))
    return Panel(
        name=name,
        title=title,
        subtitle=subtitle,
        rows=len(rows),
        cols=len(columns),
        labels=[f"{column.title}: {column.texts[row]}, {column.notes[row]}" for row in rows for column in columns],
        values=[column.texts[row] for row in rows for column in columns],
        kinds=[column.kind for _ in rows for column in columns],
        bars=[column.bars[row] for row in rows for column in columns],
        row_index=names,
        col_index=[column.title for column in columns],
        cell_width=3,
    )


def _loops(name: str, nest: Nest) -> Panel:
    shown = [(loop, letter) for loop, letter in zip(nest.order, nest.names(), strict=True) if loop.times > 1]
    return Panel(
        name=f"loops of {name}",
        title=name.capitalize(),
        subtitle="its loops",
        rows=len(shown),
        cols=1,
        labels=[f"{loop.level}: {_head(loop, letter)}. {_changes(loop)}" for loop, letter in shown],
        values=[_head(loop, letter) for loop, letter in shown],
        kinds=["shared" if loop.level in SPATIAL else "plain" for loop, _ in shown],
        row_index=[loop.level for loop, _ in shown],
        cell_width=5,
        line=1,
    )


def _head(loop: Loop, letter: str) -> str:
    return f"{letter} in {loop.times}"


def _changes(loop: Loop) -> str:
    """Say which tensors a loop moves on along, and which it uses again."""
    moving = [tensor for tensor in TENSORS if loop.letter in INDEXED_BY[tensor]]
    again = [tensor for tensor in TENSORS if tensor not in moving]
    return f"It moves on along {' and '.join(moving)}; {' and '.join(again) or 'nothing'} is used again"


def _most(counts: Counts) -> int:
    return max(level_words(counts, tensor, level) for tensor, level in product(TENSORS, MEMORIES))


def _words(name: str, counts: Counts, scale: Counts) -> Panel:
    """The words of each tensor at each level, with bars on the scale of the dataflow that moves most."""
    words = [level_words(counts, tensor, level) for level in MEMORIES for tensor in TENSORS]
    places = [(level, tensor) for level in MEMORIES for tensor in TENSORS]
    return Panel(
        name=f"words of {name}",
        title="Words moved",
        subtitle="in or out",
        rows=len(MEMORIES),
        cols=len(TENSORS),
        labels=[f"{name}, {LEVELS[level]}, {tensor}: {_traffic(counts, tensor, level)}" for level, tensor in places],
        values=[_short(each) for each in words],
        kinds=[KINDS[tensor] for _, tensor in places],
        bars=[each / _most(scale) for each in words],
        row_index=[*LEVELS.values()],
        col_index=TENSORS,
        cell_width=3,
        line=1,
    )


def _traffic(counts: Counts, tensor: str, level: str) -> str:
    traffic = counts[tensor, level]
    if level == "array":
        return f"{count_text(traffic.moves, 'move')}, {traffic.multicasts:,} of them without a read of their own"
    return f"{count_text(traffic.reads, 'read')}, {count_text(traffic.writes, 'write')}"


def _short(number: int) -> str:
    """Write a number of words in at most six letters.

    >>> _short(99_999), _short(1_234_567), _short(45_600_000_000)
    ('99,999', '1.23 M', '45.6 G')
    """
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= max(unit, 1e5):
            return f"{number / unit:.3g} {name}"
    return f"{number:,}"


def _links(panels: Sequence[Panel], nests: Mapping[str, Nest]) -> Ids:
    """Link totals with what they sum, words with those of the other dataflow, and loops with the words they move."""
    ids = cell_ids(panels)
    if f"words of {next(iter(nests))}" not in ids:
        return join()
    words = [ids[f"words of {name}"] for name in nests]
    links = [pairs(words[0], each) for each in words[1:]]
    for row, (name, nest) in enumerate(nests.items()):
        whole, *levels = ids["energy by level"][row]
        links += [pairs(whole, words[row]), pairs(np.array(levels)[:, np.newaxis], words[row])]
        links.append(pairs(ids["energy by tensor"][row], words[row]))
        loops = [loop for loop in nest.order if loop.times > 1]
        for cell, loop in zip(ids[f"loops of {name}"].ravel(), loops, strict=True):
            moving = [i for i, tensor in enumerate(TENSORS) if loop.letter in INDEXED_BY[tensor]]
            links.append(pairs(cell, words[row][MEMORIES.index(_BESIDE[loop.level]), moving]))
    return join(*links)


def _captions(counts: Mapping[str, Counts], array: Array) -> Iterator[str]:
    cheap, dear = (choose(counts, key=lambda name: counts[name].energy) for choose in (min, max))
    fast = min(counts, key=lambda name: counts[name].cycles)
    each = {name: some.energy / some.macs for name, some in counts.items()}
    if cheap != dear:
        yield (
            f"{cheap.capitalize()} takes the least energy, {each[cheap]:.3g} for each multiply-add; {dear} takes "
            f"{each[dear] / each[cheap]:.3g} times as much. {fast.capitalize()} takes the fewest cycles."
        )
    costs: Any = array.costs
    yield (
        f"The array: {array}. Energy is counted in reads of a register: {costs.neighbour:g} from PE to PE, "
        f"{costs.buffer:g} at the buffer, {costs.dram:g} at DRAM."
    )


def _table(counts: Mapping[str, Counts]) -> str:
    """The totals in words, for those who do not see the bars."""
    return " ".join(
        f"{name.capitalize()}: energy {each.energy / each.macs:.3g} for each multiply-add, {each.cycles:,} cycles, "
        f"{each.utilisation:.0%} of the PEs busy."
        for name, each in counts.items()
    )
