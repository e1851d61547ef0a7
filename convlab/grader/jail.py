"""What a worker may see of this machine: an interpreter, a few packages, and the least of this one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from convlab.executors.headers import toolkit

__all__ = ["View", "furnish", "view"]

PACKAGE = Path(__file__).resolve().parents[1]

# By the kind of a worker: the packages of others, and the files of this one. No exercises, no references, no kernels
# of the course, no solutions; what an exercise allows besides, as numpy and convlab.spec, is added.
_PACKAGES = {
    "python": ("lazy_loader",),
    "cuda": ("numpy", "numba", "llvmlite", "lazy_loader", "tqdm", "cuda", "nvidia"),
}
_COMMON = ("__init__.py", "__init__.pyi", "errors.py", "grader/__init__.py", "grader/worker.py", "grader/wire.py")
_PARTS = {
    "python": ("checker/guard.py", "checker/memory.py", "grader/python_answer.py", "grader/attempts.py"),
    "cuda": ("checker/launched.py", "grader/cuda_answer.py", "grader/numba_caches.py", "executors", "emulator"),
}
_INSTALLED = ("site-packages", "dist-packages")  # folders of what is installed, inside of the standard library's


class View(NamedTuple):
    """Files, folders and links that are seen in their places, and folders among them that are seen empty."""

    shown: tuple[str, ...]
    emptied: tuple[str, ...]


@lru_cache(maxsize=32)
def view(kind: str, allowed: tuple[str, ...] = (), caches: Path | None = None) -> View:
    """What a worker sees.

    >>> any("solutions" in path or "exercises" in path for path in view("python", ("numpy",)).shown)
    False

    Parameters: ``kind`` of the worker; ``allowed``, names of further packages, and of modules of this one; ``caches``,
    the folder of what Numba has compiled, where there is one.
    """
    compiler = tuple(_compiler()) if kind == "cuda" else ()
    own = [PACKAGE / part for part in (*_COMMON, *_PARTS[kind])]
    installed = [place for name in (*_PACKAGES[kind], *allowed) for place in _places(name)]
    library = Path(sysconfig.get_path("stdlib"))
    wanted = [Path(sys.executable), Path(sys.prefix, "pyvenv.cfg"), library, *own, *compiler, *installed]
    wanted += [caches] if caches else []
    found = [*wanted, *map(Path, _libraries((*installed, library))), Path("/etc/ld.so.cache")]
    shown = dict.fromkeys(str(step) for path in found if os.path.lexists(path) for step in _steps(path))
    emptied = tuple(str(library / name) for name in _INSTALLED if (library / name).is_dir())
    return View(tuple(path for path in shown if not _inside(path, shown, emptied)), emptied)


def _compiler() -> Iterator[Path]:
    """What CUDA C needs besides Python's packages: headers, and NVRTC where it is no package, as with conda."""
    yield from PACKAGE.glob("kernels/*.cuh")
    yield from toolkit()
    yield from Path(sys.prefix, "lib").glob("libnvrtc*")


def _inside(path: str, shown: Container[str], emptied: Container[str]) -> bool:
    """Whether a folder above a path is shown already, and not emptied."""
    above = next((str(each) for each in Path(path).parents if str(each) in shown or str(each) in emptied), "")
    return above in shown and above not in emptied


def _places(name: str) -> Iterator[Path]:
    """Where a package or module lies, and the libraries that its wheel keeps beside it."""
    found = find_spec(name)
    if found is None:
        return
    places = [Path(each) for each in found.submodule_search_locations or ()]
    yield from places or ([Path(found.origin)] if found.origin else ())
    yield from (place.with_name(f"{place.name}.libs") for place in places)


def _libraries(folders: Iterable[Path]) -> list[str]:
    """The libraries of the system that Python and what is installed are linked with, as the loader finds them."""
    files = [os.path.realpath(sys.executable)]
    for folder in folders:
        files += [str(file) for file in folder.rglob("*.so*") if not {*_INSTALLED} & {*file.relative_to(folder).parts}]
    said = subprocess.run(["ldd", *files], capture_output=True, text=True, check=False).stdout
    return re.findall(r"(?:=> |^\s+)(/\S+)", said, re.MULTILINE)


def _steps(path: Path) -> Iterator[Path]:
    """A path, and before it every link on the way to it with what it stands for, to the end of the last one."""
    whole = Path(os.path.abspath(path))
    for place in (*reversed(whole.parents), whole):
        if place.is_symlink():
            yield place
            yield from _steps(place.parent / place.readlink() / whole.relative_to(place))
            return
    yield whole


def furnish(root: Path, seen: View) -> None:
    """Put what is seen below a folder: as hard links where the file system is the same, as copies elsewhere."""
    for path in seen.shown:
        place = root / path.lstrip("/")
        place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.copytree(path, place, symlinks=True, copy_function=_link, dirs_exist_ok=True, ignore=_without(seen))
        elif not os.path.lexists(place):
            _link(path, str(place))


def _without(seen: View) -> Callable[[str, list[str]], list[str]]:
    return lambda folder, names: [name for name in names if os.path.join(folder, name) in seen.emptied]


def _link(source: str, place: str) -> None:
    try:
        os.link(source, place, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, place, follow_symlinks=False)
