"""``convlab run``: a kernel of any CUDA C or PTX file, launched and observed from the command line."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import zipfile
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil  # type: ignore[import-untyped]
from numpy.typing import NDArray

from convlab.argument_text import Plan, plan
from convlab.errors import ArgumentError, ConvlabError, KernelFault, LaunchError
from convlab.executors.compile import compile
from convlab.executors.empty import Empty
from convlab.executors.headers import collect
from convlab.executors.launch import launch
from convlab.executors.module import Kernel, Module, load_ptx
from convlab.executors.run import Run
from convlab.run_report import Report, as_json, as_text

__all__ = ["run"]

SUFFIXES = (".cu", ".ptx")


@dataclass(frozen=True, slots=True)
class Output:
    """A file to write: one array as .npy, or several as .npz, by their place among the arguments."""

    path: Path
    arguments: tuple[int, ...]


def run(options: Namespace) -> tuple[str, int]:
    """Do what ``convlab run`` was asked for; returns what to print, and the exit code: 1 for faults, 2 for mistakes.

    Raises:
        ConvlabError: a mistake in the command, told before anything runs.
    """
    module = _module(options)
    kernel = _kernel(module, options.entry)
    grid, block = _dim("grid", options.grid), _dim("block", options.block)
    plans = _plans(kernel, options.arg)
    outputs = _outputs(kernel, plans, options.out, options.out_npz)
    _refuse_what_does_not_fit(kernel, plans)
    values = [each.make(np.random.default_rng([options.seed, at])) for at, each in enumerate(plans)]
    before = [_digest(value) for value in values]
    how = {"shared": options.shared, "device": options.device, "observe": options.observe, "budget": options.budget}
    how |= {"caches": options.caches, "seed": options.order_seed, "sample": options.sample}
    result, crash = _launch(kernel, grid, block, values, how)
    changed = [_was_written(value) or _digest(value) != old for value, old in zip(values, before, strict=True)]
    files = [] if crash else [(str(output.path), _write(output, kernel, values)) for output in outputs]
    report = Report(kernel, result, values, changed, files, crash)
    failed = bool(crash) or any(fault.severity == "error" for fault in result.faults)
    code = 2 if any(error for _, error in files) else int(failed)
    return (as_json if options.json else as_text)(report), code


def _module(options: Namespace) -> Module:
    """Compile the .cu file, or load the .ptx file."""
    path = Path("stdin.cu" if options.file == "-" else options.file)
    text = _text(path, options.file == "-")
    extra = [f"-D{macro}" for macro in options.define] + options.option
    if path.suffix == ".cu":
        return compile(text, path.name, options.arch, [*extra, *_include_folder(text, path.parent)])
    if extra:
        raise ConvlabError(f"{path} is compiled already, and {extra[0]} is for the compiler.\n  Fix: leave it out.")
    return load_ptx(text, path.name)


def _text(path: Path, from_stdin: bool) -> str:
    if path.suffix not in SUFFIXES:
        fix = "name a .cu file with CUDA C or a .ptx file, or - to read CUDA C from standard input"
        raise ConvlabError(f"{path} is neither a .cu nor a .ptx file.\n  Fix: {fix}.")
    try:
        return (sys.stdin.buffer.read() if from_stdin else path.read_bytes()).decode("utf-8-sig")
    except FileNotFoundError:
        there = ", ".join(
            sorted(each.name for each in path.parent.glob("*") if each.suffix in SUFFIXES and each.is_file())[:10]
        )
        fix = f"name one of those in that folder: {there}" if there else "check the path"
        raise ConvlabError(f"There is no file {path}.\n  Fix: {fix}.") from None
    except UnicodeDecodeError as error:
        where = f"byte {error.start} is no UTF-8"
        raise ConvlabError(f"{path} is not a text: {where}.\n  Fix: save it in the encoding UTF-8.") from None
    except OSError as error:
        what = "is a folder" if path.is_dir() else f"cannot be read: {error.strerror}"
        raise ConvlabError(f"{path} {what}.\n  Fix: name a .cu or a .ptx file that you may read.") from None


def _include_folder(source: str, folder: Path) -> list[str]:
    """The option that lets the compiler find headers beside the file, where the source needs any."""
    quoted = re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', source, re.MULTILINE)
    own = {name for name in quoted if (folder / name).is_file()} - set(collect(source))
    return [f"-I{folder.resolve()}"] if own else []


def _kernel(module: Module, entry: str | None) -> Kernel:
    """The kernel of this name; without a name, the only one there is."""
    names = list(module.kernels)
    if not names:
        fix = "mark one with __global__; a template needs an explicit instance"
        raise LaunchError(f"{module.name} has no kernel.\n  Fix: {fix}.")
    if entry is None and len(names) > 1:
        kernels = "\n".join(f"    {kernel.signature}" for kernel in module.kernels.values())
        fix = f"add --entry {names[0]}, or another of them"
        raise LaunchError(f"{module.name} has {len(names)} kernels:\n{kernels}\n  Fix: {fix}.")
    try:
        return module.kernels[names[0] if entry is None else entry]
    except KeyError as error:
        raise LaunchError(str(error)) from None


def _dim(what: str, text: str) -> tuple[int, ...]:
    """``7``, ``7,2`` or ``7x2x1`` as numbers; what is too large, the launch says."""
    if not re.fullmatch(r"0*[1-9]\d{0,18}([,x]0*[1-9]\d{0,18}){0,2}", text):
        fix = f"write it as --{what} 32, --{what} 32,8 or --{what} 32x8x1"
        raise LaunchError(f"--{what} {text} is not one to three positive whole numbers.\n  Fix: {fix}.")
    return tuple(map(int, re.split("[,x]", text)))


def _plans(kernel: Kernel, texts: Sequence[str]) -> list[Plan]:
    """Each parameter's argument: those with a name by name, the others in order."""
    names = [parameter.name for parameter in kernel.parameters]
    named: dict[str, str] = {}
    in_order = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            in_order.append(text)
        elif name not in names or name in named:
            fact = "is given twice" if name in named else "is no parameter"
            fix = f"name each parameter once: {', '.join(names)}; a file's path can begin with ./"
            raise ArgumentError(f"--arg {text}: {name} {fact}.\n  In: {kernel.signature}\n  Fix: {fix}.")
        else:
            named[name] = value
    waiting = [name for name in names if name not in named]
    if len(waiting) != len(in_order):
        fact = f"{kernel.name} takes {len(names)} arguments, {len(texts)} were given"
        surplus = f"surplus: {', '.join(in_order[len(waiting) :])}"
        missing = f"missing: {', '.join(waiting[len(in_order) :])}"
        found = surplus if len(in_order) > len(waiting) else missing
        fix = "pass one --arg for each parameter; null is a null pointer"
        raise ArgumentError(f"{fact}; {found}.\n  In: {kernel.signature}\n  Fix: {fix}.")
    named |= dict(zip(waiting, in_order, strict=True))
    return [plan(named[parameter.name], parameter) for parameter in kernel.parameters]


def _refuse_what_does_not_fit(kernel: Kernel, plans: Sequence[Plan]) -> None:
    """Refuse arrays that are larger than the free memory before any of them is made."""
    wanted, free = sum(each.nbytes for each in plans), int(psutil.virtual_memory().available)
    if wanted > free:
        sizes = zip(kernel.parameters, plans, strict=True)
        shown = ", ".join(f"{parameter.name} {_size(each.nbytes)}" for parameter, each in sizes if each.nbytes)
        fact = f"The arrays take {_size(wanted)}, and {_size(free)} of memory are free"
        raise ArgumentError(f"{fact}.\n  In: {shown}\n  Fix: make them smaller.")


def _size(nbytes: int) -> str:
    power = min(4, max(0, nbytes.bit_length() - 1) // 10)
    return f"{nbytes / (1 << 10 * power):,.1f} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def _outputs(kernel: Kernel, plans: Sequence[Plan], singles: Sequence[str], together: str | None) -> list[Output]:
    """What is to be written where, checked before the launch: a long run must not end in a wrong path."""
    arrays = tuple(at for at, each in enumerate(plans) if each.array)
    outputs = []
    for text in singles:
        key, _, path = text.partition("=")
        numbers = {name: at for at in arrays for name in (kernel.parameters[at].name, str(at + 1))}
        if key not in numbers or not path:
            names = ", ".join(kernel.parameters[at].name for at in arrays) or "none"
            fix = f"write --out NAME=FILE.npy, with one of the array arguments: {names}"
            raise ArgumentError(f"--out {text} names no array argument.\n  In: {kernel.signature}\n  Fix: {fix}.")
        outputs.append(Output(Path(path), (numbers[key],)))
    for output in outputs:
        _check_output(output, ".npy")
    if together is not None:
        outputs.append(Output(Path(together), arrays))
        _check_output(outputs[-1], ".npz")
    _check_overwriting(kernel, plans, outputs)
    return outputs


def _check_output(output: Output, suffix: str) -> None:
    path = output.path
    if path.suffix != suffix:
        raise ArgumentError(f"The output {path} does not end in {suffix}.\n  Fix: name it {path.with_suffix(suffix)}.")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ArgumentError(f"{path} cannot be written.\n  Fix: name a file in a folder that exists and is yours.")


def _check_overwriting(kernel: Kernel, plans: Sequence[Plan], outputs: Sequence[Output]) -> None:
    """A file is written once, and an input only over itself: anything else is a slip of the pen."""
    sources = [(each.path.resolve(), (at,)) for at, each in enumerate(plans) if each.path]
    taken = dict[Path, tuple[int, ...]]()
    for output in outputs:
        path = output.path.resolve()
        if path in taken:
            raise ArgumentError(f"{output.path} is the output of two options.\n  Fix: give each its own file.")
        clash = [
            kernel.parameters[at].name for source, (at,) in sources if source == path and (at,) != output.arguments
        ]
        if clash:
            raise ArgumentError(f"{output.path} is the input {clash[0]}.\n  Fix: write to another file.")
        taken[path] = output.arguments


def _was_written(value: Any) -> bool:
    """Whether a kernel wrote to an array that counted as never written, be it what was there by chance."""
    return isinstance(value, Empty) and value.flags_written is not None and bool(value.flags_written.any())


def _digest(value: Any) -> bytes:
    """A fingerprint of an array's bytes: enough to see a change, and no second copy."""
    if not isinstance(value, np.ndarray):
        return b""
    return hashlib.blake2b(value.reshape(-1).view(np.uint8).data).digest()


def _launch(
    kernel: Kernel, grid: tuple[int, ...], block: tuple[int, ...], values: list[Any], how: dict[str, Any]
) -> tuple[Run, str]:
    """Launch with faults recorded; a crash, which only a GPU can have, as words."""
    try:
        return launch(kernel, grid, block, values, faults="record", **how), ""
    except KernelFault as fault:
        return fault.run, str(fault)


def _write(output: Output, kernel: Kernel, values: Sequence[Any]) -> str:
    """Write one file: whole or not at all; returns why it could not be written."""
    arrays = {kernel.parameters[at].name: values[at] for at in output.arguments}
    save = _save_together if output.path.suffix == ".npz" else _save_single
    target = output.path.resolve()  # a link stays a link
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with draft.open("xb") as file:
            save(file, arrays)
        draft.replace(target)
    except OSError as error:
        return error.strerror or str(error)
    finally:
        draft.unlink(missing_ok=True)
    return ""


def _save_single(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    (array,) = arrays.values()
    np.lib.format.write_array(file, array, allow_pickle=False)


def _save_together(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """What ``numpy.savez`` writes, which has no place for a parameter called ``file``."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
