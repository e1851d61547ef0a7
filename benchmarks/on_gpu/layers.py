"""The layers that are timed, from DeepBench and MobileNet, and tiny ones for a dry run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from convlab.spec import BlockSpec, ConvSpec, ConvTransposeSpec, GemmSpec, LayoutSpec, SeparableSpec

__all__ = ["CORE", "DEEPBENCH", "HEADLINE", "METHODS", "OTHERS", "layers"]


def _square(size: int, c: int, k: int, r: int, **options: int) -> ConvSpec:
    return ConvSpec(n=16, c=c, h=size, w=size, k=k, r=r, s=r, **options)


# DeepBench's, with 16 images.
DEEPBENCH: Mapping[str, ConvSpec] = {
    "3×3 64→64, 56²": _square(56, 64, 64, 3, padding=1),
    "3×3 128→128, 28²": _square(28, 128, 128, 3, padding=1),
    "1×1 64→256, 56²": _square(56, 64, 256, 1),
    "7×7 3→64, 224², stride 2": _square(224, 3, 64, 7, stride=2, padding=3),
    "3×3 256→256, 14²": _square(14, 256, 256, 3, padding=1),
    "1×1 1024→256, 14²": _square(14, 1024, 256, 1),
    "3×3 512→512, 7²": _square(7, 512, 512, 3, padding=1),
    "5×5 192→32, 28²": _square(28, 192, 32, 5, padding=2),
    "1×1 256→64, 56²": _square(56, 256, 64, 1),
    "3×3 128→256, 56²": _square(56, 128, 256, 3, padding=1),
    "1×1 1024→2048, 14², stride 2": _square(14, 1024, 2048, 1, stride=2),
}


def _depthwise(size: int, c: int, stride: int) -> ConvSpec:
    return ConvSpec(n=32, c=c, h=size, w=size, k=c, r=3, s=3, stride=stride, padding=1, groups=c)


_EPILOGUE = replace(DEEPBENCH["3×3 64→64, 56²"], n=64)
_DEPTHWISE = _depthwise(112, 32, 1)

# What the aims are about: 256 images, but where memory is the limit.
HEADLINE: Mapping[str, Any] = {
    "3×3 128→256, 56², 256 images": replace(DEEPBENCH["3×3 128→256, 56²"], n=256),
    "1×1 256→64, 56², 256 images": replace(DEEPBENCH["1×1 256→64, 56²"], n=256),
    "5×5 192→32, 28², 256 images": replace(DEEPBENCH["5×5 192→32, 28²"], n=256),
    "depthwise 3×3, 32, 112²": _DEPTHWISE,
    "layout of 64, 56², 256 images": LayoutSpec(n=256, c=64, h=56, w=56),
    "3×3 64→64, 56², 64 images": _EPILOGUE,
    "the same with an epilogue": BlockSpec(_EPILOGUE, relu=True, pool=False),
    "7×7 3→64, 224², stride 2, 256 images": replace(DEEPBENCH["7×7 3→64, 224², stride 2"], n=256),
    "1×1 1024→2048, 14², stride 2, 256 images": replace(DEEPBENCH["1×1 1024→2048, 14², stride 2"], n=256),
}
_CORE_FP32 = ("naive", "tiled", "multi_output", "implicit_gemm", "implicit_gemm_nhwc", "winograd")
_CORE_TENSOR = ("tensor_core_mma", "tensor_core_bf16", "tensor_core_tf32")
# The methods that come first on every layer; on these large ones nobody waits for the others.
CORE = (*_CORE_FP32, *_CORE_TENSOR, "pointwise", "depthwise", "im2col_cublas", "tensor_core")
METHODS: Mapping[str, tuple[str, ...]] = dict(
    zip(
        HEADLINE,
        (
            (*_CORE_FP32, *_CORE_TENSOR),
            ("pointwise", "implicit_gemm", "implicit_gemm_nhwc", "tensor_core_mma"),
            ("implicit_gemm", "implicit_gemm_nhwc", "tensor_core_mma"),
            ("depthwise", "naive", "grouped"),
            ("layout_naive", "layout_transform"),
            ("naive",),
            ("fused_epilogue", "block_separate"),
            ("implicit_gemm", "implicit_gemm_nhwc"),
            ("implicit_gemm", "implicit_gemm_nhwc"),
        ),
        strict=True,
    )
)

OTHERS: Mapping[str, Any] = {
    "depthwise 3×3, 64, 112², stride 2": _depthwise(112, 64, 2),
    "depthwise 3×3, 512, 14²": _depthwise(14, 512, 1),
    "product, 4096³": GemmSpec(4096, 4096, 4096),
    "separable 32→64, 112²": SeparableSpec(_DEPTHWISE, k=64),
    "transposed 3×3 128→64, 28², stride 2": ConvTransposeSpec(
        n=16, c=128, h=28, w=28, k=64, r=3, s=3, stride=2, padding=1, output_padding=1
    ),
    "3×3 64→64, 56², with ReLU and pooling": BlockSpec(DEEPBENCH["3×3 64→64, 56²"], relu=True, pool=True),
}


def layers(dry: bool) -> dict[str, Any]:
    """All of them, what matters most first; of a dry run the same kinds with hardly any work, none of them twice."""
    found = {**HEADLINE, **DEEPBENCH, **OTHERS}
    if not dry:
        return found
    small = {name: _TINY[type(spec)](spec) for name, spec in found.items()}
    first = {spec: name for name, spec in reversed(small.items())}
    return {name: spec for name, spec in small.items() if name in HEADLINE or first[spec] == name}


def _tiny_conv(spec: ConvSpec) -> ConvSpec:
    groups = 2 if spec.groups > 1 else 1
    return replace(spec, n=1, c=2, h=spec.r + 5, w=spec.r + 4, k=2 if groups > 1 else 3, groups=groups)


_TINY = {
    ConvSpec: _tiny_conv,
    BlockSpec: lambda spec: replace(spec, conv=_tiny_conv(spec.conv)),
    SeparableSpec: lambda spec: SeparableSpec(_tiny_conv(spec.depthwise), k=3),
    ConvTransposeSpec: lambda spec: replace(spec, n=1, c=2, h=5, w=4, k=3),
    GemmSpec: lambda spec: GemmSpec(5, 7, 6),
    LayoutSpec: lambda spec: LayoutSpec(n=1, c=5, h=4, w=3),
}
