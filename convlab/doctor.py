"""What this machine has for the course, what it lacks, and what to do about that."""

from __future__ import annotations

import importlib
import json
import logging
import os
import platform
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from convlab import course
from convlab.lab import folders, workspace

__all__ = ["Finding", "as_json", "as_text", "can_run", "examine"]

State = Literal["ok", "note", "problem"]
_PACKAGES = ("jupyterlab", "ipykernel", "ipywidgets", "anywidget", "numpy", "numba", "matplotlib")
_INSTALL = "Install convlab again: uv sync, or conda env update --file environment.yml"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; a ``problem`` stops the course, a ``note`` is worth knowing."""

    name: str
    state: State
    sentence: str
    fix: str = ""


def examine() -> list[Finding]:
    """Look at everything in the table of checks, in its order.

    >>> [finding.name for finding in examine()][:2]
    ['system', 'folders']
    """
    with _quiet():
        return [_run(name, check) for name, check in _CHECKS.items()]


@contextmanager
def _quiet() -> Iterator[None]:
    """What libraries say on their own, of folders they cannot write above all, the findings say once and plainly."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(logging.NOTSET)


def _run(name: str, check: Callable[[], tuple[State, str, str]]) -> Finding:
    """A check that fails in a way nobody foresaw is a finding too: a doctor does not faint."""
    try:
        return Finding(name, *check())
    except Exception as error:  # to be told, like everything else that is found
        return Finding(name, "problem", f"{type(error).__name__}: {error}", _INSTALL)


def can_run(findings: Sequence[Finding]) -> bool:
    """Whether the course runs here.

    >>> can_run([Finding("gpu", "note", "No GPU.")])
    True
    """
    return not any(finding.state == "problem" for finding in findings)


def as_text(findings: Sequence[Finding]) -> str:
    """The findings for a person to read.

    >>> print(as_text([Finding("gpu", "note", "No GPU.", "Nothing: the emulator is enough.")]))
    note     gpu          No GPU.
                          To do: Nothing: the emulator is enough.
    <BLANKLINE>
    The course runs on this machine.
    """
    blocks = []
    for finding in findings:
        lines = _wrapped(finding.sentence) + (_wrapped(f"To do: {finding.fix}") if finding.fix else [])
        blocks.append(f"{finding.state:9}{finding.name:13}" + f"\n{' ' * 22}".join(lines))
    verdict = "The course runs on this machine." if can_run(findings) else "The course cannot run here yet."
    return "\n".join([*blocks, "", verdict])


def _wrapped(text: str) -> list[str]:
    """Lines of a readable length; a path stays in one piece, so that it can be copied."""
    return textwrap.wrap(text, 88, break_long_words=False, break_on_hyphens=False)


def as_json(findings: Sequence[Finding]) -> str:
    """The findings for a program to read.

    >>> json.loads(as_json([Finding("gpu", "note", "No GPU.")]))["can_run"]
    True
    """
    plain = [asdict(finding) for finding in findings]
    return json.dumps({"can_run": can_run(findings), "findings": plain}, indent=1)


def _system() -> tuple[State, str, str]:
    sentence = (
        f"{platform.system()} {platform.release()} on {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, convlab {version('convlab')}."
    )
    if sys.platform == "darwin" and platform.machine() == "x86_64":
        return "note", f"{sentence} Numba does not support Intel Macs.", "Use a container or a JupyterHub."
    return "ok", sentence, ""


def _packages() -> tuple[State, str, str]:
    """Imported, not only listed: Numba refuses a NumPy that is too new when it is imported."""
    broken = []
    for name in _PACKAGES:
        try:
            importlib.import_module(name)
        except ImportError as error:
            broken.append(f"{name} ({error})")
    if broken:
        return "problem", f"These packages cannot be imported: {', '.join(broken)}.", _INSTALL
    return "ok", f"{', '.join(f'{name} {version(name)}' for name in _PACKAGES)}.", ""


def _notebooks() -> tuple[State, str, str]:
    lessons, exercises = ", ".join(course.lessons()), len(course.shipped("exercises"))
    return "ok", f"Lessons {lessons}; notebooks with exercises: {exercises}; all in {course.root()}.", ""


def _kernel() -> tuple[State, str, str]:
    from jupyter_client.kernelspec import KernelSpecManager

    command = KernelSpecManager().get_kernel_spec("python3").argv[0]
    # Jupyter runs a bare "python" with the interpreter that JupyterLab itself runs with.
    interpreter = command if os.path.isabs(command) else sys.executable
    if os.path.normcase(os.path.abspath(interpreter)) == os.path.normcase(os.path.abspath(sys.executable)):
        return "ok", f"Notebooks run with this environment's Python, {interpreter}.", ""
    return (
        "note",
        f"Notebooks would run with another Python, {interpreter}, which may lack convlab.",
        "Unset JUPYTER_PATH, or remove the kernel: jupyter kernelspec remove python3",
    )


def _folders() -> tuple[State, str, str]:
    inside = [place for place in (Path.cwd(), *Path.cwd().parents) if (place / workspace.HIDDEN).is_dir()]
    if inside:  # as in a lesson, whose kernel runs where its notebook is
        return "ok", f"Your notebooks are in {inside[0]}.", ""
    home = Path(os.path.expanduser("~"))
    copy, elsewhere = workspace.choose(None, Path.cwd(), home)
    moved = folders.unwritable(os.environ, home)
    if moved:
        elsewhere += (
            f" Below {home} some folders cannot be written, so convlab lab puts them into "
            f"{copy / workspace.HIDDEN}: {', '.join(moved)}."
        )
    if elsewhere:
        return "note", elsewhere.strip(), ""
    return "ok", f"convlab lab, started here, keeps your notebooks in {copy}.", ""


def _compiler() -> tuple[State, str, str]:
    from convlab.executors import compile as compiler

    found = compiler.nvrtc_version()
    if found is not None:
        return "ok", f"CUDA C is compiled by NVRTC {found}.", ""
    fix = (
        "To write CUDA C use Linux or Windows (WSL, a container or a JupyterHub)."
        if sys.platform == "darwin"
        else _INSTALL
    )
    return "note", f"{compiler.why_not()} The course's own kernels run from the PTX in the package.", fix


def _gpu() -> tuple[State, str, str]:
    from convlab.executors import cuda

    if cuda.available():
        return "ok", f"Kernels run on the GPU, through CuPy {version('cupy-cuda12x')}.", ""
    sentence = f"Kernels run on the emulator, which is enough for the course. {cuda.why_not()}"
    if shutil.which("nvidia-smi") is None:
        return "ok", sentence, ""
    return (
        "note",
        f"{sentence} This machine seems to have an NVIDIA GPU.",
        "Install CuPy: uv sync --extra gpu, or pip install -e .[gpu]",
    )


def _convolution() -> tuple[State, str, str]:
    """All of it at once: a kernel in CUDA C, compiled or shipped, run, and held against NumPy."""
    import numpy as np

    from convlab.ops.conv2d import conv2d

    random = np.random.default_rng(0)
    x, w = (random.standard_normal(shape, dtype=np.float32) for shape in ((2, 3, 7, 5), (4, 3, 3, 2)))
    expected, found = (conv2d(x, w, padding=1, method=method) for method in ("direct", "naive"))
    if not np.allclose(found, expected, atol=1e-5):
        return "problem", "A convolution in CUDA C ran and gave wrong numbers.", _INSTALL
    return "ok", "A convolution in CUDA C ran and equals NumPy's result.", ""


# Ordered as a person would look: the ground first, the convolution that needs all of it last.
_CHECKS: dict[str, Callable[[], tuple[State, str, str]]] = {
    "system": _system,
    "folders": _folders,  # before the packages: Matplotlib, when imported, moves a folder of its own accord
    "packages": _packages,
    "notebooks": _notebooks,
    "kernel": _kernel,
    "compiler": _compiler,
    "gpu": _gpu,
    "convolution": _convolution,
}
