"""Changes of layout."""

from __future__ import annotations

from collections.abc import Callable

from convlab.kernels.limits import first, fits_int, grid_limit
from convlab.kernels.method import Claim, Launch, Method, Plan
from convlab.kernels.tiling import ceil_div
from convlab.spec import LayoutSpec

__all__ = ["RUNGS"]

TILE = 32
STEP = 8  # rows that a block of layout_transform reads at once
THREADS = 256


def _matrix(spec: LayoutSpec) -> tuple[int, int]:
    """The rows and columns of the matrix that each image is, before it is transposed."""
    pixels = spec.h * spec.w
    return (spec.c, pixels) if spec.source == "nchw" else (pixels, spec.c)


def _supports(spec: LayoutSpec) -> str | None:
    return first(
        grid_limit("N", spec.n, "images"),
        fits_int((("elements of an image", spec.c * spec.h * spec.w),)),
    )


def _naive(spec: LayoutSpec) -> Plan:
    rows, cols = _matrix(spec)
    grid = (ceil_div(rows * cols, THREADS), spec.n, 1)
    return Plan((Launch("layout_naive.cu", "layout_naive", grid, (THREADS, 1, 1), ("x", "y", rows, cols)),))


def _transform(element: str) -> Callable[[LayoutSpec], Plan]:
    """The plan for elements of one type of CUDA C."""

    def plan(spec: LayoutSpec) -> Plan:
        rows, cols = _matrix(spec)
        grid = (ceil_div(rows, TILE) * ceil_div(cols, TILE), spec.n, 1)
        arguments = ("x", "y", rows, cols)
        options = (f"-DELEMENT={element}",)
        step = Launch("layout_transform.cu", "layout_transform", grid, (TILE, STEP, 1), arguments, options=options)
        return Plan((step,))

    return plan


RUNGS = (
    Method(
        name="layout_naive",
        op="layout",
        idea="element by element: reads in order, writes scattered",
        dtype="float32",
        layout="any",
        lesson="11",
        supports=_supports,
        plan=_naive,
    ),
    Method(
        name="layout_transform",
        op="layout",
        idea="a tile turns in shared memory: reads and writes in order",
        dtype="float32",
        layout="any",
        lesson="11",
        supports=_supports,
        plan=_transform("float"),
        claims=(
            Claim("store sectors", "layout_naive", 8),
            Claim("global bytes", "layout_naive", 4.5),
        ),
    ),
    Method(
        name="layout_transform_half",
        op="layout",
        idea="the same for elements of two bytes",
        dtype="float16",
        layout="any",
        lesson="11",
        supports=_supports,
        plan=_transform("half"),
    ),
)
