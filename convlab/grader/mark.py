"""What the grader says of one answer: plain data that goes into files and comes back unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

__all__ = ["STATUSES", "CaseMark", "Mark"]

STATUSES = (
    "ok",
    "wrong",
    "error",
    "timeout",
    "out_of_memory",
    "crashed",
    "not_attempted",
    "malformed",
    "forbidden",
    "grader_error",
)


@dataclass(frozen=True)
class CaseMark:
    """One case of an answer: the call in words (empty where they would tell the answer), its status and a sentence."""

    words: str
    status: str
    sentence: str = ""


@dataclass(frozen=True)
class Mark:
    """The mark of one answer.

    >>> mark = Mark("01-loops", "wrong", 0.0, "conv2d_loops returned None.")
    >>> Mark.from_dict(mark.to_dict()) == mark
    True

    - ``exercise``: its id; ``status``: one of ``STATUSES``; ``sentence``: why;
    - ``share``: of the exercise's points, 0 to 1; only "ok" earns, and right cases where the record gives them a part;
    - ``misconception``: what the answer's mistake looks like; ``hints``: what leads on from there;
    - ``cases``: those that were tried; ``seconds``: how long all took.

    Raises ``ValueError`` for a status that there is not, and for a share that it cannot have.
    """

    exercise: str
    status: str
    share: float
    sentence: str
    misconception: str | None = None
    hints: tuple[str, ...] = ()
    cases: tuple[CaseMark, ...] = ()
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"{self.status!r} is no status of a mark.\n  Fix: take one of {', '.join(STATUSES)}.")
        least, most = _SHARES.get(self.status, (0.0, 0.0))
        if not least <= self.share <= most:
            raise ValueError(
                f"a mark that is {self.status!r} has a share of {self.share:g}.\n"
                f"  Fix: give it one from {least:g} to {most:g}."
            )

    @property
    def needs_human(self) -> bool:
        """Whether the zero is the grader's and not the answer's: somebody has to look at it."""
        return self.status == "grader_error"

    def to_dict(self) -> dict[str, Any]:
        """The mark as JSON can hold it."""
        return asdict(self) | {"hints": list(self.hints), "cases": [asdict(case) for case in self.cases]}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The mark that ``to_dict`` wrote; raises ``ValueError`` for what it did not write."""
        try:
            known = {field.name: given[field.name] for field in fields(cls)}
            cases = tuple(CaseMark(**case) for case in known["cases"])
            return cls(**known | {"hints": tuple(known["hints"]), "cases": cases})
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is no mark: {error!r} is wrong in it.\n  Fix: grade that answer again.") from None


_SHARES = {"ok": (1.0, 1.0), "wrong": (0.0, 1.0), "error": (0.0, 1.0)}  # the least and the most; of others, nothing
