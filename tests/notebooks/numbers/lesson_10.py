"""The numbers in the prose of lesson 10."""

from __future__ import annotations

import numpy as np

from convlab.emulator.fragments import dimensions
from convlab.kernels.ladder import method
from convlab.perf.gpus import gpu
from convlab.spec import ConvSpec
from convlab.views.idle_multipliers import Order, idle_multipliers
from convlab.views.running_sum import running_sum

from .rule import Fact, Shown, Table

__all__ = ["NUMBERS"]

LAYER = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
LARGE = ConvSpec(n=16, c=64, h=56, w=56, k=64, r=3, s=3, padding=1)
NARROW = ConvSpec(n=1, c=3, h=34, w=34, k=7, r=3, s=3)
A100 = gpu("A100")
WARP = A100.threads_per_warp
SIDE = dimensions("m16n16k16")[0]
WMMA, MMA = (np.prod(dimensions(shape)) / WARP for shape in ("m16n16k16", "m16n8k16"))  # multiply-adds of a lane
SEED = 15  # per cent over cuDNN, as an article claims
HALF = np.finfo(np.float16)
STOPS = running_sum("1", 4096).sums
QUESTION = ConvSpec(n=1, c=4, h=32, w=32, k=24, r=3, s=3)
BLOCKS = method("tensor_core_mma").plan(LARGE).launches[0].grid[0]
VOLTA = Fact("the year of Volta, the first GPU with Tensor Cores and with lanes that run apart")


def elements(spec: ConvSpec, order: Order, paid: bool) -> int:
    return idle_multipliers(spec, order).elements[paid]


def useful(order: Order) -> float:
    """Per cent of all multipliers, for the layer of the third question."""
    return 100 * idle_multipliers(QUESTION, order).useful


NUMBERS: Table = {
    "floor": {"32": WARP},
    "floor-explain": {"2017": VOLTA, "16": SIDE, "15": Fact("any size that no instruction has")},
    "peaks-explain": {"16": 8 * np.dtype(np.float16).itemsize},
    "gemm": {"16": SIDE},
    "predict-count-text": {"16": SIDE, "2,359,296": LAYER.macs},
    "half-text": {"0.099": Shown("wmma-all", r" 0\.099 for each"), "16": Shown("half-run", "with 16 lanes")},
    "half-explain": {"32": WARP},
    "holds": {"16": SIDE, "32": WARP},
    "who-explain": {"16": SIDE, "32": 8 * np.dtype(np.float32).itemsize},
    "hand-text": {"32": 8 * np.dtype(np.float32).itemsize},
    "rung-text": {"16": SIDE, "64": 4 * SIDE},
    "predict-rung-text": {"1.6": Shown("floor-run", r"implicit_gemm +1\.6\d instructions")},
    "rung-explain": {"16": Shown("peaks", r"float16 .* 16 times"), "64": LARGE.k},
    "tile-explain": {"32": 2 * SIDE, "1.6": Shown("floor-run", r"implicit_gemm +1\.6\d instructions")},
    "feed": {"16": 8 * np.dtype(np.float16).itemsize, "128": WARP * 4, "32": WARP},
    "heart-text": {"64": 4 * SIDE},
    "predict-requests-text": {"16": 8 * np.dtype(np.float16).itemsize},
    "times-explain": {"15": SEED, "64": LARGE.k, "16": SIDE, "256": LARGE.n * LARGE.p * LARGE.q / BLOCKS},
    "idle": {"16": SIDE},
    "idle-per-tap": {
        "27": elements(NARROW, "flattened", paid=False),
        "32": elements(NARROW, "flattened", paid=True),
        "16": SIDE,
        "13": SIDE - NARROW.c,
    },
    "idle-explain": {"16": SIDE, "64": LARGE.k, "128": 8 * SIDE, "20": SIDE + 4, "32": WARP},
    "sums-explain": {"2048": STOPS["float16"], "2049": STOPS["float16"] + 1, "256": STOPS["bfloat16"]},
    "accumulators-explain": {
        "65,504": float(HALF.max),
        "22": 2 * (HALF.nmant + 1),
        "24": np.finfo(np.float32).nmant + 1,
    },
    "acc-look": {"0.001": Shown("sum-explore", "8192 times 0.001"), "16": Fact("a term that the learner tries")},
    "bug-answer": {"2017": VOLTA},
    "questions": {
        "24": QUESTION.k,
        "36": elements(QUESTION, "flattened", paid=False),
        "48": elements(QUESTION, "flattened", paid=True),
        "32": idle_multipliers(QUESTION).filters[1],
        "16": SIDE,
        "56": useful("flattened"),
        "19": useful("per tap"),
    },
    "end": {"64": MMA, "128": WMMA, "16": 8 * np.dtype(np.float16).itemsize},
}
