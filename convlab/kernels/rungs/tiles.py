"""Tiles in shared memory, several outputs a thread, and filters in constant memory."""

from __future__ import annotations

from convlab.kernels.method import Method

__all__ = ["RUNGS"]

RUNGS: tuple[Method, ...] = ()
