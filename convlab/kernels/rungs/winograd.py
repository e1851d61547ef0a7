"""Winograd's minimal filtering."""

from __future__ import annotations

from convlab.kernels.method import Method

__all__ = ["RUNGS"]

RUNGS: tuple[Method, ...] = ()
