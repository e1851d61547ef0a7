"""What a check says: plain data that reads well as text and in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from ipywidgets import HTML, VBox

from convlab.checker.compare import Elements
from convlab.checker.errormap import error_map

__all__ = ["Status", "Verdict"]

Status = Literal["ok", "wrong", "error", "timeout", "not_attempted", "malformed"]

_HEADLINES: dict[Status, str] = {
    "ok": "passed",
    "wrong": "not right yet",
    "error": "stopped by an error",
    "timeout": "stopped at the time limit",
    "not_attempted": "not attempted yet",
    "malformed": "could not be read",
}
_COLOURS: dict[Status, str] = {"ok": "#009e73", "not_attempted": "#7a8793"}  # of the bar at the left; others:
_NOT_YET = "#d55e00"


_FOLDS = ("I am stuck", "I am still stuck")  # what stands on the folded hints


def _folded(name: str, text: str) -> str:
    return f'<details style="margin-top:.4em"><summary>{name}</summary>{escape(text)}</details>'


@dataclass(frozen=True, repr=False, kw_only=True)
class Verdict:
    """The result of one check; it counts as true only if everything is right.

    >>> print(Verdict(exercise="a", title="A", points=6, status="ok", message="All is right."))
    a, A (6 points): passed
      All is right.

    - ``status``: "ok", "wrong", "error", "timeout", "not_attempted" or "malformed"; only "ok" earns points;
    - ``message``: one sentence; ``case``: the call that it is about; ``right`` of ``total`` cases are right;
    - ``where``, ``expected``, ``found``: the first wrong element in tensor terms, and its two values;
    - ``diagnosis``: the name of the mutant that computes the same, ``misconception`` and ``hint`` its words;
      without such a mutant, what the errors have in common;
    - ``hints``: those of the exercise, for whoever is stuck: two, the second one stronger;
    - ``errors``: the elements of that case, to be drawn, where the result is a tensor (N, K, P, Q);
    - ``printed``: what the answer printed in that case, without the ``omitted`` characters at the end.
    """

    exercise: str
    title: str
    points: int
    status: Status
    message: str
    case: str = ""
    right: int = 0
    total: int = 0
    where: str = ""
    expected: float | None = None
    found: float | None = None
    diagnosis: str = ""
    misconception: str = ""
    hint: str = ""
    hints: tuple[str, ...] = ()
    errors: Elements | None = None
    printed: str = ""
    omitted: int = 0

    @property
    def passed(self) -> bool:
        """Whether everything is right."""
        return self.status == "ok"

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        lines = [self._headline, f"  {self.message}", *(f"  {name}: {text}" for name, text in self._details)]
        if self.printed:
            lines += ["  Your code printed:", *(f"    {line}" for line in self._printed.splitlines())]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """Offer the box with a live map of the errors where there is one, and the still box."""
        still = {"text/plain": str(self), "text/html": self._repr_html_()}
        if self.errors is None:
            return still
        live = VBox([HTML(self._box("")), error_map(self.errors).widget])
        return {**(live._repr_mimebundle_() or {}), **still}

    def _repr_html_(self) -> str:
        """Give the verdict as a box for notebooks: no script, no outside resources, all text escaped."""
        return self._box(f'<div style="margin-top:.6em">{error_map(self.errors).svg()}</div>' if self.errors else "")

    def _box(self, drawing: str) -> str:
        rows = "".join(
            f'<div style="margin-top:.4em"><b>{name}:</b> {escape(text)}</div>' for name, text in self._details
        )
        if not self.passed:
            rows += "".join(_folded(name, text) for name, text in zip(_FOLDS, self.hints, strict=False))
        printed = (
            f'<details style="margin-top:.4em"><summary>Your code printed</summary>'
            f'<pre style="max-height:12em;overflow:auto">{escape(self._printed)}</pre></details>'
            if self.printed
            else ""
        )
        return (
            f'<div role="status" style="border-left:5px solid {_COLOURS.get(self.status, _NOT_YET)};'
            f'padding:.3em 0 .3em .9em;max-width:60em"><div><b>{escape(self._headline)}</b></div>'
            f'<div style="margin-top:.4em">{escape(self.message)}</div>{rows}{drawing}{printed}</div>'
        )

    @property
    def _headline(self) -> str:
        unit = "point" if self.points == 1 else "points"
        return f"{self.exercise}, {self.title} ({self.points} {unit}): {_HEADLINES[self.status]}"

    @property
    def _details(self) -> list[tuple[str, str]]:
        count = f" ({self.right} of {self.total} cases right)" if self.total else ""
        details = [
            ("The call", self.case and self.case + count),
            ("Likely", self.misconception),
            ("Hint", self.hint),
        ]
        return [(name, text) for name, text in details if text]

    @property
    def _printed(self) -> str:
        more = f"\n… and {self.omitted} more characters" if self.omitted else ""
        return self.printed + more
