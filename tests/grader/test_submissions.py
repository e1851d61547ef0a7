"""Finding what was handed in: folders, zips, links and bombs."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from datetime import UTC, datetime

import pytest

from convlab.grader.layouts import Owner
from convlab.grader.notebook_cells import read_cells
from convlab.grader.submissions import SubmissionsError, collect

from .papers import filled, written

NOTEBOOKS = ["01_loops", "05_tiles"]


def names(path):
    return [each.name for each in collect(path, NOTEBOOKS).submissions]


def zipped(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_a_folder_with_what_systems_leave_in_it(tmp_path):
    for name in ["ada/01_loops.ipynb", "bob/01_loops.ipynb", "ada/.ipynb_checkpoints/01_loops-checkpoint.ipynb"]:
        written(tmp_path / name, {})
    for name in ["__MACOSX/ada/._01_loops.ipynb", ".DS_Store", "ada/._01_loops.ipynb", "readme.txt", "ada/notes.txt"]:
        written(tmp_path / name, {})
    found = collect(tmp_path, NOTEBOOKS)
    assert [each.name for each in found.submissions] == ["ada/01_loops.ipynb", "bob/01_loops.ipynb"]
    assert found.layout == "folders"


def test_one_file_is_a_submission(tmp_path):
    assert names(written(tmp_path / "ada_01_loops.ipynb", {})) == ["ada_01_loops.ipynb"]


@pytest.mark.parametrize("name", ["01_loops.ipynb.txt", "01_LOOPS.IPYNB", "01_loops.ipynb.json"])
def test_what_a_browser_made_of_the_ending_is_no_hindrance(name, tmp_path):
    written(tmp_path / "ada" / name, {})
    assert names(tmp_path) == [f"ada/{name}"]


def test_who_handed_in_no_notebook_is_found_as_well(tmp_path):
    written(tmp_path / "ada" / "01_loops.ipynb", {})
    for name in ["report.pdf", "work.zip"]:
        written(tmp_path / "bob" / name, {})
    assert names(tmp_path) == ["ada/01_loops.ipynb", "bob/report.pdf"]


def test_times_come_from_nbgraders_files(tmp_path):
    written(tmp_path / "ada" / "ps1" / "01_loops.ipynb", {})
    written(tmp_path / "bob" / "ps1" / "01_loops.ipynb", {})
    (tmp_path / "ada" / "ps1" / "timestamp.txt").write_text("2027-02-01 23:10:05 UTC\n")
    ada, bob = collect(tmp_path, NOTEBOOKS).submissions
    assert ada.submitted == datetime(2027, 2, 1, 23, 10, 5, tzinfo=UTC)
    assert ada.owner == Owner("ada", assignment="ps1")
    assert bob.submitted is None


def test_links_and_pipes_are_found_and_not_followed(tmp_path):
    secret = written(tmp_path / "secret" / "01_loops.ipynb", filled("01_loops"))
    handed = tmp_path / "handed"
    written(handed / "ada" / "01_loops.ipynb", {})
    (handed / "bob").mkdir()
    (handed / "bob" / "01_loops.ipynb").symlink_to(secret)
    (handed / "eve").symlink_to(secret.parent)
    (handed / "mallory").mkdir()
    os.mkfifo(handed / "mallory" / "01_loops.ipynb")
    found = {each.name: read_cells(each.file) for each in collect(handed, NOTEBOOKS).submissions}
    assert found["bob/01_loops.ipynb"].problem == "The file is a link, and links are not followed."
    assert found["mallory/01_loops.ipynb"].problem == "The file is no ordinary file."
    assert not any(name.startswith("eve/") for name in found)
    assert not found["bob/01_loops.ipynb"].cells


def test_a_file_that_becomes_a_link_after_it_was_found_is_not_read(tmp_path):
    secret = written(tmp_path / "secret.ipynb", filled("01_loops"))
    path = written(tmp_path / "handed" / "ada" / "01_loops.ipynb", {})
    (submission,) = collect(tmp_path / "handed", NOTEBOOKS).submissions
    path.unlink()
    path.symlink_to(secret)
    assert read_cells(submission.file).problem == "The file cannot be read: OSError."


def test_a_zip_is_read_in_place(tmp_path):
    text = json.dumps(filled("01_loops"))
    path = zipped(
        tmp_path / "all.zip",
        {"Ada L_17_assignsubmission_file_/01_loops.ipynb": text, "Ada L_17_assignsubmission_file_/": ""},
    )
    (submission,) = collect(path, NOTEBOOKS).submissions
    assert submission.owner == Owner("Ada L", "moodle", "17")
    assert len(read_cells(submission.file).cells) == len(filled("01_loops")["cells"])
    assert os.listdir(tmp_path) == ["all.zip"]


def test_paths_out_of_a_zip_lead_nowhere(tmp_path):
    members = {
        "../../etc/cron.d/ada_01_loops.ipynb": "{}",
        "/abs/bob_01_loops.ipynb": "{}",
        "..\\c_01_loops.ipynb": "{}",
    }
    (tmp_path / "in").mkdir()
    path = zipped(tmp_path / "in" / "all.zip", members)
    found = collect(path, NOTEBOOKS).submissions
    assert [each.name for each in found] == [
        "abs/bob_01_loops.ipynb",
        "c_01_loops.ipynb",
        "etc/cron.d/ada_01_loops.ipynb",
    ]
    for each in found:
        read_cells(each.file)
    assert sorted(os.listdir(tmp_path)) == ["in"]


def test_links_and_locks_in_a_zip_are_named(tmp_path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("ada_01_loops.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("bob_01_loops.ipynb", "{}")
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.rindex(signature) + offset] |= 1  # bob's is encrypted, it says
    path.write_bytes(data)
    link, locked = (read_cells(each.file).problem for each in collect(path, NOTEBOOKS).submissions)
    assert link == "The file is a link, and links are not followed."
    assert locked == "The file is encrypted."


def test_a_bomb_in_a_zip_ends_in_a_sentence(tmp_path):
    path = tmp_path / "all.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("ada_01_loops.ipynb", "w") as member,
    ):
        member.write(b'{"cells": "')
        for _ in range(20):
            member.write(b"A" * (1 << 20))
    assert path.stat().st_size < 100_000
    (submission,) = collect(path, NOTEBOOKS).submissions
    assert read_cells(submission.file).problem == "The file holds more than 8 MiB beside its outputs."


def test_a_damaged_zip_is_told(tmp_path):
    path = zipped(tmp_path / "all.zip", {"ada.ipynb": "{}"})
    data = path.read_bytes()
    path.write_bytes(data.replace(b"PK\x01\x02", b"PK\x09\x09"))
    with pytest.raises(SubmissionsError, match=r"all\.zip cannot be read: .*\n  Fix: download it again\."):
        collect(path, NOTEBOOKS)
    path.write_bytes(data.replace(b"PK\x03\x04", b"PK\x09\x09"))
    (submission,) = collect(path, NOTEBOOKS).submissions
    assert read_cells(submission.file).problem == "The file cannot be read: BadZipFile."


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_chinese_names_in_a_zip_that_does_not_say_how_they_are_written(encoding, tmp_path):
    name = "李雷".encode(encoding)
    path = zipped(tmp_path / "all.zip", {"X" * len(name) + "_01_loops.ipynb": "{}"})
    path.write_bytes(path.read_bytes().replace(b"X" * len(name), name))
    (submission,) = collect(path, NOTEBOOKS).submissions
    assert submission.owner.student == "李雷"


def test_nothing_to_grade_is_told_with_a_fix(tmp_path):
    with pytest.raises(
        SubmissionsError, match=r"nothing to grade in .*\n  Fix: give a notebook, a folder of them, or a zip\."
    ):
        collect(tmp_path, NOTEBOOKS)
    with pytest.raises(SubmissionsError, match=r"there is no .*nowhere"):
        collect(tmp_path / "nowhere", NOTEBOOKS)


def test_too_many_files_are_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr("convlab.grader.submissions._MOST_FILES", 3)
    for number in range(4):
        written(tmp_path / f"{number}.ipynb", {})
    with pytest.raises(SubmissionsError, match="holds more than 3 files"):
        collect(tmp_path, NOTEBOOKS)
