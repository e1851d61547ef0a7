"""Write docs/rungs/, a page for each rung of the ladder, anew; with --check, only say whether they are up to date.

uv run tools/document_rungs.py [--check]

What a page says of the kernel is its file's header; the bound and the breakdown are the model's, from counts of a run
on the emulator; times are those recorded in benchmarks/results, where there are any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generated import renew
from tqdm import tqdm

from convlab.kernels.ladder import methods
from convlab.kernels.layers import LAYERS, TIMED, supported
from convlab.kernels.method import Matmul, Method
from convlab.perf.gpus import GPUS
from convlab.perf.model import LIMITS, Prediction, predict
from convlab.perf.peers import peers
from convlab.perf.recorded import recorded
from convlab.perf.work import work

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "rungs"
SHOWN = ("T4", "A100", "RTX 4090", "H100", "H200")
HEADER = re.compile(r"^// (Idea|Parallelisation|Expected limit|Prediction|Honest negatives)\b", re.MULTILINE)
NOTE = "<!-- written by tools/document_rungs.py -->"
NOTHING = "not yet recorded"
MODEL = "A100"
INTRODUCTION = """A page for each rung of [the ladder](../ladder.md): what its file says of itself, the time that the
model of `convlab/perf/model.py` predicts on several GPUs, what it waits for there, and the times that were recorded on
real ones. A modelled time is no measurement: the model knows a GPU's data sheet and what the emulator counted, and is
held against two published ladders of matrix products, whose order it reproduces, with ratios within a factor of two.
Of convolutions nobody has published one, and none of these times was held against a GPU yet. What a launch may wait
for, each shown as a part of the launch's time that it alone would take:"""


def rungs() -> Iterator[Method]:
    """Every rung whose kernels are all ours, so that they can be counted."""
    for record in methods():
        if record.plan is not None:
            plan = record.plan(next(iter(supported(record).values())))
            if not any(isinstance(step, Matmul) for step in plan.steps):
                yield record


def page(record: Method) -> str:
    """The page of one rung."""
    assert record.plan is not None
    steps = record.plan(next(iter(supported(record).values()))).launches
    sources = list(dict.fromkeys(step.source for step in steps))
    links = ", ".join(f"[{source}](../../convlab/kernels/{source})" for source in sources)
    what = f"Computes `{record.op}` in {record.dtype}, layout {record.layout}: {record.limits}."
    parts = [NOTE, f"# {record.name}", f"{record.idea}.", f"{what} Lesson {record.lesson}. {links}."]
    parts += [said for source in sources for said in header(source, len(sources) > 1)]
    for layers in (LAYERS, TIMED):
        name, spec = next(iter(supported(record, layers).items()))
        parts += [f"## On the layer “{name}”: {spec}", times(record, spec), others(record, spec)]
    return "\n\n".join(parts) + "\n"


def header(source: str, several: bool) -> list[str]:
    """What a file says of itself, as a list."""
    text = (ROOT / "convlab" / "kernels" / source).read_text(encoding="utf-8").partition("#include")[0]
    pieces = HEADER.split(text)[1:]
    lines = []
    for title, said in zip(pieces[::2], pieces[1::2], strict=True):
        words = " ".join(line.removeprefix("//").strip() for line in said.splitlines() if line.startswith(("//", " ")))
        lines.append(f"- **{title}**: {words.strip()}")
    return [*([f"`{source}`:"] if several else []), "\n".join(lines)]


def times(record: Method, spec: Any) -> str:
    """Modelled and recorded times on several GPUs, and what the kernel waits for."""
    counted = work(spec, record.name)
    lines = ["| GPU | modelled, ms | waits for | breakdown, modelled | recorded, ms |", "|---|---|---|---|---|"]
    for name in SHOWN:
        if int(GPUS[name].arch.removeprefix("sm_")) < record.since:
            lines.append(f"| {name} | – | lacks an instruction | – | – |")
            continue
        prediction, found = predict(counted, GPUS[name]), recorded(spec, record.name, name)
        real = f"{found.milliseconds:.4g} ({found.day})" if found else NOTHING
        lines.append(
            f"| {name} | {prediction.milliseconds:.4f} | {prediction.waits_for} | {breakdown(prediction)} | {real} |"
        )
    return "\n".join(lines)


def breakdown(prediction: Prediction) -> str:
    """The three longest limits of the longest launch, each as a part of its time."""
    longest = max(prediction.launches, key=lambda launch: launch.milliseconds)
    parts = sorted(longest.limits.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{limit} {100 * ms / longest.milliseconds:.0f} %" for limit, ms in parts)


def others(record: Method, spec: Any) -> str:
    """What people would use instead of it on a GPU, and its recorded times."""
    able = [peer for peer in peers() if peer.device == "cuda" and peer.supports(spec, record.dtype) is None]
    found = [(peer.what, recorded(spec, peer.name, dtype=record.dtype)) for peer in able]
    parts = [f"{what}: {time or NOTHING}" for what, time in found]
    return "Peers: " + ("; ".join(parts) if parts else "none that is known for this") + "."


def index(records: list[Method]) -> str:
    """The page that lists the others, with the model's word on each."""
    limits = "\n".join(f"- **{name}**: {meaning}" for name, meaning in LIMITS.items())
    lines = [f"| rung | layer | modelled on {MODEL}, ms | waits for |", "|---|---|---|---|"]
    for record in records:
        spec = next(iter(supported(record, TIMED).values()))
        if record.since <= int(GPUS[MODEL].arch.removeprefix("sm_")):
            found = predict(work(spec, record.name), GPUS[MODEL])
            link = f"[{record.name}]({record.name}.md)"
            lines.append(f"| {link} | {spec} | {found.milliseconds:.4g} | {found.waits_for} |")
    return "\n\n".join([NOTE, "# The rungs, one by one", INTRODUCTION, limits, "\n".join(lines)]) + "\n"


def files() -> dict[Path, str]:
    """All pages, and their index; exits where there is a page of no rung."""
    FOLDER.mkdir(exist_ok=True)
    records = list(rungs())
    pages = {FOLDER / f"{record.name}.md": page(record) for record in tqdm(records, desc="writing pages")}
    pages[FOLDER / "README.md"] = index(records)
    for stray in set(FOLDER.glob("*.md")) - pages.keys():
        sys.exit(f"{stray.name} is of no rung: remove it")
    return pages


def main() -> int:
    """Write or compare all pages; 1 when --check found one that is stale."""
    return renew(files, "document_rungs.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
