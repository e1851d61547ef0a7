"""The cell magic ``%%cuda NAME``: compile the cell's CUDA C and bind the module to a name."""

from __future__ import annotations

import sys
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from convlab.errors import CompileError
from convlab.executors.compile import compile
from convlab.executors.module import Module

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Uncompiled", "bind", "load_ipython_extension", "text_of"]


class Uncompiled:
    """What a name is bound to when its cell did not compile: yesterday's kernel would be worse than none."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        raise CompileError(
            f"{self._name} did not compile. Fix: mend the %%cuda cell and run it again.", name=self._name
        )

    def __repr__(self) -> str:
        return f"{self._name}, which did not compile"


def bind(line: str, cell: str) -> tuple[str, Module | Uncompiled, str]:
    """Compile a cell: the name that it binds, what to, and what went wrong, empty where nothing did.

    Parameters: ``line``, what stands behind ``%%cuda``; ``cell``, the rest. The name is empty where the line is none.
    """
    words = line.split()
    if len(words) != 1 or not words[0].isidentifier() or iskeyword(words[0]):
        wrong = "Write one name after %%cuda, such as `%%cuda mine`: the module gets that name."
        return "", Uncompiled("the cell"), wrong
    try:
        return words[0], compile(text_of(cell), name=f"{words[0]}.cu"), ""
    except CompileError as error:
        return words[0], Uncompiled(words[0]), str(error)


def text_of(cell: str) -> str:
    """What is compiled of a cell: JupyterLab counts the line with %%cuda as the cell's first."""
    return f"\n{cell}"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magic; ``%load_ext convlab`` comes here."""

    def cuda(line: str, cell: str) -> None:
        """Compile this cell's CUDA C, and bind the module to NAME: its kernels are in ``NAME.kernels``."""
        name, module, wrong = bind(line, cell)
        if name:
            shell.user_ns[name] = module
        # A Python traceback would bury the one thing that matters: the line of CUDA C.
        print(wrong or module, file=sys.stderr if wrong else sys.stdout)

    register: Any = shell.register_magic_function
    register(cuda, magic_kind="cell", magic_name="cuda")
