"""Random kernels that share three words, and which of their accesses collide: all pairs, by vector clocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

THREADS, BLOCKS = 128, 2

# What a line of a random kernel does to the shared word `s[0]`, at an index that the compiler does not know.
LINES = {
    "load": "acc += {s}[z[{k}]];",
    "store": "{s}[z[{k}]] = 1000 * {k} + t;",
    "store seven": "{s}[z[{k}]] = 7;",
    "volatile load": "acc += *(volatile int*)({s} + z[{k}]);",
    "volatile store": "*(volatile int*)({s} + z[{k}]) = 1000 * {k} + t;",
    "atomic": "atomicAdd({s} + z[{k}], 1);",
}
MEETINGS = {
    "block": "__syncthreads();",
    "warp": "__syncwarp();",
    "pair": 'asm volatile("bar.sync %0, 64;" :: "r"(1 + t / 64) : "memory");',  # two warps each
    "others": 'asm volatile("bar.sync %0, 64;" :: "r"(3 + t / 32 % 2) : "memory");',  # warps 0 and 2, 1 and 3
}
GROUPS = {"block": THREADS, "warp": 32, "pair": 64}  # threads with the same number // that meet
STRENGTH = {"volatile load": 1, "volatile store": 1, "atomic": 2}
FIRST_LINE = 4
# What is done to each word: stores of different values, of equal ones, and all kinds mixed.
WORDS = {"a": ("load", "store"), "b": ("load", "store seven", "atomic"), "c": tuple(LINES)}


@dataclass(frozen=True)
class Access:
    thread: int
    line: int
    what: str
    word: str
    clock: int
    known: np.ndarray

    @property
    def writes(self) -> bool:
        return "load" not in self.what


def random_lines(rng, meetings):
    """Accesses to one of three words each, some of them between meetings."""
    lines = []
    for _ in range(14):
        if rng.random() < 0.35:
            lines.append((str(rng.choice(meetings)), ""))
        word = str(rng.choice(list(WORDS)))
        lines.append((str(rng.choice(WORDS[word])), word))
    return lines


def source(lines):
    body = "\n".join(
        MEETINGS[what] if what in MEETINGS else f"if (m[{k * THREADS}]) " + LINES[what].format(s=word, k=k)
        for k, (what, word) in enumerate(lines)
    )
    return f"""extern "C" __global__ void f(const unsigned char* m, const int* z, int* y) {{
        __shared__ int a[1], b[1], c[1]; int t = threadIdx.x, acc = a[0] = b[0] = c[0] = 0; __syncthreads();
        m += {len(lines) * THREADS} * blockIdx.x + t;
{body}
        __syncthreads();  // the compiler leaves out what is never written or never read
        y[blockIdx.x * {THREADS} + t] = acc + a[0] + b[0] + c[0];
    }}"""


def who_meets(what):
    threads = np.arange(THREADS)
    group = threads // 32 % 2 if what == "others" else threads // GROUPS[what]
    return [threads[group == g] for g in np.unique(group)]


def accesses(lines, active):
    """All accesses of a block in the order of lines and threads, each with what its thread knows of all others."""
    known = np.zeros((THREADS, THREADS), int)  # vector clocks: row t is what thread t has heard of everybody
    np.fill_diagonal(known, 1)
    for k, (what, word) in enumerate(lines):
        if what in MEETINGS:
            for group in who_meets(what):
                known[group] = known[group].max(axis=0)
                known[group, group] += 1
            continue
        for t in np.flatnonzero(active[k]).tolist():
            yield Access(t, k + FIRST_LINE, what, word, int(known[t, t]), known[t].copy())


def collide(first: Access, second: Access) -> bool:
    if first.word != second.word or first.thread == second.thread or not (first.writes or second.writes):
        return False
    if first.what == second.what == "store seven":
        return False
    if STRENGTH.get(first.what, 0) + STRENGTH.get(second.what, 0) >= 3:
        return False
    return second.known[first.thread] < first.clock


def races(lines, active):
    """All pairs that collide, as (kind, line, other line, severity)."""
    seen = list(accesses(lines, active))
    for n, second in enumerate(seen):
        for first in seen[:n]:
            if collide(first, second):
                kind = {(True, False): "RAW", (False, True): "WAR", (True, True): "WAW"}[first.writes, second.writes]
                one_warp = first.thread // 32 == second.thread // 32 and first.line != second.line
                yield kind, second.line, first.line, "warning" if one_warp else "error"


def some_threads(rng, lines):
    """For each block and line some threads: few, so that not everything collides, or a whole warp."""
    active = np.zeros((BLOCKS, len(lines), THREADS), bool)
    for row in active.reshape(-1, THREADS):
        near = int(rng.integers(0, THREADS))
        row[rng.integers(0, THREADS, rng.integers(0, 3))] = True
        row[near : near + rng.integers(0, 3)] = True
        if rng.random() < 0.05:
            row[near // 32 * 32 :][:32] = True
    return active
