"""How long a learner waits for a check: for its first words, and for the whole of it with the diagnosis.

Each in a fresh process, as after a notebook's set-up and answer have run: the first check is the slowest. The answer is
right; then the same answer is held against another oracle, so that it is wrong and like no mutant, and all of them are
tried. No peer: what counts is that nobody waits. With other work on the machine, the seconds of the processor say more
than those of the clock.

    uv run python benchmarks/checks.py [--record]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from record import main
from tqdm import tqdm

from convlab import course, magic

LESSON_00 = """import convlab as cl, numpy as np
mine = cl.compile('''extern "C" __global__ void combine(const float* a, const float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * a[i] + b[i];
}''')
def combine(a, b):
    y = np.zeros_like(a)
    cl.launch(mine.kernels["combine"], grid=-(-a.size // 256), block=256, args=[a, b, y, a.size])
    return y
"""


def cells(notebook: str) -> list[str]:
    """The code of a notebook's set-up and answers; the lesson's question has no notebook of its own."""
    path = course.root() / "solutions" / f"{notebook}.ipynb"
    if not path.exists():
        return [LESSON_00]
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    kept = [each for each in found if each["cell_type"] == "code" and "nbgrader" in each["metadata"]]
    return ["".join(each["source"]) for each in kept if not each["metadata"]["nbgrader"]["grade"]]


def defined(notebook: str) -> dict[str, Any]:
    """What the cells define, without any help of the checker, which is to be imported by the check itself."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for source in cells(notebook):
        if source.startswith("%%cuda"):
            line, _, text = source.partition("\n")
            name, namespace[name], _ = magic.bind(line.removeprefix("%%cuda"), text)
        elif not source.startswith("%%"):
            exec(source.replace("%load_ext convlab", ""), namespace)
    return namespace


def unlike_any_mutant(record: Any) -> Any:
    """The record with another oracle, or other values."""

    def oracle(*known: Any) -> Any:
        right = record.oracle(*known)
        return right + 1 + np.sin(np.arange(right.size)).reshape(right.shape)

    if record.kind != "values":
        return replace(record, oracle=oracle)
    case = record.cases(np.random.default_rng(0))[0]
    return replace(record, cases=lambda rng: [replace(case, arguments=dict.fromkeys(case.arguments, "other"))])


def one(notebook: str, exercise_id: str, wrong: bool) -> dict[str, float]:
    """Seconds until the first words and until the end, of one check in this process."""
    answers = defined(notebook)
    start, cpu = time.perf_counter(), time.process_time()
    from convlab.checker.check import judge
    from convlab.checker.exercises import exercise

    record = exercise(exercise_id)
    record = unlike_any_mutant(record) if wrong else record
    first: list[float] = []

    def show(early: Any) -> None:
        early._repr_html_()
        first.append(time.perf_counter() - start)

    verdict = judge(record, answers[record.function], 1, show)
    verdict._repr_html_()
    end = time.perf_counter() - start
    assert (verdict.status == "ok") is not wrong, verdict
    assert not verdict.diagnosis, verdict
    return {"first": [*first, end][0], "whole": end, "processor": time.process_time() - cpu}


def fresh(*arguments: str) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {name: round(value, 2) for name, value in figures.items()}


def measure() -> dict[str, Any]:
    """Seconds for each question, of a right and of a wrong answer, and the longest of all."""
    from convlab.checker.exercises import EXERCISES

    figures = {
        record.id: {name: fresh(record.notebook, record.id, name) for name in ("right", "wrong")}
        for record in tqdm(EXERCISES.values(), unit="question")
    }
    every = [each for both in figures.values() for each in both.values()]
    longest = {name: max(each[name] for each in every) for name in ("first", "whole", "processor")}
    return {"seconds of a check": figures, "longest": longest}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(*sys.argv[2:4], wrong=sys.argv[4] == "wrong")))
    else:
        main("checks", measure)
