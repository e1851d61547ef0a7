"""Sizes, checked once for everybody: what each operation of the course is asked to compute."""

from convlab.spec.conv import ConvSpec, GemmShape, PaddingLike, Traffic
from convlab.spec.values import Pair, PairLike

__all__ = ["ConvSpec", "GemmShape", "PaddingLike", "Pair", "PairLike", "Traffic"]
