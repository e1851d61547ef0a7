"""Write the tables of docs/ladder.md anew; with --check, only say whether they are up to date.

uv run tools/document_ladder.py [--check]

Registers and shared memory are what NVIDIA's assembler reports; the counts come from running each rung on the
emulator, on the layers of convlab/kernels/layers.py.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from generated import renew
from tqdm import tqdm

from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.plans import run_plan
from convlab.executors.resources import ARCHITECTURES
from convlab.executors.run import Run
from convlab.executors.shipped import assembler
from convlab.kernels.ladder import methods
from convlab.kernels.layers import LAYERS, launches, supported
from convlab.kernels.method import Launch, Method
from convlab.kernels.ops import OPS
from convlab.perf.measures import measure
from convlab.perf.occupancy import CAPABILITIES, occupancy

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "ladder.md"
MARKS = re.compile(r"(<!-- tables: [^>]*-->\n).*?(<!-- end of tables -->)", re.DOTALL)
TITLES = {
    "conv2d": "Convolution",
    "conv_transpose2d": "Transposed convolution",
    "gemm": "Matrix product",
    "layout": "Change of layout",
    "separable": "Depthwise separable convolution",
    "block": "Convolution with what follows it",
}


@dataclass(frozen=True)
class Shown:
    """A rung on one layer, and what its launches did there."""

    record: Method
    layer: str
    spec: Any
    runs: list[Run]


def inputs(record: Method, spec: Any) -> dict[str, Any]:
    """Random tensors of a rung's types and layout, no bias as in its claims, and an output that nobody has written."""
    op, rng = OPS[record.op], np.random.default_rng(1)
    shapes = op.shapes_in(spec, record.layout)
    y = empty(shapes.pop("y"), record.output_dtype)
    needed = {name: shape for name, shape in shapes.items() if name not in op.optional}
    given = {name: rng.uniform(0.1, 1, shape).astype(op.dtype(name, record)) for name, shape in needed.items()}
    return {**dict.fromkeys(shapes), **given, "y": y}


def on_layers() -> Iterator[Shown]:
    """Every rung on the first layer that it supports, and on those of its claims."""
    rungs = [record for record in methods() if record.plan is not None]
    for record in tqdm(rungs, desc="running the ladder", delay=2, leave=False):
        layers = supported(record)
        wanted = dict.fromkeys([next(iter(layers)), *(claim.layer for claim in record.claims), *_compared(record.name)])
        for name in wanted:
            assert record.plan is not None
            plan = record.plan(layers[name])
            if len(plan.launches) == len(plan.steps):  # cuBLAS is on a GPU only
                yield Shown(record, name, layers[name], run_plan(plan, inputs(record, layers[name]), "emulator"))


def _compared(name: str) -> list[str]:
    """The layers on which other rungs claim to be better than this one."""
    return [claim.layer for record in methods() for claim in record.claims if claim.than == name]


def needs(op: str) -> list[str]:
    """A table of what the kernels of an op need of an SM."""
    gpus = ", ".join(CAPABILITIES[arch].gpu for arch in ARCHITECTURES)
    lines = [
        f"| kernel | lines | registers on {', '.join(ARCHITECTURES)} | shared bytes | occupancy, % on {gpus} |",
        "|---|---|---|---|---|",
    ]
    return lines + [_row(record, step) for record, step in launches(variants=False) if record.op == op]


def _row(record: Method, step: Launch) -> str:
    kernel = compile(step.text(), step.source, options=step.options).kernels[step.entry]
    registers, occupied, shared = [], [], 0
    for arch in ARCHITECTURES:
        if int(arch.removeprefix("sm_")) < record.since:
            registers.append("–")
            occupied.append("–")
            continue
        found = kernel.resources[arch]
        shared = found.shared + step.shared
        registers.append(str(found.registers))
        occupied.append(f"{100 * occupancy(arch, prod(step.block), found.registers, shared).share:.0f}")
    options = "".join(f" `{option}`" for option in step.options)
    link = f"[{step.entry}](../convlab/kernels/{step.source}){options}"
    return f"| {link} | {lines_of_code(step.text())} | {', '.join(registers)} | {shared:,} | {', '.join(occupied)} |"


def lines_of_code(text: str) -> int:
    """Lines of CUDA C without comments and empty lines."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return sum(bool(line.strip()) for line in code.splitlines())


def counts(op: str, shown: Sequence[Shown]) -> list[str]:
    """A table of what the rungs of an op did on each layer."""
    lines = [
        "| layer | rung | instructions | sectors a request: loads, stores | global KB | shared wavefronts"
        " | bank conflicts | Tensor Core work that is useful |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for layer in LAYERS[op]:
        for each in shown:
            if each.record.op == op and each.layer == layer:
                lines.append(_counts(each))
    return lines


def _counts(shown: Shown) -> str:
    def total(name: str) -> int:
        return sum(run.counters[name] for run in shown.runs)

    def ratio(a: int, b: int) -> str:
        return f"{a / b:.1f}" if b else "–"

    loads, stores = (
        ratio(total(f"sectors_global_{action}"), total(f"requests_global_{action}")) for action in ("load", "store")
    )
    tensor = total("tensor_flop")
    useful = f"{100 * measure('tensor useful share', shown.runs, shown.spec):.0f} %" if tensor else "–"
    return (
        f"| {shown.layer} | {shown.record.name} | {total('instructions'):,} | {loads}, {stores}"
        f" | {measure('global bytes', shown.runs, shown.spec) / 1024:,.0f}"
        f" | {measure('shared wavefronts', shown.runs, shown.spec):,.0f}"
        f" | {measure('bank conflicts', shown.runs, shown.spec):,.0f} | {useful} |"
    )


def promises(shown: Sequence[Shown]) -> list[str]:
    """A table of what each rung's header predicts, and what was counted."""
    found = {(each.record.name, each.layer): each for each in shown}
    lines = ["| rung | less of | than | layer | predicted | counted |", "|---|---|---|---|---|---|"]
    for record in methods():
        for claim in record.claims:
            mine, theirs = (found[name, claim.layer] for name in (record.name, claim.than))
            less, more = (measure(claim.measure, each.runs, each.spec) for each in (mine, theirs))
            counted = f"{more / less:.1f} times" if less else f"none, of {more:,.0f}"
            predicted = f"{claim.factor:g} times"
            row = (record.name, claim.measure, claim.than, claim.layer, predicted, counted)
            lines.append(f"| {' | '.join(row)} |")
    return lines


def tables() -> str:
    """Everything between the marks of the page."""
    shown = list(on_layers())
    parts = ["## What each rung promised\n", *promises(shown), ""]
    for op, title in TITLES.items():
        layers = "\n".join(f"- {name}: {spec}" for name, spec in LAYERS[op].items())
        parts += [f"## {title}\n", layers, "", *counts(op, shown), "", *needs(op), ""]
    return "\n".join(parts) + f"\nAssembled by {assembler()}.\n"


def files() -> dict[Path, str]:
    """The page with the tables of today."""
    page = PAGE.read_text(encoding="utf-8")
    return {PAGE: MARKS.sub(lambda marks: marks[1] + tables() + marks[2], page)}


def main() -> int:
    """Write or compare; 1 when --check found the page stale."""
    return renew(files, "document_ladder.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
