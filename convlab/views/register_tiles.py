"""Kernels that differ in the outputs of a thread: their registers and loads, as compiled and counted once.

``register_tiles.json`` has the counts, since registers are known to NVIDIA's assembler alone, which not every machine
has, and which takes a minute for all of them; ``tools/count_registers.py`` makes it anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from convlab.executors.compile import compile
from convlab.executors.plans import run_plan
from convlab.executors.resources import ARCHITECTURES
from convlab.kernels.method import Launch, Plan
from convlab.kernels.rungs.tiles import Tile, multi_output
from convlab.spec import ConvSpec

__all__ = ["PATH", "TILES", "RegisterTile", "compiler", "count", "recorded", "text"]

PATH = Path(__file__).with_suffix(".json")
ALONG = 16, 16  # threads of a block of gemm_register, along the columns and the rows of its tile
_GEMM_K = 32
# Kernel → TM and TN of each variant: one output a thread, then about twice as many each time.
TILES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "gemm_register": ((1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16)),
    "multi_output": ((4, 1), (4, 2), (4, 4), (8, 4), (8, 8), (8, 16)),
}


@dataclass(frozen=True, slots=True)
class RegisterTile:
    """A kernel compiled for TM × TN outputs a thread.

    ``shared`` is bytes of a block; ``registers`` of a thread and ``spills`` in bytes are by architecture;
    ``shared_loads`` and ``global_loads`` are the values of 4 bytes that are read for each multiply-add.
    """

    kernel: str
    tm: int
    tn: int
    threads: int
    shared: int
    registers: Mapping[str, int]
    spills: Mapping[str, int]
    shared_loads: float
    global_loads: float

    @property
    def outputs(self) -> int:
        """Outputs of a thread."""
        return self.tm * self.tn


@cache
def recorded() -> Mapping[str, tuple[RegisterTile, ...]]:
    """All variants, in the order of their outputs, by the kernel's name.

    >>> [tile.outputs for tile in recorded()["multi_output"]]
    [4, 8, 16, 32, 64, 128]
    """
    tiles = [RegisterTile(**each) for each in _file()["tiles"]]
    return {name: tuple(tile for tile in tiles if tile.kernel == name) for name in TILES}


def compiler() -> str:
    """Who counted the registers, with the version."""
    return str(_file()["compiler"])


@cache
def _file() -> Any:
    return json.loads(PATH.read_text(encoding="utf-8"))


def count(kernel: str, tm: int, tn: int) -> RegisterTile:
    """Compile one variant for all architectures, and run it on sizes that its tiles fill.

    Raises ``CompileError`` on a machine without NVIDIA's compiler.
    """
    plan, shapes, macs = _PLANS[kernel](tm, tn)
    (step,) = plan.launches
    resources = compile(step.text(), step.source, options=step.options).kernels[step.entry].resources
    found = {arch: resources[arch] for arch in ARCHITECTURES}
    rng = np.random.default_rng(0)
    tensors: dict[str, Any] = {name: rng.standard_normal(shape, "f4") for name, shape in shapes.items()}
    (run,) = run_plan(plan, {**tensors, "bias": None}, device="emulator")
    return RegisterTile(
        kernel=kernel,
        tm=tm,
        tn=tn,
        threads=int(np.prod(step.block)),
        shared=found[ARCHITECTURES[0]].shared + step.shared,
        registers={arch: each.registers for arch, each in found.items()},
        spills={arch: each.spill_stores for arch, each in found.items()},
        shared_loads=run.counters.thread_bytes_shared_load / 4 / macs,
        global_loads=run.counters.thread_bytes_global_load / 4 / macs,
    )


def text(tiles: list[RegisterTile], by: str) -> str:
    """What stands in the file."""
    return json.dumps({"compiler": by, "tiles": [asdict(tile) for tile in tiles]}, indent=1) + "\n"


_Made = tuple[Plan, dict[str, tuple[int, ...]], int]


def _gemm(tm: int, tn: int) -> _Made:
    """A product that is two tiles high and wide, of 256 threads each."""
    across, down = ALONG
    bm, bn = down * tm, across * tn
    sizes = 2 * bm, 2 * bn, _GEMM_K
    options = tuple(f"-D{name}={value}" for name, value in {"BM": bm, "BN": bn, "TM": tm, "TN": tn}.items())
    step = Launch(
        "gemm_register.cu", "gemm_register", (2, 2, 1), (across, down, 1), ("a", "b", "y", *sizes), 0, options
    )
    m, n, k = sizes
    return Plan((step,)), {"a": (m, k), "b": (k, n), "y": (m, n)}, m * n * k


def _convolution(tm: int, tn: int) -> _Made:
    """A 3×3 convolution, its blocks of 256 threads: four times TM filters, four times TN rows, and 16 columns."""
    tile = Tile(bp=4 * tn, bq=16, bk=4 * tm, tm=tm, tn=tn)
    spec = ConvSpec(n=1, c=2, h=2 * tile.bp, w=2 * tile.bq, k=tile.bk, r=3, s=3, padding=1)
    shapes: dict[str, tuple[int, ...]] = {"x": spec.input_shape, "w": spec.weight_shape, "y": spec.output_shape}
    return multi_output(spec, tile), shapes, spec.macs


_PLANS: Mapping[str, Callable[[int, int], _Made]] = {"gemm_register": _gemm, "multi_output": _convolution}
