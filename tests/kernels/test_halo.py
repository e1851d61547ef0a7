from __future__ import annotations

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.kernels.halo import BANKS, Halo, halo, wavefronts

READ = """
extern "C" __global__ void read(float* y, int pitch, int stride_h, int stride_w, int words) {
    extern __shared__ float tile[];
    int i = threadIdx.y * blockDim.x + threadIdx.x;
    for (int word = i; word < words; word += 32) tile[word] = word;
    __syncwarp();
    y[i] = tile[threadIdx.y * stride_h * pitch + threadIdx.x * stride_w];
}
"""


@pytest.mark.parametrize("width", [4, 8, 16, 32])
@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (1, 2), (2, 2), (3, 4), (5, 3)])
def test_wavefronts_are_those_that_a_warp_takes(width, stride):
    kernel, words = compile(READ).kernels["read"], 8 * 5 * 80 + 32 * 5
    for pitch in (18, 33, 48, 77):
        y = np.zeros(32, "f4")
        run = launch(kernel, 1, (width, 32 // width), [y, pitch, *stride, words], 4 * words, device="emulator")
        assert run.counters.wavefronts_shared_load == wavefronts(pitch, width, stride)


@pytest.mark.parametrize("stride", [(1, 1), (3, 1), (2, 1), (4, 3), (1, 2), (5, 4)])
def test_a_pitch_without_conflicts_is_found_where_there_is_one(stride):
    rows, cols, pitch = (found := halo((16, 16), stride, (5, 3))).rows, found.cols, found.pitch
    assert (rows, cols) == (15 * stride[0] + 5, 15 * stride[1] + 3)
    every = [wavefronts(each, 16, stride) for each in range(cols, cols + 4 * BANKS)]
    assert wavefronts(pitch, 16, stride) == min(every)
    assert min(every) == (2 if stride[1] == 4 else 1)
    assert pitch == cols + every.index(min(every))


def test_two_even_strides_leave_two_lanes_to_a_bank():
    assert wavefronts(halo((16, 16), (2, 2), (3, 3)).pitch, 16, (2, 2)) == 2


def test_bytes_are_those_of_all_rows():
    assert Halo(rows=18, cols=18, pitch=48).bytes == 3456
