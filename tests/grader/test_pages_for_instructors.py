"""What the pages for instructors say: their files are read, their links lead somewhere, their sums are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from convlab.checker.exercises import EXERCISES
from convlab.cli import main
from convlab.grader.course_file import read_course
from convlab.grader.overrides import Override, read_overrides
from convlab.grader.reports import tables
from convlab.grader.submissions import collect

from .papers import written

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("instructors.md", "writing_exercises.md", "syllabus.md")
INSTRUCTORS = (DOCS / "instructors.md").read_text("utf-8")
SYLLABUS = (DOCS / "syllabus.md").read_text("utf-8")


def block(mark):
    return re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", INSTRUCTORS, re.DOTALL)[1]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page):
    for target in re.findall(r"\]\(([^):]+)\)", (DOCS / page).read_text("utf-8")):
        name, _, heading = target.partition("#")
        text = (DOCS / (name or page)).read_text("utf-8")
        headings = [
            re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-")
            for each in re.findall(r"^#+ (.*)", text, re.MULTILINE)
        ]
        assert not heading or heading in headings, target


def test_the_course_file_of_the_page_is_read(tmp_path):
    path = tmp_path / "course.toml"
    path.write_text(block("course"), "utf-8")
    course = read_course(path)
    assert course.assignments["01_loops"].title == "Loops (81234)"
    assert course.assignments["05_tiles"].points == {"05-halo": 5}
    assert course.late.per_day == 0.1


def test_the_overrides_of_the_page_are_read(tmp_path):
    path = tmp_path / "overrides.csv"
    path.write_text(block("overrides"), "utf-8")
    found = read_overrides(path).of("lovelaceada", "1742", "01-loops")
    assert found == Override(5.0, "Right but for a typing error, see our mails.")


def test_what_the_page_says_of_names_is_said(tmp_path):
    for number in range(3):
        written(tmp_path / f"s{number}_17{number}_4001_01_loops.ipynb", {})
    assert f"300 files, {collect(tmp_path, []).sentence}" in INSTRUCTORS
    assert "apostrophe" in INSTRUCTORS
    assert tables.guarded("=a") == "'=a"


def test_the_options_of_the_page_are_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["grade", "--help"])
    told = capsys.readouterr().out
    for option in set(re.findall(r"convlab grade[^\n`]*?(--[a-z-]+)", INSTRUCTORS)) | {
        "--jobs",
        "--course",
        "--dask",
        "--no-isolation",
    }:
        assert option in told
    for name in (
        "summary.html",
        "marks.csv",
        "canvas.csv",
        "moodle/",
        "gradescope/",
        "feedback/",
        "overrides.csv",
        "seed",
    ):
        assert name in told
        assert name in INSTRUCTORS


def rows_of(weeks):
    section = SYLLABUS.partition(f"## {weeks} weeks")[2].partition("\n## ")[0]
    return section, [line.split(" | ") for line in section.splitlines() if re.match(r"\| \d", line)]


@pytest.mark.parametrize(("weeks", "count", "total"), [("Six", 6, 70), ("Twelve", 12, 120)])
def test_the_points_of_the_syllabus_are_those_of_the_records(weeks, count, total):
    section, rows = rows_of(weeks)
    assert len(rows) == count
    for row in rows:
        notebooks = re.findall(r"exercises/(\w+)\.ipynb", row[2])
        points = sum(record.points for record in EXERCISES.values() if record.notebook in notebooks)
        assert not notebooks or int(row[3].rstrip(" |")) == points, row
    told = [int(row[3].rstrip(" |")) for row in rows if row[3].rstrip(" |").isdigit()]
    assert sum(told) == total
    assert str(total if total == 70 else total - 20) + " points" in section
