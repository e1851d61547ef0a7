"""How long 300 submissions take to be graded here, in how much memory, and whether each got the right status.

Then the same run again, killed at ten random moments and resumed: it must leave the same files.

    uv run python benchmarks/grading.py [--record] [--count 300] [--kills 10]
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from record import main
from synthetic import Paper, a_class, hand_in

__all__ = ["files", "grade", "measure", "wrong"]

TIMES = re.compile(rb'"(?:seconds|execution_time)": [\d.e-]+')


def grade(handed_in: Path, out: Path, seed: Path) -> subprocess.Popen[bytes]:
    """Start the command that an instructor runs."""
    convlab = [sys.executable, "-c", "from convlab.cli import main; raise SystemExit(main())"]
    command = [*convlab, "grade", str(handed_in), "--out", str(out), "--seed-file", str(seed)]
    return subprocess.Popen([*command, "--jobs", str(os.cpu_count() or 1)], stdout=subprocess.DEVNULL)


def memory(process: psutil.Process) -> int:
    """The bytes of a process and all of its children, with what they share counted once."""
    total = 0
    for each in [process, *process.children(recursive=True)]:
        with suppress(psutil.Error):
            total += each.memory_full_info().pss
    return total


def computed(process: psutil.Process) -> float:
    """The processor seconds of a process and its children, with those of the children that have ended."""
    total = 0.0
    for each in [process, *process.children(recursive=True)]:
        with suppress(psutil.Error):
            total += sum(each.cpu_times()[:4])
    return total


def watched(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Wait for a process; gives the most memory that it had, and the processor seconds that it took."""
    most, used, over = 0, 0.0, threading.Event()

    def watch() -> None:
        nonlocal most, used
        while not over.wait(0.5):
            with suppress(psutil.Error):
                running = psutil.Process(process.pid)
                most, used = max(most, memory(running)), max(used, computed(running))

    thread = threading.Thread(target=watch)
    thread.start()
    process.wait()
    over.set()
    thread.join()
    return most, used


def wrong(papers: list[Paper], out: Path) -> list[str]:
    """What is not as it should be, from the table that the instructor gets."""
    with (out / "marks.csv").open(encoding="utf-8-sig", newline="") as file:
        found = {(row["student"].removeprefix("'"), row["exercise"]): row for row in csv.DictReader(file)}
    return [
        f"{paper.kind}, {paper.student!r}, {exercise}: {row['status']}, not {' or '.join(allowed)}: {row['sentence']}"
        for paper in papers
        for exercise, allowed in paper.expected.items()
        if (row := found[paper.student, exercise])["status"] not in allowed
        or ("ok" not in allowed and float(row["points"]) > 0)
    ]


def files(folder: Path) -> dict[str, bytes]:
    """All files of a folder, without times."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): TIMES.sub(b"", path.read_bytes()) for path in paths}


def killed(handed_in: Path, out: Path, seed: Path, kills: int, seconds: float) -> None:
    """Kill a run again and again, each time somewhere before its end, then let it finish."""
    draw = random.Random(7)
    for _ in range(kills):
        process = grade(handed_in, out, seed)
        with suppress(subprocess.TimeoutExpired):
            process.wait(draw.uniform(0.5, 2 * seconds / (kills + 1)))
        process.send_signal(signal.SIGKILL)
        process.wait()
    grade(handed_in, out, seed).wait()


def measure(count: int, kills: int) -> dict[str, Any]:
    """Grade a made-up class."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        papers = a_class(count)
        hand_in(papers, folder / "in")
        began = time.monotonic()
        most, used = watched(grade(folder / "in", folder / "out", folder / "seed"))
        seconds = time.monotonic() - began
        faults = wrong(papers, folder / "out")
        killed(folder / "in", folder / "again", folder / "seed", kills, seconds)
        one, other = files(folder / "out"), files(folder / "again")
        return {
            "submissions": dict(Counter(paper.kind for paper in papers)),
            "seconds": round(seconds, 1),
            "processor seconds": round(used, 1),
            "gigabytes at most": round(most / 1e9, 2),
            "isolation": (folder / "out" / "summary.html").read_text("utf-8").partition("Answers ran")[2][:60],
            "statuses that are not as expected": faults,
            "files that differ after so many kills": [
                kills,
                sorted(name for name in {*one, *other} if one.get(name) != other.get(name)),
            ],
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--kills", type=int, default=10)
    options, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    main("grading", lambda: measure(options.count, options.kills))
