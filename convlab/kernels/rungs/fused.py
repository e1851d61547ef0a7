"""Kernels that keep what lies between two operations out of global memory."""

from __future__ import annotations

from convlab.kernels.method import Method

__all__ = ["RUNGS"]

RUNGS: tuple[Method, ...] = ()
