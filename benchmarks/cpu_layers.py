"""The CPU ladder on the layers of DeepBench, beside im2col + BLAS and ONNX Runtime: all in one run on two cores.

Every call takes NCHW and gives NCHW; ours packs its filters each time, ONNX Runtime did so when it loaded the model.
The calls take turns, and a ratio is the median of those within a turn. Before its turn the idle threads of the
others, which wait for work in a busy loop, get the time to fall asleep, and one call that does not count wakes its
own. The slow rungs get one image of the sixteen; all are compared by rates. OpenBLAS shall choose its kernels by the
processor: the script drops what a machine sets to the contrary (OPENBLAS_CORETYPE, OPENBLAS_L2_SIZE). Nothing else
should run meanwhile.

    uv run python benchmarks/cpu_layers.py [--record]
"""

from __future__ import annotations

import os

# Read when the libraries are imported.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = "2"
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numba
import numpy as np
import onnx
import onnxruntime
from record import main
from tqdm import tqdm

from convlab.reference.cpu_conv import CPU_CONV
from convlab.reference.cpu_gemm import CPU_GEMM
from convlab.reference.direct import oracle
from convlab.reference.im2col import im2col, unfold
from convlab.spec import ConvSpec

LAYERS = {
    "3×3, 64→64": ConvSpec(n=16, c=64, h=56, w=56, k=64, r=3, s=3, padding=1),
    "3×3, 128→128": ConvSpec(n=16, c=128, h=28, w=28, k=128, r=3, s=3, padding=1),
    "3×3, 256→256": ConvSpec(n=16, c=256, h=14, w=14, k=256, r=3, s=3, padding=1),
    "3×3, 512→512": ConvSpec(n=16, c=512, h=7, w=7, k=512, r=3, s=3, padding=1),
    "3×3, 128→256": ConvSpec(n=16, c=128, h=56, w=56, k=256, r=3, s=3, padding=1),
    "7×7, 3→64": ConvSpec(n=16, c=3, h=224, w=224, k=64, r=7, s=7, stride=2, padding=3),
    "5×5, 192→32": ConvSpec(n=16, c=192, h=28, w=28, k=32, r=5, s=5, padding=2),
    "1×1, 64→256": ConvSpec(n=16, c=64, h=56, w=56, k=256, r=1, s=1),
    "1×1, 256→64": ConvSpec(n=16, c=256, h=56, w=56, k=64, r=1, s=1),
    "1×1, 1024→256": ConvSpec(n=16, c=1024, h=14, w=14, k=256, r=1, s=1),
    "1×1, 1024→2048": ConvSpec(n=16, c=1024, h=14, w=14, k=2048, r=1, s=1, stride=2),
}
TILE, BLAS, RUNTIME = "parallel", "im2col + BLAS", "ONNX Runtime"
LEAST = {BLAS: 1.2, RUNTIME: 0.5}  # what the tile must reach on 3×3 layers
SLOW = ("loops", "blocked")
THREADS = int(os.environ["OMP_NUM_THREADS"])
ROUNDS, CALLS = 7, 2  # turns, and timed calls in each
ASLEEP = 0.1  # seconds after which idle threads no longer wait in a busy loop
GEMMS = 1000, 1024  # rows that are 4096 bytes apart compete for the same places of a cache


@dataclass(frozen=True)
class Peer:
    """One way to do a piece of work: a call, the result that it must have, its FLOP, and how often it is timed."""

    call: Callable[[], np.ndarray]
    expected: np.ndarray
    flop: int
    calls: int = CALLS

    def check(self, what: str, terms: int) -> None:
        """Nothing is timed that is not right; each of the terms is at most one, and may add one rounding error."""
        error = np.abs(self.call() - self.expected).max()
        if not error <= terms * np.finfo(np.float32).eps:
            raise SystemExit(f"{what} is wrong by {error}.")

    def rate(self) -> float:
        """GFLOP/s of one turn."""
        time.sleep(ASLEEP)
        if self.calls > 1:
            self.call()
        times = []
        for _ in range(self.calls):
            start = time.perf_counter()
            self.call()
            times.append(time.perf_counter() - start)
        return self.flop / min(times) / 1e9


def runtime_call(w: np.ndarray, spec: ConvSpec) -> Callable[[np.ndarray], np.ndarray]:
    """ONNX Runtime with one convolution, its filters part of the model."""
    top, bottom, left, right = spec.padding
    window = {"kernel_shape": [spec.r, spec.s], "strides": spec.stride, "pads": [top, left, bottom, right]}
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Conv", ["x", "w"], ["y"], **window)],
        "layer",
        [onnx.helper.make_tensor_value_info("x", kind, spec.input_shape)],
        [onnx.helper.make_tensor_value_info("y", kind, spec.output_shape)],
        [onnx.numpy_helper.from_array(w, "w")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda x: session.run(None, {"x": x})[0]


def layer_peers(spec: ConvSpec) -> dict[str, Peer]:
    """Every way to compute a layer, on random data between −1 and 1."""
    rng = np.random.default_rng(0)
    x, w = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in (spec.input_shape, spec.weight_shape))
    expected, one, runtime = oracle(x, w, None, spec), replace(spec, n=1), runtime_call(w, spec)
    columns, rows = unfold(x, spec), w.reshape(spec.k, -1)
    peers = {}
    for name, rung in CPU_CONV.items():
        if name in SLOW:
            peers[name] = Peer(lambda rung=rung: rung(x[:1], w, None, one), expected[:1], one.flops, calls=1)
        else:
            peers[name] = Peer(lambda rung=rung: rung(x, w, None, spec), expected, spec.flops)
    return peers | {
        BLAS: Peer(lambda: im2col(x, w, None, spec), expected, spec.flops),
        "BLAS alone, on a finished matrix": Peer(
            lambda: (rows @ columns).reshape(spec.output_shape), expected, spec.flops
        ),
        RUNTIME: Peer(lambda: runtime(x), expected, spec.flops),
    }


def gemm_peers(size: int) -> dict[str, Peer]:
    """Every way to multiply two square matrices."""
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-1, 1, (size, size)).astype(np.float32) for _ in range(2))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    ways = {**CPU_GEMM, "BLAS": np.matmul}
    return {
        name: Peer(lambda way=way: way(a, b), expected, 2 * size**3, calls=1 if name in SLOW else CALLS)
        for name, way in ways.items()
    }


def rounds(what: str, peers: dict[str, Peer], terms: int) -> dict[str, list[float]]:
    """The rates of all peers, turn by turn; the slow ones have two turns."""
    for name, peer in peers.items():
        peer.check(f"{name}, {what},", terms)
    rates: dict[str, list[float]] = {name: [] for name in peers}
    for turn in tqdm(range(ROUNDS), desc=what):
        for name, peer in peers.items():
            if name not in SLOW or turn < 2:
                rates[name].append(peer.rate())
    return rates


def measure_layer(what: str, spec: ConvSpec) -> dict[str, Any]:
    """Rates, with FLOP and bytes beside them, and what the tile's rate is in terms of the two others'."""
    rates = rounds(what, layer_peers(spec), spec.gemm_shape.gemm_k)
    return {
        "layer": str(spec),
        "GFLOP": round(spec.flops / 1e9, 2),
        "compulsory megabytes": round(spec.traffic("float32").total / 1e6, 1),
        "im2col megabytes": round(4e-6 * np.prod(spec.im2col_shape), 1),
        "GFLOP/s": {name: round(statistics.median(values), 1) for name, values in rates.items()},
        **{f"times {peer}": _ratio(rates[TILE], rates[peer]) for peer in LEAST},
    }


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return round(statistics.median(our / their for our, their in zip(ours, theirs, strict=True)), 2)


def measure_gemm(size: int) -> dict[str, Any]:
    """Rates and times of the product of two square matrices."""
    rates = rounds(f"GEMM, {size}³", gemm_peers(size), size)
    medians = {name: statistics.median(values) for name, values in rates.items()}
    return {
        "GFLOP/s": {name: round(rate, 1) for name, rate in medians.items()},
        "seconds": {name: round(2e-9 * size**3 / rate, 4) for name, rate in medians.items()},
    }


def measure() -> dict[str, Any]:
    """All layers, the least ratios on those with 3×3 filters, and the matrix product."""
    layers = {what: measure_layer(what, spec) for what, spec in LAYERS.items()}
    least = {
        peer: {
            "wanted": wanted,
            "found at least": min(each[f"times {peer}"] for what, each in layers.items() if what.startswith("3×3")),
        }
        for peer, wanted in LEAST.items()
    }
    return {
        "threads": {"each library": THREADS, "Numba's layer": numba.threading_layer()},
        "onnxruntime": version("onnxruntime"),
        f"{TILE} rung on 3×3 layers, times the rate of": least,
        "layers": layers,
        **{f"GEMM, {size}×{size}×{size}": measure_gemm(size) for size in GEMMS},
    }


if __name__ == "__main__":
    main("cpu_layers", measure)
