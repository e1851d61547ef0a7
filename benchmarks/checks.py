"""How long a learner waits for a check, from the call to the drawn verdict, of each question.

Each in a fresh process, as after a notebook's set-up and answer have run: the first check is slowest. Three answers:
the right one; a known mistake, which is named; and one like no mutant (the right one, held against another oracle),
for which all mutants are looked at. No peer: what counts is that nobody waits. With other work on the machine, the
seconds of the processor, the compiler's included, say more than those of the clock.

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
import psutil
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
        else:
            exec(source.replace("%load_ext convlab", ""), namespace)
    return namespace


def slipped(record: Any, right: Any) -> Any:
    """The last of the known mistakes, as a learner would hand it in."""
    from convlab.checker.selftest import as_learner_writes

    return as_learner_writes(record, record.mutants[-1].ways[-1], right)


def unlike_any_mutant(record: Any) -> Any:
    """The record with another oracle, or other values."""

    def oracle(*known: Any) -> Any:
        right = record.oracle(*known)
        return right + 1 + np.sin(np.arange(right.size)).reshape(right.shape)

    if record.kind != "values":
        return replace(record, oracle=oracle)
    case = record.cases(np.random.default_rng(0))[0]
    return replace(record, cases=lambda rng: [replace(case, arguments=dict.fromkeys(case.arguments, "other"))])


def now() -> Any:
    """Seconds of the clock, and of the processor: those that this process had, and the compiler's."""
    me = psutil.Process()
    return np.array([time.perf_counter(), sum(sum(each.cpu_times()[:2]) for each in (me, *me.children()))])


def one(notebook: str, exercise_id: str, answer: str) -> list[float]:
    """Seconds of one check in this process."""
    given = defined(notebook)
    start = now()
    from convlab.checker.check import judge
    from convlab.checker.exercises import exercise

    record = exercise(exercise_id)
    mine = given[record.function]
    if answer == "slip":
        written = now()
        mine = slipped(record, mine)
        start += now() - written  # its cell is compiled before it is checked
    verdict = judge(unlike_any_mutant(record) if answer == "other" else record, mine, 1)
    verdict._repr_html_()
    end = now()
    assert (verdict.status == "ok") is (answer == "right"), verdict
    assert bool(verdict.diagnosis) is (answer == "slip"), verdict
    return list(end - start)


def fresh(notebook: str, exercise_id: str, answer: str) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", notebook, exercise_id, answer]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    clock, processor = json.loads(done.stdout.splitlines()[-1])
    return {"clock": round(clock, 2), "processor": round(processor, 2)}


def measure() -> dict[str, Any]:
    """Seconds for each question and answer, and the longest of all."""
    from convlab.checker.exercises import EXERCISES

    figures = {
        record.id: {answer: fresh(record.notebook, record.id, answer) for answer in ("right", "slip", "other")}
        for record in tqdm(EXERCISES.values(), unit="question")
    }
    every = [each for answers in figures.values() for each in answers.values()]
    longest = {name: max(each[name] for each in every) for name in ("clock", "processor")}
    return {"seconds of a check": figures, "longest": longest}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(*sys.argv[2:])))
    else:
        main("checks", measure)
