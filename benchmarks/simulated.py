"""The kernels of the benchmark for Numba's CUDA simulator, line by line what the CUDA C does.

The simulator has no Tensor Cores: there is nothing to compare those kernels with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float32

__all__ = ["TILE", "matmul_tiled", "naive"]

TILE = 16


@cuda.jit
def naive(x: Any, w: Any, y: Any, pad: int) -> None:
    """convlab/kernels/naive.cu for stride, dilation and groups of one."""
    pixel = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if pixel >= y.shape[2] * y.shape[3]:
        return
    p, q = pixel // y.shape[3], pixel % y.shape[3]
    k, n = cuda.blockIdx.y, cuda.blockIdx.z
    total = np.float32(0)
    for c in range(x.shape[1]):
        for r in range(w.shape[2]):
            for s in range(w.shape[3]):
                h, col = p - pad + r, q - pad + s
                if 0 <= h < x.shape[2] and 0 <= col < x.shape[3]:
                    total += x[n, c, h, col] * w[k, c, r, s]
    y[n, k, p, q] = total


@cuda.jit
def matmul_tiled(a: Any, b: Any, c: Any) -> None:
    """matmul_tiled of tests/programs/matmul.cu."""
    left = cuda.shared.array((TILE, TILE), float32)  # on lines of their own: the simulator tells arrays apart by them
    right = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    total = np.float32(0)
    for first in range(0, a.shape[1], TILE):
        left[ty, tx] = a[row, first + tx] if row < a.shape[0] and first + tx < a.shape[1] else 0
        right[ty, tx] = b[first + ty, col] if first + ty < b.shape[0] and col < b.shape[1] else 0
        cuda.syncthreads()  # both tiles are complete
        for k in range(TILE):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()  # nobody still reads what the next round overwrites
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
