"""What ``method="auto"`` picks: rules in order, the first that holds and is supported decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from convlab.kernels.ladder import method, methods
from convlab.kernels.method import Method
from convlab.spec import ConvSpec, GemmSpec

__all__ = ["ANY_GPU", "RULES", "Choice", "Rule", "choice", "choose"]

ANY_GPU = 1000  # a compute capability, ten times, that rules nothing out: the emulator's
# Where the model of `convlab.perf.model` says that an A100 turns, on the layers of ResNet-50 and MobileNetV2 with one
# image and with 32; tests/perf/test_rules.py holds the rules against it.
FEW_PIXELS = 64
FEW_OUTPUTS = 100 * 64 * 64  # tiles of 64×64, for a large GPU's 100 or more SMs


@dataclass(frozen=True, slots=True)
class Rule:
    """Where ``holds`` is true of a spec, ``method`` is a good choice; ``why`` says the reason."""

    method: str
    why: str
    holds: Callable[[Any], bool] = lambda spec: True


class Choice(NamedTuple):
    """A method, and why a rule picks it."""

    method: Method
    why: str


def _depthwise(spec: ConvSpec) -> bool:
    return spec.groups == spec.c > 1


def _pointwise(spec: ConvSpec) -> bool:
    return (spec.r, spec.s) == (1, 1)


def _winograd(spec: ConvSpec) -> bool:
    """Its transforms are paid back by channels, and its tiles of 2×2 by pixels."""
    return min(spec.c, spec.k) >= 32 and min(spec.p, spec.q) >= 4


def _few_filters(spec: ConvSpec) -> bool:
    return spec.k <= 4 and not _pointwise(spec)


def _few_pixels(spec: ConvSpec) -> bool:
    return spec.n * spec.p * spec.q <= FEW_PIXELS


def _few_outputs(spec: ConvSpec) -> bool:
    return prod(spec.output_shape) < FEW_OUTPUTS


def _few_rows(spec: GemmSpec) -> bool:
    return spec.gemm_m <= 8


# In this order; lesson 18 explains them. A rule is for inputs of its method's dtype.
RULES = (
    Rule("tensor_core_mma", "half precision is what Tensor Cores are for"),
    Rule("tensor_core_bf16", "so is bfloat16"),
    Rule("depthwise", "one filter a channel has nothing to share but its pixels", _depthwise),
    Rule("grouped", "a tile of a large matrix would be mostly empty", lambda spec: spec.groups > 1),
    Rule("naive", "with so few pixels, only a thread for each output keeps enough of a GPU busy", _few_pixels),
    Rule("winograd", "it multiplies 2.25 times less, once there are channels to sum over", _winograd),
    Rule("tiled", "with so few filters, a tile of them would be mostly empty", _few_filters),
    Rule("grouped", "so few outputs make too few large tiles to fill a GPU, and it has small ones", _few_outputs),
    Rule("implicit_gemm", "a matrix product reuses both factors most, and stores no columns"),
    Rule("naive", "it computes everything"),
    Rule("transposed", "it gathers what reaches an output, without atomics or zeros"),
    Rule("gemm_naive", "with so few rows, a tile of a product would be mostly empty", _few_rows),
    Rule("gemm_warp", "it moves the least for each multiplication"),
    Rule("layout_transform", "it reads and writes in order"),
    Rule("layout_transform_half", "it reads and writes in order"),
    Rule("separable_fused", "what lies between the two stays on the chip"),
    Rule("fused_epilogue", "what follows the convolution costs no trip to memory"),
)


def choose(op: str, spec: Any, dtype: str, device: str = "auto", capability: int = ANY_GPU) -> Method:
    """The method that the rules pick for a spec and a type of the inputs; a reference where no kernel does it.

    >>> spec = ConvSpec(n=1, c=64, h=56, w=56, k=64, r=3, s=3, padding=1)
    >>> choose("conv2d", spec, "float32").name, choose("conv2d", spec, "float64").name
    ('winograd', 'direct')

    With ``device`` "cuda" or "emulator" it is a kernel, with "cpu" a reference; ``capability`` is the GPU's, ten times,
    and rules out kernels with instructions that it lacks. Raises ``ValueError`` where none of
    these computes the op in this type.
    """
    return choice(op, spec, dtype, device, capability).method


def choice(op: str, spec: Any, dtype: str, device: str = "auto", capability: int = ANY_GPU) -> Choice:
    """What `choose` picks, with the reason of the rule that decided.

    >>> choice("conv2d", ConvSpec(n=1, c=64, h=7, w=7, k=64, r=1, s=1), "float32").why
    'with so few pixels, only a thread for each output keeps enough of a GPU busy'
    """
    for rule in RULES if device != "cpu" else ():
        record = method(rule.method)
        able = (record.op, record.dtype) == (op, dtype) and record.since <= capability
        if able and rule.holds(spec) and record.supports(spec) is None:
            return Choice(record, rule.why)
    for record in methods(op) if device in ("auto", "cpu") else ():
        if record.reference is not None and record.dtype in ("any", dtype) and record.supports(spec) is None:
            return Choice(record, f"it computes {dtype} on the CPU")
    what, fix = ("method", "") if device in ("auto", "cpu") else ("kernel", ", or leave the device out")
    raise ValueError(
        f"No {what} computes {op} in {dtype} for these sizes.\n  In: {spec!r}\n  Fix: convert to float32{fix}."
    )
