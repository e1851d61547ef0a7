"""Write the figure and the translation of docs/emulator.md anew; with --check, only say whether they are up to date.

uv run tools/document_emulator.py [--check]
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

import numpy as np
from generated import renew

from convlab.emulator import Buffer, parse, run
from convlab.emulator.code import Step
from convlab.emulator.lanes import Lanes
from convlab.emulator.machine import Machine
from convlab.emulator.translate import translate
from convlab.executors.compile import compile
from convlab.views.palette import STYLE

ROOT = Path(__file__).resolve().parents[1]
PAGE, FIGURE = ROOT / "docs" / "emulator.md", ROOT / "docs" / "emulator.svg"
MARKS = re.compile(r"(<!-- translation: [^>]*-->\n).*?(<!-- end of translation -->)", re.DOTALL)

BLOCK = """\
mad.lo.s32 %i, %ctaid.x, %ntid.x, %tid.x;
mul.wide.s32 %byte, %i, 4;
add.s64 %at, %x, %byte;
ld.global.f32 %a, [%at];
"""
AROUND = """\
.version 8.0 .target sm_80 .address_size 64
.visible .entry k(.param .u64 k0) {{
.reg .b32 %i; .reg .b64 %byte; .reg .b64 %at; .reg .b64 %x; .reg .f32 %a;
ld.param.u64 %x, [k0];
start:
{}end:
st.global.f32 [%at], %a;
ret;
}}
"""

KERNEL = """\
extern "C" __global__ void growth(float* x) {
  __shared__ float s[4];
  int t = threadIdx.x;
  int i = 4 * blockIdx.x + t;
  if (t == 0)
    s[t] = 1.0f;
  else
    s[t] = x[i] / x[i - 1];
  __syncthreads();
  x[i] = s[3 - t];
}
"""
GRID, THREADS = 2, 4
LEFT, TOP, COLUMN, PITCH, GAP, REGISTER = 20, 96, 404, 40, 16, 30  # of the figure, in pixels
WIDTH = COLUMN + PITCH * GRID * THREADS + GAP * GRID + 36
MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
LOOK = f".cl-code{{{MONO}!important;font-size:11.5px;white-space:pre}}"


def translation() -> str:
    """Four lines of PTX, and the Python that they become."""
    code = translate(parse(AROUND.format(BLOCK)).entries["k"])
    function = re.search(r"^def full1\(.*?(?=^def )", code.source, re.DOTALL | re.MULTILINE)
    assert function is not None
    return f"```text\n{BLOCK}```\n\n```python\n{function[0]}```\n"


class Watch:
    """The observer behind the figure: which lanes run which step, and what the special registers hold."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, list[int]]] = []
        self.registers: dict[str, list[int]] = {}

    def start(self, machine: Machine) -> None:
        """Copy the special registers."""
        for name, values in zip(machine.code.specials, machine.registers, strict=False):
            self.registers[name] = np.broadcast_to(values, machine.residents.size).tolist()

    def step(self, at: int, lanes: Lanes) -> None:
        """Note who runs."""
        self.steps.append((at, lanes.slots.tolist()))


def figure() -> str:
    """What happens in a run of the kernel: the lanes side by side, time downwards."""
    kernel = compile(KERNEL, "growth.cu").kernels["growth"].program_entry
    watch, code = Watch(), translate(kernel)
    x = np.arange(1, GRID * THREADS + 1, dtype=np.float32)
    run(kernel, (GRID, 1, 1), (THREADS, 1, 1), [Buffer("x", x)], observe=False, observers=[watch])
    parts = [*_head(), *_registers(watch)]
    y = TOP + REGISTER * len(watch.registers) + 54
    parts += [_text(LEFT, y - 18, "cl-name", "Steps: the lowest one first, the other lanes wait")]
    for at, lanes in watch.steps:
        if code.steps[at].meeting is not None:
            parts += _barrier(y)
            y += 34
        lines = _lines(code.steps, at)
        parts += _step(y, at, lines, lanes)
        y += 24 + 16 * len(lines)
    alt = (
        f"A kernel with an if and a barrier, on {GRID} blocks of {THREADS} threads: {GRID * THREADS} lanes. "
        + " ".join(f"Step {at} runs on lanes {', '.join(map(str, lanes))}." for at, lanes in watch.steps)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cl-view" role="img" aria-label="{escape(alt)}"'
        f' width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}"><style>{escape(STYLE + LOOK, quote=False)}</style>'
        f'<rect class="cl-page" width="{WIDTH}" height="{y}" rx="6"/>' + "".join(parts) + "</svg>\n"
    )


def _text(x: float, y: float, classes: str, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{classes}">{escape(text)}</text>'


def _place(lane: int) -> int:
    """The left edge of a lane's column."""
    return COLUMN + PITCH * lane + GAP * (lane // THREADS)


def _cell(lane: int, y: int, kind: str, text: str) -> str:
    """A lane's cell in a row."""
    x = _place(lane)
    quiet = ' class="cl-quiet"' if kind == "gap" else ""
    return (
        f'<g class="cl-cell cl-{kind}"><rect x="{x + 1}" y="{y + 1}" width="{PITCH - 2}" height="24" rx="3"/>'
        f'<text{quiet} x="{x + PITCH / 2:g}" y="{y + 17}" style="font-size:11px">{text}</text></g>'
    )


def _head() -> list[str]:
    """The title, and the names of blocks and lanes over the columns."""
    parts = [_text(LEFT, 28, "cl-title", "A chunk of blocks is one vector: a lane for each thread")]
    for block in range(GRID):
        middle = (_place(block * THREADS) + _place(block * THREADS + THREADS - 1) + PITCH) / 2
        parts.append(_text(middle, 62, "cl-small cl-middle", f"block {block}"))
    lanes = range(GRID * THREADS)
    return parts + [_text(_place(n) + PITCH / 2, 80, "cl-index cl-middle cl-quiet", f"lane {n}") for n in lanes]


def _registers(watch: Watch) -> list[str]:
    """A row for each special register."""
    parts = [_text(LEFT, TOP - 16, "cl-name", "Registers: NumPy arrays, an element for each lane")]
    for row, (name, values) in enumerate(watch.registers.items()):
        y = TOP + REGISTER * row
        parts.append(_text(LEFT, y + 17, "cl-code", name))
        parts += [_cell(lane, y, "input", str(value)) for lane, value in enumerate(values)]
    return parts


def _barrier(y: int) -> list[str]:
    """The line that no lane passes alone."""
    line = f'<path class="cl-hatch" stroke-width="2" stroke-dasharray="6 4" d="M{COLUMN} {y + 8}H{WIDTH - 36}"/>'
    words = "Meeting: who arrives at a barrier waits for its block"
    return [line, _text(LEFT, y + 12, "cl-small cl-quiet", words)]


def _step(y: int, at: int, lines: list[str], lanes: list[int]) -> list[str]:
    """Who runs a step, and what it is."""
    everybody = len(lanes) == GRID * THREADS
    name = f"step {at}: {'full' if everybody else 'part'}{at}"
    parts = [_text(LEFT, y + 17, "cl-small", name)]
    parts += [_text(LEFT + 96, y + 17 + 16 * n, "cl-code", line) for n, line in enumerate(lines)]
    for lane in range(GRID * THREADS):
        parts.append(_cell(lane, y, "output", "runs") if lane in lanes else _cell(lane, y, "gap", "waits"))
    return parts


def _lines(steps: list[Step], at: int) -> list[str]:
    """The lines of CUDA C that end in a step; the compiler moves their beginnings about."""
    last = {i.place.line: n for n, step in enumerate(steps) for i in step.instructions}
    source = KERNEL.splitlines()
    return [
        source[line - 1].strip() for line, n in sorted(last.items()) if n == at and source[line - 1].startswith(" ")
    ]


def files() -> dict[Path, str]:
    """The page with the translation of today, and the figure."""
    text = PAGE.read_text(encoding="utf-8")
    return {PAGE: MARKS.sub(lambda marks: marks[1] + translation() + marks[2], text), FIGURE: figure()}


def main() -> int:
    """Write or compare both; 1 when --check found one that is stale."""
    return renew(files, "document_emulator.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
