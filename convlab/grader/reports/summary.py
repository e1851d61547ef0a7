"""The page for whoever teaches: how it went, which mistakes were made most often, and what needs a human."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from convlab.grader.ledger import Paper, Student, students
from convlab.grader.mark import STATUSES
from convlab.grader.reports.page import counted, number, page, safe
from convlab.grader.similarity import Pair

__all__ = ["summary"]

_MOST_ROWS = 200
_BINS = 10


def summary(papers: Sequence[Paper], course: str, pairs: Sequence[Pair], warnings: Iterable[str]) -> str:
    """Give the page; ``pairs`` are those of the similarity report, ``warnings`` sentences about the run."""
    people = students(papers)
    asked = [(student, paper) for student in people for paper in student.papers if paper.for_a_human]
    body = [
        f"<h1>{safe(course)}</h1>",
        f"<p>{counted(len(papers), 'submission')} of {counted(len(people), 'student')}; "
        f"need a human: {len(asked)}.</p>",
        *_isolation(papers),
        *(f"<p><b>{safe(warning)}</b></p>" for warning in warnings),
        _distributions(papers),
        _questions(papers),
        _misconceptions(papers),
        _humans(asked),
        _similar(pairs),
        _everybody(people),
    ]
    return page(f"Summary of {course}", "\n".join(body), _foot(papers))


def _isolation(papers: Sequence[Paper]) -> list[str]:
    """The level of isolation, or the levels; answers that never ran have none."""
    counts = Counter(paper.result["audit"]["isolated"] for paper in papers)
    return [
        f"<p>{safe(sentence)} ({counted(count, 'submission')})</p>"
        for sentence, count in sorted(counts.items())
        if sentence
    ]


def _distributions(papers: Sequence[Paper]) -> str:
    lines = ["<h2>Distribution</h2>"]
    for notebook in sorted({paper.result["notebook"] for paper in papers if paper.most}):
        shares = [paper.points / paper.most for paper in papers if paper.result["notebook"] == notebook]
        average = f"{counted(len(shares), 'submission')}, on average {100 * sum(shares) / len(shares):.0f} %"
        lines.append(f"<p>{safe(notebook)}: {average}</p>\n{_histogram(shares)}")
    return "\n".join(lines)


def _histogram(shares: Sequence[float]) -> str:
    """Bars over the share of the points, in steps of ten per cent; 100 % belongs to the last."""
    counts = Counter(max(0, min(_BINS - 1, int(share * _BINS))) for share in shares)
    tallest, bars = max(counts.values()), []
    for place in range(_BINS):
        height, left = 60 * counts[place] / tallest, 10 + 44 * place
        bars.append(f'<rect x="{left}" y="{78 - height:.1f}" width="38" height="{height:.1f}"/>')
        bars.append(f'<text x="{left + 19}" y="{74 - height:.1f}" text-anchor="middle">{counts[place] or ""}</text>')
        bars.append(f'<text x="{left}" y="92">{10 * place}–{10 * place + 10}</text>')
    told = ", ".join(
        f"{counts[place]} from {10 * place} to {10 * place + 10} %" for place in range(_BINS) if counts[place]
    )
    return f'<svg viewBox="0 0 460 96" width="460" role="img" aria-label="{told}">{"".join(bars)}</svg>'


def _questions(papers: Sequence[Paper]) -> str:
    """A row for each question: how many answers came to which end."""
    counts: dict[str, Counter[str]] = {}
    for paper in papers:
        for question in paper.questions:
            counts.setdefault(question.mark.exercise, Counter())[question.mark.status] += 1
    seen = [each for each in STATUSES if any(count[each] for count in counts.values())]
    rows = [[name, *(str(count[each] or "") for each in seen)] for name, count in sorted(counts.items())]
    return "<h2>Questions</h2>\n" + _table(
        ["exercise", *(each.replace("_", " ") for each in seen)], rows, numbers=len(seen)
    )


def _misconceptions(papers: Sequence[Paper]) -> str:
    counts = Counter(
        (question.mark.exercise, question.mark.misconception)
        for paper in papers
        for question in paper.questions
        if question.mark.misconception
    )
    rows = [
        [exercise, str(words), str(count)]
        for (exercise, words), count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    ]
    return "<h2>Most frequent misconceptions</h2>\n" + _table(
        ["exercise", "misconception", "answers"], rows[:15], numbers=1
    )


def _humans(asked: Sequence[tuple[Student, Paper]]) -> str:
    rows = [
        f"<tr><td>{_link(student)}</td><td>{safe(paper.result['file'])}</td>"
        f"<td>{'<br>'.join(map(safe, paper.for_a_human))}</td></tr>"
        for student, paper in asked
    ]
    head = "<tr><th>student</th><th>file</th><th>why</th></tr>"
    return "<h2>Needs a human</h2>\n" + (f"<table>{head}{''.join(rows)}</table>" if rows else "<p>Nothing.</p>")


def _similar(pairs: Sequence[Pair]) -> str:
    rows = [[pair.exercise, pair.one, pair.other, f"{100 * pair.share:.0f} %"] for pair in pairs[:_MOST_ROWS]]
    told = "<p class='soft'>Pairs to look at, and no more than that: short answers are often alike by themselves.</p>"
    return "<h2>Similar answers</h2>\n" + told + _table(["exercise", "one", "the other", "alike"], rows, numbers=1)


def _everybody(people: Sequence[Student]) -> str:
    rows = [
        f"<tr><td>{_link(student)}</td><td class='n'>{number(sum(paper.points for paper in student.papers))}</td>"
        f"<td class='n'>{number(sum(paper.most for paper in student.papers))}</td></tr>"
        for student in people
    ]
    head = "<tr><th>student</th><th class='n'>points</th><th class='n'>of</th></tr>"
    return f"<h2>Everybody</h2>\n<table>{head}{''.join(rows)}</table>"


def _link(student: Student) -> str:
    return f'<a href="feedback/{safe(student.page)}">{safe(student.name)}</a>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> str:
    """A table of texts, of which the last columns hold numbers."""
    if not rows:
        return "<p>None.</p>"
    first = len(head) - numbers

    def line(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=n' * (place >= first)}>{safe(cell)}</{tag}>" for place, cell in enumerate(cells)
        )

    below = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f"<table><tr>{line(head, 'th')}</tr>{below}</table>"


def _foot(papers: Sequence[Paper]) -> str:
    audits = {
        f"convlab {audit['convlab']} ({audit['code']}), Python {audit['python']}, NumPy {audit['numpy']}, "
        f"seed {audit['seed']}"
        for audit in (paper.result["audit"] for paper in papers)
    }
    return "<br>".join(map(safe, sorted(audits)))
