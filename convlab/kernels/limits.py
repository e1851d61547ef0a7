"""Why a kernel cannot compute a spec, as sentences that several rungs share."""

from __future__ import annotations

from collections.abc import Iterable

from convlab.spec import ConvSpec, ConvTransposeSpec
from convlab.spec.values import pair_text

__all__ = ["first", "fits_int", "grid_limit", "indices", "only", "plain_1x1", "plain_3x3", "planes", "steps"]

LARGEST_INT = 2**31 - 1
LARGEST_GRID_YZ = 65535


def first(*reasons: str | None) -> str | None:
    """The first reason of several; ``None`` where all are."""
    return next((reason for reason in reasons if reason is not None), None)


def only(holds: bool, wanted: str, got: str) -> str | None:
    """A sentence for what a rung is made for, where a spec is something else.

    >>> only(False, "filters of 3×3", "5×5")
    'It computes filters of 3×3 only, and this is 5×5.'
    """
    return None if holds else f"It computes {wanted} only, and this is {got}."


def grid_limit(letter: str, size: int, what: str) -> str | None:
    """A grid has many blocks along x, and few along y and z."""
    if size <= LARGEST_GRID_YZ:
        return None
    return f"{letter}={size} {what} are more than the {LARGEST_GRID_YZ} blocks that a grid can have there."


def fits_int(counts: Iterable[tuple[str, int]]) -> str | None:
    """A kernel numbers these things with 32-bit ints, and may number a few hundred past the last."""
    for what, size in counts:
        if size + 256 > LARGEST_INT:
            return f"{size} {what} are too many for the 32-bit int that numbers them."
    return None


def indices(spec: ConvSpec) -> str | None:
    """What every convolution rung numbers with 32 bits, or takes as a field of ``struct Conv``."""
    return fits_int(
        (
            ("output pixels of a plane", spec.p * spec.q),
            ("input pixels of a plane", spec.h * spec.w),
            ("input planes", spec.n * spec.c),
            ("output planes", spec.n * spec.k),
            ("filter planes", spec.k * (spec.c // spec.groups)),
            ("taps of a filter", spec.r * spec.s),
            ("padded rows", spec.h + spec.padding[0] + spec.padding[1]),
            ("padded columns", spec.w + spec.padding[2] + spec.padding[3]),
            *steps(spec),
        )
    )


def planes(spec: ConvSpec) -> str | None:
    """What a grid with a filter along y and an image along z can do."""
    return first(grid_limit("K", spec.k, "filters"), grid_limit("N", spec.n, "images"), indices(spec))


def steps(spec: ConvSpec | ConvTransposeSpec) -> tuple[tuple[str, int], ...]:
    """Sizes may bound neither: with one output, or one tap, no pixel lies a step away."""
    return ("pixels of a stride", max(spec.stride)), ("pixels of a dilation", max(spec.dilation))


def plain_1x1(spec: ConvSpec) -> str | None:
    """What is a matrix product as it stands.

    >>> plain_1x1(ConvSpec(n=1, c=3, h=9, w=8, k=4, r=1, s=1, padding=1))
    'It computes convolutions without padding only, and this is one with padding=(1, 1, 1, 1).'
    """
    return first(
        only((spec.r, spec.s) == (1, 1), "filters of 1×1", f"{spec.r}×{spec.s}"),
        only(spec.groups == 1, "convolutions without groups", f"one with groups={spec.groups}"),
        only(not any(spec.padding), "convolutions without padding", f"one with padding={spec.padding}"),
    )


def plain_3x3(spec: ConvSpec) -> str | None:
    """What Winograd's F(m×m, 3×3) computes.

    >>> plain_3x3(ConvSpec(n=1, c=3, h=9, w=8, k=4, r=3, s=3, stride=(2, 1)))
    'It computes stride 1 only, and this is 2×1.'
    """
    return first(
        only((spec.r, spec.s) == (3, 3), "filters of 3×3", f"{spec.r}×{spec.s}"),
        only(spec.stride == (1, 1), "stride 1", pair_text(spec.stride)),
        only(spec.dilation == (1, 1), "dilation 1", pair_text(spec.dilation)),
    )
