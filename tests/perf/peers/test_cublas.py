"""cuBLAS, with NumPy in the place of the GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convlab.executors.cuda_queue import Device
from convlab.perf.peers import cublas, peer
from convlab.perf.peers.measure import measure_peer
from convlab.spec import ConvSpec, GemmSpec

SPEC = GemmSpec(30, 20, 10)


class Gpu:
    def __init__(self):
        self.now, self.used, self.freed = 0.0, [], 0

    def device(self):
        return Device("GPU of the test", 10_000, 1000.0, "0")

    def upload(self, array):
        return array.copy()

    download = upload

    def allocate(self, shape, dtype):
        return np.full(shape, np.nan, dtype)

    def ready_matmul(self, *operands):
        (a, _), (b, _), (out, shape) = operands
        assert shape == SPEC.output_shape

        def queue():
            out[...] = a.astype("f4") @ b.astype("f4")
            self.used.append(id(out))
            self.now += 0.01

        return queue

    def free(self):
        self.freed += 1

    def mark(self):
        return self.now

    def wait(self, event):
        pass

    def between(self, start, end):
        return end - start

    def capture(self, work):
        raise NotImplementedError("calling cuBLAS API during stream capture is currently unsupported")


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_product_is_checked_and_timed_one_by_one_where_cupy_cannot_capture_it(monkeypatch, dtype):
    gpu = Gpu()
    monkeypatch.setattr(cublas, "cuda_queue", gpu)
    record = peer("cublas")
    assert record.supports(SPEC, dtype) is None
    prepared = record.prepare(SPEC, dtype)
    assert prepared().dtype == dtype
    time, kernel = measure_peer(replace(record, available=lambda: "", free=gpu.free), SPEC, dtype)
    assert (time.milliseconds, time.on, kernel) == (pytest.approx(0.01), "GPU of the test", "")
    assert "launched one by one (no CUDA graph: calling cuBLAS API during stream capture" in time.note
    assert gpu.freed == 1
    sets = -(-20_000 // (np.dtype(dtype).itemsize * (30 * 10 + 10 * 20 + 30 * 20)))
    assert f"over {sets} sets" in time.note


def test_it_multiplies_matrices_only():
    spec = ConvSpec(n=1, c=1, h=4, w=4, k=1, r=2, s=2)
    assert peer("cublas").supports(spec) == "cublas computes gemm, not conv2d."
