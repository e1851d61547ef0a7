"""The memory of one launch: buffers, shared and local memory, and the generic space over them."""

from __future__ import annotations

from convlab.emulator.memory.buffers import Buffer
from convlab.emulator.memory.memory import Memory

__all__ = ["Buffer", "Memory"]
