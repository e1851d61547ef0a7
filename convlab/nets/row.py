"""What is known of one layer of a network on a GPU: its memory, what bounds it, its method and its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from convlab.nets.layer import Layer
from convlab.perf.datasheet import Gpu
from convlab.perf.model import DRAM_SHARE, LAUNCH_MS
from convlab.perf.profile_record import Profile
from convlab.perf.times import Time

__all__ = ["FIELDS", "LayerProfile", "move"]


@dataclass(frozen=True, slots=True)
class LayerProfile:
    """One layer's row.

    Parameters:

    - ``activation`` is the bytes of its output; ``live`` those of all activations there while it runs, ``live_im2col``
      with its columns;
    - ``traffic`` is the compulsory bytes, ``intensity`` the FLOP for each of them; ``bound`` is "compute" where that is
      above the GPU's ridge, else "memory", and empty for a type without a peak;
    - ``method`` and ``why`` say who computes it and for what reason; ``profile`` is what was counted, None for a layer
      without weights;
    - ``time`` is None for what lies between the layers of a list.
    """

    layer: Layer
    activation: int
    live: int
    live_im2col: int
    traffic: int
    intensity: float
    bound: str
    time: Time | None
    method: str = ""
    why: str = ""
    profile: Profile | None = None

    @property
    def milliseconds(self) -> float:
        """Of its time; 0 where there is none."""
        return self.time.milliseconds if self.time else 0.0

    @property
    def waits_for(self) -> str:
        """What its longest launch waits for by the model, in words."""
        return self.profile.waits_for if self.profile else ""

    def as_record(self) -> dict[str, Any]:
        """The row as plain data, in the order of `FIELDS`."""
        layer, time = self.layer, self.time
        values = (
            *(layer.name, layer.place, layer.kind, str(layer).partition(": ")[2], layer.parameters, layer.macs),
            *(self.activation, self.live, self.live_im2col, self.traffic, self.intensity, self.bound),
            *(self.method, self.why, self.waits_for),
            *((time.milliseconds, time.kind, time.on, time.day) if time else (None, "", "", "")),
        )
        return dict(zip(FIELDS, values, strict=True))


FIELDS = (
    *("layer", "place", "kind", "sizes", "parameters", "macs"),
    *("activation_bytes", "live_bytes", "live_bytes_im2col", "traffic_bytes", "flop_per_byte", "bound"),
    *("method", "why", "waits_for", "milliseconds", "time_kind", "time_on", "time_day"),
)


def move(traffic: int, gpu: Gpu) -> Time:
    """How long it takes to move bytes through DRAM once: the model of a layer that only moves them.

    >>> from convlab.perf.gpus import gpu
    >>> move(1_400_000_000, gpu("A100")).kind
    'modelled'
    """
    milliseconds = traffic / (DRAM_SHARE * gpu.dram_gbs * 1e6) + LAUNCH_MS
    return Time(milliseconds, "modelled", gpu.name, note="its bytes through DRAM once, and a launch")
