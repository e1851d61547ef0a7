"""What the emulator does not execute, and what to use instead: the sentence that `UnsupportedInstruction` ends with."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from convlab.emulator.program import Instruction, Place, Symbol

__all__ = ["FUNCTIONS", "OPCODES", "SPECIAL", "advice", "declined", "refusal"]

GENERAL = "Write the line without it"
CLUSTERS = "Hand things from block to block through global memory, since the emulator runs no clusters"
BULK = "Copy with cp.async (__pipeline_memcpy_async) or plain loads and stores"
TEXTURES = (
    "Read the array through a pointer (const float* __restrict__), and clamp or interpolate the index in the kernel"
)
SURFACES = "Read and write the array through a pointer"
FP8 = "Convert to half precision first, and multiply with its mma.sync (m16n8k16)"
BITS = "Count with __popc(a ^ b) on ordinary threads, or multiply s8 numbers with mma.sync (m16n8k32)"
STACK = "Declare an array of a fixed size"
PAIRS = "Write the two operations one by one"
HINT = "Leave the cache hint out: it changes no result"
MULTICAST = "Add with atomicAdd in the memory of one GPU"
TENSOR_CORES = "Use mma.sync or the wmma API, whose operands lie in registers"

# opcode and the parts that it also has → what to do instead
OPCODES = {
    "mbarrier": "Wait with __syncthreads(), and for copies with __pipeline_wait_prior (cp.async.wait_group)",
    "cp.reduce": "Add with atomicAdd",
    "cp.async.bulk": BULK,
    "cp.async.mbarrier": "Wait with cp.async.wait_group (__pipeline_wait_prior)",
    "tensormap": BULK,
    "st.async": CLUSTERS,
    "st.bulk": BULK,
    "red.async": CLUSTERS,
    "wgmma": TENSOR_CORES,
    "tcgen05": TENSOR_CORES,
    "mma.sp": "Multiply the dense matrices with mma.sync",
    **dict.fromkeys(("mma.e4m3", "mma.e5m2", "mma.e2m1", "mma.kind"), FP8),
    **dict.fromkeys(("mma.b1", "wmma.b1"), BITS),
    **dict.fromkeys(
        ("cvt.e2m1x2", "cvt.e2m3x2", "cvt.e3m2x2", "cvt.ue8m0x2"), "Compile for compute_80, where functions convert"
    ),
    "cvt.rs": "Add the random bits to the number, and round towards zero (cvt.rz)",
    **dict.fromkeys(("add.f32x2", "sub.f32x2", "mul.f32x2", "fma.f32x2"), PAIRS),
    "redux.f32": "Reduce with __shfl_xor_sync and fmaxf",
    "mapa": CLUSTERS,
    "getctarank": CLUSTERS,
    "barrier.cluster": CLUSTERS,
    "clusterlaunchcontrol": CLUSTERS,
    **dict.fromkeys(("tex", "tld4", "txq"), TEXTURES),
    **dict.fromkeys(("suld", "sust", "sured", "suq"), SURFACES),
    "istypep": TEXTURES,
    "multimem": MULTICAST,
    "createpolicy": HINT,
    **{f"{opcode}.L2::cache_hint": HINT for opcode in ("ld", "st", "atom", "red", "cp")},
    **dict.fromkeys(("alloca", "stacksave", "stackrestore"), STACK),
}
# the beginning of the name of a function that is called → what to do instead
FUNCTIONS = {
    "malloc": "Pass a buffer to the kernel, one part for each thread, or declare an array of a fixed size",
    "cuda": "Launch the other kernel from Python, after this one",
}
# the beginning of the name of a special register → what to do instead
SPECIAL = {
    "%envreg": "End the kernel where the whole grid must meet (grid.sync()), and launch a second one that goes on",
    "%pm": "Read run.counters after the launch",
}


def declined(instruction: Instruction) -> str:
    """What to do instead of an opcode that has a row; nothing for all others.

    >>> declined(Instruction(("wgmma", "fence", "sync", "aligned"), (), None, Place("", 0)))
    'Use mma.sync or the wmma API, whose operands lie in registers'
    """
    opcode, *parts = instruction.parts
    given = {piece for part in parts for piece in (part, part.partition("::")[0])}
    for key, text in OPCODES.items():
        first, *rest = key.split(".")
        if first == opcode and given.issuperset(rest):
            return text
    return ""


def advice(instruction: Instruction, kernels: Collection[str] = ()) -> str:
    """What to do instead of an instruction, by its opcode, or by what its operands name; nothing when no row knows.

    >>> advice(Instruction(("mov", "u32"), (Symbol("%envreg2"),), None, Place("", 0)))
    'End the kernel where the whole grid must meet (grid.sync()), and launch a second one that goes on'

    Args:
        instruction: one that is not supported.
        kernels: the names of the module's kernels: an instruction that takes one's address launches it.
    """
    for name in _names(instruction):
        if name in kernels:
            return FUNCTIONS["cuda"]
        for key, text in (FUNCTIONS | SPECIAL).items():
            if name.startswith(key):
                return text
    return declined(instruction)


def _names(instruction: Instruction) -> Iterator[str]:
    """The names that operands hold; registers are none."""
    for operand in instruction.operands:
        if isinstance(operand, Symbol):
            yield operand.name


def refusal(instruction: Instruction, what: str = "", kernels: Collection[str] = ()) -> str:
    """The message for an instruction that is not supported: the learner's line, the instruction, the way out.

    >>> print(refusal(Instruction(("mma", "sp", "sync"), (), None, Place("mine.cu", 7))))
    mine.cu:7: the emulator does not execute `mma.sp.sync` yet.
      Fix: Multiply the dense matrices with mma.sync; or run on a GPU with device='cuda'.
    """
    file, line = _own(instruction.place)
    detail = f" ({what})" if what else ""
    instead = advice(instruction, kernels) or GENERAL
    return (
        f"{file}:{line}: the emulator does not execute `{instruction.opcode}`{detail} yet.\n"
        f"  Fix: {instead}; or run on a GPU with device='cuda'."
    )


def _own(place: Place) -> tuple[str, int]:
    """The innermost line in the file of the kernel: what a header has inside is for its authors."""
    frames = [(place.file, place.line), *place.callers]
    return next(frame for frame in frames if frame[0] == frames[-1][0])
