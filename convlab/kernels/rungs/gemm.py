"""Matrix products, and convolution by im2col."""

from __future__ import annotations

from convlab.kernels.method import Method

__all__ = ["RUNGS"]

RUNGS: tuple[Method, ...] = ()
