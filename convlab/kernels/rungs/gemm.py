"""Matrix products, and convolution by im2col."""

from __future__ import annotations

from collections.abc import Callable

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.limits import LARGEST_GRID_YZ, first, fits_int, grid_limit, indices, plain_1x1
from convlab.kernels.method import Claim, Launch, Matmul, Method, Plan
from convlab.kernels.tiling import TILES, ceil_div, tile_of
from convlab.spec import ConvSpec, GemmSpec

__all__ = ["RUNGS"]

Dim3 = tuple[int, int, int]
THREADS = 256  # of kernels without tiles
WARP_TILE = (64, 128)  # BM, BN of gemm_warp.cu
WARP_BLOCK = (128, 1, 1)
PIECE = 256 * 2**20  # bytes of columns that im2col_gemm makes at a time
PIECES = 4096  # that im2col_gemm makes: two launches each
WHOLE = 4 * 2**30  # bytes of columns that im2col_cublas makes in all


def _fits_gemm(bm: int) -> Callable[[GemmSpec], str | None]:
    """The grid has a tile of bm rows along y, and all three sizes are ints."""

    def supports(spec: GemmSpec) -> str | None:
        sizes = (("rows of a", spec.gemm_m), ("columns of b", spec.gemm_n), ("columns of a", spec.gemm_k))
        return first(fits_int(sizes), grid_limit(f"⌈M / {bm}⌉", ceil_div(spec.gemm_m, bm), "tiles of rows"))

    return supports


def _gemm_plan(name: str, bm: int, bn: int, block: Dim3) -> Callable[[GemmSpec], Plan]:
    def plan(spec: GemmSpec) -> Plan:
        grid = (ceil_div(spec.gemm_n, bn), ceil_div(spec.gemm_m, bm), 1)
        arguments = ("a", "b", "y", spec.gemm_m, spec.gemm_n, spec.gemm_k)
        return Plan((Launch(f"{name}.cu", name, grid, block, arguments),))

    return plan


def _gemm(name: str, idea: str, tile: tuple[int, int], block: Dim3, claims: tuple[Claim, ...] = ()) -> Method:
    """The record of one GEMM rung; ``tile`` is its BM and BN."""
    return Method(
        name=name,
        op="gemm",
        idea=idea,
        dtype="float32",
        layout="row-major",
        lesson="08",
        supports=_fits_gemm(tile[0]),
        plan=_gemm_plan(name, *tile, block),
        claims=claims,
    )


def _column_bytes(spec: ConvSpec) -> int:
    """What the columns of one image take, over all groups."""
    return 4 * spec.c * spec.r * spec.s * spec.p * spec.q


def _fits_memory(size: int, limit: int, what: str) -> str | None:
    if size <= limit:
        return None
    return f"The im2col matrix of {what} takes {size / 2**20:.1f} MiB, and it may take {limit // 2**20} MiB."


def _supports_im2col(spec: ConvSpec) -> str | None:
    """im2col.cu has a channel along y; a row of the matrix is numbered with an int."""
    rows = ("rows of the im2col matrix", spec.gemm_shape.gemm_k)
    return first(indices(spec), fits_int((rows,)), grid_limit("C", spec.c, "channels"))


def _images(spec: ConvSpec) -> int:
    """Of a piece: as many as the memory allows, and the grid, which has an image and group along z."""
    return max(1, min(spec.n, PIECE // _column_bytes(spec), LARGEST_GRID_YZ // spec.groups))


def _few_pieces(spec: ConvSpec) -> str | None:
    """Absurdly many images would make a plan of absurdly many launches."""
    images = _images(spec)
    pieces = ceil_div(spec.n, images)
    if pieces <= PIECES:
        return None
    return f"The im2col matrix comes in {pieces} pieces of N={images} images, and it may come in {PIECES}."


def _supports_im2col_gemm(spec: ConvSpec) -> str | None:
    return first(
        _supports_im2col(spec),
        grid_limit("G", spec.groups, "groups"),
        grid_limit(f"⌈K/G / {WARP_TILE[0]}⌉", ceil_div(spec.k // spec.groups, WARP_TILE[0]), "tiles of filters"),
        _fits_memory(_column_bytes(spec), PIECE, "one image") or _few_pieces(spec),
    )


def _supports_im2col_cublas(spec: ConvSpec) -> str | None:
    return first(
        _supports_im2col(spec),
        grid_limit("N", spec.n, "images"),
        grid_limit("K", spec.k, "filters"),
        _fits_memory(spec.n * _column_bytes(spec), WHOLE, "all images"),
    )


def _im2col(spec: ConvSpec, start: int, images: int) -> Launch:
    grid = (ceil_div(spec.p * spec.q, THREADS), spec.c, images)
    return Launch("im2col.cu", "im2col", grid, (THREADS, 1, 1), ("x", "columns", conv_struct(spec), start))


def _gemm_of_columns(spec: ConvSpec, start: int, images: int) -> Launch:
    """gemm_warp.cu multiplies, once for each image and group."""
    sizes = (spec.k // spec.groups, spec.p * spec.q, spec.gemm_shape.gemm_k)
    grid = (ceil_div(sizes[1], WARP_TILE[1]), ceil_div(sizes[0], WARP_TILE[0]), images * spec.groups)
    arguments = ("w", "columns", "bias", "y", *sizes, spec.groups, start)
    return Launch("gemm_warp.cu", "gemm_warp_batched", grid, WARP_BLOCK, arguments)


def _columns(spec: ConvSpec, images: int) -> dict[str, tuple[tuple[int, ...], str]]:
    return {"columns": ((images, spec.c * spec.r * spec.s, spec.p * spec.q), "float32")}


def _im2col_gemm(spec: ConvSpec) -> Plan:
    images = _images(spec)
    pieces = [(start, min(images, spec.n - start)) for start in range(0, spec.n, images)]
    steps = (step(spec, *piece) for piece in pieces for step in (_im2col, _gemm_of_columns))
    return Plan(tuple(steps), _columns(spec, images))


def _im2col_cublas(spec: ConvSpec) -> Plan:
    pixels, filters, taps = spec.p * spec.q, spec.k // spec.groups, spec.gemm_shape.gemm_k
    product = Matmul(
        ("w", (spec.groups, filters, taps)),
        ("columns", (spec.n, spec.groups, taps, pixels)),
        ("y", (spec.n, spec.groups, filters, pixels)),
    )
    grid = (ceil_div(pixels, THREADS), spec.k, spec.n)
    bias = Launch("im2col.cu", "add_bias", grid, (THREADS, 1, 1), ("bias", "y", conv_struct(spec)))
    return Plan((_im2col(spec, 0, spec.n), product, bias), _columns(spec, spec.n))


def _supports_pointwise(spec: ConvSpec) -> str | None:
    return first(
        plain_1x1(spec),
        grid_limit("N", spec.n, "images"),
        grid_limit("⌈K / 64⌉", ceil_div(spec.k, TILES[-1]), "tiles of filters"),
        indices(spec),
    )


def _pointwise(spec: ConvSpec) -> Plan:
    bm = tile_of(spec.k)
    grid = (ceil_div(spec.p * spec.q, 64), ceil_div(spec.k, bm), spec.n)
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    return Plan((Launch("pointwise.cu", "conv_pointwise", grid, (8, 8, 1), arguments, options=(f"-DBM={bm}",)),))


RUNGS = (
    _gemm("gemm_naive", "one thread, one element; neighbouring lanes, neighbouring columns", (8, 32), (32, 8, 1)),
    _gemm(
        "gemm_tiled",
        "square tiles of both factors in shared memory",
        (32, 32),
        (32, 32, 1),
        (
            Claim("load requests", "gemm_naive", 32, "square"),
            Claim("load sectors", "gemm_naive", 20, "square"),
        ),
    ),
    _gemm(
        "gemm_register",
        "a tile of 8×8 outputs in the registers of each thread",
        (64, 64),
        (8, 8, 1),
        (
            Claim("shared loads per MAC", "gemm_tiled", 8, "square"),
            Claim("load sectors", "gemm_tiled", 2, "square"),
        ),
    ),
    _gemm(
        "gemm_warp",
        "warp tiles, 16-byte loads, and two buffers in turn",
        WARP_TILE,
        WARP_BLOCK,
        (
            Claim("load requests", "gemm_register", 5.3, "square"),
            Claim("shared loads per MAC", "gemm_register", 4, "square"),
            Claim("barriers", "gemm_register", 2, "square"),
        ),
    ),
    Method(
        name="im2col_gemm",
        op="conv2d",
        idea="every window a column of a matrix, then the GEMM of gemm_warp",
        dtype="float32",
        layout="nchw",
        lesson="07",
        supports=_supports_im2col_gemm,
        limits="an im2col matrix of at most 256 MiB for each image",
        plan=_im2col_gemm,
        claims=(Claim("input elements", "naive", 16),),
    ),
    Method(
        name="im2col_cublas",
        op="conv2d",
        idea="the same matrix, then cuBLAS; on a GPU only",
        dtype="float32",
        layout="nchw",
        lesson="07",
        supports=_supports_im2col_cublas,
        limits="an im2col matrix of at most 4 GiB for all images",
        plan=_im2col_cublas,
    ),
    Method(
        name="pointwise",
        op="conv2d",
        idea="1×1 filters: the register tile multiplies the input in place",
        dtype="float32",
        layout="nchw",
        lesson="12",
        supports=_supports_pointwise,
        limits="filters of 1×1, one group, no padding",
        plan=_pointwise,
        claims=(Claim("input elements", "naive", 16, "pointwise"),),
    ),
)
