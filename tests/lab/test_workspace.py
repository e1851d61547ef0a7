from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest

from convlab.errors import ConvlabError
from convlab.lab import workspace
from convlab.lab.workspace import choose, fingerprint, refresh

LESSON = "notebooks/01_products.ipynb"


def notebook(source: str, **cell: object) -> bytes:
    code = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": []}
    content = {
        "cells": [{**code, "source": source, **cell}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content).encode()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    base = tmp_path / "course"
    for name, content in {
        LESSON: notebook("x = 1"),
        "notebooks/pictures/sm.svg": b"<svg/>",
        "notebooks/.keep": b"",
        "exercises/01_loops.ipynb": notebook("..."),
        "solutions/01_loops.ipynb": notebook("answer"),
    }.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return base


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "mine 我的"


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_first_start_copies_what_a_learner_works_on(course: Path, copy: Path) -> None:
    assert refresh(copy, course) == []
    assert files(copy) == [
        ".convlab/shipped.json",
        "exercises/01_loops.ipynb",
        LESSON,
        "notebooks/pictures/sm.svg",
    ]
    assert (copy / LESSON).read_bytes() == notebook("x = 1")


def test_a_missing_file_comes_back(course: Path, copy: Path) -> None:
    refresh(copy, course)
    (copy / LESSON).unlink()
    assert refresh(copy, course) == []
    assert (copy / LESSON).read_bytes() == notebook("x = 1")


def test_an_untouched_file_is_refreshed_without_a_word(course: Path, copy: Path) -> None:
    refresh(copy, course)
    (course / LESSON).write_bytes(notebook("x = 2"))
    assert refresh(copy, course) == []
    assert (copy / LESSON).read_bytes() == notebook("x = 2")
    assert len(files(copy)) == 4


def test_a_changed_file_stays_when_nothing_new_is_shipped(course: Path, copy: Path) -> None:
    refresh(copy, course)
    (copy / LESSON).write_bytes(notebook("mine"))
    assert refresh(copy, course) == refresh(copy, course) == []
    assert (copy / LESSON).read_bytes() == notebook("mine")
    assert len(files(copy)) == 4


def test_a_changed_file_gets_one_neighbour_for_each_new_version(course: Path, copy: Path) -> None:
    refresh(copy, course)
    (copy / LESSON).write_bytes(notebook("mine"))
    (course / LESSON).write_bytes(notebook("x = 2"))
    assert refresh(copy, course) == [
        f"{LESSON} has a new version. Yours is kept; the new one is notebooks/01_products.new.ipynb."
    ]
    assert refresh(copy, course) == []  # said once

    (copy / "notebooks/01_products.new.ipynb").write_bytes(notebook("mine too"))
    (course / LESSON).write_bytes(notebook("x = 3"))
    (sentence,) = refresh(copy, course)
    assert sentence.endswith("the new one is notebooks/01_products.new2.ipynb.")
    refresh(copy, course)
    (course / LESSON).write_bytes(notebook("x = 4"))
    (sentence,) = refresh(copy, course)  # the untouched neighbour makes room for its own new version
    assert sentence.endswith("the new one is notebooks/01_products.new2.ipynb.")
    found = {path.name: path.read_bytes() for path in (copy / "notebooks").glob("*.ipynb")}
    assert found == {
        "01_products.ipynb": notebook("mine"),
        "01_products.new.ipynb": notebook("mine too"),
        "01_products.new2.ipynb": notebook("x = 4"),
    }


def test_outputs_are_a_learners_work_too(course: Path, copy: Path) -> None:
    refresh(copy, course)
    output = {"output_type": "stream", "name": "stdout", "text": "measured: 1.2 ms"}
    ran = notebook("x = 1", outputs=[output], execution_count=1)
    (copy / LESSON).write_bytes(ran)
    (course / LESSON).write_bytes(notebook("x = 2"))
    assert len(refresh(copy, course)) == 1
    assert (copy / LESSON).read_bytes() == ran


def test_a_notebook_that_jupyterlab_merely_saved_counts_as_untouched(course: Path, copy: Path) -> None:
    (course / LESSON).write_bytes(notebook("x = 1\ny = 2"))
    refresh(copy, course)
    saved = nbformat.reads((copy / LESSON).read_text(), as_version=4)
    saved.metadata = {"language_info": {"name": "python", "version": "3.14.1"}}
    saved.cells[0].metadata = {"scrolled": True}
    (copy / LESSON).write_text(nbformat.writes(saved, indent=2))
    assert '"y = 2"' in (copy / LESSON).read_text()  # lines, where a string was shipped
    (course / LESSON).write_bytes(notebook("x = 3"))
    assert refresh(copy, course) == []
    assert (copy / LESSON).read_bytes() == notebook("x = 3")


def test_an_interrupted_start_is_made_good_by_the_next(
    course: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh(copy, course)
    (copy / LESSON).write_bytes(notebook("mine"))
    (course / LESSON).write_bytes(notebook("x = 2"))
    (course / "exercises/01_loops.ipynb").write_bytes(notebook("task"))
    write = workspace._write

    def power_cut(target: Path, content: bytes) -> None:
        if target.name == "shipped.json":
            raise KeyboardInterrupt
        write(target, content)

    monkeypatch.setattr(workspace, "_write", power_cut)
    with pytest.raises(KeyboardInterrupt):
        refresh(copy, course)
    monkeypatch.undo()
    assert len(refresh(copy, course)) == 1
    assert files(copy) == [
        ".convlab/shipped.json",
        "exercises/01_loops.ipynb",
        LESSON,
        "notebooks/01_products.new.ipynb",
        "notebooks/pictures/sm.svg",
    ]
    assert (copy / "exercises/01_loops.ipynb").read_bytes() == notebook("task")


def test_a_write_that_fails_leaves_the_old_file_and_no_rubbish(
    course: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh(copy, course)
    (course / LESSON).write_bytes(notebook("x = 2"))

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        refresh(copy, course)
    assert (copy / LESSON).read_bytes() == notebook("x = 1")
    assert len(files(copy)) == 4


@pytest.mark.parametrize("record", [b"", b"{", b"[1]"])
def test_without_a_readable_record_nothing_is_overwritten(course: Path, copy: Path, record: bytes) -> None:
    refresh(copy, course)
    (copy / ".convlab/shipped.json").write_bytes(record)
    (course / LESSON).write_bytes(notebook("x = 2"))
    assert len(refresh(copy, course)) == 1
    assert (copy / LESSON).read_bytes() == notebook("x = 1")


def test_a_withdrawn_lesson_stays_with_the_learner(course: Path, copy: Path) -> None:
    refresh(copy, course)
    (course / LESSON).rename(course / "notebooks/02_products.ipynb")
    assert refresh(copy, course) == []
    assert (copy / LESSON).exists()
    assert (copy / "notebooks/02_products.ipynb").exists()


def test_fingerprint_of_a_damaged_notebook_is_its_bytes() -> None:
    for damaged in (b"not json", b"[]", b'{"cells": [1]}', b'{"cells": 3}'):
        assert fingerprint(damaged, "a.ipynb") == fingerprint(damaged, "a.txt")


def test_choose_takes_the_current_folder_then_home_then_the_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd, home = Path("/course"), Path("/home/ada")
    assert choose(None, cwd, home, probe=lambda folder: True) == (cwd / "my-convlab", "")
    folder, sentence = choose(None, cwd, home, probe=lambda folder: home in folder.parents)
    assert folder == home / "my-convlab"
    assert sentence == f"{cwd} cannot be written, so your notebooks are in {folder}."

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder, sentence = choose(None, cwd, home, probe=lambda folder: False)
    assert folder.parent == tmp_path
    assert "which the system may empty: name a lasting place with --folder." in sentence
    assert choose(None, cwd, home, probe=lambda folder: False)[0] == folder  # the same at the next start


def test_a_temporary_folder_that_somebody_else_made_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    theirs = choose(None, tmp_path, tmp_path, probe=lambda folder: False)[0]
    theirs.rmdir()
    (tmp_path / "elsewhere").mkdir()
    theirs.symlink_to(tmp_path / "elsewhere")
    assert choose(None, tmp_path, tmp_path, probe=lambda folder: False)[0] != theirs


def test_an_asked_folder_is_used_or_refused(tmp_path: Path) -> None:
    assert choose(str(tmp_path / "a" / ".." / "b"), Path("/"), Path("/")) == (tmp_path / "b", "")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConvlabError, match=r"file cannot be written\. Name another one with --folder\.$"):
        choose(str(tmp_path / "file"), Path("/"), Path("/"))
