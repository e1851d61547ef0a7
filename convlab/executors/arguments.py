"""Kernel arguments: each is checked against the kernel's signature before either executor sees it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from convlab.errors import ArgumentError
from convlab.executors.empty import Empty
from convlab.executors.module import Kernel
from convlab.executors.signature import Parameter

__all__ = ["Bound", "bind"]


@dataclass(frozen=True, slots=True)
class Bound:
    """A parameter with its argument: an ``array`` for a pointer, or ``data``, the bytes of a value.

    Both are ``None`` for a null pointer.
    """

    parameter: Parameter
    array: Any = None
    data: bytes | None = None


class Mismatch(Exception):  # noqa: N818 - never leaves this file
    """What is wrong with one argument, and how to mend it."""

    def __init__(self, fact: str, fix: str) -> None:
        super().__init__(fact)
        self.fact = fact
        self.fix = fix


def bind(kernel: Kernel, args: Sequence[Any], device_arrays: bool = False) -> list[Bound]:
    """Match arguments with a kernel's parameters.

    >>> import numpy as np
    >>> from convlab.executors.compile import compile
    >>> source = 'extern "C" __global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }'
    >>> x, by = bind(compile(source).kernels["scale"], [np.ones(4, np.float32), 0.5])
    >>> x.array.shape, by.data.hex()
    ((4,), '0000003f')

    Args:
        kernel: one of a module's kernels.
        args: for a pointer, a contiguous array whose dtype matches the type behind the pointer, or None;
            for a number, a Python or NumPy number of its kind; for a struct, a NumPy structured scalar.
        device_arrays: whether arrays in GPU memory (CuPy's) are accepted for pointers.

    Raises:
        ArgumentError: an argument is missing, surplus, or does not fit; the message has the whole signature.
    """
    parameters = kernel.parameters
    if len(args) != len(parameters):
        raise ArgumentError(_miscounted(kernel, args, device_arrays))
    bound = []
    for number, (parameter, value) in enumerate(zip(parameters, args, strict=True), start=1):
        try:
            bound.append(_bind(parameter, value, device_arrays))
        except Mismatch as wrong:
            raise ArgumentError(
                f"{kernel.name}, argument {number}, `{parameter.text}`: {wrong.fact}.\n"
                f"  In: {kernel.signature}\n"
                f"  Fix: {wrong.fix}."
            ) from None
    return bound


def _bind(parameter: Parameter, value: Any, device_arrays: bool) -> Bound:
    kind = parameter.kind
    if kind == "address":
        kind = "pointer" if value is None or _is_array(value) else "bits"
    if kind == "pointer":
        return Bound(parameter, _array(parameter, value, device_arrays))
    return Bound(parameter, data=_VALUES[kind](parameter, value))


def _miscounted(kernel: Kernel, args: Sequence[Any], device_arrays: bool) -> str:
    """The message for a wrong number of arguments, with the names of what is missing or surplus."""
    parameters = kernel.parameters
    if len(args) > len(parameters):
        surplus = ", ".join(_shown(value) for value in args[len(parameters) :])
        found, fix = f"surplus: {surplus}", "pass one argument for each parameter"
    else:
        names = ", ".join(f"`{parameter.text}`" for parameter in _missing(parameters, args, device_arrays))
        found, fix = f"missing: {names}", "pass one argument for each parameter; None is a null pointer"
    return (
        f"{kernel.name} takes {len(parameters)} arguments, {len(args)} were given; {found}.\n"
        f"  In: {kernel.signature}\n"
        f"  Fix: {fix}."
    )


def _missing(parameters: Sequence[Parameter], args: Sequence[Any], device_arrays: bool) -> list[Parameter]:
    """The parameters that were left out: those that the next argument does not fit, or else the last ones."""
    waiting, skipped = list(args), []
    for parameter in parameters:
        try:
            _bind(parameter, waiting[0], device_arrays)
            waiting.pop(0)
        except (Mismatch, IndexError):
            skipped.append(parameter)
    return list(parameters[len(args) :]) if waiting else skipped


def _shown(value: Any) -> str:
    """A value in an error message: short, with its type."""
    if _is_array(value):
        return f"an array of {value.dtype} with shape {value.shape}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:40] + '…'}"


def _is_array(value: Any) -> bool:
    on_gpu = isinstance(getattr(value, "dtype", None), np.dtype) and hasattr(value, "__cuda_array_interface__")
    return on_gpu or isinstance(value, np.ndarray)


def _array(parameter: Parameter, value: Any, device_arrays: bool) -> Any:
    """Check what is passed for a pointer."""
    name = parameter.name
    if value is None:
        return None
    if not _is_array(value):
        names = _dtype_names(parameter)
        fix = f"pass an array, such as np.array(…, dtype={names[0]})" if names else _structured(parameter)
        raise Mismatch(f"got {_shown(value)} for a pointer", fix)
    if not isinstance(value, np.ndarray) and not device_arrays:
        raise Mismatch("got an array in GPU memory", f"pass cupy.asnumpy({name}), or launch on device='cuda'")
    if isinstance(value, np.ma.MaskedArray):
        raise Mismatch("got a masked array, and kernels know no masks", f"pass {name}.filled(…)")
    if isinstance(value, np.ndarray) and type(value) not in (np.ndarray, Empty):
        value = np.ndarray.view(value, np.ndarray)  # memory does not behave as np.matrix and its like do
    if not _matches(parameter, value.dtype):
        raise Mismatch(f"got {_shown(value)}", _conversion(parameter))
    if not value.flags.c_contiguous:
        fix = f"pass np.ascontiguousarray({name}), and read results from that array"
        raise Mismatch(f"got {_shown(value)} that is not contiguous (strides {value.strides} bytes)", fix)
    if isinstance(value, np.ndarray) and not value.flags.writeable and not parameter.const:
        fix = f"pass {name}.copy(), and read results from that; or make the parameter a pointer to const"
        raise Mismatch(f"got {_shown(value)} that is read-only, and the kernel may write to it", fix)
    return value


def _matches(parameter: Parameter, dtype: np.dtype[Any]) -> bool:
    """Whether an array of this dtype may stand behind the pointer."""
    pointee = parameter.pointee
    if pointee is None or pointee.kind == "void":
        return not dtype.hasobject and dtype.isnative and dtype.itemsize > 0
    if not pointee.dtypes:
        return dtype.names is not None and pointee.size in (0, dtype.itemsize)
    return dtype.isnative and dtype.name in pointee.dtypes


def _dtype_names(parameter: Parameter) -> list[str]:
    """How the dtypes that match a pointer are written in Python; none for a struct."""
    pointee = parameter.pointee
    if pointee is None or pointee.kind == "void":
        return ["np.float32"]
    return [f"ml_dtypes.{name}" if name == "bfloat16" else f"np.{name}" for name in pointee.dtypes]


def _conversion(parameter: Parameter) -> str:
    """What to do about an array of another dtype."""
    names = _dtype_names(parameter)
    if not names:
        return _structured(parameter)
    if len(names) > 1:
        return f"pass an array of {' or '.join(names)}"
    kept = "" if parameter.const else ", and read results from that array"
    return f"pass {parameter.name}.astype({names[0]}){kept}"


def _structured(parameter: Parameter) -> str:
    size = parameter.pointee.size if parameter.pointee else 0
    return "pass an array with a structured dtype" + (f" of {size} bytes" if size else "")


def _integer(parameter: Parameter, value: Any) -> bytes:
    bits = 8 * parameter.size
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise Mismatch(f"got {_shown(value)} for an integer", _integer_fix(parameter, value))
    low = 0 if parameter.kind == "uint" else -(1 << bits - 1)
    high = (1 << bits - 1) - 1 if parameter.kind == "int" else (1 << bits) - 1
    if not low <= value <= high:
        fix = "pass a value in that range, or give the parameter a wider type"
        raise Mismatch(f"{value} does not fit: the type holds {low} to {high}", fix)
    return (int(value) & (1 << bits) - 1).to_bytes(parameter.size, "little")


def _bits(parameter: Parameter, value: Any) -> bytes:
    """A whole number, or, where the PTX only says how many bits there are, a float of as many."""
    untyped = parameter.text == f".b{8 * parameter.size}"
    if untyped and isinstance(value, np.floating) and value.dtype.itemsize == parameter.size:
        return value.tobytes()
    return _integer(parameter, value)


def _integer_fix(parameter: Parameter, value: Any) -> str:
    if _is_array(value):
        return f"pass one number, such as int({parameter.name}[0])"
    if not isinstance(value, (bool, np.bool_, float, np.floating)):
        return "pass a whole number"
    number = float(value)
    return f"pass int({value!r})" if number.is_integer() else "pass a whole number"


def _floating(parameter: Parameter, value: Any) -> bytes:
    number = _real(parameter, value)
    with np.errstate(over="ignore"):
        rounded = np.array(number, dtype=f"<f{parameter.size}")
    if math.isfinite(number) and not np.isfinite(rounded):
        fix = "pass a smaller number, or give the parameter a wider type"
        raise Mismatch(f"{value} is too large for the type", fix)
    return rounded.tobytes()


def _bfloat16(parameter: Parameter, value: Any) -> bytes:
    """The upper half of a float32, rounded to nearest even; a bfloat16 scalar goes through exactly."""
    number = _real(parameter, value)
    if math.isnan(number):
        return b"\xc0\x7f"
    bits = int.from_bytes(np.array(number, dtype="<f4").tobytes(), "little")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")


def _real(parameter: Parameter, value: Any) -> float:
    """A floating-point number of Python, NumPy or ml_dtypes as a Python float."""
    floating = isinstance(value, (float, np.floating)) or getattr(value, "dtype", None) == "bfloat16"
    if not floating or _is_array(value):
        number = isinstance(value, Real) or _is_array(value)
        fix = f"pass float({parameter.name if _is_array(value) else repr(value)})" if number else "pass a float"
        raise Mismatch(f"got {_shown(value)} for a floating-point number", fix)
    return float(value)


def _boolean(parameter: Parameter, value: Any) -> bytes:
    if not isinstance(value, (bool, np.bool_)):
        raise Mismatch(f"got {_shown(value)} for a bool", "pass True or False")
    return bytes([bool(value)])


def _struct(parameter: Parameter, value: Any) -> bytes:
    """A NumPy structured scalar, or an array of no dimensions, of the struct's size."""
    if not isinstance(value, (np.void, np.ndarray)) or value.ndim or value.dtype.kind != "V":
        fix = f"pass a structured scalar of {parameter.size} bytes: np.array((…), dtype=[(field, type), …])[()]"
        raise Mismatch(f"got {_shown(value)} for a struct", fix)
    if value.dtype.itemsize != parameter.size:
        fix = "give the dtype all fields in the struct's order: np.dtype([(field, type), …], align=True)"
        raise Mismatch(f"the dtype has {value.dtype.itemsize} bytes, the struct {parameter.size}", fix)
    return value.tobytes()


_VALUES: dict[str, Callable[[Parameter, Any], bytes]] = {
    "int": _integer,
    "uint": _integer,
    "bits": _bits,
    "float": _floating,
    "bfloat16": _bfloat16,
    "bool": _boolean,
    "struct": _struct,
}
