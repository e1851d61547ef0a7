"""Exercise 05: right kernels that are written differently pass, and what a learner is told of the others."""

import pytest

from convlab.checker import check
from convlab.checker.exercises import e05_barriers, e05_conflicts, e05_halo
from convlab.executors.compile import compile

LOADS = e05_halo.ANSWER[e05_halo.ANSWER.index("        for (int i") : e05_halo.ANSWER.index("        __syncthreads")]
HALO = {
    "by the thread's number": """
        for (int t = threadIdx.y * BQ + threadIdx.x; t < rows * cols; t += BP * BQ) {
            int h = top + t / cols, col = left + t % cols;
            tile[t] = h < 0 || h >= H || col < 0 || col >= W ? 0.0f : plane[h * W + col];
        }
""",
    "a row for each warp": """
        int thread = threadIdx.y * BQ + threadIdx.x;
        for (int i = thread / 32; i < rows; i += 2)
            for (int j = thread % 32; j < cols; j += 32) {
                float pixel = 0.0f;
                if ((unsigned)(top + i) < H && (unsigned)(left + j) < W) pixel = plane[(top + i) * W + left + j];
                tile[i * cols + j] = pixel;
            }
""",
    "backwards, columns outside": """
        for (int j = cols - 1 - threadIdx.x; j >= 0; j -= BQ)
            for (int i = rows - 1 - threadIdx.y; i >= 0; i -= BP) {
                int h = i + top, col = j + left;
                if (h < 0 || h >= H || col < 0 || col >= W) tile[i * cols + j] = 0.0f;
                else tile[i * cols + j] = plane[h * W + col];
            }
""",
    "one thread for each column": """
        for (int j = threadIdx.y * BQ + threadIdx.x; j < cols; j += BP * BQ)
            for (int i = 0; i < rows; ++i) {
                int h = top + i, col = left + j;
                tile[i * cols + j] = h >= 0 && h < H && col >= 0 && col < W ? plane[h * W + col] : 0.0f;
            }
""",
}
BARE = e05_barriers.ANSWER
for line in [line for line in BARE.splitlines(keepends=True) if "__syncthreads" in line]:
    BARE = BARE.replace(line, "")
LOOP, LOAD, SUM, END = (
    "    for (int c = 0; c < C; ++c) {\n",
    "        for (int i = threadIdx.y",
    "        for (int r = 0",
    "    if (p < P && q < Q) y",
)
BARRIER = "        __syncthreads();\n"
PTX = '        asm volatile("bar.sync 0;" ::: "memory");\n'
BARRIERS = {
    "before the loads and after them": {LOAD: f"{BARRIER}{LOAD}", SUM: f"{BARRIER}{SUM}"},
    "one more than needed": {LOAD: f"{BARRIER}{LOAD}", SUM: f"{BARRIER}{SUM}", END: f"{BARRIER}{END}"},
    "none before the first loads": {LOAD: f"        if (c > 0) __syncthreads();\n{LOAD}", SUM: f"{BARRIER}{SUM}"},
    "as PTX": {
        LOAD: f'        asm volatile("bar.sync 0;");\n{LOAD}',
        SUM: f'        asm volatile("bar.sync 0;");\n{SUM}',
    },
}
FORMULA = "return cols + (24 - cols % 16) % 16;"
PITCH = {
    "a loop": "while (cols % 16 != 8) ++cols; return cols;",
    "rounded up": "return (cols + 7) / 16 * 16 + 8;",
    "cases": "return cols <= 8 ? 8 : cols <= 24 ? 24 : cols <= 40 ? 40 : 56;",
    "bits": "return (cols + 7 & ~15) | 8;",
}


def changed(source, changes):
    for old, new in changes.items():
        assert source.count(old) == 1
        source = source.replace(old, new)
    return source


ANSWERS = [("05-halo", name, changed(e05_halo.ANSWER, {LOADS: text})) for name, text in HALO.items()]
ANSWERS += [("05-barriers", name, changed(BARE, changes)) for name, changes in BARRIERS.items()]
ANSWERS += [("05-conflicts", name, changed(e05_conflicts.ANSWER, {FORMULA: text})) for name, text in PITCH.items()]


@pytest.mark.parametrize(("exercise_id", "name", "source"), ANSWERS, ids=[name for _, name, _ in ANSWERS])
@pytest.mark.parametrize("seed", range(3))
def test_right_kernels_pass(exercise_id, name, source, seed):
    verdict = check(exercise_id, compile(source, name=f"{name}.cu"), seed=seed)
    assert verdict.passed, verdict


def test_a_missing_barrier_is_told_by_the_two_lines_that_race():
    source = changed(BARE, {SUM: f"{BARRIER}{SUM}"})
    verdict = check("05-barriers", compile(source, name="mine.cu"))
    stores = next(i for i, line in enumerate(source.splitlines(), start=1) if "tile[i * cols + j] =" in line)
    reads = next(i for i, line in enumerate(source.splitlines(), start=1) if "sum += tile" in line)
    assert f"in line {stores}" in verdict.message
    assert f"read in line {reads}" in verdict.message
    assert verdict.right == 1  # the layer of one channel needs no second barrier


def test_a_pitch_is_told_by_its_conflicts_or_by_the_end_of_the_memory():
    narrow, wide = (
        check("05-conflicts", compile(changed(e05_conflicts.ANSWER, {FORMULA: f"return {pitch};"}), name="mine.cu"))
        for pitch in ("cols", "cols + 100")
    )
    assert "bank conflicts of reads; 0 are what the right pitch leaves" in narrow.message
    assert "bytes of dynamic shared memory" in wide.message
