"""cuBLAS through CuPy: the matrix product; its float32 is not TF32."""

from __future__ import annotations

from typing import Any

from convlab.executors import cuda, cuda_queue
from convlab.perf.clocks import clock_reader
from convlab.perf.peers.adapter import Peer, Prepared
from convlab.perf.timing import sets_of
from convlab.perf.trial import random_inputs

__all__ = ["CUBLAS"]


def _prepare(spec: Any, dtype: str) -> Prepared:
    inputs = random_inputs("gemm", spec, lambda name: dtype)
    (a, b), device = inputs.values(), cuda_queue.device()
    assert a is not None
    assert b is not None
    sets = sets_of(a.nbytes + b.nbytes + a.itemsize * spec.gemm_m * spec.gemm_n, device.l2_bytes)
    with cuda.words("prepare a product by cuBLAS"):
        arrays = [
            (cuda_queue.upload(a), cuda_queue.upload(b), cuda_queue.allocate(spec.output_shape, dtype))
            for _ in range(sets)
        ]
        products = [cuda_queue.ready_matmul(*((array, array.shape) for array in each)) for each in arrays]

    def work(number: int) -> None:
        products[number]()

    def output() -> Any:
        return cuda_queue.download(arrays[0][2])

    return Prepared(work, output, inputs, device.name, sets, cuda_queue, clock_reader(device))


CUBLAS = Peer(
    "cublas",
    "cuBLAS through CuPy",
    "cuda",
    ("gemm",),
    ("float32", "float16"),
    cuda.why_not,
    _prepare,
    free=cuda_queue.free,
)
