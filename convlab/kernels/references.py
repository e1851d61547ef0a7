"""The reference methods of the table: functions that run on the CPU."""

from __future__ import annotations

from convlab.kernels.method import Method
from convlab.reference.direct import direct

__all__ = ["METHODS"]

METHODS = (
    Method(
        name="direct",
        op="conv2d",
        idea="the definition in NumPy, summed in float64: the oracle",
        dtype="any",
        layout="nchw",
        lesson="01",
        supports=lambda spec: None,
        reference=direct,
    ),
)
