"""A time, and which kind of time it is: measured here and now, recorded on a named day, or modelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Kind", "Time"]

Kind = Literal["measured", "recorded", "modelled"]


@dataclass(frozen=True, slots=True, repr=False)
class Time:
    """Milliseconds that never go without their kind.

    >>> Time(0.125, "recorded", on="H200", day="2026-11-30", low=0.124, high=0.131)
    0.125 ms, recorded on H200 on 2026-11-30 (0.124 to 0.131)
    >>> Time(1.5, "modelled", on="A100")
    1.5 ms, modelled for A100

    Parameters: ``milliseconds``, a median where it was timed; ``on`` is the GPU or the processor; ``low`` and ``high``
    are the spread of what was timed, in milliseconds; ``note`` says what else matters, such as the clock.
    """

    milliseconds: float
    kind: Kind
    on: str
    day: str = ""
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def source(self) -> str:
        """Where the time is from: its kind, and on or for what.

        >>> Time(0.125, "recorded", on="H200", day="2026-11-30").source
        'recorded on H200 on 2026-11-30'
        """
        return f"{self.kind} {'for' if self.kind == 'modelled' else 'on'} {self.on}{f' on {self.day}' * bool(self.day)}"

    def __repr__(self) -> str:
        spread = f" ({self.low:.4g} to {self.high:.4g})" if self.low is not None and self.high is not None else ""
        note = f"; {self.note}" if self.note else ""
        return f"{self.milliseconds:.4g} ms, {self.source}{spread}{note}"
