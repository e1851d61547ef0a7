"""Makes up a class: notebooks as students hand them in, each with the statuses that grading must come to.

Three quarters are right, some of them through the accidents of real life; the rest are wrong, hostile or damaged.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat

from convlab.checker.exercises import EXERCISES
from convlab.grader.released import questions

__all__ = ["Paper", "a_class", "hand_in"]

ROOT = Path(__file__).resolve().parents[1]
Notebook = dict[str, Any]

# What makes a right answer wrong, for those whose mutants are no text.
SLIPS = {
    "01-one-output": ("total = bias[k]", "total = 0"),
    "01-loops": ("total = bias[k]", "total = 0"),
    "02-output-size": ("(window - 1) + 1", "(window - 1)"),
    "02-no-copy": ("-place if place < 0", "-place - 1 if place < 0"),
    "04-bounds": ("275.4", "137.7"),
    "04-attainable": ("flop = 2 * n", "flop = n"),
    "07-im2col": ("return columns.reshape", "return columns[::-1].reshape"),
    "07-memory": ("27 * 35", "27 * 36"),
    "10-fragment-map": ("2 * t + i % 2]", "t + i % 2]"),
    "10-pad-channels": ("(c * r * s) / depth", "(c * r) / depth"),
    "10-accumulator": ("2048", "1024"),
}
NAMES = (
    "Ada Lovelace",
    "Hopper, Grace",
    '"Countess" Ada',
    "=1+1",
    "@SUM(A1)",
    "李雷",
    "韩梅梅",
    "Ωμέγα",
    "نور",
    "O'Neil",
    "two\nlines",
    "-x",
)


@dataclass(frozen=True)
class Paper:
    """One submission: its student and file, its bytes, what it is, and the statuses that each question may get."""

    student: str
    file: str
    data: bytes
    kind: str
    expected: Mapping[str, tuple[str, ...]]


def a_class(count: int, seed: int = 1) -> list[Paper]:
    """Make up so many submissions: of 20, one is hostile, one damaged, and four are wrong."""
    draw = random.Random(seed)
    makers = [_hostile, _damaged, *[_wrong] * 4, *[_right] * 14]
    hostile = _hostile_answers()
    notebooks = sorted(questions())
    papers = []
    for place in range(count):
        student = f"{NAMES[place % len(NAMES)]} {place}"
        notebook = notebooks[(place // 20 + place) % len(notebooks)]
        papers.append(makers[place % 20](draw, student, notebook, hostile))
    return papers


def hand_in(papers: list[Paper], folder: Path) -> None:
    """Write all submissions, a folder for each student."""
    for paper in papers:
        path = folder / paper.student / paper.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(paper.data)


def _right(draw: random.Random, student: str, notebook: str, hostile: Iterator[Any]) -> Paper:
    accident = draw.choice(ACCIDENTS)
    filled = _filled(notebook, {})
    return Paper(student, f"{notebook}.ipynb", accident(filled), "right", _statuses(notebook, {}))


def _wrong(draw: random.Random, student: str, notebook: str, hostile: Iterator[Any]) -> Paper:
    exercise = draw.choice(questions()[notebook])
    filled = _filled(notebook, {exercise: _slip(draw, exercise)})
    return Paper(student, f"{notebook}.ipynb", _plain(filled), "wrong", _statuses(notebook, {exercise: "wrong"}))


def _slip(draw: random.Random, exercise: str) -> str:
    record = EXERCISES[exercise]
    if record.kind == "kernel":
        return f"%%cuda {record.function}\n{draw.choice(record.mutants).ways[0]}"
    right, wrong = SLIPS[exercise]
    assert right in _right_answers()[exercise], exercise
    return _right_answers()[exercise].replace(right, wrong)


def _hostile(draw: random.Random, student: str, notebook: str, hostile: Iterator[Any]) -> Paper:
    exercise, status, text = next(hostile)
    notebook = EXERCISES[exercise].notebook
    filled = _filled(notebook, {exercise: text})
    return Paper(student, f"{notebook}.ipynb", _plain(filled), "hostile", _statuses(notebook, {exercise: status}))


def _damaged(draw: random.Random, student: str, notebook: str, hostile: Iterator[Any]) -> Paper:
    data, one = draw.choice(DAMAGES)(notebook)
    lost = questions()[notebook][:1] if one else questions()[notebook]
    return Paper(student, f"{notebook}.ipynb", data, "damaged", _statuses(notebook, dict.fromkeys(lost, "malformed")))


def _statuses(notebook: str, others: Mapping[str, str | tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    found = {each: others.get(each, "ok") for each in questions()[notebook]}
    return {each: (status,) if isinstance(status, str) else status for each, status in found.items()}


def _filled(notebook: str, answers: Mapping[str, str]) -> Notebook:
    """A released notebook with answers in it: the right ones, unless told otherwise."""
    filled: Notebook = json.loads((ROOT / "exercises" / f"{notebook}.ipynb").read_text("utf-8"))
    for cell in filled["cells"]:
        if cell["id"] in EXERCISES:
            cell["source"] = answers.get(cell["id"], _right_answers()[cell["id"]])
    return filled


def _right_answers() -> dict[str, str]:
    if not _ANSWERS:
        for path in sorted((ROOT / "solutions").glob("*.ipynb")):
            for cell in json.loads(path.read_text("utf-8"))["cells"]:
                lines = (line for line in cell["source"] if "SOLUTION" not in line)
                _ANSWERS[cell["id"]] = "".join(lines)
    return _ANSWERS


_ANSWERS: dict[str, str] = {}


def _hostile_answers() -> Iterator[tuple[str, str | tuple[str, ...], str]]:
    """Exercise, status or statuses, and text of hostile answers from the tests, in turn of Python and of CUDA C."""
    python, cuda = _corpus("python_answers").PYTHON, _corpus("cuda_answers").CUDA
    while True:
        for (status, text), (status_c, text_c) in zip(
            list(python.values())[::5], list(cuda.values())[::2], strict=False
        ):
            yield "01-one-output", status, text
            yield "03-index", status_c, text_c


def _corpus(name: str) -> Any:
    if (path := str(ROOT / "tests" / "grader")) not in sys.path:
        sys.path.append(path)
    return import_module(f"hostile.{name}")


def _plain(notebook: Notebook) -> bytes:
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode()


def _windows(notebook: Notebook) -> bytes:
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    return json.dumps(notebook, indent=1).replace("\n", "\r\n").encode("utf-8-sig")


def _old(notebook: Notebook) -> bytes:
    return nbformat.writes(nbformat.convert(nbformat.from_dict(notebook), 3), version=3).encode()


def _without_ids(notebook: Notebook) -> bytes:
    for cell in notebook["cells"]:
        cell |= {"metadata": {}, "id": "lost"}
    return _plain(notebook)


def _with_outputs(notebook: Notebook) -> bytes:
    for cell in notebook["cells"]:
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["x" * 1000] * 100}]
    return _plain(notebook)


def _reordered(notebook: Notebook) -> bytes:
    notebook["cells"].reverse()
    return _plain(notebook)


ACCIDENTS: list[Callable[[Notebook], bytes]] = [_plain, _plain, _windows, _old, _without_ids, _with_outputs, _reordered]


def _cut(notebook: str) -> tuple[bytes, bool]:
    return _plain(_filled(notebook, {}))[:2000], False


def _empty(notebook: str) -> tuple[bytes, bool]:
    return b"", False


def _html(notebook: str) -> tuple[bytes, bool]:
    return b"<!doctype html><p>Sign in</p>", False


def _missing(notebook: str) -> tuple[bytes, bool]:
    filled = _filled(notebook, {})
    filled["cells"] = [cell for cell in filled["cells"] if cell["id"] != questions()[notebook][0]]
    return _plain(filled), True


def _merged(notebook: str) -> tuple[bytes, bool]:
    exercise = questions()[notebook][0]
    answer = f"<<<<<<< HEAD\n{_right_answers()[exercise]}\n=======\n>>>>>>> mine\n"
    return _plain(_filled(notebook, {exercise: answer})), True


DAMAGES = [_cut, _empty, _html, _missing, _merged]
