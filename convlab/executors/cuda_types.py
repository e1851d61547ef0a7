"""The types of CUDA C: their size, their kind, and the NumPy dtypes that match a pointer to them."""

from __future__ import annotations

from ctypes import c_long, sizeof
from dataclasses import dataclass

__all__ = ["TYPES", "CType", "canonical"]


@dataclass(frozen=True, slots=True)
class CType:
    """A type: ``kind`` says how a value of it is passed, ``dtypes`` which arrays a pointer to it takes.

    Empty ``dtypes``: a structured dtype of that size where ``kind`` is "struct", anything where it is "void".
    ``size`` and ``align`` are in bytes; 0 stands for unknown.
    """

    kind: str
    size: int
    align: int
    dtypes: tuple[str, ...] = ()


def _scalar(kind: str, size: int, *dtypes: str) -> CType:
    return CType(kind, size, size, dtypes)


_LONG = sizeof(c_long)  # 4 bytes on Windows, 8 elsewhere; NVRTC follows its host

_SCALARS = {
    "bool": _scalar("bool", 1, "bool"),
    "char": _scalar("int", 1, "int8", "uint8"),
    "signed char": _scalar("int", 1, "int8"),
    "unsigned char": _scalar("uint", 1, "uint8"),
    "short": _scalar("int", 2, "int16"),
    "unsigned short": _scalar("uint", 2, "uint16"),
    "int": _scalar("int", 4, "int32"),
    "unsigned int": _scalar("uint", 4, "uint32"),
    "long": _scalar("int", _LONG, f"int{8 * _LONG}"),
    "unsigned long": _scalar("uint", _LONG, f"uint{8 * _LONG}"),
    "long long": _scalar("int", 8, "int64"),
    "unsigned long long": _scalar("uint", 8, "uint64"),
    "float": _scalar("float", 4, "float32"),
    "double": _scalar("float", 8, "float64"),
    "half": _scalar("float", 2, "float16"),
    "nv_bfloat16": _scalar("bfloat16", 2, "uint16", "bfloat16"),
    "nv_fp8_e4m3": _scalar("struct", 1, "uint8"),
    "nv_fp8_e5m2": _scalar("struct", 1, "uint8"),
}

_TYPEDEFS = {
    "size_t": "unsigned long long",
    "ptrdiff_t": "long long",
    **{f"int{bits}_t": name for bits, name in ((8, "signed char"), (16, "short"), (32, "int"), (64, "long long"))},
    **{f"uint{bits}_t": f"unsigned {name}" for bits, name in ((8, "char"), (16, "short"), (32, "int"))},
    "uint64_t": "unsigned long long",
}

_VECTORS = {
    "char": "signed char",
    "uchar": "unsigned char",
    "short": "short",
    "ushort": "unsigned short",
    "int": "int",
    "uint": "unsigned int",
    "longlong": "long long",
    "ulonglong": "unsigned long long",
    "float": "float",
    "double": "double",
}


def _vector(element: CType, lanes: int) -> CType:
    size = element.size * lanes
    return CType("struct", size, element.size if lanes == 3 else min(16, size), element.dtypes)


TYPES: dict[str, CType] = {
    "void": CType("void", 0, 0),
    **_SCALARS,
    **{name: _SCALARS[meaning] for name, meaning in _TYPEDEFS.items()},
    **{
        f"{name}{lanes}": _vector(_SCALARS[element], lanes)
        for name, element in _VECTORS.items()
        for lanes in (1, 2, 3, 4)
    },
    "half2": _vector(_SCALARS["half"], 2),
    "nv_bfloat162": _vector(_SCALARS["nv_bfloat16"], 2),
}

_INTEGER_WORDS = {"unsigned", "signed", "short", "long", "int", "char"}


def canonical(words: list[str]) -> str:
    """One spelling for each type: ``long unsigned`` and ``unsigned long int`` are the same.

    >>> canonical(["long", "unsigned", "int", "long"]), canonical(["__half"]), canonical(["std::uint8_t"])
    ('unsigned long long', 'half', 'uint8_t')
    """
    if not words or not set(words) <= _INTEGER_WORDS:
        return " ".join(words).rpartition("::")[2].removeprefix("__")
    short = next((word for word in ("char", "short") if word in words), None)
    base = short or " ".join(["long"] * words.count("long")) or "int"
    if "unsigned" in words:
        return f"unsigned {base}"
    return "signed char" if base == "char" and "signed" in words else base
