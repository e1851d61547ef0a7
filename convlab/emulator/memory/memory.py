"""All memory of one launch, and what else a kernel reaches outside of its registers: the clock, printf, assert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from convlab.emulator.addresses import LOCAL_WINDOW, SHARED_WINDOW, buffer_address, nearest
from convlab.emulator.code import Code, Complain, Site, StoppedError
from convlab.emulator.lanes import Lanes, Residents
from convlab.emulator.memory.buffers import Buffer
from convlab.emulator.memory.generic import GenericSpace
from convlab.emulator.memory.globals import GlobalSpace
from convlab.emulator.memory.rows import RowSpace, Spot
from convlab.emulator.names import readable
from convlab.emulator.observers import Hooks
from convlab.emulator.printing import Printer

__all__ = ["Memory"]


class Memory:
    """The spaces of a launch, under the names that generated code knows them by.

    ``hooks`` tell the observers of each access before it happens, ``complain`` receives what is wrong, ``absent`` which
    lanes of a shuffle are missing; ``clock`` is the number of instructions that the chunk has issued so far.
    """

    def __init__(self, buffers: Sequence[Buffer], parameters: bytes, code: Code, shared_bytes: int) -> None:
        self.code = code
        self.parameters = parameters
        self.shared_bytes = shared_bytes
        self.hooks = Hooks()
        self.complain: Complain = lambda *_, **__: None
        self.absent: Callable[..., None] = lambda *_: None
        self.printer = Printer()
        self.clock = 0
        self.everywhere = GlobalSpace(buffers, code.sites)
        self.start(Residents(np.zeros(0, np.intp), 1))

    def start(self, residents: Residents) -> None:
        """Fresh shared and local memory for the blocks and threads of a chunk."""
        sites = self.code.sites
        self.shared = RowSpace(self.shared_bytes, residents.number.size, "block", sites, self._shared_name)
        self.local = RowSpace(self.code.frame, residents.size, "slots", sites, self._local_name)
        self.generic = GenericSpace((self.everywhere, self.shared, self.local), sites)
        for space in (self.everywhere, self.shared, self.local):
            space.watchers, space.complain = self.hooks["access"], self.complain

    def parameter(self, offset: int, dtype: np.dtype[Any]) -> Any:
        """A kernel parameter, as a scalar."""
        return np.frombuffer(self.parameters, dtype, 1, offset)[0]

    def time(self, dtype: np.dtype[Any]) -> Any:
        """The clock, as a scalar."""
        return np.int64(self.clock).astype(dtype)

    def print(self, text: Any, arguments: Any, lanes: Lanes) -> Any:
        """``printf``: what each lane prints, lane after lane; returns the number of arguments, as CUDA does."""
        texts = np.broadcast_to(text, lanes.size)
        offsets = np.broadcast_to(arguments, lanes.size) - LOCAL_WINDOW
        calls = [
            (self.local.after(int(offset), int(slot)), partial(self.string, int(slot), int(block)))
            for offset, slot, block in zip(offsets, lanes.slots, lanes.block, strict=True)
        ]
        if (texts == texts[0]).all():
            return np.int32(self.printer.print(calls[0][1](int(texts[0])), calls))
        counts = [self.printer.print(call[1](int(text)), [call]) for text, call in zip(texts, calls, strict=True)]
        return np.array(counts, np.int32)

    def string(self, slot: int, block: int, address: int) -> bytes:
        """The bytes at an address, as a lane of a block sees it, up to the next zero; "(null)" where there are none."""
        found = self.local.after(address - LOCAL_WINDOW, slot) or self.shared.after(address - SHARED_WINDOW, block)
        index: int = nearest(address)
        if 0 <= index < len(self.everywhere.bytes):
            found = self.everywhere.bytes[index][max(0, address - buffer_address(index)) :].tobytes()
        return found.partition(b"\0")[0] if found else b"(null)"

    def assert_failed(self, site: int, text: Any, _file: Any, _line: Any, _function: Any, lanes: Lanes) -> Any:
        """``assert``: print what CUDA prints, and end the launch."""
        slot, block = int(lanes.slots[0]), int(lanes.block[0])
        message = self.string(slot, block, int(np.broadcast_to(text, lanes.size)[0])).decode("utf-8", "replace")
        self.complain("assert", "error", self.code.sites[site].place, lanes, f"fails the assertion `{message}`.")
        raise StoppedError

    def free(self, site: int, address: Any, lanes: Lanes) -> None:
        """``free``, which every virtual destructor can reach: without ``malloc``, only a null pointer is right."""
        wrong = np.flatnonzero(np.broadcast_to(address, lanes.size))
        if wrong.size:
            place, message = self.code.sites[site].place, "frees memory that malloc never gave."
            self.complain("out_of_bounds", "error", place, lanes.part(wrong), message, space="global")

    def trapped(self, site: int, lanes: Lanes) -> None:
        """``trap``: end the launch."""
        self.complain("trap", "error", self.code.sites[site].place, lanes, "reaches __trap(), which ends the program.")
        raise StoppedError

    def fence(self, lanes: Lanes) -> None:
        """``membar`` and ``fence``: here, lanes see each other's writes at once; observers may want to know."""
        for tell in self.hooks["fence"]:
            tell(lanes)

    def commit(self, lanes: Lanes) -> None:
        """``cp.async.commit_group``."""
        for tell in self.hooks["commit"]:
            tell(lanes)

    def wait(self, pending: int, lanes: Lanes) -> None:
        """``cp.async.wait_group``: all but the latest so many groups are done."""
        for tell in self.hooks["wait"]:
            tell(pending, lanes)

    def copy(self, sites: tuple[int, int, int], target: Any, source: Any, size: Any, lanes: Lanes) -> None:
        """``cp.async``: from global to shared memory; what lies beyond ``size`` bytes of the source becomes zero.

        ``sites`` are that of the whole load, of a single word where less is wanted, and of the store.
        """
        whole, word, store = sites
        site = self.code.sites[whole]
        out = np.zeros((site.count, lanes.size), site.dtype)
        source = np.broadcast_to(source, lanes.size)
        wanted = np.broadcast_to(np.minimum(size, site.width), lanes.size)
        for count in np.unique(wanted).tolist():
            at = np.flatnonzero(wanted == count)
            part = lanes if at.size == lanes.size else lanes.part(at)
            if count == site.width:
                out[:, at] = np.stack(
                    [np.broadcast_to(v, at.size) for v in self.everywhere.load(whole, source[at], part)]
                )
                continue
            for n in range(count // site.dtype.itemsize):
                out[n, at] = self.everywhere.load(word, source[at] + n * site.dtype.itemsize, part)[0]
        self.shared.store(store, target, tuple(out), lanes)

    def _shared_name(self, offset: int, site: Site) -> Spot:
        """The variable of shared memory that an address belongs to, or lies next to."""
        rest = f"the block has {self.shared.size:,} bytes of shared memory."
        known = [(at, v) for at, v in self.code.shared if at <= offset][-1:] or list(self.code.shared[:1])
        if not known:
            return Spot("shared memory", f"[{offset}]", rest)
        ((start, variable),) = known
        if not variable.data.size:
            given = max(0, self.shared.size - start)
            rest = f"the launch gave it {given:,} bytes of dynamic shared memory: pass shared=…."
        single = variable.data.size == site.dtype.itemsize and offset == start
        return Spot(readable(variable.name), "" if single else f"[{(offset - start) // site.dtype.itemsize}]", rest)

    def _local_name(self, offset: int, site: Site) -> Spot:
        return Spot("its local arrays", f"[{offset // site.dtype.itemsize}]", f"they have {self.local.size:,} bytes.")
