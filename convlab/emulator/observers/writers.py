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
    """Watches the array in global memory that a parameter of the kernel points to; the name is the parameter's."""

    def __init__(self, name: str) -> None:
        self.name = name

    def attach(self, machine: Machine) -> None:
        """Find the array; nobody has written to it yet."""
        self.machine = machine
        buffers = machine.memory.everywhere.buffers
        index = [buffer.name for buffer in buffers].index(self.name)
        self.data, self.address = buffers[index].data, buffer_address(index)
        self.numbers = np.full(self.data.size, NOBODY)

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
