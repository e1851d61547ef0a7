"""Textbook programs whose threads work together through memory: locks, lists, streams, paths and text."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from .programs import ARCHES, blocks, program, run, within

pytestmark = pytest.mark.parametrize("arch", ARCHES)

MASK = 2**64 - 1
any_order = pytest.mark.parametrize("seed", [None, 7])  # of warps: the result is the same


def test_two_arrays_in_dynamic_shared_memory(arch):
    rng, classes = np.random.default_rng(1), 37
    label, x = rng.integers(0, classes, 500, "i4"), rng.standard_normal(500, "f4")
    sums, counts = np.zeros(classes), np.zeros(classes, "i4")
    kernel = program("dynamic_shared", arch).kernels["class_sums"]
    run(kernel, 3, 64, [label, x, sums, counts, classes, 500], shared=classes * 12)
    np.testing.assert_array_equal(counts, np.bincount(label, minlength=classes))
    exact = np.bincount(label, x, classes)
    within(sums, exact, 2 * counts.max(), np.bincount(label, np.abs(x), classes))


def test_shared_bytes_serve_two_purposes(arch):
    x = np.random.default_rng(2).integers(-30000, 30000, 230, "i4")
    back, turned = np.zeros(230, "i4"), np.zeros(230, "i2")
    kernel = program("dynamic_shared", arch).kernels["reverse_and_rotate"]
    run(kernel, 3, 100, [x, back, turned, 7, 230], shared=400)
    parts = [part[::-1] for part in np.split(x, [100, 200])]
    np.testing.assert_array_equal(back, np.concatenate(parts))
    np.testing.assert_array_equal(turned, np.concatenate([np.roll(part, -7) for part in parts]))


@any_order
def test_all_blocks_wait_for_each_other(arch, seed):
    n = 70_000 - 17  # more lanes than run at a time where nobody waits
    x = np.random.default_rng(6).standard_normal(n, "f4")
    doubled, y = np.zeros(n, "f4"), np.zeros(n, "f4")
    kernel = program("grid_barrier", arch).kernels["double_and_reverse"]
    run(kernel, blocks(n, 1024), 1024, [x, doubled, y, n], seed=seed)
    np.testing.assert_array_equal(y, 2 * x[::-1])


@any_order
def test_every_thread_enters_the_lock_in_turn(arch, seed):
    account = np.array([10, 1000], "i4")
    run(program("spin_lock", arch).kernels["count_with_lock"], 2, 40, [account], seed=seed)
    assert account.tolist() == [10 + 80, 1000 + 2 * sum(range(40))]


@any_order
def test_value_and_index_change_together(arch, seed):
    x, best = np.random.default_rng(3).integers(-99, 99, 330, "i4"), np.array([-(2**31), 330], "i4")
    run(program("spin_lock", arch).kernels["largest"], 4, 96, [x, best, 330], seed=seed)
    assert best.tolist() == [x.max(), x.argmax()]


@any_order
def test_lists_of_a_hash_table(arch, seed):
    key, buckets = np.random.default_rng(4).integers(0, 1000, 90, "i4"), 7
    head, following, lock = np.full(buckets, -1, "i4"), np.full(90, -9, "i4"), np.zeros(buckets, "i4")
    run(program("spin_lock", arch).kernels["insert"], 3, 32, [key, head, following, lock, buckets, 90], seed=seed)
    for bucket, first in enumerate(head.tolist()):
        chain, at = [], first
        while at >= 0:
            chain.append(at)
            at = following[at]
        assert sorted(chain) == np.flatnonzero(key % buckets == bucket).tolist()
    assert not lock.any()


@any_order
def test_the_last_block_adds_up(arch, seed):
    kernel, rng = program("last_block", arch).kernels["mean"], np.random.default_rng(5)
    for n, grid in ((1234, 7), (500, 5)):  # twice: the counter is ready again
        x, partial, result = rng.standard_normal(n, "f4"), np.full(grid, np.nan, "f4"), np.full(1, np.nan, "f4")
        run(kernel, grid, 96, [x, partial, result, n], seed=seed)
        within(result[0], x.astype("f8").mean(), blocks(n, grid * 96) + 7 + 7 + 1, np.abs(x).mean())


NODE = np.dtype([("value", "f8"), ("next", "i4"), ("kind", "S1")], align=True)
FILTER = np.dtype([("kind", "S1"), ("scale", "f8"), ("limit", "i2", 3)], align=True)
BRANCH = np.dtype([("key", "i4"), ("left", "i4"), ("right", "i4")])


def lists(rng, sizes):
    """A pool of nodes, mixed up, with a list of each size; its head is -1 where the list is empty."""
    places = np.split(rng.permutation(sum(sizes)), np.cumsum(sizes)[:-1])
    pool = np.zeros(sum(sizes), NODE)
    pool["value"], pool["kind"] = rng.standard_normal(pool.size), rng.choice([b"a", b"b"], pool.size)
    for place in places:
        pool["next"][place] = np.append(place[1:], -1)[: place.size]
    return pool, np.array([place[0] if place.size else -1 for place in places], "i4"), places


def test_lists_of_structs(arch):
    rng = np.random.default_rng(6)
    pool, head, places = lists(rng, rng.integers(0, 9, 70).tolist())
    sums, length = np.full(70, np.nan), np.full(70, -1, "i4")
    choice = np.array((b"b", -1.5, (3, -2, 5)), FILTER)[()]
    run(program("linked_structs", arch).kernels["sum_lists"], 2, 48, [pool, head, sums, length, choice, 70])
    seen = [pool[place[:6]] for place in places]
    assert length.tolist() == [part.size for part in seen]
    terms = [part["value"][part["kind"] == b"b"] * -3 for part in seen]
    within(sums, [term.sum() for term in terms], 6 + 1, [np.abs(term).sum() for term in terms])


def test_lists_are_reversed_in_place(arch):
    rng = np.random.default_rng(7)
    pool, head, places = lists(rng, rng.integers(0, 9, 70).tolist())
    kept = pool.copy()
    run(program("linked_structs", arch).kernels["reverse_lists"], 2, 48, [pool, head, 70])
    assert head.tolist() == [place[-1] if place.size else -1 for place in places]
    for place in places:
        assert pool["next"][place].tolist() == [-1, *place[:-1].tolist()][: place.size]
    np.testing.assert_array_equal(pool[["value", "kind"]], kept[["value", "kind"]])


def test_a_search_tree(arch):
    rng = np.random.default_rng(8)
    keys = rng.permutation(200)[:60].tolist()
    tree, depth = np.full(60, -1, BRANCH), {keys[0]: 0}
    tree["key"] = keys
    for new, key in enumerate(keys[1:], start=1):
        at, steps = 0, 0
        while at >= 0:
            above, side, steps = at, "left" if key < keys[at] else "right", steps + 1
            at = tree[side][at]
        tree[side][above], depth[key] = new, steps
    wanted, found = np.arange(200, dtype="i4"), np.full(200, -5, "i4")
    run(program("linked_structs", arch).kernels["find"], 5, 48, [tree, 0, wanted, found, 200])
    assert found.tolist() == [depth.get(key, -1) for key in range(200)]


@pytest.mark.parametrize("name", ["keep_positive", "keep_even", "keep_positive_in_order"])
def test_stream_compaction(arch, name):
    x = np.random.default_rng(9).integers(-99, 99, 600, "i4")
    out, count = np.full(600, 1234, "i4"), np.zeros(1, "i4")
    in_order = name == "keep_positive_in_order"
    run(program("compaction", arch).kernels[name], 1 if in_order else 5, 128, [x, out, count, 600])
    kept = x[x % 2 == 0] if name == "keep_even" else x[x > 0]
    found = out[: count[0]]
    np.testing.assert_array_equal(found if in_order else np.sort(found), kept if in_order else np.sort(kept))
    assert (out[count[0] :] == 1234).all()


def test_facts_about_warps(arch):
    x = np.random.default_rng(10).integers(-99, 99, 300, "i4")
    x[64:96], x[96:128] = np.abs(x[64:96]) + 1, np.abs(x[96:128]) // 30
    every, some, zeros = np.full(12, -1, "i4"), np.full(12, -1, "i4"), np.full(12, 99, "u4")
    run(program("compaction", arch).kernels["warp_facts"], 3, 128, [x, every, some, zeros, 300])
    warps = np.append(x, np.ones(84, "i4")).reshape(12, 32)
    np.testing.assert_array_equal(every, (warps > 0).all(axis=1))
    np.testing.assert_array_equal(some, (warps < -90).any(axis=1))
    np.testing.assert_array_equal(zeros, (warps == 0) @ (1 << np.arange(32)))


def states(seed, threads, draws):
    """The generator of each thread, in exact integers."""
    for thread in range(threads):
        state = seed ^ (thread * 0x9E3779B97F4A7C15 & MASK)
        for _ in range(draws):
            state = (state * 6364136223846793005 + 1442695040888963407) & MASK
            yield state


def test_monte_carlo(arch):
    seed, samples, hits = 0x123456789ABCDEF0, 20, np.zeros(1, "u8")
    run(program("monte_carlo", arch).kernels["count_in_circle"], 3, 50, [seed, samples, hits])
    points = np.array([state >> 40 for state in states(seed, 150, 2 * samples)], "u8").reshape(-1, 2)
    assert hits[0] == ((points**2).sum(axis=1) < 2**48).sum()
    assert abs(4 * hits[0] / (150 * samples) - np.pi) < 0.1


def test_64_bit_atomics(arch):
    seed, total, largest, smallest = 2**63 + 5, np.zeros(1, "u8"), np.zeros(1, "u8"), np.zeros(1, "i8")
    run(program("monte_carlo", arch).kernels["extremes"], 2, 33, [seed, 4, total, largest, smallest])
    drawn = list(states(seed, 66, 4))
    assert total[0] == sum(state >> 40 << 16 for state in drawn)
    assert largest[0] == max(drawn)
    assert smallest[0] == min(state - 2**64 if state >> 63 else state for state in drawn)


FAR = 1 << 29


def graph(rng, n):
    distance = rng.integers(1, 50, (n, n), "i4")
    distance[rng.random((n, n)) < 0.85] = FAR
    np.fill_diagonal(distance, 0)
    return distance


def shortest(distance):
    """Bellman's way: as many rounds as there may be edges on a path."""
    best = distance.copy()
    for _ in range(len(distance)):
        best = np.minimum(best, (best[:, :, None] + distance[None]).min(axis=1))
    return np.minimum(best, FAR)


def test_shortest_paths(arch):
    distance = graph(np.random.default_rng(11), 29)
    module, found, via = program("floyd_warshall", arch), distance.copy(), np.full((29, 29), -1, "i4")
    for stop in range(29):
        run(module.kernels["relax"], (2, 4), (16, 8), [found, via, stop, 29])
    np.testing.assert_array_equal(found, shortest(distance))
    start, end = np.nonzero(via >= 0)
    stops = via[start, end]
    np.testing.assert_array_equal(found[start, stops] + found[stops, end], found[start, end])
    count = np.zeros(29, "i4")
    run(module.kernels["count_reachable"], 29, 16, [found, count, 29])
    np.testing.assert_array_equal(count, (found < FAR).sum(axis=1))


def test_shortest_paths_in_one_block(arch):
    distance = graph(np.random.default_rng(12), 21)
    found = distance.copy()
    run(program("floyd_warshall", arch).kernels["paths_in_block"], 1, 100, [found, 21])
    np.testing.assert_array_equal(found, shortest(distance))


@pytest.mark.parametrize("name", ["matvec_rows", "matvec_blocks", "matvec_transposed"])
def test_matrix_times_vector_in_double(arch, name):
    rng, (rows, cols) = np.random.default_rng(13), (45, 131)
    a = rng.standard_normal((rows, cols))
    by_rows = name != "matvec_transposed"
    x, y = rng.standard_normal(cols if by_rows else rows), np.zeros(rows if by_rows else cols)
    grid, sizes = {"matvec_rows": (1, [rows]), "matvec_blocks": (rows, []), "matvec_transposed": ((3, 4), [rows])}[name]
    run(program("matvec_double", arch).kernels[name], grid, 64, [a, x, y, *sizes, cols])
    matrix = a if by_rows else a.T
    exact = matrix.astype(np.longdouble) @ x
    within(y, exact.astype("f8"), len(x), np.abs(matrix) @ np.abs(x))


def test_normalise(arch):
    x, norm2 = np.random.default_rng(14).standard_normal(99), np.array([7.3])
    expected = x / np.sqrt(norm2)
    run(program("matvec_double", arch).kernels["normalise"], 2, 64, [x, norm2, 99])
    np.testing.assert_array_equal(x, expected)  # square root and division round correctly


TEXT = b"The theory, in the end: there are threads; then others gather. OTHERWISE, they'd lather -- the zebra [x] {y}!"


def text():
    return np.frombuffer(TEXT, "i1").copy(), len(TEXT)


def test_upper_case(arch):
    given, n = text()
    out = np.zeros(n, "i1")
    run(program("strings", arch).kernels["to_upper"], 4, 32, [given, out, n])
    assert out.tobytes() == TEXT.upper()


def test_words_and_letters_are_counted(arch):
    given, n = text()
    words, histogram = np.zeros(1, "i4"), np.zeros(26, "i4")
    module = program("strings", arch)
    run(module.kernels["count_words"], 4, 32, [given, words, n])
    run(module.kernels["letters"], 2, 40, [given, histogram, n])
    assert words[0] == len(re.findall(rb"[A-Za-z]+", TEXT))
    assert histogram.tolist() == [TEXT.upper().count(bytes([letter])) for letter in range(65, 91)]


@pytest.mark.parametrize("word", [b"the", b"th", b"her", b"y}!", b"y}!?", b""])
def test_a_word_is_found_everywhere(arch, word):
    given, n = text()
    found = np.full(n, 9, "u1")
    run(program("strings", arch).kernels["search"], 4, 32, [given, np.frombuffer(word + b"\0", "i1").copy(), found, n])
    assert found.tolist() == [TEXT.startswith(word, at) for at in range(n)]


def test_strings_are_reversed(arch):
    given, n = text()
    start = np.array([0, 3, 3, 4, 20, 57, n], "i4")
    run(program("strings", arch).kernels["reverse_strings"], 2, 4, [given, start, 6])
    assert given.tobytes() == b"".join(TEXT[a:b][::-1] for a, b in pairwise(start))
