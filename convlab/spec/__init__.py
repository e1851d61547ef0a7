"""Sizes, checked once for everybody: what each operation of the course is asked to compute."""

from convlab.spec.block import BlockSpec
from convlab.spec.conv import ConvSpec, GemmShape, PaddingLike, Traffic
from convlab.spec.gemm import GemmSpec
from convlab.spec.layout import LayoutSpec
from convlab.spec.separable import SeparableSpec
from convlab.spec.transpose import ConvTransposeSpec
from convlab.spec.values import Pair, PairLike

__all__ = [
    "BlockSpec",
    "ConvSpec",
    "ConvTransposeSpec",
    "GemmShape",
    "GemmSpec",
    "LayoutSpec",
    "PaddingLike",
    "Pair",
    "PairLike",
    "SeparableSpec",
    "Traffic",
]
