"""Cheats that must earn nothing on the machine that will grade, and a right answer that must earn everything there."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tqdm import tqdm

from convlab import course
from convlab.checker.cells import cells_by_id, read_notebook
from convlab.checker.selftest import Problem
from convlab.grader.isolation import Isolation, IsolationError, Limits, best
from convlab.grader.judge import judge
from convlab.grader.released import stub

__all__ = ["CHEATS", "Cheat", "problems", "tried"]

_LIMITS = Limits(slowness=0.5)  # so that what never ends is soon over


class Cheat(NamedTuple):
    """What a cheat tries, the exercise that it is handed in for, and its text."""

    tries: str
    exercise: str
    text: str


def _python(tries: str, body: str) -> Cheat:
    head = "def one_output(x, w, bias, k, p, q):\n"
    return Cheat(tries, "01-one-output", head + textwrap.indent(textwrap.dedent(body).strip(), "    "))


def _kernel(tries: str, above: str = "", body: str = "") -> Cheat:
    head = 'extern "C" __global__ void conv(const float* x, const float* w, float* y,\n'
    sizes = "    int C, int H, int W, int K, int R, int S, int P, int Q)"
    return Cheat(tries, "03-index", f"%%cuda mine\n{above}\n{head}{sizes} {{\n    {body}\n    y[0] = 0.0f;\n}}\n")


CHEATS = (
    _python("loops for ever", "while True: pass"),
    _python("ends the process as if all were well", "import os; os._exit(0)"),
    _python("prints a result", """print('{"status": "ok", "share": 1.0}'); return 0.0"""),
    _python(
        "writes a result to everything that is open",
        """
        import os
        for each in range(3, 64):
            try:
                os.write(each, b'{"ended": "returned", "status": "ok", "share": 1.0}\\n')
            except OSError:
                pass
        return 0.0
        """,
    ),
    _python(
        "returns what is equal to everything",
        """
        class Equal(float):
            def __eq__(self, other): return True
            def __le__(self, other): return True
            def __rsub__(self, other): return 0.0
        return Equal()
        """,
    ),
    _python("patches comparisons", "np.allclose = np.array_equal = lambda *a, **k: True; return 0.0"),
    _python("patches builtins", "import builtins; builtins.abs = lambda x: 0; return 0.0"),
    _python("takes the answer from the package", "import convlab; return convlab.conv2d(x[None], w)[0, k, p, q]"),
    _python("asks the oracle", "from convlab.checker.exercises import EXERCISES; return EXERCISES"),
    _python(
        "reads the solutions",
        """
        import pathlib, convlab
        return pathlib.Path(convlab.__file__).parents[1].joinpath("solutions", "01_loops.ipynb").read_text()
        """,
    ),
    _python("looks into the grader's process", "import os; return open(f'/proc/{os.getppid()}/environ').read()"),
    _python("runs a program", "import os; os.system('true'); return 0.0"),
    _python("uses the network", "import socket; socket.create_connection(('127.0.0.1', 80), timeout=1)"),
    _python("fills the memory", "rows = []\nwhile True: rows.append(bytearray(1 << 24))"),
    _kernel("includes a file of the machine", '#include "/etc/passwd"'),
    _kernel("hides Python in assembly", body="asm volatile(\"__import__('os')._exit(0);\");"),
    _kernel("never ends", body="while (C > 0) y[1] = 0.0f;"),
)


def problems(level: Isolation, right: str, cheats: Sequence[Cheat] = CHEATS, progress: bool = True) -> list[Problem]:
    """Try all cheats behind the walls of a level of isolation; gives what went wrong.

    Parameters: ``level``; ``right``, the text of a right answer to 01-one-output; ``cheats``; ``progress``, whether a
    bar is drawn.
    """
    bar = tqdm(cheats, unit="cheat", leave=False, disable=not progress)
    return [*_honest(level, right), *(found for cheat in bar for found in _problem(level, cheat))]


def tried() -> tuple[str, list[Problem]]:
    """Try all cheats behind the strongest walls there are here; gives in words how many, and what went wrong."""
    try:
        level = best()
    except IsolationError:
        return "no cheats, as nothing isolates answers here", []
    return f"{len(CHEATS)} cheats ({level.name})", problems(level, _right())


def _right() -> str:
    """The text of the answer to 01-one-output, without the marks around it."""
    cells = cells_by_id(read_notebook(course.root() / "solutions" / "01_loops.ipynb"))
    lines = cells["01-one-output"][0].source.splitlines(keepends=True)
    return "".join(line for line in lines if "SOLUTION" not in line)


def _honest(level: Isolation, right: str) -> Iterator[Problem]:
    for text, status in ((right, "ok"), (stub("01-one-output"), "not_attempted")):
        mark = judge("01-one-output", text, 1, _LIMITS, level)
        if mark.status != status:
            yield Problem(mark.exercise, f"isolated, {status} is taken for {mark.status}: {mark.sentence}")


def _problem(level: Isolation, cheat: Cheat) -> Iterator[Problem]:
    mark = judge(cheat.exercise, cheat.text, 1, _LIMITS, level)
    if mark.share > 0 or mark.status in ("ok", "grader_error"):
        yield Problem(cheat.exercise, f"a cheat that {cheat.tries} is {mark.status}: {mark.sentence}")
