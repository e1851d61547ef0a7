"""Everything about speed: what GPUs can do at most, and what a kernel makes of it."""

from __future__ import annotations

from convlab.perf.gpus import GPUS, Gpu, Waits, gpu

__all__ = ["GPUS", "Gpu", "Waits", "gpu"]
