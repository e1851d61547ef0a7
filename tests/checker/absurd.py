"""Answers that are no answers, and functions that do what no answer should."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import convlab as cl
from convlab.executors.module import Module
from convlab.magic import Uncompiled

__all__ = ["FUNCTIONS", "SOURCES", "THINGS"]

OTHER = 'extern "C" __global__ void other(float* y) { y[0] = 1; }'


class EqualToEverything:
    __class__ = np.ndarray
    dtype, shape = np.dtype("f4"), (1,)

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __len__(self) -> int:
        return 1

    def __float__(self) -> float:
        return 1.0

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise AssertionError("was asked")


class Pretender:
    """Says that it is a compiled module."""

    __class__ = Module


class Refuses:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


class Speechless:
    def __repr__(self) -> str:
        raise KeyboardInterrupt

    __str__ = __repr__


class _Meta(type):
    @property
    def __name__(cls) -> str:
        raise ValueError


class Nameless(metaclass=_Meta):
    pass


class Undecided:
    def __bool__(self) -> bool:
        raise ValueError

    def __call__(self, *arguments: Any) -> Any:
        return self


class HostileKey:
    def __eq__(self, other: object) -> bool:
        raise ValueError

    def __hash__(self) -> int:
        return hash("rows")


class Liar(np.ndarray):
    shape = property(lambda self: (1, 2, 3))  # type: ignore[assignment]
    dtype = property(lambda self: np.dtype("f4"))  # type: ignore[assignment]


class HostileError(Exception):
    fact = property(lambda self: 1 // 0)

    def __str__(self) -> str:
        raise SystemExit


MODULE = cl.compile(OTHER)
THINGS: dict[str, Any] = {
    "None": None,
    "dots": ...,
    "NotImplemented": NotImplemented,
    "a string": "x",
    "an empty string": "",
    "digits": "123",
    "half a character": "\ud800",
    "bytes": b"abc",
    "an int": 3,
    "a huge int": 10**5000,
    "a NaN": float("nan"),
    "a complex": 1j,
    "a bool": True,
    "a list": [1, 2],
    "a tuple": (),
    "a set": {1},
    "nothing in a dict": {},
    "other names": {"nope": 1},
    "no strings as names": {1: 2, None: 3, HostileKey(): 4},
    "a dict of dicts": {"a": {"b": {}}},
    "a generator": (i for i in range(3)),
    "a range": range(10),
    "an object": object(),
    "equal to everything": EqualToEverything(),
    "a pretender": Pretender(),
    "refuses": Refuses(),
    "speechless": Speechless(),
    "nameless": Nameless(),
    "a class without a name": Nameless,
    "a name of many letters": type("L" * 5000, (), {})(),
    "a name of many lines": type("a\nb", (), {})(),
    "undecided": Undecided(),
    "an array": np.zeros((2, 3)),
    "objects": np.array([None, {}], object),
    "one number in an array": np.array(3.0),
    "a terabyte": np.broadcast_to(np.float32(1), (10**6, 10**6)),
    "a liar": np.zeros((2, 3), "O").view(Liar),
    "masked": np.ma.masked_array([1.0], [True]),
    "a date": np.datetime64("2020-01-01"),
    "a time span": np.timedelta64(3, "s"),
    "a NumPy number": np.float64(3),
    "a complex NumPy number": np.complex64(1j),
    "a class": int,
    "a package": np,
    "an error": ValueError("x"),
    "a coroutine function": asyncio.sleep,
    "a partial": functools.partial(max),
    "a kernel's module": MODULE,
    "a kernel": MODULE.kernels["other"],
    "a kernel's PTX": MODULE.ptx,
    "a kernel's source": OTHER,
    "what did not compile": Uncompiled("mine"),
}


def returning(value: Any) -> Callable[..., Any]:
    return lambda *arguments: value


def raising(error: BaseException) -> Callable[..., Any]:
    def answer(*arguments: Any) -> Any:
        raise error

    return answer


def endless(*arguments: Any) -> Any:
    return endless(*arguments)


def prints_a_megabyte(*arguments: Any) -> float:
    print("x" * 1_000_000)
    return 1.0


def closes_its_output(*arguments: Any) -> float:
    sys.stdout.close()
    return 1.0


def takes_its_output_away(*arguments: Any) -> float:
    sys.stdout = None  # type: ignore[assignment]
    return 1.0


def changes_its_inputs(*arguments: Any) -> float:
    for array in arguments:
        if isinstance(array, np.ndarray):
            array[...] = 0
    return 1.0


def retypes_its_inputs(*arguments: Any) -> float:
    for array in arguments:
        if isinstance(array, np.ndarray):
            array.dtype = "S4"
    return 1.0


def greedy(*arguments: Any) -> Any:
    return np.ones((10**7, 10**7))


def sleeps(*arguments: Any) -> float:
    time.sleep(0.4)
    return 1.0


def never_ends(*arguments: Any) -> float:
    while True:
        with contextlib.suppress(Exception):
            time.sleep(0.001)


def keeps_references(*arguments: Any, kept: list[Any] = []) -> Any:  # noqa: B006
    for array in kept:
        array[...] = 7
    kept[:] = [each for each in arguments if isinstance(each, np.ndarray)]
    return kept[0] if kept else 1.0


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"returns {name}": returning(value) for name, value in THINGS.items()},
    "interrupts": raising(KeyboardInterrupt()),
    "exits": raising(SystemExit(3)),
    "ends a generator": raising(GeneratorExit()),
    "stops an iteration": raising(StopIteration()),
    "lacks memory": raising(MemoryError()),
    "a hostile error": raising(HostileError()),
    "an error of many lines": raising(ValueError("a\nb\n" * 1000)),
    "an error of ours": raising(cl.LaunchError("fact.\n  Fix: x")),
    "recursion": endless,
    "a megabyte": prints_a_megabyte,
    "closes its output": closes_its_output,
    "takes its output away": takes_its_output_away,
    "changes its inputs": changes_its_inputs,
    "retypes its inputs": retypes_its_inputs,
    "greedy": greedy,
    "sleeps": sleeps,
    "never ends": never_ends,
    "keeps references": keeps_references,
    "takes nothing": lambda: 1.0,
    "takes one thing more": lambda *arguments, more: 1.0,
}


def at_the_start(line: str) -> Callable[[str], str]:
    """A kernel's source with a line more."""

    def change(source: str) -> str:
        head, brace, body = source[source.index("__global__") :].partition("{")
        return f"{source[: source.index('__global__')]}{head}{brace} {line} {body}"

    return change


def instead(text: str) -> Callable[[str], str]:
    """Another text; ``ENTRY`` stands for the name of the kernel that is asked for."""
    return lambda source: text


SOURCES: dict[str, Callable[[str], str]] = {
    "empty": instead(""),
    "a comment": instead("// nothing yet"),
    "no kernel": instead("__device__ int f() { return 1; }"),
    "another kernel": instead(OTHER),
    "no parameters": instead('extern "C" __global__ void ENTRY() {}'),
    "one parameter": instead('extern "C" __global__ void ENTRY(float* y) { y[0] = 1; }'),
    "a template": instead("template <class T> __global__ void ENTRY(T* y) {}"),
    "many kernels": instead("".join(f'extern "C" __global__ void k{i}() {{}}\n' for i in range(200))),
    "no end": at_the_start("for (;;) {}"),
    "waits for ever": at_the_start("if (threadIdx.x == 0) while (clock() != 1) {}"),
    "a trap": at_the_start('asm("trap;");'),
    "a null pointer": at_the_start("*(volatile float*)0 = 1;"),
    "prints": at_the_start('for (int i = 0; i < 300; ++i) printf("%d xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\n", i);'),
    "much shared memory": at_the_start("__shared__ float much[12000]; much[threadIdx.x] = 1;"),
    "an instruction of another GPU": at_the_start('asm volatile("nanosleep.u32 1;");'),
}
