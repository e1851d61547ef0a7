"""Kernel arguments as text, as the command line gives them: scalars, arrays made on the spot, arrays from files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from convlab.emulator.numerics.halves import to_bf16
from convlab.errors import ArgumentError
from convlab.executors.empty import empty
from convlab.executors.signature import Parameter

__all__ = ["ELEMENTS", "MAKERS", "Plan", "plan"]

CHUNK = 1 << 20  # elements made at a time: no temporary array is larger


@dataclass(frozen=True, slots=True)
class Plan:
    """An argument that is understood and not yet made: how to make it, whether it is an array, what it takes."""

    make: Callable[[Generator], Any]
    array: bool = False
    nbytes: int = 0  # of memory, still to be taken
    path: Path | None = None  # of the file that it was read from


@dataclass(frozen=True, slots=True)
class Element:
    """An element type: the NumPy dtype that stores it, and the bits of its significand, 0 for integers."""

    dtype: np.dtype[Any]
    bits: int = 0

    def cast(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values as they are stored."""
        if self.bits and self.dtype.kind == "u":
            bits: NDArray[Any] = to_bf16(values.astype(np.float32))
            return bits
        with np.errstate(over="ignore"):
            return values.astype(self.dtype)


ELEMENTS = {
    **{f"{kind}{8 * size}": Element(np.dtype(f"{kind}{size}")) for size in (1, 2, 4, 8) for kind in "iu"},
    "f16": Element(np.dtype("f2"), 11),
    "bf16": Element(np.dtype("u2"), 8),
    "f32": Element(np.dtype("f4"), 24),
    "f64": Element(np.dtype("f8"), 53),
}


def _rand(element: Element, rng: Generator, start: int, count: int) -> NDArray[Any]:
    """Floats in [-1, 1) that need no rounding; integers of four bits."""
    if element.bits:
        steps = 1 << element.bits
        return rng.integers(-steps, steps, count) / steps
    low = -8 if element.dtype.kind == "i" else 0
    return rng.integers(low, low + 16, count)


# Makes ``count`` elements from number ``start`` on.
Maker = Callable[[Element, Generator, int, int], NDArray[Any]]

MAKERS: dict[str, Maker] = {
    "rand": _rand,
    "zeros": lambda element, rng, start, count: np.zeros(count, np.int8),
    "ones": lambda element, rng, start, count: np.ones(count, np.int8),
    "arange": lambda element, rng, start, count: np.arange(start, start + count),
}
_FORMS = (*MAKERS, "empty", "full")
_FIX = "write null, an array such as rand:f32:4,32 or full:f32:4,32:0.5, or a file: x.npy, data.npz:key"


def plan(text: str, parameter: Parameter) -> Plan:
    """Understand one argument for one parameter, before any memory is taken.

    >>> from convlab.executors.signature import Source
    >>> x = Source("").parameter("float* x")
    >>> plan("arange:f32:2,3", x).make(np.random.default_rng(0))
    array([[0., 1., 2.],
           [3., 4., 5.]], dtype=float32)

    Args:
        text: ``3`` for a scalar; ``null``, ``MAKER:DTYPE:SHAPE``, ``x.npy`` or ``data.npz:key`` for a pointer.
        parameter: what the kernel's signature says about it.

    Raises:
        ArgumentError: the text fits no form, or not the parameter.
    """
    if (scalar := _SCALARS.get(parameter.kind)) is not None:
        value = scalar(text, parameter)
        return Plan(lambda rng: value)
    if text == "null" and parameter.kind != "struct":
        return Plan(lambda rng: None)
    if parameter.kind == "address" and re.fullmatch(r"\d+|0x[0-9a-fA-F]+", text):
        return Plan(lambda rng: int(text, 0))
    if found := re.fullmatch(r"(.+\.npy)|(.+\.npz)(?::(.+))?", text):
        path = Path(found[1] or found[2])
        array = _load(path, found[3], text, parameter)
        return Plan(lambda rng: array, parameter.kind != "struct", path=path)
    if parameter.kind == "struct":
        raise _wrong(text, parameter, "is no file", "pass a struct as a .npy file with one structured element")
    return _made(text, parameter)


def _wrong(text: str, parameter: Parameter, fact: str, fix: str) -> ArgumentError:
    return ArgumentError(f"--arg {text} {fact}.\n  In: parameter `{parameter.text}`\n  Fix: {fix}.")


def _integer(text: str, parameter: Parameter) -> int:
    if not re.fullmatch(r"[+-]?(\d{1,20}|0[xX][0-9a-fA-F]{1,16})", text):
        raise _wrong(text, parameter, "is no whole number", "write an integer, such as 3 or 0x1f")
    return int(text, 16 if "x" in text.lower() else 10)


def _floating(text: str, parameter: Parameter) -> float:
    try:
        return float(text)
    except ValueError:
        raise _wrong(text, parameter, "is no number", "write a number, such as 2.5, 1e-3 or inf") from None


def _boolean(text: str, parameter: Parameter) -> bool:
    if text not in _BOOLEANS:
        raise _wrong(text, parameter, "is no bool", "write true or false")
    return _BOOLEANS[text]


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_SCALARS: dict[str, Callable[[str, Parameter], int | float | bool]] = {
    "int": _integer,
    "uint": _integer,
    "bits": _integer,
    "float": _floating,
    "bfloat16": _floating,
    "bool": _boolean,
}


def _load(path: Path, key: str | None, text: str, parameter: Parameter) -> NDArray[Any]:
    """An array from a file, in the machine's byte order and in C order, whatever it was saved in."""
    try:
        found: Any = np.load(path, allow_pickle=False)
        if isinstance(found, np.lib.npyio.NpzFile):
            with found:
                found = found[_key(found.files, key, text, parameter)]
        array: NDArray[Any] = found.astype(found.dtype.newbyteorder("="), order="C")
    except ArgumentError:
        raise
    except FileNotFoundError:
        raise _wrong(text, parameter, "names a file that does not exist", "check the path") from None
    except Exception as error:  # a file can be broken in many ways, each with an exception of its own
        said = (getattr(error, "strerror", None) or str(error) or type(error).__name__).partition("\n")[0]
        reason = "it holds no plain numbers" if "pickle" in said else said.rstrip(".")
        fix = "save plain numbers with numpy.save (.npy) or numpy.savez (.npz)"
        raise _wrong(text, parameter, f"is no array that can be read: {reason}", fix) from None
    return array.reshape(()) if parameter.kind == "struct" and array.size == 1 else array


def _key(keys: Sequence[str], key: str | None, text: str, parameter: Parameter) -> str:
    """Which array of a .npz file is meant; a lone one needs no name."""
    if key is None and len(keys) == 1:
        return keys[0]
    if key is not None and key in keys:
        return key
    fact = f"names the array {key!r}, which is not in the file" if key else f"does not say which of {len(keys)} arrays"
    raise _wrong(text, parameter, fact, f"write FILE.npz:KEY, with one of these keys: {', '.join(keys) or 'none'}")


def _made(text: str, parameter: Parameter) -> Plan:
    """An array by MAKER:DTYPE:SHAPE, with a fourth part for ``full``."""
    maker, *rest = text.split(":")
    if maker not in _FORMS:
        near = get_close_matches(maker, _FORMS, n=1)
        fix = f"write {near[0]}{text.removeprefix(maker)}" if near and rest else _FIX
        raise _wrong(text, parameter, "is no argument for a pointer", fix)
    form = f"{maker}:DTYPE:SHAPE" + (":VALUE" if maker == "full" else "")
    if len(rest) != form.count(":"):
        raise _wrong(text, parameter, f"has {len(rest) + 1} parts between colons", f"write {form}")
    element, shape = _element(rest[0], text, parameter), _shape(rest[1], text, parameter)
    nbytes = prod(shape) * element.dtype.itemsize
    if maker == "empty":
        return Plan(lambda rng: empty(shape, element.dtype), True, nbytes)
    fill = MAKERS[maker] if maker in MAKERS else _full(rest[2], element, text, parameter)
    return Plan(lambda rng: _filled(element, shape, fill, rng), True, nbytes)


def _filled(element: Element, shape: tuple[int, ...], fill: Maker, rng: Generator) -> NDArray[Any]:
    array = np.empty(shape, element.dtype)
    flat = array.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        count = min(CHUNK, flat.size - start)
        flat[start : start + count] = element.cast(fill(element, rng, start, count))
    return array


def _element(name: str, text: str, parameter: Parameter) -> Element:
    """The element type of this name, if the pointer takes it."""
    dtypes = parameter.pointee.dtypes if parameter.pointee else ()
    takes = [short for short, each in ELEMENTS.items() if not dtypes or each.dtype.name in dtypes]
    if name not in ELEMENTS:
        near = [short for short, each in ELEMENTS.items() if name in (each.dtype.name, short.upper())]
        fix = f"write {near[0]}" if near else f"use one of {', '.join(ELEMENTS)}"
        raise _wrong(text, parameter, f"has the unknown dtype {name!r}", fix)
    if parameter.pointee and parameter.pointee.kind == "struct" and not dtypes:
        raise _wrong(text, parameter, "makes numbers, not structs", "pass a .npy file with a structured dtype")
    if name not in takes:
        fix = f"use {' or '.join(takes)} for this pointer" if takes else "pass a .npy file"
        raise _wrong(text, parameter, f"makes {name}, which is not what the pointer points to", fix)
    return ELEMENTS[name]


def _shape(given: str, text: str, parameter: Parameter) -> tuple[int, ...]:
    if not re.fullmatch(r"\d{1,18}([,x]\d{1,18}){0,31}", given):
        raise _wrong(text, parameter, f"has no shape: {given!r}", "write sizes with commas, such as 1,3,32,32")
    return tuple(map(int, re.split("[,x]", given)))


def _full(given: str, element: Element, text: str, parameter: Parameter) -> Maker:
    """A maker that repeats one value; a value that the type cannot hold is refused."""
    value = _floating(given, parameter) if element.bits else _integer(given, parameter)
    single = element.dtype if element.dtype.kind == "f" else np.dtype("f4")  # bfloat16 has the range of float32
    limits: Any = np.finfo(single) if element.bits else np.iinfo(element.dtype)
    kind = float if element.bits else int
    if isfinite(value) and not kind(limits.min) <= value <= kind(limits.max):
        raise _wrong(text, parameter, f"has the value {given}, which does not fit", "use another value or dtype")
    return lambda element, rng, start, count: np.full(count, value)
