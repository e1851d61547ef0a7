"""Which block wrote each element of an array: where an output goes wrong, that block is the one to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.addresses import buffer_address
from convlab.emulator.code import Site
from convlab.emulator.lanes import Lanes, coordinates
from convlab.emulator.machine import Machine

__all__ = ["Writers"]

NOBODY = -1


class Writers:
    """Watches one of the arrays that a launch is given, which must be C-contiguous."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.data = array
        self.numbers = np.full(array.size, NOBODY)

    def attach(self, machine: Machine) -> None:
        """Find out where the array lies."""
        self.machine = machine
        buffers = enumerate(machine.memory.everywhere.buffers)
        self.address = buffer_address(next(n for n, each in buffers if np.may_share_memory(each.data, self.data)))

    def access(self, site: Site, address: Any, lanes: Lanes, values: tuple[Any, ...]) -> None:
        """Note the block of a store, or of an atomic; the last one stands."""
        if site.space != "global" or site.action == "load":
            return
        size = self.data.itemsize
        first = (np.broadcast_to(address, lanes.size) - self.address) // size
        elements = (first[:, None] + np.arange(max(1, site.width // size))).ravel()
        numbers = np.repeat(self.machine.residents.number[lanes.block], elements.size // lanes.size)
        inside = (elements >= 0) & (elements < self.data.size)
        self.numbers[elements[inside]] = numbers[inside]

    def blocks(self) -> NDArray[np.intp]:
        """Along x, y and z, the block that wrote each element: (3, *the array's shape), and −1 where none did."""
        numbers = self.numbers.reshape(self.data.shape)
        return np.where(numbers == NOBODY, NOBODY, np.array(coordinates(numbers, self.machine.launch.grid)))
