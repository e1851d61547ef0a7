"""The pages: whole, safe, and with everything in them; read by a parser of HTML that is not ours."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from convlab.grader.ledger import ledger, students
from convlab.grader.mark import STATUSES
from convlab.grader.overrides import read_overrides
from convlab.grader.reports.feedback import feedback
from convlab.grader.reports.page import WORDS, number
from convlab.grader.reports.summary import summary
from convlab.grader.similarity import Pair

from ..outcomes import COURSE, result

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><b>\x1b[31m\u202e&lt;/style></title>"


def papers(tmp_path, *results, rows=""):
    path = tmp_path / "overrides.csv"
    path.write_text("student,identifier,exercise,points,reason\n" + rows, "utf-8")
    return ledger(results, COURSE, read_overrides(path))


def page_of(tmp_path, given, rows=""):
    (student,) = students(papers(tmp_path, given, rows=rows))
    return feedback(student, "Spring")


def soup(page):
    return BeautifulSoup(page, "html.parser")


def test_a_students_page_says_what_was_found_and_how_to_go_on(tmp_path):
    page = soup(page_of(tmp_path, result(loops="wrong", share=0.5, submitted="2027-03-02T00:00:00+01:00")))
    text = page.get_text(" ", strip=True)
    assert page.title.string == "ada, Spring"
    assert "Spring: 6.3 of 10 points" in text
    assert "6.3 of 10 points: 7, less 0.7 because it came 1 day late" in text
    assert "One output by hand (01-one-output, 4 of 4) right . It is ok." in text
    assert (
        "Seven loops (01-loops, 3 of 6) not right . It is wrong. 1 of 2 cases are right. Likely: kernel flipped" in text
    )
    assert page.details.get_text(" ") == "Hint 1 Look at w."
    assert "convlab 9.8.7 (c0dec0de), seed 5eed1d. Answers ran in namespaces of their own." in text
    assert "SHA-256 dddddddddddddddd…" in text


def test_a_right_answer_has_no_hint(tmp_path):
    assert soup(page_of(tmp_path, result())).details is None


def test_what_was_set_by_hand_is_told_with_its_reason(tmp_path):
    text = soup(page_of(tmp_path, result(), "ada,,01-loops,2,<i>late by mail</i>\n")).get_text(" ", strip=True)
    assert "Set by hand to 2: <i>late by mail</i>" in text


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_words(status, tmp_path):
    page = soup(page_of(tmp_path, result(loops=status, share=float(status == "ok"))))
    assert page.find_all("section")[1].find(class_="tag").string == WORDS[status][0]


def elements(page):
    return {(tag.name, *sorted(tag.attrs)) for tag in soup(page).find_all()}


def test_whatever_stands_in_a_result_no_element_or_attribute_comes_of_it(tmp_path):
    tame, wild = "told", HOSTILE
    pages = []
    for told in (tame, wild):
        given = result(
            told, loops="wrong", share=0.5, told=told, file=told, identifier=told, problem=told, notes=[told]
        )
        given["audit"] = dict.fromkeys(given["audit"], told)
        found = papers(tmp_path, given)
        (student,) = students(found)
        pairs = [Pair(told, told, told, 0.9)]
        pages.append([feedback(student, told), summary(found, told, pairs, [told])])
    for calm, hostile in zip(*pages, strict=True):
        assert elements(calm) == elements(hostile)
        assert "\x1b" not in hostile
        assert "\u202e" not in hostile
        assert soup(hostile).title.string.startswith(("<script>", "Summary of <script>"))


def test_a_page_needs_nothing_else_and_runs_nothing(tmp_path):
    found = papers(tmp_path, result("ada"), result("bob", loops="error"))
    for page in (feedback(students(found)[0], "Spring"), summary(found, "Spring", [], [])):
        assert "default-src 'none'" in soup(page).find("meta", {"http-equiv": "Content-Security-Policy"})["content"]
        assert not {"script", "link", "img", "iframe", "object"} & {tag.name for tag in soup(page).find_all()}
        assert not re.search(r"https?:|url\(|@import|\son\w+=", page)
        assert len(page) < 20_000


def test_the_summary_says_how_it_went(tmp_path):
    results = [result(f"s{i}") for i in range(6)]
    results += [result(f"w{i}", loops="wrong", share=0.0) for i in range(3)]
    results += [result("g", loops="grader_error"), result("e", problem="The file is empty.", notebook="", answers=[])]
    page = soup(summary(papers(tmp_path, *results), "Spring", [Pair("01-loops", "s1", "s2", 0.93)], ["Half is done."]))
    text = page.get_text(" ", strip=True)
    assert "11 submissions of 11 students; need a human: 2." in text
    assert "Answers ran in namespaces of their own. (11 submissions)" in text
    assert "Half is done." in text
    assert page.svg["aria-label"] == "4 from 40 to 50 %, 6 from 90 to 100 %"
    assert "01-loops kernel flipped 3" in text
    assert "01-loops 6 3 1" in text
    assert "01-loops s1 s2 93 %" in text
    human = page.find("h2", string="Needs a human").find_next("table").get_text(" ", strip=True)
    assert "01-loops: the grader failed: It is grader_error." in human
    assert "The file is empty." in human
    links = [link["href"] for link in page.find_all("a")]
    assert {f"feedback/{student.page}" for student in students(papers(tmp_path, *results))} == {*links}


def test_points_are_written_as_people_write_them():
    assert [number(each) for each in (0, 1.0, 2.5, 0.333, 10.0, 100)] == ["0", "1", "2.5", "0.33", "10", "100"]
