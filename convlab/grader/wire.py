"""What passes between the grader and a worker: bounded JSON, and arrays as .npy; both ends are this file.

A frame is a line of JSON, whose key "sizes" says how many bytes of .npy follow. Whoever reads trusts nothing: lengths
are bounded before anything is stored, and an array's type and size are looked at before it is made. No pickles.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import IO, Any

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt

__all__ = ["Frame", "WireError", "pack", "read", "unpack", "write"]

Frame = tuple[dict[str, Any], list[npt.NDArray[Any]]]

LINE = 1 << 20  # bytes of JSON in a frame
ARRAYS = 64  # arrays in a frame
_NUMBERS = "biuf"  # kinds of types that are numbers


class WireError(Exception):
    """A frame that is none, or that is too large."""


def write(stream: IO[bytes], header: Mapping[str, Any], arrays: Sequence[npt.NDArray[Any]] = ()) -> None:
    """Send one frame: what JSON can hold, and arrays of numbers.

    >>> stream = BytesIO()
    >>> write(stream, {"a": 1}, [np.ones((2, 3))])
    >>> read(BytesIO(stream.getvalue()), most=1000)[1][0].shape
    (2, 3)
    """
    files = [_saved(array) for array in arrays]
    line = json.dumps({**header, "sizes": [len(file) for file in files]}).encode()
    stream.write(line + b"\n" + b"".join(files))
    stream.flush()


def read(stream: IO[bytes], most: int) -> Frame:
    """Receive one frame, whose arrays have at most so many bytes each.

    Raises ``EOFError`` at the end of the stream, and ``WireError`` for what is no frame, or too large.
    """
    line = stream.readline(LINE + 1)
    if not line:
        raise EOFError
    header = _parsed(line)
    sizes = header.pop("sizes", None)
    if not isinstance(sizes, list) or len(sizes) > ARRAYS or not all(_is_size(size, most) for size in sizes):
        raise WireError("its arrays are too many, or too large")
    return header, [_loaded(stream.read(size), size) for size in sizes]


def _parsed(line: bytes) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise WireError("a line is cut off, or too long")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        raise WireError("a line is no JSON") from None
    if not isinstance(header, dict):
        raise WireError("a line is no object of JSON")
    return header


def _is_size(size: object, most: int) -> bool:
    return type(size) is int and 0 <= size <= most


def _saved(array: npt.NDArray[Any]) -> bytes:
    file = BytesIO()
    npy.write_array(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()


def _loaded(data: bytes, size: int) -> npt.NDArray[Any]:
    """An array of numbers, if that is what the bytes hold to the last one."""
    file = BytesIO(data)
    try:
        if len(data) != size or npy.read_magic(file) != (1, 0):
            raise WireError("an array is cut off")
        shape, fortran, dtype = npy.read_array_header_1_0(file, max_header_size=1000)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise WireError("an array has no header") from None
    body = data[file.tell() :]
    if dtype.kind not in _NUMBERS or any(length < 0 for length in shape) or _bytes(shape, dtype) != len(body):
        raise WireError("an array is not what its header says, or holds no numbers")
    array = np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")
    return array.astype(dtype.newbyteorder("="))  # writable, and its own


def _bytes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    return math.prod(shape) * dtype.itemsize


def pack(arguments: Sequence[Any]) -> tuple[list[Any], list[npt.NDArray[Any]]]:
    """What JSON can hold of a call's arguments, and the arrays among them.

    >>> unpack(*pack([np.ones(3), (1, 2), np.int32(5), "same"]))
    [array([1., 1., 1.]), (1, 2), np.int32(5), 'same']
    """
    arrays: list[npt.NDArray[Any]] = []
    return [_packed(value, arrays) for value in arguments], arrays


def _packed(value: Any, arrays: list[npt.NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        return {"scalar": value.dtype.name, "value": value.item()}
    return {"tuple": [_packed(each, arrays) for each in value]} if isinstance(value, tuple) else value


def unpack(packed: Sequence[Any], arrays: Sequence[npt.NDArray[Any]]) -> list[Any]:
    """The arguments as they were before ``pack``."""
    return [_unpacked(value, arrays) for value in packed]


def _unpacked(value: Any, arrays: Sequence[npt.NDArray[Any]]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "scalar" in value:
        return np.dtype(value["scalar"]).type(value["value"])
    return tuple(_unpacked(each, arrays) for each in value["tuple"])
