from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from convlab import course
from convlab.errors import ConvlabError

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def at(tmp_path: Path) -> Path:
    for name in ("00_start_here.ipynb", "01_products.ipynb", "glossary.ipynb", "picture.png", ".keep"):
        path = tmp_path / "notebooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    checkpoint = tmp_path / "notebooks" / ".ipynb_checkpoints" / "01_products-checkpoint.ipynb"
    checkpoint.parent.mkdir()
    checkpoint.write_text("old")
    return tmp_path


def test_root_is_the_checkout_here() -> None:
    assert course.root() == ROOT


def test_shipped_leaves_hidden_files_out(at: Path) -> None:
    names = ["00_start_here.ipynb", "01_products.ipynb", "glossary.ipynb", "picture.png"]
    assert list(course.shipped("notebooks", at)) == [f"notebooks/{name}" for name in names]
    assert course.shipped("notebooks", at)["notebooks/picture.png"].read_text() == "picture.png"


def test_shipped_works_below_a_hidden_folder(at: Path) -> None:
    hidden = at / ".venv" / "course"
    hidden.parent.mkdir()
    (at / "notebooks").rename(at / "moved")
    hidden.mkdir()
    (at / "moved").rename(hidden / "notebooks")
    assert len(course.shipped("notebooks", hidden)) == 4


@pytest.mark.parametrize("number", ["1", "01"])
def test_lesson_by_number(at: Path, number: str) -> None:
    assert course.lesson(number, at) == "notebooks/01_products.ipynb"


def test_unknown_lesson_names_those_there_are(at: Path) -> None:
    with pytest.raises(ConvlabError, match=r"^There is no lesson 42\. The lessons are 00, 01\.$"):
        course.lesson("42", at)


def test_missing_course_says_where_it_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "_PLACES", (tmp_path / "here", tmp_path / "there"))
    with pytest.raises(ConvlabError, match=r"missing: looked in \S+here and \S+there\. Install convlab again"):
        course.root()


def test_an_installed_wheel_finds_the_course_that_it_carries(tmp_path: Path) -> None:
    subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = "from convlab import course; print(course.root(), *course.shipped('notebooks'), sep='\\n')"
    output = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.splitlines()
    assert Path(output[0]) == tmp_path / "site" / "convlab" / "course_data"
    assert output[1:] == list(course.shipped("notebooks"))
