"""Channels last, tiles in shared memory, several outputs a thread, filters in constant memory, and dilation."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.halo import SHARED, Halo, halo
from convlab.kernels.known import known_sizes
from convlab.kernels.limits import first, fits_int, grid_limit, indices, planes
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec

__all__ = ["RUNGS", "Tile", "dilated", "multi_output", "tiled"]

THREADS = 256
WARPS = THREADS // 32
CONSTANTS = 16384  # floats: all the constant memory that a module has


@dataclass(frozen=True, slots=True)
class Tile:
    """The outputs of a block and of a thread: the macros of the same names in the kernels' files."""

    bp: int = 16
    bq: int = 16
    bk: int = 16
    tm: int = 8
    tn: int = 8

    def options(self, *names: str) -> tuple[str, ...]:
        """Some of the macros, as the compiler takes them."""
        return tuple(f"-D{name}={getattr(self, name.lower())}" for name in names)


DEFAULT = Tile()
ONE_FILTER = "A tile of one channel, with its halo and a filter"


def _naive_nhwc_supports(spec: ConvSpec) -> str | None:
    outputs = fits_int((("outputs of an image", spec.p * spec.q * spec.k),))
    return first(outputs, grid_limit("N", spec.n, "images"), indices(spec))


def _naive_nhwc(spec: ConvSpec) -> Plan:
    grid = (ceil_div(spec.p * spec.q * spec.k, THREADS), spec.n, 1)
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    return Plan((Launch("naive_nhwc.cu", "conv_naive_nhwc", grid, (THREADS, 1, 1), arguments),))


def _window(spec: ConvSpec) -> tuple[int, int]:
    return spec.effective_r, spec.effective_s


def _fits_shared(needed: int, what: str) -> str | None:
    if needed <= SHARED:
        return None
    return f"{what} takes {needed} bytes of shared memory, more than the {SHARED} that a block has on every GPU."


def _reaches(spec: ConvSpec, rows: int, cols: int) -> str | None:
    """Blocks reach past the last output, and number the rows and columns there too."""
    down, across = rows * spec.stride[0] + spec.effective_r, cols * spec.stride[1] + spec.effective_s
    return fits_int((("rows under the tiles", down), ("columns under the tiles", across)))


def _tile(spec: ConvSpec, tile: Tile) -> Halo:
    return halo((tile.bp, tile.bq), spec.stride, _window(spec))


def _filter_and_tile(spec: ConvSpec, tile: Halo) -> int:
    return 4 * spec.r * spec.s + tile.bytes


def _tiled_supports(spec: ConvSpec) -> str | None:
    fits = _fits_shared(_filter_and_tile(spec, _tile(spec, DEFAULT)), f"{ONE_FILTER},")
    return first(planes(spec), fits, _reaches(spec, spec.p + DEFAULT.bp, spec.q + DEFAULT.bq))


def tiled(spec: ConvSpec, tile: Tile = DEFAULT) -> Plan:
    """One launch: a block for each tile of outputs, each filter and each image."""
    shared = _tile(spec, tile)
    grid = (ceil_div(spec.p, tile.bp) * ceil_div(spec.q, tile.bq), spec.k, spec.n)
    arguments = ("x", "w", "bias", "y", conv_struct(spec), shared.pitch)
    block, options = (tile.bq, tile.bp, 1), (*tile.options("BP", "BQ"), *known_sizes(spec))
    needed = _filter_and_tile(spec, shared)
    return Plan((Launch("tiled.cu", "conv_tiled", grid, block, arguments, needed, options),))


def _slices(spec: ConvSpec, tile: Tile) -> int:
    """Blocks along the filters: a block's belong to one group."""
    return spec.groups * ceil_div(spec.k // spec.groups, tile.bk)


def _filters_and_tile(spec: ConvSpec, tile: Tile) -> int:
    return 4 * spec.r * spec.s * tile.bk + _tile(spec, tile).bytes


def _multi_output_supports(spec: ConvSpec) -> str | None:
    return first(
        grid_limit("slices", _slices(spec, DEFAULT), f"of {DEFAULT.bk} filters"),
        grid_limit("N", spec.n, "images"),
        indices(spec),
        _fits_shared(_filters_and_tile(spec, DEFAULT), "A tile of one channel, with its halo and 16 filters,"),
        _reaches(spec, spec.p + DEFAULT.bp, spec.q + DEFAULT.bq),
    )


def multi_output(spec: ConvSpec, tile: Tile = DEFAULT) -> Plan:
    """One launch: a block for each tile of outputs, each slice of a group's filters and each image."""
    grid = (ceil_div(spec.p, tile.bp) * ceil_div(spec.q, tile.bq), _slices(spec, tile), spec.n)
    block = (tile.bq, tile.bp // tile.tn, tile.bk // tile.tm)
    arguments = ("x", "w", "bias", "y", conv_struct(spec), _tile(spec, tile).pitch)
    shared, options = _filters_and_tile(spec, tile), tile.options("BK", "BP", "BQ", "TM", "TN")
    return Plan((Launch("multi_output.cu", "conv_multi_output", grid, block, arguments, shared, options),))


def _constant_weights_supports(spec: ConvSpec) -> str | None:
    values = spec.gemm_shape.gemm_k
    if values > CONSTANTS:
        return f"A filter of {values} values is larger than constant memory, which holds {CONSTANTS}."
    return planes(spec)


def _constant_weights(spec: ConvSpec) -> Plan:
    """As many launches as the filters fill constant memory."""
    values, v = spec.gemm_shape.gemm_k, conv_struct(spec)
    most, blocks = CONSTANTS // values, ceil_div(spec.p * spec.q, THREADS)
    return Plan(
        tuple(
            Launch(
                "constant_weights.cu",
                "conv_constant_weights",
                (blocks, min(most, spec.k - k0), spec.n),
                (THREADS, 1, 1),
                ("x", "bias", "y", v, k0),
                options=known_sizes(spec),
                constants={"weights": ("w", k0 * values, min(k0 + most, spec.k) * values)},
            )
            for k0 in range(0, spec.k, most)
        )
    )


def _phase(spec: ConvSpec) -> tuple[int, int]:
    """How many output rows lie between those that read the same rows, and by how many dilations their windows move."""
    common = gcd(spec.stride[0], spec.dilation[0])
    return spec.dilation[0] // common, spec.stride[0] // common


def _phase_tile(spec: ConvSpec, tile: Tile) -> Halo:
    """The tile of rows a dilation apart: there, a filter spans as many rows as it has."""
    return halo((tile.bp, tile.bq), (_phase(spec)[1], spec.stride[1]), (spec.r, spec.effective_s))


def _dilated_supports(spec: ConvSpec) -> str | None:
    fits = _fits_shared(_filter_and_tile(spec, _phase_tile(spec, DEFAULT)), f"{ONE_FILTER},")
    apart, _ = _phase(spec)
    rows = spec.p + (DEFAULT.bp + WARPS) * apart  # the warps look at rows past the tile, and leave them alone
    return first(planes(spec), fits, _reaches(spec, rows, spec.q + DEFAULT.bq))


def dilated(spec: ConvSpec, tile: Tile = DEFAULT) -> Plan:
    """One launch: a block for each tile of outputs ``apart`` rows from one to the next, each filter and each image."""
    apart, step = _phase(spec)
    shared = _phase_tile(spec, tile)
    bands = ceil_div(spec.p, apart * tile.bp) * min(apart, spec.p)  # a row that does not exist needs no band
    grid = (bands * ceil_div(spec.q, tile.bq), spec.k, spec.n)
    arguments = ("x", "w", "bias", "y", conv_struct(spec), apart, step, shared.pitch)
    block, options = (tile.bq, tile.bp, 1), (*tile.options("BP", "BQ"), *known_sizes(spec))
    needed = _filter_and_tile(spec, shared)
    return Plan((Launch("dilated.cu", "conv_dilated", grid, block, arguments, needed, options),))


WHOLE = "a tile of one channel, with its halo and a filter, in 48 KB"

RUNGS = (
    Method(
        name="naive_nhwc",
        op="conv2d",
        idea="one thread, one output; channels last",
        dtype="float32",
        layout="nhwc",
        lesson="11",
        supports=_naive_nhwc_supports,
        plan=_naive_nhwc,
        claims=(Claim("input sectors", "naive", 2.0),),
    ),
    Method(
        name="tiled",
        op="conv2d",
        idea="a block's outputs share their pixels in shared memory",
        dtype="float32",
        layout="nchw",
        lesson="05",
        supports=_tiled_supports,
        limits=WHOLE,
        plan=tiled,
        claims=(Claim("input elements", "naive", 7.1), Claim("input sectors", "naive", 4.5)),
    ),
    Method(
        name="multi_output",
        op="conv2d",
        idea="a thread computes 8 filters of 8 pixels in registers",
        dtype="float32",
        layout="nchw",
        lesson="06",
        supports=_multi_output_supports,
        limits="a tile of one channel, with its halo and 16 filters, in 48 KB",
        plan=multi_output,
        claims=(
            Claim("shared bytes per MAC", "tiled", 4.0),
            Claim("shared loads per MAC", "tiled", 6.4),
            Claim("input elements", "tiled", 16.0),
        ),
    ),
    Method(
        name="constant_weights",
        op="conv2d",
        idea="naive, with the filters in constant memory",
        dtype="float32",
        layout="nchw",
        lesson="06",
        supports=_constant_weights_supports,
        limits=f"filters of at most {CONSTANTS} values",
        plan=_constant_weights,
        claims=(Claim("load requests", "naive", 2.0),),
    ),
    Method(
        name="dilated",
        op="conv2d",
        idea="tiled, with rows a dilation apart in one tile",
        dtype="float32",
        layout="nchw",
        lesson="13",
        supports=_dilated_supports,
        limits=WHOLE,
        plan=dilated,
        claims=(
            Claim("input elements", "tiled", 1.1, "dilated"),
            Claim("input sectors", "tiled", 1.1, "dilated"),
        ),
    ),
)
