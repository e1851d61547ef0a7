"""What the ladder must reach on a GPU, as ratios of times of one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from convlab.perf.gpus import Gpu
from convlab.spec import ConvSpec
from on_gpu.layers import HEADLINE

__all__ = ["AIMS", "Times", "judge"]

WIDE, NARROW, LARGE, DEPTHWISE, LAYOUT, BARE, EPILOGUE, STEM, STRIDED = HEADLINE
SECOND_1X1 = "1×1 64→256, 56²"
MMA_SYNC = {90: 0.63}  # of the Tensor Cores' peak, where mma.sync cannot reach it: arXiv 2501.12084
FP32, HALF, PLAIN_CUDNN = "float32", "float16", "cudnn"


@dataclass(frozen=True)
class Times:
    """Milliseconds by layer and by method or peer, and the GPU's data sheet, if there is one."""

    entries: Sequence[Mapping[str, Any]]
    specs: Mapping[str, Any]
    gpu: Gpu | None

    def of(self, who: str, layer: str, dtype: str = "", winograd: bool = True) -> float | None:
        """One time; without ``winograd`` none of a peer that took that algorithm, or may have: its kernel is unread."""
        for entry in self.entries:
            named = who == entry.get("method", entry.get("peer")) and layer == entry["layer"]
            if named and dtype in ("", entry["dtype"]) and (winograd or self._is_plain(entry)):
                return float(entry["milliseconds"])
        return None

    def _is_plain(self, entry: Mapping[str, Any]) -> bool:
        kernel = entry["kernel"].casefold()
        return not _has_winograd(self.specs[entry["layer"]]) or (kernel != "" and "winograd" not in kernel)

    def rate(self, who: str, layer: str) -> float | None:
        """TFLOP/s."""
        time = self.of(who, layer)
        return self.specs[layer].flops / time / 1e9 if time else None

    def peak(self, dtype: str) -> float | None:
        """TFLOP/s of the data sheet."""
        return self.gpu.peak_tflops(dtype) if self.gpu and dtype in self.gpu.dtypes else None

    def bandwidth(self, who: str, layer: str) -> float | None:
        """The part of the data sheet's GB/s at which the compulsory bytes went."""
        time = self.of(who, layer)
        return _bytes(self.specs[layer]) / time / 1e6 / self.gpu.dram_gbs if time and self.gpu else None


def _has_winograd(spec: ConvSpec) -> bool:
    """Whether cuDNN has Winograd for it: filters of 3×3 or 5×5 without stride or dilation."""
    return {*spec.stride, *spec.dilation} == {1} and (spec.r, spec.s) in ((3, 3), (5, 5))


def _bytes(spec: Any) -> float:
    """What must be read and written once, in float32."""
    return spec.traffic("float32").total if hasattr(spec, "traffic") else 8.0 * prod(spec.input_shape)


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one and other else None


@dataclass(frozen=True)
class Aim:
    """A figure that a run must reach: at least, or at most where that is said."""

    name: str
    wanted: float
    find: Callable[[Times], float | None]
    at_most: bool = False


def _peak(who: str, wanted: float) -> Aim:
    return Aim(f"{who}, part of the float32 peak ({WIDE})", wanted, lambda t: _ratio(t.rate(who, WIDE), t.peak(FP32)))


def _against(who: str, other: str, layer: str, wanted: float, dtype: str = FP32) -> Aim:
    name = f"{who}, times the rate of {other} ({layer})"
    return Aim(name, wanted, lambda t: _ratio(t.of(other, layer, dtype), t.of(who, layer)))


def _against_plain(who: str, layer: str, wanted: float) -> Aim:
    """Against cuDNN without TF32 and Winograd: of a layer that it does by Winograd, this is not known."""
    known = ", where it takes no Winograd" * _has_winograd(HEADLINE[layer])
    name = f"{who}, times the rate of {PLAIN_CUDNN} ({layer}){known}"
    return Aim(name, wanted, lambda t: _ratio(t.of(PLAIN_CUDNN, layer, FP32, winograd=False), t.of(who, layer)))


def _mma_sync(times: Times) -> float | None:
    peak = times.peak(HALF)
    capability = times.gpu.compute_capability[0] * 10 + times.gpu.compute_capability[1] if times.gpu else 0
    return _ratio(times.rate("tensor_core_mma", WIDE), peak * MMA_SYNC.get(capability, 1) if peak else None)


def _roofline(layer: str) -> Callable[[Times], float | None]:
    def find(times: Times) -> float | None:
        time, peak = times.of("pointwise", layer), times.peak(FP32)
        if not time or not peak or not times.gpu:
            return None
        spec = times.specs[layer]
        return max(spec.flops / peak / 1e9, _bytes(spec) / times.gpu.dram_gbs / 1e6) / time

    return find


AIMS = (
    _peak("naive", 0.08),
    _peak("tiled", 0.14),
    _peak("multi_output", 0.30),
    *(
        _against_plain(rung, layer, 0.9)
        for rung in ("implicit_gemm", "implicit_gemm_nhwc")
        for layer in (NARROW, STEM, STRIDED, WIDE, LARGE)
    ),
    Aim(f"tensor_core_mma, part of what mma.sync can reach ({WIDE})", 0.75, _mma_sync),
    _against("tensor_core_mma", "cudnn_nhwc", WIDE, 0.6, HALF),
    _against("winograd", "implicit_gemm", WIDE, 1.5),
    Aim(f"depthwise, part of the memory's bandwidth ({DEPTHWISE})", 0.8, lambda t: t.bandwidth("depthwise", DEPTHWISE)),
    _against("depthwise", PLAIN_CUDNN, DEPTHWISE, 1.2),
    *(
        Aim(f"pointwise in float32, part of its roofline ({layer})", 0.8, _roofline(layer))
        for layer in (NARROW, SECOND_1X1)
    ),
    Aim(
        f"layout_transform, part of the memory's bandwidth ({LAYOUT})",
        0.85,
        lambda t: t.bandwidth("layout_transform", LAYOUT),
    ),
    Aim(
        f"fused_epilogue, times the time of naive without one ({BARE})",
        1.03,
        lambda t: _ratio(t.of("fused_epilogue", EPILOGUE), t.of("naive", BARE)),
        at_most=True,
    ),
)


def judge(times: Times) -> list[dict[str, Any]]:
    """Every aim with what was found; ``met`` is ``None`` where a time or the data sheet is missing."""
    return [_judged(aim, aim.find(times)) for aim in AIMS]


def _judged(aim: Aim, found: float | None) -> dict[str, Any]:
    met = None if found is None else found <= aim.wanted if aim.at_most else found >= aim.wanted
    bound = "at most" if aim.at_most else "at least"
    return {"aim": aim.name, "wanted": f"{bound} {aim.wanted:g}", "found": found and round(found, 3), "met": met}
