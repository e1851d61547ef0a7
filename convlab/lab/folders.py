"""Folders that the course's tools write to, moved to a writable place where the home folder is not one."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["LOOPBACK", "environment", "is_writable", "unwritable"]

LOOPBACK = ("localhost", "127.0.0.1", "::1")

# What moves a tool's folder, and where it is below the home folder otherwise: on Linux, macOS, Windows.
_FOLDERS = {
    "JUPYTER_CONFIG_DIR": (".jupyter", ".jupyter", ".jupyter"),
    "JUPYTER_DATA_DIR": (".local/share/jupyter", "Library/Jupyter", "AppData/Roaming/jupyter"),
    "JUPYTER_RUNTIME_DIR": (
        ".local/share/jupyter/runtime",
        "Library/Jupyter/runtime",
        "AppData/Roaming/jupyter/runtime",
    ),
    "IPYTHONDIR": (".ipython", ".ipython", ".ipython"),
    "MPLCONFIGDIR": (".config/matplotlib", ".matplotlib", ".matplotlib"),
    "NUMBA_CACHE_DIR": (".cache/numba", "Library/Caches/numba", "AppData/Local/numba"),
    "CUPY_CACHE_DIR": (".cupy/kernel_cache", ".cupy/kernel_cache", ".cupy/kernel_cache"),
}
_COLUMN = {"darwin": 1, "win32": 2}.get(sys.platform, 0)

_SETTINGS = Path(__file__).parent / "jupyter"  # what JupyterLab reads before the user's own settings

Probe = Callable[[Path], bool]


def is_writable(folder: Path) -> bool:
    """Whether files can be made in ``folder``, or in the nearest folder above it that exists.

    >>> is_writable(Path(__file__) / "not a folder")
    False

    Tried by making a file: permission bits say too little for root, read-only disks and network drives.
    """
    try:
        while not folder.exists():
            folder = folder.parent
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def unwritable(env: Mapping[str, str], home: Path, probe: Probe = is_writable) -> list[str]:
    """The variables of ``_FOLDERS`` that must be set, because the tool's usual folder cannot be written.

    >>> unwritable({"IPYTHONDIR": "/mine"}, Path("/home/ada"), probe=lambda folder: folder.name != ".ipython")
    []
    """
    return [name for name, usual in _FOLDERS.items() if name not in env and not probe(home / usual[_COLUMN])]


def environment(
    env: Mapping[str, str], refuge: Path, home: Path | None = None, probe: Probe = is_writable
) -> dict[str, str]:
    """The variables to add to ``env`` so that JupyterLab and its kernels work on a learner's machine.

    >>> environment({"NO_PROXY": "example.org"}, Path("/refuge"), Path("/home/ada"))["no_proxy"]
    'example.org,localhost,127.0.0.1,::1'

    ``refuge`` is a writable folder for whatever cannot be written below ``home``; ``probe`` answers whether a
    folder can be written.
    """
    listed = [name for name in (env.get("no_proxy") or env.get("NO_PROXY") or "").split(",") if name]
    no_proxy = ",".join([*listed, *(name for name in LOOPBACK if name not in listed)])
    added = {
        "JUPYTER_PREFER_ENV_PATH": "1",  # a python3 kernel in the user's folder would run another Python
        "JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, [str(_SETTINGS), env.get("JUPYTER_CONFIG_PATH")])),
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
    }
    for name in unwritable(env, home or Path(os.path.expanduser("~")), probe):
        added[name] = str(refuge / name.lower())
    return added
