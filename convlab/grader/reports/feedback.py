"""A page for each student: every answer with what was found, what may be behind it, and how to go on."""

from __future__ import annotations

from convlab.grader.ledger import Paper, Question, Student
from convlab.grader.reports.page import WORDS, counted, number, page, safe, status

__all__ = ["feedback"]


def feedback(student: Student, course: str) -> str:
    """Give one student's page."""
    total, most = sum(paper.points for paper in student.papers), sum(paper.most for paper in student.papers)
    head = f"<h1>{safe(student.name)}</h1>\n<p>{safe(course)}: <b>{number(total)} of {number(most)} points</b></p>"
    return page(f"{student.name}, {course}", "\n".join([head, *map(_paper, student.papers)]), _foot(student))


def _paper(paper: Paper) -> str:
    title = paper.assignment.title if paper.assignment else paper.result["file"]
    lines = [f"<h2>{safe(title)}</h2>"]
    if paper.result["problem"]:
        lines.append(f"<p>{safe(paper.result['problem'])}</p>")
    if paper.questions:
        lines.append(f"<p>{number(paper.points)} of {number(paper.most)} points{_late(paper)}</p>")
    lines += [f'<p class="soft">{safe(note)}</p>' for note in paper.result["notes"]]
    return "\n".join([*lines, *map(_question, paper.questions)])


def _late(paper: Paper) -> str:
    if not paper.late_days:
        return ""
    days = counted(paper.late_days, "day")
    return f": {number(paper.earned)}, less {number(paper.penalty)} because it came {days} late"


def _question(question: Question) -> str:
    mark = question.mark
    points = f"{number(question.earned)} of {number(question.most)}"
    lines = [f"<h3>{safe(question.title)} <span class='soft'>({safe(mark.exercise)}, {points})</span></h3>"]
    lines.append(f"<p>{status(mark.status)}. {safe(mark.sentence)}</p>")
    right = sum(case.status == "ok" for case in mark.cases)
    if mark.status != "ok" and len(mark.cases) > 1:
        lines.append(f'<p class="soft">{right} of {len(mark.cases)} cases are right.</p>')
    if mark.misconception:
        lines.append(f"<p><b>Likely:</b> {safe(mark.misconception)}</p>")
    if mark.status != "ok":
        for place, hint in enumerate(mark.hints, start=1):
            lines.append(f"<details><summary>Hint {place}</summary><p>{safe(hint)}</p></details>")
    if question.override:
        lines.append(
            f"<p><b>Set by hand to {number(question.override.points)}:</b> {safe(question.override.reason)}</p>"
        )
    lines += [f'<p class="soft">{safe(note)}</p>' for note in question.notes]
    return f'<section class="{WORDS[mark.status][1]}">' + "\n".join(lines) + "</section>"


def _foot(student: Student) -> str:
    """What the marks rest on; the same for all papers of one run, so each is said once."""
    lines = [
        f"{safe(paper.result['file'])}: SHA-256 {safe(paper.result['digest'][:16])}…, convlab {safe(audit['convlab'])} "
        f"({safe(audit['code'])}), seed {safe(audit['seed'])}. {safe(audit['isolated'])}"
        for paper in student.papers
        for audit in [paper.result["audit"]]
    ]
    return "<br>\n".join(lines)
