"""Sizes that a plan tells the compiler as numbers, so that it unrolls the loops over a filter."""

from __future__ import annotations

from convlab.spec import ConvSpec

__all__ = ["FILTERS", "STRIDES", "known_sizes"]

# Of the usual networks; a kernel is compiled once for each of them, and once more for all others.
FILTERS = (1, 3, 5, 7)
STRIDES = (1, 2)


def known_sizes(spec: ConvSpec) -> tuple[str, ...]:
    """The macros of common.cuh for a spec: of its filter, where that is a usual one, and of its steps, where they are.

    >>> known_sizes(ConvSpec(n=1, c=3, h=8, w=6, k=4, r=3, s=3))
    ('-DFILTER=3', '-DSTRIDE=1')
    >>> known_sizes(ConvSpec(n=1, c=3, h=8, w=6, k=4, r=3, s=3, dilation=2))
    ('-DFILTER=3',)
    >>> known_sizes(ConvSpec(n=1, c=3, h=8, w=6, k=4, r=3, s=2))
    ()
    """
    if spec.r != spec.s or spec.r not in FILTERS:
        return ()
    (stride, across), dilation = spec.stride, spec.dilation
    steps = stride == across and stride in STRIDES and dilation == (1, 1)
    return (f"-DFILTER={spec.r}", *([f"-DSTRIDE={stride}"] if steps else []))
