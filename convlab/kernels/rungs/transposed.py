"""Transposed convolution."""

from __future__ import annotations

from convlab.kernels.method import Method

__all__ = ["RUNGS"]

RUNGS: tuple[Method, ...] = ()
