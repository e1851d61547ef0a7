"""Every number in the prose of every lesson is computed, shown by a cell, or a fact that says what it is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from convlab import course

from .numbers.rule import Fact, Shown, is_rounded, numbers
from .running import executed, text_of

FOLDER = Path(__file__).parent / "numbers"
LESSONS = {path.name[:2]: path for name, path in course.shipped("notebooks").items() if path.name[:2].isdigit()}


def table(number: str) -> dict[str, dict[str, object]]:
    """The lesson's table; empty where there is none."""
    path = FOLDER / f"lesson_{number}.py"
    spec = importlib.util.spec_from_file_location(f"{__package__}.numbers.lesson_{number}", path)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.NUMBERS


@pytest.mark.parametrize("number", LESSONS)
def test_every_number_in_the_prose_has_an_entry_and_no_entry_is_idle(number: str) -> None:
    book, known = nbformat.read(LESSONS[number], as_version=4), table(number)
    stated = {(cell.id, text) for cell in book.cells if cell.cell_type == "markdown" for text in numbers(cell)}
    listed = {(cell_id, text) for cell_id, texts in known.items() for text in texts}
    assert sorted(stated - listed) == []
    assert sorted(listed - stated) == []


@pytest.mark.parametrize("number", LESSONS)
def test_every_number_in_the_prose_is_right(number: str) -> None:
    wrong = []
    book = executed(LESSONS[number])
    for cell_id, texts in table(number).items():
        for written, value in texts.items():
            if isinstance(value, Fact):
                assert value.why
            elif isinstance(value, Shown):
                wrong += [] if re.search(value.pattern, text_of(book, value.cell)) else [(cell_id, written, value)]
            else:
                known = float(value() if callable(value) else value)  # type: ignore[arg-type]
                wrong += [] if is_rounded(written, known) else [(cell_id, written, known)]
    assert wrong == []
