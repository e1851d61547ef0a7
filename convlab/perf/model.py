"""A time predicted from counters and a GPU's data sheet, as a breakdown into limits: modelled, never measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from math import ceil

from convlab.emulator.observers.requests import SECTOR
from convlab.emulator.translate import translate
from convlab.executors.compiler import why_not
from convlab.perf.datasheet import Gpu
from convlab.perf.occupancy import Occupancy, occupancy
from convlab.perf.times import Time
from convlab.perf.work import LaunchWork, Work

__all__ = ["LEFT", "LIMITS", "LaunchPrediction", "Prediction", "predict"]

# What data sheets do not say. Fitted ones are fitted on the published ladders of tests/perf/published.py, all rungs
# together.
SECTORS_PER_CYCLE = 2  # of global memory through an SM's L1: 64 bytes; fitted
DRAM_SHARE = 0.9  # of the printed bandwidth that copies reach: 4.3 of an H200's 4.8 TB/s
# For each SM, by the memory's family, where a GPU's own is not published; GDDR's is fitted, HBM's assumed.
L2_BYTES_PER_CYCLE = {"HBM": 32, "GDD": 12}
MMA_SHARE = {"sm_90": 0.63, "sm_100": 0.63}  # of the peak that mma.sync reaches: arXiv 2501.12084; sm_100 is assumed
LAUNCH_MS = 0.0025  # from one kernel to the next in a stream: 2 to 3 microseconds
ATOMIC_BYTES = 128  # of a warp's atomic, at L2: 4 for each lane
IN_FLIGHT = 8  # loads of a warp on their way at a time, without barriers: loops of two loads are unrolled by 4
WARP_CYCLES = 2  # between two instructions of one warp: 16 lanes of a scheduler do 32 threads
SHARPNESS = 5  # limits overlap, but not perfectly: the p of the norm that adds them up; fitted
TYPICAL_WAITS = (33, 260, 500)  # cycles for L1, L2, DRAM where a GPU's have not been measured: those of its relatives
ASSUMED_REGISTERS = 64  # of a thread, where no assembler can count them: on macOS
TENSOR_TYPES = {"float32": "tf32"}  # a method's type → that of the Tensor Cores, where it differs


@dataclass(frozen=True, slots=True)
class LaunchPrediction:
    """Milliseconds of one launch: in all, and what each limit alone would take.

    ``resident`` is what an SM holds at a time, ``waves`` how often all SMs are filled; ``l2_bytes`` go between the SMs
    and L2, ``dram_bytes`` between L2 and DRAM, both modelled.
    """

    entry: str
    milliseconds: float
    limits: Mapping[str, float]
    resident: Occupancy
    waves: float
    l2_bytes: int
    dram_bytes: int

    @property
    def limit(self) -> str:
        """The name in `LIMITS` of what takes longest."""
        return max(self.limits, key=lambda name: self.limits[name])


@dataclass(frozen=True, slots=True, repr=False)
class Prediction:
    """What a method would take on a GPU by the model, launch by launch; a notebook shows it as a table."""

    method: str
    gpu: Gpu
    launches: tuple[LaunchPrediction, ...]

    @property
    def milliseconds(self) -> float:
        """The launches one after the other."""
        return sum(launch.milliseconds for launch in self.launches)

    @property
    def waits_for(self) -> str:
        """What the longest launch waits for, in words."""
        longest = max(self.launches, key=lambda launch: launch.milliseconds)
        return LIMITS[longest.limit]

    def time(self) -> Time:
        """The milliseconds with their kind."""
        assumed = f"; assuming {ASSUMED_REGISTERS} registers a thread" if why_not() else ""
        return Time(self.milliseconds, "modelled", self.gpu.name, note=f"waits for {self.waits_for}{assumed}")

    def _title(self) -> str:
        return f"{self.method}: {self.time()}"

    def __repr__(self) -> str:
        lines = [self._title()]
        for launch in self._shown():
            lines.append(f"  {launch.entry}: {launch.milliseconds:.4g} ms modelled; {_fill(launch)}")
            lines += [f"    {ms:10.4g}  {LIMITS[name]}" for name, ms in _longest_first(launch)]
        return "\n".join([*lines, *self._rest()])

    def _shown(self) -> list[LaunchPrediction]:
        """The longest launches, in the order of the plan."""
        longest = sorted(range(len(self.launches)), key=lambda at: -self.launches[at].milliseconds)[:SHOWN]
        return [self.launches[at] for at in sorted(longest)]

    def _rest(self) -> list[str]:
        left = len(self.launches) - SHOWN
        return [f"… and {left} more launches, none of them longer."] if left > 0 else []

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td {LEFT}>{escape(launch.entry)}</td><td {LEFT}>{escape(LIMITS[name])}</td><td>{ms:.4g}</td>"
            f"<td>{100 * ms / launch.milliseconds:.0f} %</td></tr>"
            for launch in self._shown()
            for name, ms in _longest_first(launch)
        )
        heads = "".join(f"<th {LEFT}>{head}</th>" for head in ("kernel", "waits for", "ms, modelled", "of its time"))
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        return f"<p><b>{escape(self._title())}</b></p>{table}{''.join(f'<p>{rest}</p>' for rest in self._rest())}"


SHOWN = 6  # launches
LEFT = "style='text-align:left'"


def _longest_first(launch: LaunchPrediction) -> list[tuple[str, float]]:
    """The limits that matter: from a hundredth of the launch's time on."""
    felt = ((name, ms) for name, ms in launch.limits.items() if ms >= launch.milliseconds / 100)
    return sorted(felt, key=lambda item: -item[1])


def _fill(launch: LaunchPrediction) -> str:
    held = launch.resident
    return f"{launch.waves:.3g} waves of {held.blocks} blocks ({held.warps} of {held.of} warps) an SM"


LIMITS: Mapping[str, str] = {
    "issue": "issue slots",
    "fp32": "floating-point lanes",
    "tensor": "Tensor Cores",
    "memory": "load and store units (L1 and shared memory)",
    "latency": "latency: too few warps to hide it",
    "l2": "L2 bandwidth",
    "dram": "DRAM bandwidth",
    "launch": "the launch itself",
}


def predict(work: Work, gpu: Gpu) -> Prediction:
    """Predict how long a method's launches take.

    >>> from convlab.kernels.layers import LAYERS
    >>> from convlab.perf.gpus import gpu
    >>> from convlab.perf.work import work
    >>> prediction = predict(work(LAYERS["conv2d"]["standard"], "naive"), gpu("A100"))
    >>> prediction.time().kind, prediction.waits_for
    ('modelled', 'latency: too few warps to hide it')

    Each limit alone would take its own time: the instructions that schedulers issue, the lanes, the Tensor Cores and
    the load and store units of the busiest SM; the chain of one block after the other, with its trips to memory; the
    bytes of L2 and of DRAM. A launch takes their norm, a little more than the longest, and the overhead of launching.

    Left out are what only a measurement can tell: clocks below boost, atomics that meet at one address, instruction
    caches, and how far a loop's loads run ahead of its barriers.

    Parameters: ``work`` is what `convlab.perf.work.work` counted; ``gpu`` a record of `convlab.perf.gpus`.

    Raises ``ValueError`` where a launch multiplies a type that the GPU's Tensor Cores do not, and where no block fits
    an SM; ``CompileError`` where the GPU lacks an instruction.
    """
    return Prediction(work.method, gpu, tuple(_launch(launch, gpu) for launch in work))


def _launch(launch: LaunchWork, gpu: Gpu) -> LaunchPrediction:
    busy = {name: cycles(launch, gpu) / launch.blocks for name, cycles in CYCLES.items()}
    held = _resident(launch, gpu)
    most = ceil(launch.blocks / gpu.sms)  # blocks of the busiest SM
    per_ms = gpu.boost_mhz * 1e3  # cycles
    limits = {name: most * cycles / per_ms for name, cycles in busy.items()}
    limits["latency"] = most / min(held.blocks, most) * _alone(launch, gpu, max(busy.values())) / per_ms
    l2_bytes, dram_bytes = _l2_bytes(launch), _dram_bytes(launch, gpu, gpu.sms * held.blocks)
    limits["l2"] = l2_bytes / (gpu.l2_bytes_per_cycle or gpu.sms * L2_BYTES_PER_CYCLE[gpu.dram_type[:3]]) / per_ms
    limits["dram"] = dram_bytes / (DRAM_SHARE * gpu.dram_gbs * 1e6)
    norm = sum(ms**SHARPNESS for ms in limits.values()) ** (1 / SHARPNESS)
    limits["launch"] = LAUNCH_MS
    waves = launch.blocks / (gpu.sms * held.blocks)
    return LaunchPrediction(launch.entry, norm + LAUNCH_MS, limits, held, waves, l2_bytes, dram_bytes)


def _resident(launch: LaunchWork, gpu: Gpu) -> Occupancy:
    if why_not():
        registers, shared = ASSUMED_REGISTERS, translate(launch.kernel.program_entry).shared_bytes
    else:
        resources = launch.resources[gpu.arch]
        registers, shared = resources.registers, resources.shared
    held = occupancy(gpu.arch, launch.threads, registers, shared + launch.shared)
    if not held.blocks:
        raise ValueError(f"No block of {launch.entry} fits an SM of the {gpu.name}: too much {held.limited_by}.")
    return held


def _issue(launch: LaunchWork, gpu: Gpu) -> float:
    """PTX stands for machine code: conv_naive takes 7 instructions of the one and 9 of the other for a tap of 3×3."""
    return launch.counters.instructions / gpu.schedulers_per_sm


def _fp32(launch: LaunchWork, gpu: Gpu) -> float:
    counts = launch.counters
    return (counts.thread_instructions_fp32 + counts.thread_instructions_fp16) / gpu.fp32_lanes_per_sm


def _tensor(launch: LaunchWork, gpu: Gpu) -> float:
    flop = launch.counters.tensor_flop
    if not flop:
        return 0.0
    dtype = TENSOR_TYPES.get(launch.dtype, launch.dtype)
    if dtype not in gpu.tensor_fma_per_sm:
        raise ValueError(f"The Tensor Cores of the {gpu.name} do not multiply {dtype}, as {launch.entry} needs.")
    slower = gpu.boost_mhz / (gpu.tensor_mhz or gpu.boost_mhz) / MMA_SHARE.get(gpu.arch, 1.0)
    return slower * flop / 2 / gpu.tensor_fma_per_sm[dtype]


def _memory(launch: LaunchWork, gpu: Gpu) -> float:
    """Turns of the load and store units: one for each wavefront of shared memory, and at least one for each request."""
    counts = launch.counters
    shared = counts.wavefronts_shared_load + counts.wavefronts_shared_store + counts.atomics_shared
    local = (counts.sectors_local_load + counts.sectors_local_store) / SECTORS_PER_CYCLE
    return (
        shared
        + local
        + counts.atomics_global
        + sum(
            max(array[f"requests_global_{action}"], array[f"sectors_global_{action}"] / SECTORS_PER_CYCLE)
            for array in launch.arrays.values()
            for action in ("load", "store")
        )
    )


# Limits inside an SM: cycles that the blocks of a launch keep one of these units busy, added up.
CYCLES: Mapping[str, Callable[[LaunchWork, Gpu], float]] = {
    "issue": _issue,
    "fp32": _fp32,
    "tensor": _tensor,
    "memory": _memory,
}


def _alone(launch: LaunchWork, gpu: Gpu, busy: float) -> float:
    """Cycles of a block that has an SM to itself: its work, and the trips to memory that it waits for.

    A trip lasts as long as the farthest of its loads: it goes to L2, or to DRAM, where some load does.
    """
    counts, warps = launch.counters, launch.blocks * ceil(launch.threads / gpu.threads_per_warp)
    chain = max(busy, WARP_CYCLES * counts.instructions / warps)
    trips = _trips(counts.barriers / warps, counts.requests_global_load / warps)
    if not trips:
        return chain
    l1, l2, dram = _waits(gpu)
    to_l2, to_dram = (min(1.0, size / SECTOR / warps / trips) for size in (launch.l2_load_bytes, launch.loaded_bytes))
    return chain + trips * (l1 + to_l2 * (l2 - l1) + to_dram * (dram - l2))


def _trips(barriers: float, loads: float) -> float:
    """How often a warp waits for memory: once for two barriers, or else for the loads that are in flight together."""
    if barriers:
        return barriers / 2
    return max(1.0, loads / IN_FLIGHT) if loads else 0.0


def _waits(gpu: Gpu) -> tuple[float, float, float]:
    if gpu.waits is None:
        return TYPICAL_WAITS
    l1, l2, dram = (sum(each) / 2 for each in (gpu.waits.l1, gpu.waits.l2, gpu.waits.dram))
    return l1, l2, dram


def _l2_bytes(launch: LaunchWork) -> int:
    counts = launch.counters
    stored = SECTOR * (counts.sectors_global_store + counts.sectors_local_store)
    return launch.l2_load_bytes + stored + ATOMIC_BYTES * counts.atomics_global


def _dram_bytes(launch: LaunchWork, gpu: Gpu, resident: int) -> int:
    """Every array once; and again for each wave of resident blocks, as far as it exceeds L2.

    Blocks of a wave share what they read: a wave reads no array twice.
    """
    once = launch.loaded_bytes
    if not once:
        return launch.stored_bytes
    wave = min(once, launch.l2_load_bytes / launch.blocks * resident)
    again = max(0.0, wave * launch.blocks / resident - once)
    return round(once + max(0.0, 1 - gpu.l2_mb * 2**20 / once) * again) + launch.stored_bytes
