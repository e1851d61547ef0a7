"""The table of planted bugs: how each kernel of ``kernels/`` is launched, and what its corrected twin computes."""

from __future__ import annotations

from .case import FOLDER, Case
from .memory_cases import BOUNDS, FRAMES, MISALIGNED, UNINITIALIZED, UNWRITTEN
from .thread_cases import BARRIERS, ENDINGS, LOOPS, RACES, SHUFFLES

__all__ = ["CASES", "FOLDER", "Case"]

CASES = [*BOUNDS, *MISALIGNED, *RACES, *BARRIERS, *UNINITIALIZED, *UNWRITTEN, *LOOPS, *SHUFFLES, *ENDINGS, *FRAMES]
