from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convlab.argument_text import ELEMENTS, MAKERS, plan
from convlab.errors import ArgumentError
from convlab.executors.empty import written
from convlab.executors.signature import Parameter, Source

# Another way to say which NumPy dtype stores which name.
STORED = {"i": "int", "u": "uint", "f": "float"}
POINTERS = {"i8": "signed char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short", "i32": "int"}
POINTERS |= {"u32": "unsigned", "i64": "long long", "u64": "size_t", "f16": "__half", "bf16": "__nv_bfloat16"}
POINTERS |= {"f32": "float", "f64": "double"}


def parameter(text: str) -> Parameter:
    return Source("struct P { int n; float k; };").parameter(text)


def made(text: str, declared: str, seed: int = 0) -> Any:
    return plan(text, parameter(declared)).make(np.random.default_rng(seed))


def widened(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """bfloat16's bits as float32."""
    return (array.astype(np.uint32) << 16).view(np.float32)


def error(text: str, declared: str) -> str:
    with pytest.raises(ArgumentError) as caught:
        made(text, declared)
    assert f"  In: parameter `{declared}`\n  Fix: " in str(caught.value)
    return str(caught.value)


def test_every_name_of_a_dtype_has_a_pointer_here():
    assert set(POINTERS) == set(ELEMENTS)


@pytest.mark.parametrize("name", POINTERS)
def test_a_made_array_has_the_dtype_and_the_values_that_its_text_says(name):
    stored = "uint16" if name == "bf16" else f"{STORED[name[0]]}{name[1:]}"
    pointer = f"{POINTERS[name]}* x"
    for maker, expected in {"zeros": np.zeros(6), "ones": np.ones(6), "arange": np.arange(6)}.items():
        array = made(f"{maker}:{name}:2,3", pointer)
        assert array.dtype == stored
        assert np.array_equal(widened(array) if name == "bf16" else array, expected.reshape(2, 3))
    full = made(f"full:{name}:3,1,2:7", pointer)
    assert full.shape == (3, 1, 2)
    assert ((widened(full) if name == "bf16" else full) == 7).all()


def test_an_empty_array_counts_as_never_written():
    array = made("empty:f64:2,3", "double* x")
    assert (array.dtype, array.shape) == ("float64", (2, 3))
    flags, strict = written(array)
    assert strict
    assert not flags.any()


@pytest.mark.parametrize("name", POINTERS)
def test_random_arrays_fill_their_range_and_stay_in_it(name):
    pointer = f"{POINTERS[name]}* x"
    array = made(f"rand:{name}:70,50", pointer)
    values = (widened(array) if name == "bf16" else array).astype(float)
    if "f" in name:
        assert values.min() >= -1
        assert values.max() < 1
        assert abs(values.mean()) < 0.05
        assert abs(values.std() - 3**-0.5) < 0.05
    else:
        assert set(values.ravel()) == set(range(-8, 8) if name[0] == "i" else range(16))
    assert np.array_equal(array, made(f"rand:{name}:70,50", pointer))
    assert not np.array_equal(array, made(f"rand:{name}:70,50", pointer, seed=1))


def test_large_arrays_are_made_piece_by_piece_without_a_seam():
    array = made("arange:i32:3000001", "int* x")
    assert np.array_equal(array, np.arange(3000001))
    array = made("rand:f32:3,700001", "float* x").ravel()
    assert not np.array_equal(array[: 1 << 20], array[1 << 20 :][: 1 << 20])


def test_the_plan_of_an_array_takes_no_memory_yet():
    huge = plan("zeros:f64:1000000,1000000,1000", parameter("double* x"))
    assert huge.array
    assert huge.nbytes == 8 * 10**15


def test_full_takes_special_values_and_large_integers():
    assert made("full:u64:2:18446744073709551615", "size_t* x").tolist() == [2**64 - 1] * 2
    assert made("full:i8:2:-128", "signed char* x").tolist() == [-128] * 2
    assert np.isnan(made("full:f16:2:nan", "__half* x")).all()
    assert widened(made("full:bf16:2:-inf", "__nv_bfloat16* x")).tolist() == [-np.inf] * 2
    assert np.isnan(widened(made("full:bf16:1:nan", "__nv_bfloat16* x"))).all()
    for tie, even in {"1.00390625": 0x3F80, "1.01171875": 0x3F82}.items():
        assert made(f"full:bf16:1:{tie}", "__nv_bfloat16* x").tolist() == [even]


@pytest.mark.parametrize(
    ("text", "declared", "value"),
    [
        ("3", "int n", 3),
        ("-7", "int n", -7),
        ("0x1f", "unsigned n", 31),
        ("010", "int n", 10),
        ("2.5", "float a", 2.5),
        ("3", "float a", 3.0),
        ("-1e-3", "double a", -1e-3),
        ("0.5", "__nv_bfloat16 a", 0.5),
        ("true", "bool b", True),
        ("0", "bool b", False),
        ("null", "float* x", None),
    ],
)
def test_a_scalar_is_typed_by_its_parameter(text, declared, value):
    found = made(text, declared)
    assert found == value
    assert type(found) is type(value)


def test_ptx_takes_an_address_as_a_number_or_an_array():
    bare = Parameter(".u64", "argument_1", "address", 8, 8)
    assert plan("0x10", bare).make(np.random.default_rng(0)) == 16
    assert plan("ones:f32:3", bare).make(np.random.default_rng(0)).tolist() == [1, 1, 1]


def test_files_give_arrays_in_c_order_and_native_bytes(tmp_path: Path):
    x = np.arange(12, dtype=">f4").reshape(3, 4).T
    np.save(tmp_path / "x.npy", x)
    array = made(str(tmp_path / "x.npy"), "float* x")
    assert np.array_equal(array, x)
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.dtype.isnative


def test_an_array_of_an_archive_is_named_unless_it_is_alone(tmp_path: Path):
    both, one = tmp_path / "both.npz", tmp_path / "one.npz"
    np.savez(both, x=np.ones(3, np.float32), y=np.zeros(2, np.float32))
    np.savez_compressed(one, x=np.ones(3, np.float32))
    assert made(f"{both}:y", "float* x").tolist() == [0, 0]
    assert made(str(one), "float* x").tolist() == [1, 1, 1]
    assert "does not say which of 2 arrays" in error(str(both), "float* x")
    assert "names the array 'z', which is not in the file" in error(f"{both}:z", "float* x")
    assert "with one of these keys: x, y." in error(f"{both}:z", "float* x")


def test_a_struct_comes_from_a_file_of_one_element(tmp_path: Path):
    np.save(tmp_path / "p.npy", np.array([(5, 2.5)], dtype=[("n", "i4"), ("k", "f4")]))
    value = made(str(tmp_path / "p.npy"), "P p")
    assert value.ndim == 0
    assert value["k"] == 2.5
    assert "pass a struct as a .npy file with one structured element" in error("3", "P p")


def test_a_broken_file_is_an_error_with_a_reason(tmp_path: Path):
    good = tmp_path / "good.npy"
    np.save(good, np.arange(1000.0))
    broken = {
        "text.npy": b"hello",
        "empty.npy": b"",
        "cut.npy": good.read_bytes()[:200],
        "text.npz": b"hello",
        "cut.npz": b"PK\x03\x04" + bytes(50),
    }
    for name, data in broken.items():
        (tmp_path / name).write_bytes(data)
        assert "is no array that can be read: " in error(str(tmp_path / name), "double* x")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "it holds no plain numbers" in error(str(tmp_path / "objects.npy"), "double* x")
    assert "names a file that does not exist" in error(str(tmp_path / "none.npy"), "double* x")


@pytest.mark.parametrize(
    ("text", "declared", "said"),
    [
        ("2.5", "int n", "is no whole number"),
        ("1" * 5000, "int n", "is no whole number"),
        ("two", "float a", "is no number"),
        ("2", "bool b", "is no bool.\n  In: parameter `bool b`\n  Fix: write true or false."),
        ("3", "float* x", "is no argument for a pointer"),
        ("rnd:f32:8", "float* x", "Fix: write rand:f32:8."),
        ("rand:f32", "float* x", "has 2 parts between colons"),
        ("full:f32:8", "float* x", "Fix: write full:DTYPE:SHAPE:VALUE."),
        ("zeros:f32:8:1", "float* x", "has 4 parts between colons"),
        ("rand:f33:8", "float* x", "has the unknown dtype 'f33'"),
        ("rand:float32:8", "float* x", "Fix: write f32."),
        ("rand:F32:8", "float* x", "Fix: write f32."),
        ("rand:f64:8", "float* x", "makes f64, which is not what the pointer points to"),
        ("rand:f64:8", "char* x", "Fix: use i8 or u8 for this pointer."),
        ("rand:f32:8", "P* x", "makes numbers, not structs"),
        ("rand:f32:", "float* x", "has no shape: ''"),
        ("rand:f32:2,-3", "float* x", "has no shape: '2,-3'"),
        ("rand:f32:2.5", "float* x", "has no shape: '2.5'"),
        ("full:i8:4:200", "signed char* x", "has the value 200, which does not fit"),
        ("full:i8:4:1.5", "signed char* x", "is no whole number"),
        ("full:f16:4:1e6", "__half* x", "has the value 1e6, which does not fit"),
        ("full:f32:4:one", "float* x", "is no number"),
    ],
)
def test_a_text_that_fits_nothing_is_an_error(text, declared, said):
    assert said in error(text, declared)


def test_makers_take_the_shape_of_a_grid_too_and_allow_nothing():
    assert made("ones:f32:2x3", "float* x").shape == (2, 3)
    assert all(made(f"{maker}:f32:0", "float* x").size == 0 for maker in MAKERS)
