"""Write docs/exercises.md, the table of exercises and their mutants, anew; with --check, only compare.

uv run tools/document_exercises.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from generated import renew

from convlab.checker import EXERCISES
from convlab.checker.record import Exercise

PAGE = Path(__file__).resolve().parents[1] / "docs" / "exercises.md"
INTRODUCTION = """<!-- written by tools/document_exercises.py -->

# Exercises

Each question is one record in `convlab/checker/exercises/`: cases from a seed, an oracle, budgets, and *mutants*, known
wrong answers that the check must reject and name. `convlab selftest` tries them all; CI does so on three seeds.

This page is for instructors: it gives hints away."""
KINDS = {"function": "a function in Python", "kernel": "a kernel in CUDA C", "values": "numbers or words"}


def section(record: Exercise) -> str:
    """What is asked, what it may cost, and what wrong answers are told."""
    place = "a lesson" if record.notebook.startswith("00") else f"[its notebook](../exercises/{record.notebook}.ipynb)"
    unit = "point" if record.points == 1 else "points"
    head = f"## {record.id}: {record.title}\n\n{record.points} {unit}, {KINDS[record.kind]}, in {place}."
    budgets = [f"- Budget: {budget.words}, {budget.why}." for budget in record.budgets]
    rows = [f"| {mutant.name} | {mutant.misconception} | {mutant.hint} |" for mutant in record.mutants]
    table = ["| mutant | is told | and asked |", "|---|---|---|", *rows]
    return "\n\n".join(part for part in (head, "\n".join(budgets), "\n".join(table)) if part)


def pages() -> dict[Path, str]:
    """The page."""
    mutants = sum(len(record.mutants) for record in EXERCISES.values())
    count = f"{len(EXERCISES)} questions, {mutants} mutants."
    return {PAGE: "\n\n".join([INTRODUCTION, count, *map(section, EXERCISES.values())]) + "\n"}


def main() -> int:
    """Write the page, or check it."""
    return renew(pages, "document_exercises.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
