"""A tile of pixels with its halo in shared memory: how large it is, and the pitch at which its banks do not collide."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

__all__ = ["SHARED", "Halo", "halo", "wavefronts"]

SHARED = 48 * 1024  # bytes that every GPU gives a block without being asked for more
WORD = 4
WARP = BANKS = 32
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Halo:
    """The pixels that a block of outputs needs of one channel; rows lie ``pitch`` words apart in shared memory."""

    rows: int
    cols: int
    pitch: int

    @property
    def bytes(self) -> int:
        """What it takes of shared memory."""
        return WORD * self.rows * self.pitch


def halo(outputs: Pair, stride: Pair, window: Pair) -> Halo:
    """The tile under a block of outputs, at the smallest pitch with the fewest wavefronts.

    >>> halo(outputs=(16, 16), stride=(1, 1), window=(3, 3))
    Halo(rows=18, cols=18, pitch=48)

    Parameters, all pairs (vertical, horizontal): the block's outputs, a thread for each column; the stride; the rows
    and columns that the dilated filter spans.
    """
    rows, cols = ((count - 1) * step + span for count, step, span in zip(outputs, stride, window, strict=True))
    pitch = min(range(cols, cols + BANKS), key=lambda pitch: wavefronts(pitch, outputs[1], stride))
    return Halo(rows, cols, pitch)


def wavefronts(pitch: int, width: int, stride: Pair = (1, 1)) -> int:
    """Wavefronts of one read by a warp whose lanes lie ``width`` to a row: one, where no two lanes share a bank.

    >>> {pitch: wavefronts(pitch, width=16) for pitch in (18, 19, 33, 48)}
    {18: 2, 19: 2, 33: 2, 48: 1}

    Parameters: words from row to row of the tile; lanes in a row; the stride as (vertical, horizontal). Source: NVIDIA,
    CUDA C++ Programming Guide, "Shared Memory": 32 banks, one word of each a wavefront; equal words are read once.
    """
    words = {lane // width * stride[0] * pitch + lane % width * stride[1] for lane in range(WARP)}
    return max(Counter(word % BANKS for word in words).values())
