"""How many tiles cover a size, and how large a tile of filters is."""

from __future__ import annotations

__all__ = ["TILES", "ceil_div", "tile_of"]

TILES = (16, 32, 64)  # filters of a block: BM of several kernels


def ceil_div(size: int, tile: int) -> int:
    """The tiles that cover a size, of which the last may reach beyond it.

    >>> ceil_div(65, 32)
    3
    """
    return -(-size // tile)


def tile_of(filters: int) -> int:
    """The smallest tile that holds all filters of a group, or the largest: what it has too many is computed as zeros.

    >>> [tile_of(filters) for filters in (3, 16, 17, 200)]
    [16, 16, 32, 64]
    """
    return next((tile for tile in TILES if filters <= tile), TILES[-1])
