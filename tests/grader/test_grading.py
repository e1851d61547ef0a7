"""A whole run: what it writes, that it goes on where it was, and that it says so."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import distributed
import psutil
import pytest

from convlab.grader import grade_one, grading
from convlab.grader.course_file import CourseFileError
from convlab.grader.grading import Grading, GradingError, run
from convlab.grader.mark import Mark
from convlab.grader.overrides import OverridesError

from .papers import filled, here, released, written

TIMES = re.compile(rb'"(?:seconds|execution_time)": [\d.e-]+')


@pytest.fixture
def judged(monkeypatch):
    """A judge that takes an answer for right if it holds no WRONG, in this process."""
    calls = []

    def judge(exercise, text, seed, limits, isolation, earlier):
        calls.append((exercise, seed))
        if "STOP" in text:
            raise KeyboardInterrupt
        if "FAIL" in text:
            raise OSError("no space left")
        right = "WRONG" not in text
        return Mark(
            exercise,
            "ok" if right else "wrong",
            float(right),
            "Right." if right else "Not right.",
            seconds=len(calls) / 8,
        )

    monkeypatch.setattr(grade_one, "judge", judge)
    monkeypatch.setattr(grading, "_opener", lambda _: here)
    return calls


def handed_in(tmp_path):
    folder = tmp_path / "in"
    written(folder / "ada" / "01_loops.ipynb", filled("01_loops"))
    written(folder / "bob" / "01_loops.ipynb", filled("01_loops", {"01-loops": "x = 'WRONG'"}))
    written(folder / "李雷" / "01_loops.ipynb", released("01_loops"))
    written(folder / "eve" / "01_loops.ipynb", {"cells": 3})
    return folder


def wanted(tmp_path, **more):
    return Grading(tmp_path / "in", tmp_path / "out", allow_plain=True, say=lambda _: None, **more)


def files(folder):
    """All files and their bytes, without times."""
    return {
        str(path.relative_to(folder)): TIMES.sub(b"", path.read_bytes())
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def test_a_run_writes_everything_and_says_how_many_need_a_human(judged, tmp_path):
    handed_in(tmp_path)
    said = []
    assert run(Grading(tmp_path / "in", tmp_path / "out", allow_plain=True, say=said.append)) == 1
    names = {re.sub(r"-[0-9a-f]{8}", "", name) for name in files(tmp_path / "out")}
    students = ("ada", "bob", "eve", "李雷")
    assert names == {
        *("marks.csv", "canvas.csv", "similarity.csv", "summary.html", "overrides.csv", "seed"),
        *(f"results/{student}-01_loops.json" for student in students),
        *(f"gradescope/{student}-01_loops/results.json" for student in students),
        *(f"feedback/{student}.html" for student in students),
    }
    assert said[1] == "4 files, in folders of students; 4 submissions."
    assert len(judged) == 4
    assert "The file is no notebook: it has no cells." in (tmp_path / "out" / "summary.html").read_text("utf-8")


def test_tables_for_people_open_in_excel_and_an_lms_gets_plain_ones(judged, tmp_path):
    handed_in(tmp_path)
    run(wanted(tmp_path))
    with (tmp_path / "out" / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
        assert {row["student"] for row in csv.DictReader(file)} == {"ada", "bob", "eve", "李雷"}
    begins = {path.name: path.read_bytes().startswith(b"\xef\xbb\xbf") for path in (tmp_path / "out").glob("*.csv")}
    assert begins == {"marks.csv": True, "similarity.csv": True, "canvas.csv": False, "overrides.csv": False}


def test_nobody_else_may_look_into_the_reports(judged, tmp_path):
    handed_in(tmp_path)
    run(wanted(tmp_path))
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "out" / "seed").stat().st_mode) == 0o600


def test_a_second_run_grades_nothing_and_writes_the_same(judged, tmp_path):
    handed_in(tmp_path)
    run(wanted(tmp_path))
    before, count = files(tmp_path / "out"), len(judged)
    run(wanted(tmp_path))
    assert len(judged) == count
    assert files(tmp_path / "out") == before


def test_a_run_from_nothing_writes_the_same_but_for_times(judged, tmp_path):
    handed_in(tmp_path)
    (tmp_path / "seed").write_text("42")
    run(wanted(tmp_path, seed_file=tmp_path / "seed"))
    before = files(tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / "first")
    run(wanted(tmp_path, seed_file=tmp_path / "seed"))
    assert files(tmp_path / "out") == before
    assert {seed for _, seed in judged} == {42}
    assert (tmp_path / "first" / "results").exists()


def test_only_what_changed_is_graded_again(judged, tmp_path):
    folder = handed_in(tmp_path)
    run(wanted(tmp_path))
    judged.clear()
    written(folder / "bob" / "01_loops.ipynb", filled("01_loops"))
    run(wanted(tmp_path))
    assert len(judged) == 2
    marks = (tmp_path / "out" / "marks.csv").read_text("utf-8")
    assert "WRONG" not in marks
    assert "Not right." not in marks


def test_another_seed_means_another_mark(judged, tmp_path):
    handed_in(tmp_path)
    run(wanted(tmp_path))
    judged.clear()
    (tmp_path / "out" / "seed").write_text("43")
    run(wanted(tmp_path))
    assert [seed for _, seed in judged] == [43] * 4


def test_ctrl_c_keeps_what_is_graded_and_reports_it(judged, tmp_path):
    folder = handed_in(tmp_path)
    written(folder / "李雷" / "01_loops.ipynb", filled("01_loops", {"01-loops": "STOP"}))
    with pytest.raises(KeyboardInterrupt):
        run(wanted(tmp_path))
    assert "Not everything is graded yet: 2 of 4." in (tmp_path / "out" / "summary.html").read_text("utf-8")
    written(folder / "李雷" / "01_loops.ipynb", filled("01_loops"))
    judged.clear()
    run(wanted(tmp_path))
    assert len(judged) == 2
    assert "Not everything" not in (tmp_path / "out" / "summary.html").read_text("utf-8")


def test_what_the_grader_failed_at_is_for_a_human_and_tried_again(judged, tmp_path):
    folder = handed_in(tmp_path)
    written(folder / "bob" / "01_loops.ipynb", filled("01_loops", {"01-loops": "FAIL"}))
    assert run(wanted(tmp_path)) == 2
    assert "01-loops: the grader failed: The grader failed: OSError: no space left" in (
        tmp_path / "out" / "summary.html"
    ).read_text("utf-8")
    judged.clear()
    run(wanted(tmp_path))
    assert [exercise for exercise, _ in judged] == ["01-one-output", "01-loops"]


def test_points_set_by_hand_stay_when_everything_is_graded_anew(judged, tmp_path):
    handed_in(tmp_path)
    run(wanted(tmp_path))
    table = tmp_path / "out" / "overrides.csv"
    table.write_text(table.read_text() + "李雷,,01-loops,5,by mail\nnobody,,01-loops,5,why\n", "utf-8")
    (tmp_path / "out" / "seed").write_text("44")
    run(wanted(tmp_path))
    results = next((tmp_path / "out" / "gradescope").glob("李雷*")) / "results.json"
    assert json.loads(results.read_text("utf-8"))["score"] == 5
    assert "overrides.csv, line 3: nobody has handed in nothing with 01-loops." in (
        tmp_path / "out" / "summary.html"
    ).read_text("utf-8")
    table.write_text(table.read_text() + "oops\n", "utf-8")
    judged.clear()
    with pytest.raises(OverridesError, match=r"overrides\.csv, line 4"):
        run(wanted(tmp_path))
    assert judged == []


def test_reports_of_what_is_graded_so_far_are_written_meanwhile(judged, tmp_path, monkeypatch):
    folder = handed_in(tmp_path)
    written(folder / "李雷" / "01_loops.ipynb", filled("01_loops", {"01-loops": "STOP"}))
    monkeypatch.setattr(grading, "_OFTEN", 0.0)
    told = []
    report = grading._Batch.report

    def reporting(batch, overrides):
        told.append(report(batch, overrides))
        told.append((tmp_path / "out" / "marks.csv").read_text("utf-8").count("\n"))
        return told[-2]

    monkeypatch.setattr(grading._Batch, "report", reporting)
    with pytest.raises(KeyboardInterrupt):
        run(wanted(tmp_path))
    assert told == [0, 3, 0, 5]  # the first soon, the next after twenty times as long as it took, the last at the end


def test_a_course_file_says_what_counts(judged, tmp_path):
    handed_in(tmp_path)
    course = tmp_path / "course.toml"
    course.write_text('title = "Spring"\n[[assignment]]\nnotebook = "01_loops"\npoints = { "01-loops" = 20 }\n')
    run(wanted(tmp_path, course=course))
    assert {exercise for exercise, _ in judged} == {"01-loops"}
    canvas = (tmp_path / "out" / "canvas.csv").read_text("utf-8").splitlines()
    assert canvas[2] == "ada,,,ada,,20"
    course.write_text("titel = 3")
    with pytest.raises(CourseFileError, match=r"course\.toml, line 1: assignment is missing"):
        run(wanted(tmp_path, course=course))


def test_reports_may_not_lie_among_the_submissions(judged, tmp_path):
    handed_in(tmp_path)
    with pytest.raises(
        GradingError, match=r"lies inside of the submissions\.\n  Fix: give another folder with --out\."
    ):
        run(Grading(tmp_path / "in", tmp_path / "in" / "out", allow_plain=True, say=print))
    assert sorted(os.listdir(tmp_path / "in")) == ["ada", "bob", "eve", "李雷"]


def test_a_folder_that_cannot_be_written_is_told(judged, tmp_path):
    handed_in(tmp_path)
    (tmp_path / "out").write_text("a file")
    with pytest.raises(GradingError, match=r"cannot be written: File exists\.\n  Fix: give another folder"):
        run(wanted(tmp_path))


@pytest.mark.slow
def test_a_dask_cluster_of_two_workers_gives_the_same_marks_as_this_machine(tmp_path):
    folder = handed_in(tmp_path)
    written(folder / "bob" / "01_loops.ipynb", filled("01_loops", {"01-loops": "def conv2d_loops(*a): return 1.5"}))
    (tmp_path / "seed").write_text("45")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        run(wanted(tmp_path, seed_file=tmp_path / "seed", dask=cluster.scheduler_address))
    (tmp_path / "out").rename(tmp_path / "there")
    run(wanted(tmp_path, seed_file=tmp_path / "seed", jobs=2))
    for name in ("marks.csv", "canvas.csv", "summary.html"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    canvas = (tmp_path / "out" / "canvas.csv").read_text("utf-8").splitlines()
    assert [line.rpartition(",")[2] for line in canvas[2:]] == ["10", "4", "0", "0"]


def test_ctrl_c_in_a_shell_says_how_to_go_on_and_leaves_nothing_running(tmp_path):
    endless = "def conv2d_loops(*a):\n    while True: pass"
    for student in ("ada", "bob", "eve"):
        written(tmp_path / "in" / student / "01_loops.ipynb", filled("01_loops", {"01-loops": endless}))
    code = "from convlab.cli import main; raise SystemExit(main())"
    words = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--jobs", "2", "--no-isolation"]
    process = psutil.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "out" / "results").exists() or not any(map(_is_worker, process.children(recursive=True))):
        assert process.poll() is None
        time.sleep(0.2)
    running = process.children(recursive=True)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert told.splitlines()[-1] == "Stopped. What is graded is kept: the same command goes on from there."
    assert "Traceback" not in told
    assert psutil.wait_procs(running, timeout=30)[1] == []
    assert (tmp_path / "out" / "summary.html").exists()


def _is_worker(process):
    with contextlib.suppress(psutil.Error):
        return "convlab.grader.worker" in process.cmdline()
    return False
