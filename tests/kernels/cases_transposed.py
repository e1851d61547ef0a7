"""What the rungs of convlab/kernels/rungs/transposed.py are tested on."""

from __future__ import annotations

from convlab.kernels.ladder import method
from convlab.spec import ConvTransposeSpec

from ..reference.transposed_specs import random_transposed

EDGES = (
    ConvTransposeSpec(n=1, c=1, h=1, w=1, k=1, r=1, s=1),
    ConvTransposeSpec(n=3, c=2, h=1, w=1, k=5, r=3, s=3, padding=1),
    ConvTransposeSpec(n=2, c=3, h=5, w=6, k=7, r=7, s=5, stride=2, padding=(3, 2), output_padding=1),
    ConvTransposeSpec(n=2, c=5, h=3, w=4, k=1, r=2, s=1, stride=(4, 3), output_padding=(3, 2)),  # strides that skip
    ConvTransposeSpec(n=1, c=2, h=1, w=3, k=3, r=1, s=2, stride=(5, 7)),  # more phases than output rows
    ConvTransposeSpec(n=2, c=6, h=2, w=3, k=4, r=3, s=2, padding=(4, 0, 0, 2), dilation=(3, 2), output_padding=(2, 1)),
    ConvTransposeSpec(n=1, c=2, h=1, w=2, k=1, r=3, s=1, stride=2, padding=(3, 0, 0, 0), output_padding=(1, 0)),
    ConvTransposeSpec(n=2, c=4, h=19, w=33, k=6, r=3, s=4, stride=2, padding=1, groups=2),  # several blocks of a phase
    ConvTransposeSpec(n=2, c=3, h=6, w=9, k=4, r=3, s=3, stride=2, padding=1, output_padding=1),
    ConvTransposeSpec(n=1, c=4, h=5, w=7, k=6, r=5, s=5, stride=(1, 2), padding=2, dilation=2, groups=2),
    ConvTransposeSpec(n=2, c=33, h=17, w=18, k=35, r=2, s=3),
    ConvTransposeSpec(n=2, c=6, h=9, w=8, k=12, r=4, s=3, stride=(2, 1), padding=(1, 1), groups=6),
)


def _cases(name: str) -> list[ConvTransposeSpec]:
    assert all(method(name).supports(spec) is None for spec in EDGES)
    return [*(random_transposed(seed) for seed in range(64)), *EDGES]


CASES = {name: _cases(name) for name in ("transposed_zero_insertion", "transposed_scatter", "transposed")}
