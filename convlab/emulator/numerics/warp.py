"""What the lanes of a warp, or of a block, compute together. ``lanes`` are those that take part, in order.

Source: PTX ISA, "shfl.sync", "vote.sync", "match.sync", "redux.sync", "barrier".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.lanes import WARP, Lanes

__all__ = [
    "active_mask",
    "block_and",
    "block_or",
    "block_popc",
    "leader",
    "match_all",
    "match_any",
    "reduce_add",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_xor",
    "shuffle_bfly",
    "shuffle_down",
    "shuffle_idx",
    "shuffle_up",
    "vote_all",
    "vote_any",
    "vote_ballot",
    "vote_uni",
]


def _bounds(clamp: Any, lanes: Lanes) -> tuple[Any, Any, Any]:
    """The segment's mask, its first lane, and the last lane that may be read (for ``up`` the first)."""
    segment = (clamp >> np.uint32(8) & np.uint32(31)).astype(np.intp)
    first = lanes.lane & segment
    return segment, first, first | ((clamp & np.uint32(31)).astype(np.intp) & ~segment)


def _fetch(value: Any, source: Any, valid: Any, lanes: Lanes, memory: Any, site: int) -> tuple[Any, Any]:
    """The value of another lane of the warp; the own one where there is none, or where it is not here."""
    wanted = np.where(valid, source, lanes.lane)
    place = lanes.positions[lanes.warp * WARP + wanted]
    absent = np.flatnonzero(place < 0)
    if absent.size:
        memory.absent(site, int(wanted[absent[0]]), lanes, absent)
        place[absent] = absent
    return (value[place] if value.ndim else value), valid


def _by(value: Any) -> Any:
    return (value & np.uint32(31)).astype(np.intp)


def shuffle_idx(value: Any, lane: Any, clamp: Any, lanes: Lanes, memory: Any, site: int) -> tuple[Any, Any]:
    """From a lane by its number in the segment."""
    segment, first, last = _bounds(clamp, lanes)
    source = first | (_by(lane) & ~segment)
    return _fetch(value, source, source <= last, lanes, memory, site)


def shuffle_up(value: Any, lane: Any, clamp: Any, lanes: Lanes, memory: Any, site: int) -> tuple[Any, Any]:
    """From so many lanes before."""
    source = lanes.lane - _by(lane)
    return _fetch(value, source, source >= _bounds(clamp, lanes)[2], lanes, memory, site)


def shuffle_down(value: Any, lane: Any, clamp: Any, lanes: Lanes, memory: Any, site: int) -> tuple[Any, Any]:
    """From so many lanes behind."""
    source = lanes.lane + _by(lane)
    return _fetch(value, source, source <= _bounds(clamp, lanes)[2], lanes, memory, site)


def shuffle_bfly(value: Any, lane: Any, clamp: Any, lanes: Lanes, memory: Any, site: int) -> tuple[Any, Any]:
    """From the lane whose number differs in the given bits."""
    source = lanes.lane ^ _by(lane)
    return _fetch(value, source, source <= _bounds(clamp, lanes)[2], lanes, memory, site)


def _bits(chosen: Any, lanes: Lanes) -> Any:
    """For each warp, one bit for each of its lanes that is here and chosen."""
    at = np.flatnonzero(np.broadcast_to(chosen, lanes.size))
    weights = np.exp2(lanes.lane[at])  # sums of different powers of two are exact in double precision
    return np.bincount(lanes.warp[at], weights, lanes.residents.warps).astype(np.uint32)


def active_mask(lanes: Lanes) -> Any:
    """A bit for each lane of the warp that is here."""
    return _bits(True, lanes)[lanes.warp]


def vote_ballot(chosen: Any, mask: Any, lanes: Lanes) -> Any:
    """A bit for each lane of the mask whose predicate holds."""
    return _bits(chosen, lanes)[lanes.warp] & mask


def vote_any(chosen: Any, mask: Any, lanes: Lanes) -> Any:
    """Whether some lane's predicate holds."""
    return vote_ballot(chosen, mask, lanes) != 0


def vote_all(chosen: Any, mask: Any, lanes: Lanes) -> Any:
    """Whether all lanes' predicates hold."""
    return vote_ballot(~chosen, mask, lanes) == 0


def vote_uni(chosen: Any, mask: Any, lanes: Lanes) -> Any:
    """Whether all lanes have the same predicate."""
    return vote_all(chosen, mask, lanes) | ~vote_any(chosen, mask, lanes)


def match_any(value: Any, mask: Any, lanes: Lanes) -> tuple[Any, Any]:
    """The lanes of the mask that have the same value."""
    values = np.broadcast_to(value, lanes.size)
    mask = np.broadcast_to(mask, lanes.size)
    _, group = np.unique(np.stack([lanes.warp, values.view(f"i{values.itemsize}"), mask]), axis=1, return_inverse=True)
    group = group.reshape(-1)
    bits = np.bincount(group, np.exp2(lanes.lane)).astype(np.uint32)[group]
    return bits, bits != 0


def match_all(value: Any, mask: Any, lanes: Lanes) -> tuple[Any, Any]:
    """The mask, and true, when all its lanes have the same value; else zero, and false."""
    bits, _ = match_any(value, mask, lanes)
    present = _bits(True, lanes)[lanes.warp] & mask
    same = bits == present
    return np.where(same, mask, np.uint32(0)), same


def leader(mask: Any, lanes: Lanes) -> tuple[Any, Any]:
    """The lowest lane of the mask, and whether it is this one."""
    lowest = mask & (~mask + np.uint32(1))
    first = np.broadcast_to(np.bitwise_count(lowest - np.uint32(1)).astype(np.uint32), lanes.size)
    return first, first == lanes.lane


def _reduce(operation: np.ufunc, value: Any, mask: Any, lanes: Lanes) -> Any:
    """One result for the lanes of each warp with the same mask."""
    values = np.broadcast_to(value, lanes.size)
    _, group = np.unique(np.stack([lanes.warp, np.broadcast_to(mask, lanes.size)]), axis=1, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return operation.reduceat(values[order], starts, dtype=values.dtype)[group]


def reduce_add(value: Any, mask: Any, lanes: Lanes) -> Any:
    """The sum, which wraps."""
    return _reduce(np.add, value, mask, lanes)


def reduce_min(value: Any, mask: Any, lanes: Lanes) -> Any:
    """The smallest."""
    return _reduce(np.minimum, value, mask, lanes)


def reduce_max(value: Any, mask: Any, lanes: Lanes) -> Any:
    """The largest."""
    return _reduce(np.maximum, value, mask, lanes)


def reduce_and(value: Any, mask: Any, lanes: Lanes) -> Any:
    """The bits that all have."""
    return _reduce(np.bitwise_and, value, mask, lanes)


def reduce_or(value: Any, mask: Any, lanes: Lanes) -> Any:
    """The bits that some have."""
    return _reduce(np.bitwise_or, value, mask, lanes)


def reduce_xor(value: Any, mask: Any, lanes: Lanes) -> Any:
    """The bits that an odd number has."""
    return _reduce(np.bitwise_xor, value, mask, lanes)


def block_popc(chosen: Any, lanes: Lanes) -> Any:
    """How many threads of the block have a predicate that holds."""
    at = np.flatnonzero(np.broadcast_to(chosen, lanes.size))
    return np.bincount(lanes.block[at], minlength=lanes.residents.number.size).astype(np.uint32)[lanes.block]


def block_and(chosen: Any, lanes: Lanes) -> Any:
    """Whether the predicates of all threads of the block hold."""
    return block_popc(~chosen, lanes) == 0


def block_or(chosen: Any, lanes: Lanes) -> Any:
    """Whether the predicate of some thread of the block holds."""
    return block_popc(chosen, lanes) != 0
