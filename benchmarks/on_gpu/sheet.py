"""The result of a run on a GPU: one JSON file, which is complete, as far as it goes, after every entry."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Sheet", "Task"]


class Sheet:
    """The file and what it says; whoever opens it goes on where the last one ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def start(self, head: dict[str, Any]) -> None:
        """A new file, with nothing in it but what is known beforehand."""
        lists: dict[str, Any] = {name: [] for name in ("entries", "checks", "counters", "aims")}
        maps: dict[str, Any] = {name: {} for name in ("ceilings", "why_not", "failures", "left_out", "finished")}
        self.data = {**head, **lists, **maps, "running": None}
        self.save()

    def save(self) -> None:
        """Replace the file in one step, so that nobody ever finds half of one."""
        text = json.dumps(self.data, indent=1, ensure_ascii=False)
        beside = self.path.with_suffix(".part")
        beside.write_text(text + "\n", encoding="utf-8")
        os.replace(beside, self.path)

    def add(self, part: str, entry: dict[str, Any]) -> None:
        """One more entry of a list."""
        self.data[part].append(entry)
        self.save()

    def say(self, part: str, name: str, value: Any) -> None:
        """One more line of a map."""
        self.data[part][name] = value
        self.save()

    def begin(self, task: Task) -> None:
        """Note what is running, in case that it never ends."""
        self.data["running"] = {"task": task.name, "since": time.time(), "limit": task.limit}
        self.save()

    def end(self, why: str = "") -> None:
        """Note that it has ended: in so many seconds, and with what failure, if any."""
        running, self.data["running"] = self.data["running"], None
        self.data["finished"][running["task"]] = round(time.time() - running["since"], 2)
        if why:
            self.data["failures"][running["task"]] = why
        self.save()

    def is_over(self, task: str) -> bool:
        """Whether a task was done, or given up."""
        return task in self.data["finished"]


@dataclass(frozen=True)
class Task:
    """One piece of the run: it writes its results into the sheet, and may fail."""

    name: str
    run: Callable[[Sheet], None]
    limit: float = 60.0  # seconds after which it counts as hanging
