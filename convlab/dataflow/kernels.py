"""What a GPU kernel does, as a nest: a block of threads is the array, shared memory its buffer, the grid a loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from convlab.dataflow.array import Array
from convlab.dataflow.nest import Nest
from convlab.kernels import ladder
from convlab.kernels.halo import SHARED
from convlab.kernels.rungs.tiles import DEFAULT
from convlab.kernels.tiling import tile_of
from convlab.spec import ConvSpec

__all__ = ["KernelNest", "kernel"]

REGISTERS = 255  # of a thread, at most
WARPS, LANES, STAGE, COLUMNS = 4, 32, 8, 128  # of implicit_gemm: threads, BK and BN


class KernelNest(NamedTuple):
    """A kernel's nest and the array that a block of its threads is."""

    nest: Nest
    array: Array


def kernel(method: str, spec: ConvSpec) -> KernelNest:
    """The nest of one of the ladder's kernels on a layer: its DRAM words are the kernel's loads and stores.

    >>> spec = ConvSpec(n=2, c=3, h=34, w=34, k=8, r=3, s=3)
    >>> nest, block = kernel("tiled", spec)
    >>> print(nest)
    grid: n2 k8 p2 q2 | dram: c3 | buffer(x w): r3 s3 | rows: p16 | cols: q16
    >>> print(block)
    16×16 PEs of 255 words, a buffer of 12288, multicast

    Every iteration of the grid is a block, which finds shared memory and registers empty. A sum stays in its thread's
    registers and goes straight to memory. Which lane has which pixel is not in the nest: `implicit_gemm` gives a thread
    pixels 32 apart, the nest neighbours, which moves the same words.

    Parameters: ``method`` is "tiled" or "implicit_gemm". Raises ``ValueError`` for another, and for a layer that the
    kernel does not run.
    """
    if method not in KERNELS:
        known = ", ".join(KERNELS)
        raise ValueError(f"There is no nest of the kernel {method!r}.\n  In: {spec}\n  Fix: take one of {known}.")
    found = KERNELS[method](spec)
    if reason := ladder.method(method).supports(spec):
        raise ValueError(
            f"{reason}\n  In: the nest of {method} on {spec}\n  Fix: choose another layer, or another kernel."
        )
    return found


def _tiled(spec: ConvSpec) -> KernelNest:
    text = f"grid: n g k p q | dram: c | buffer(x w): r s | rows: p{DEFAULT.bp} | cols: q{DEFAULT.bq}"
    return KernelNest(_plain(text, spec), Array(DEFAULT.bp, DEFAULT.bq, REGISTERS, SHARED // 4))


def _implicit_gemm(spec: ConvSpec) -> KernelNest:
    filters = tile_of(spec.gemm_shape.gemm_m) // WARPS
    tile = f"rows: k{WARPS} | cols: q{LANES} | regs: k{filters} q{COLUMNS // LANES}"
    text = f"gemm | grid: g k q | dram: c | buffer(x w): c{STAGE} | {tile}"
    return KernelNest(_plain(text, spec), Array(WARPS, LANES, REGISTERS, SHARED // 4))


def _plain(text: str, spec: ConvSpec) -> Nest:
    """The nest for a layer, without loops that run once."""
    nest = Nest.parse(text).on(spec)
    return Nest(tuple(loop for loop in nest.order if loop.times > 1), nest.keeps, nest.gemm)


KERNELS: Mapping[str, Callable[[ConvSpec], KernelNest]] = {"tiled": _tiled, "implicit_gemm": _implicit_gemm}
