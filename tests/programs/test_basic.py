"""Textbook programs on arrays, matrices, pictures and volumes, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from .programs import ARCHES, blocks, program, run, within

pytestmark = pytest.mark.parametrize("arch", ARCHES)

EXACT = ("-fmad=false",)  # each operation rounds by itself, as in NumPy


def nan(*shape):
    return np.full(shape, np.nan, "f4")


@pytest.mark.parametrize("name", ["add_one_each", "add_grid_stride", "add_by_runs"])
def test_vector_add(arch, name):
    rng = np.random.default_rng(1)
    a, b, c = rng.standard_normal(1001, "f4"), rng.standard_normal(1001, "f4"), nan(1001)
    grid = 8 if name == "add_one_each" else 3
    run(program("vector_add", arch).kernels[name], grid, 128, [a, b, c, 1001])
    np.testing.assert_array_equal(c, a + b)


def test_a_grid_stride_loop_fills_every_element(arch):
    out = np.full(517, -7, "i4")
    run(program("vector_add", arch).kernels["fill_indices"], 3, 33, [out, 517])
    np.testing.assert_array_equal(out, np.arange(517) * 3 - 517)


@pytest.mark.parametrize("n", [999, 1000, 3])
@pytest.mark.parametrize("name", ["saxpy", "saxpy_vector"])
def test_saxpy(arch, name, n):
    rng = np.random.default_rng(2)
    a, x, y = -1.7, rng.standard_normal(n, "f4"), rng.standard_normal(n, "f4")
    exact = np.float64(np.float32(a)) * x + y.astype("f8")
    magnitude = np.abs(np.float32(a) * x) + np.abs(y)
    run(program("saxpy", arch).kernels[name], blocks(n, 96), 96, [a, x, y, n])
    within(y, exact, 1, magnitude)


def test_vector_loads_make_fewer_requests_of_the_same_sectors(arch):
    x = np.ones(1024, "f4")
    module = program("saxpy", arch)
    scalar = run(module.kernels["saxpy"], 8, 128, [1.0, x, x.copy(), 1024]).counters
    vector = run(module.kernels["saxpy_vector"], 2, 128, [1.0, x, x.copy(), 1024]).counters
    assert (scalar.requests_global_load, vector.requests_global_load) == (64, 16)
    assert scalar.sectors_global_load == vector.sectors_global_load == 256


def test_swap_halves(arch):
    pairs = np.random.default_rng(3).standard_normal((301, 2), "f4")
    expected = pairs[:, ::-1].copy()
    run(program("saxpy", arch).kernels["swap_halves"], 3, 128, [pairs, 301])
    np.testing.assert_array_equal(pairs, expected)


def test_sum_by_a_tree(arch):
    x, partial = np.random.default_rng(4).standard_normal(1003, "f4"), nan(3)
    run(program("reduction", arch).kernels["sum_tree"], 3, 128, [x, partial, 1003])
    of_block = np.pad(x.astype("f8"), (0, 149)).reshape(3, 3, 128)  # rounds, blocks, threads
    within(partial, of_block.sum(axis=(0, 2)), 3 + 7, np.abs(of_block).sum(axis=(0, 2)))  # 3 rounds, then 7 levels


def test_sum_by_shuffles(arch):
    x, total = np.random.default_rng(5).standard_normal(1003, "f4"), np.zeros(1, "f4")
    run(program("reduction", arch).kernels["sum_shuffle"], 3, 128, [x, total, 1003])
    within(total[0], x.astype("f8").sum(), 3 + 5 + 5 + 3, np.abs(x).sum())


@pytest.mark.parametrize("n", [75, 32, 5])
def test_each_warp_finds_its_largest_element_and_the_first_of_equals(arch, n):
    x, where = np.random.default_rng(6).integers(-50, 50, (6, n), "i4"), np.full(6, -9, "i4")
    run(program("reduction", arch).kernels["warp_argmax"], 3, 64, [x, where, n])
    np.testing.assert_array_equal(where, x.argmax(axis=1))


@pytest.mark.parametrize(("name", "items"), [("scan_hillis_steele", 64), ("scan_blelloch", 128)])
def test_scan_with_a_second_pass_over_the_blocks(arch, name, items):
    module, n = program("scan", arch), 1000
    grid = blocks(n, items)
    x, out = np.random.default_rng(7).integers(-1000, 1000, n, "i4"), np.full(n, 12345, "i4")
    sums, offsets, unused = np.zeros(grid, "i4"), np.zeros(grid, "i4"), np.zeros(1, "i4")
    run(module.kernels[name], grid, 64, [x, out, sums, n])
    run(module.kernels["scan_blelloch"], 1, 64, [sums, offsets, unused, grid])
    run(module.kernels["add_offsets"], grid, 48, [out, offsets, items, n])
    inclusive = np.cumsum(x)
    np.testing.assert_array_equal(out, inclusive if name == "scan_hillis_steele" else inclusive - x)
    assert unused[0] == inclusive[-1]


def test_transposes(arch):
    module, x = program("transpose", arch), np.random.default_rng(8).standard_normal((45, 70), "f4")
    conflicts = {}
    for name in ("naive", "shared", "padded"):
        out = nan(70, 45)
        done = run(module.kernels[f"transpose_{name}"], (3, 2), (32, 8), [x, out, 45, 70])
        np.testing.assert_array_equal(out, x.T)
        conflicts[name] = done.counters.conflicts_shared_load
    assert conflicts["naive"] == conflicts["padded"] == 0 < conflicts["shared"]


def test_what_a_transpose_costs_in_sectors_and_conflicts(arch):
    module, x = program("transpose", arch), np.random.default_rng(9).standard_normal((64, 96), "f4")
    counts = {
        name: run(module.kernels[f"transpose_{name}"], (3, 2), (32, 8), [x, nan(96, 64), 64, 96]).counters
        for name in ("naive", "shared", "padded")
    }
    assert {name: c.sectors_global_load for name, c in counts.items()} == dict.fromkeys(counts, x.size // 8)
    assert counts["naive"].sectors_global_store == x.size  # a sector for each element
    assert counts["shared"].sectors_global_store == counts["padded"].sectors_global_store == x.size // 8
    assert counts["shared"].conflicts_shared_load == 31 * x.size // 32  # 32 wavefronts for each warp, in place of one
    assert [counts[name].conflicts_shared_store for name in ("shared", "padded")] == [0, 0]


@pytest.mark.parametrize(("m", "n", "k"), [(37, 21, 50), (16, 33, 7), (5, 64, 16)])
@pytest.mark.parametrize("name", ["matmul_naive", "matmul_tiled"])
def test_matmul(arch, name, m, n, k):
    rng = np.random.default_rng(10)
    a, b, c = rng.standard_normal((m, k), "f4"), rng.standard_normal((k, n), "f4"), nan(m, n)
    run(program("matmul", arch).kernels[name], (blocks(n, 16), blocks(m, 16)), (16, 16), [a, b, c, m, n, k])
    within(c, a.astype("f8") @ b, k, np.abs(a) @ np.abs(b))


@pytest.mark.parametrize(("m", "n", "k"), [(37, 44, 20), (65, 32, 12)])
def test_matmul_in_registers(arch, m, n, k):
    rng = np.random.default_rng(11)
    a, b, c = rng.standard_normal((m, k), "f4"), rng.standard_normal((k, n), "f4"), nan(m, n)
    kernel = program("matmul_registers", arch).kernels["matmul_registers"]
    run(kernel, (blocks(n, 32), blocks(m, 32)), 64, [a, b, c, m, n, k])
    within(c, a.astype("f8") @ b, k, np.abs(a) @ np.abs(b))


@pytest.mark.parametrize("name", ["heat_naive", "heat_shared"])
def test_heat_on_a_plate(arch, name):
    kernel, rate = program("stencil2d", arch).kernels[name], 0.2
    x = np.random.default_rng(12).standard_normal((29, 41), "f4")
    expected, magnitude = x.astype("f8"), np.abs(x)
    inner = np.s_[1:-1, 1:-1]
    for term, way in ((expected, x.astype("f8")), (magnitude, np.abs(x))):
        around = way[1:-1, :-2] + way[1:-1, 2:] + way[:-2, 1:-1] + way[2:, 1:-1]
        sign = -1 if term is expected else 1
        term[inner] = way[inner] + np.float32(rate) * (around + sign * 4 * way[inner])
    y = nan(29, 41)
    run(kernel, (blocks(41, 16), blocks(29, 8)), (16, 8), [x, y, 29, 41, rate])
    within(y, expected, 6, magnitude)


@pytest.mark.parametrize(
    ("name", "grid", "block"), [("laplace_3d", (3, 4, 2), (8, 4, 3)), ("laplace_columns", (2, 3), (16, 5))]
)
def test_laplace_in_space(arch, name, grid, block):
    x, y = np.random.default_rng(13).standard_normal((5, 13, 19), "f4"), nan(5, 13, 19)
    volume = np.array((5, 13, 19), [("depth", "i4"), ("height", "i4"), ("width", "i4")])[()]

    def laplace(array, centre):
        wide = np.pad(array.astype("f8"), 1)
        shifted = [np.roll(wide, step, axis) for axis in range(3) for step in (-1, 1)]
        return (sum(shifted) + centre * wide)[1:-1, 1:-1, 1:-1]

    run(program("stencil3d", arch).kernels[name], grid, block, [x, y, volume])
    within(y, laplace(x, -6), 7, laplace(np.abs(x), 6))


@pytest.mark.parametrize("name", ["convolve_naive", "convolve_shared"])
def test_convolution_with_a_filter_in_constant_memory(arch, name):
    taps = np.array([0.125, -0.5, 0.75, 2.0, -1.25, 0.375, 0.0625])
    x, y = np.random.default_rng(14).standard_normal(203, "f4"), nan(203)
    run(program("convolution1d", arch).kernels[name], 4, 64, [x, y, 203])
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x.astype("f8"), 3), 7)
    within(y, 3 * windows @ taps, 7 + 1, 3 * np.abs(windows) @ np.abs(taps))


def test_lanes_read_constants_of_their_own(arch):
    out = nan(150)
    run(program("convolution1d", arch).kernels["read_filter"], 3, 64, [out, 150])
    np.testing.assert_array_equal(out, np.resize([0.125, -0.5, 0.75, 2.0, -1.25, 0.375, 0.0625], 150))


def test_bodies_attract_each_other(arch):
    rng, n, softening = np.random.default_rng(15), 150, 0.01
    body, acceleration = rng.standard_normal((n, 4), "f4"), nan(n, 3)
    body[:, 3] = rng.uniform(0.5, 2, n)
    run(program("nbody", arch).kernels["accelerate"], 3, 64, [body, acceleration, n, softening])
    exact = body.astype("f8")
    apart = exact[None, :, :3] - exact[:, None, :3]
    strength = exact[:, 3] / ((apart**2).sum(axis=2) + np.float32(softening)) ** 1.5
    # Each term: a difference, the third power of rsqrtf (2 ulp, and half the error of 4 additions), 4 products.
    within(
        acceleration, np.einsum("ij,ijk->ik", strength, apart), n + 20, np.einsum("ij,ijk->ik", strength, abs(apart))
    )


def test_bodies_drift(arch):
    rng = np.random.default_rng(16)
    body, velocity = rng.standard_normal((77, 4), "f4"), rng.standard_normal((77, 3), "f4")
    moved = body.copy()
    run(program("nbody", arch, EXACT).kernels["drift"], 2, 64, [moved, velocity, 0.125, 77])
    np.testing.assert_array_equal(moved[:, :3], body[:, :3] + velocity * np.float32(0.125))
    np.testing.assert_array_equal(moved[:, 3], body[:, 3])


@pytest.mark.parametrize("name", ["life", "life_shared"])
def test_game_of_life_on_a_torus(arch, name):
    kernel = program("game_of_life", arch).kernels[name]
    cells = (np.random.default_rng(17).random((21, 37)) < 0.4).astype("u1")
    for _ in range(3):
        shifts = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]
        neighbours = sum(np.roll(cells, shift, (0, 1)) for shift in shifts)
        expected = ((neighbours == 3) | ((cells == 1) & (neighbours == 2))).astype("u1")
        after = np.full_like(cells, 9)
        run(kernel, (3, 3), (16, 8), [cells, after, 21, 37])
        np.testing.assert_array_equal(after, expected)
        cells = after


def test_pictures_of_bytes(arch):
    rng, module = np.random.default_rng(18), program("blur", arch)
    rgb, amount = rng.integers(0, 256, (23, 39, 3), "u1"), rng.integers(-128, 128, (23, 39), "i1")
    grey, blurred = np.zeros((23, 39), "u1"), np.zeros((23, 39), "u1")
    run(module.kernels["grey"], blocks(23 * 39, 128), 128, [rgb, grey, 23 * 39])
    np.testing.assert_array_equal(grey, rgb.astype("i4") @ [77, 150, 29] >> 8)
    for radius in (1, 3):
        run(module.kernels["box_blur"], (3, 3), (16, 8), [grey, blurred, 23, 39, radius])
        rows, cols = ([slice(max(i - radius, 0), i + radius + 1) for i in range(size)] for size in grey.shape)
        means = [[(grey[r, c].sum(dtype=int) + grey[r, c].size // 2) // grey[r, c].size for c in cols] for r in rows]
        np.testing.assert_array_equal(blurred, means)
    expected = np.clip(grey.astype("i4") + amount, 0, 255)
    run(module.kernels["brighten"], blocks(23 * 39, 128), 128, [grey, amount, 23 * 39])
    np.testing.assert_array_equal(grey, expected)


def test_pixels_of_four_bytes(arch):
    rng, module = np.random.default_rng(19), program("luminance", arch, EXACT)
    pixel, grey = rng.integers(0, 256, (333, 4), "u1"), np.zeros(333, "u1")
    run(module.kernels["luminance"], 6, 64, [pixel, grey, 333])
    r, g, b = pixel[:, :3].T.astype("f4")
    weighted = np.float32(0.299) * r + np.float32(0.587) * g + np.float32(0.114) * b
    np.testing.assert_array_equal(grey, np.rint(weighted))
    inverted = pixel.copy()
    run(module.kernels["invert"], 6, 64, [inverted, 333])
    np.testing.assert_array_equal(inverted, np.column_stack([255 - pixel[:, :3], pixel[:, 3]]))


def test_four_bytes_are_blended_at_once(arch):
    a, b = np.random.default_rng(20).integers(0, 256, (2, 201, 4), "u1")
    out = np.zeros_like(a)
    run(program("luminance", arch).kernels["blend"], 4, 64, [a.view("u4"), b.view("u4"), out.view("u4"), 201])
    np.testing.assert_array_equal(out, (a.astype("i4") + b) // 2)


def test_gamma(arch):
    values, out = np.arange(256).astype("u1"), np.zeros(256, "u1")
    run(program("luminance", arch).kernels["gamma_curve"], 3, 96, [values, out, 2.2, 256])
    exact = 255 * (values / 255.0) ** np.float64(np.float32(2.2))
    assert not (np.abs(out - exact) > 0.5 + 1e-3).any()  # rounded, with room for powf's error near the halves
