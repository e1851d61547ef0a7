"""The ladder on an NVIDIA GPU: checked, timed beside its peers, and counted beside the emulator; under five minutes.

One JSON file says everything, and is written anew after every entry: what crashes, hangs or is missing costs itself
alone. The work is done by a process of its own, which is started again after a crash. Nothing is fetched, nothing is
built, no clock is set. It needs this checkout, and of Python packages NumPy, Numba, CuPy, ml_dtypes, lazy_loader, tqdm
and psutil; PyTorch, nvidia-ml-py and Nsight Compute are used where they are.

    python benchmarks/gpu.py                # records benchmarks/results/gpu_<name>.json, or in $OUT if that is set
    python benchmarks/gpu.py --dry-run      # tiny layers on the emulator: no time is real
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import types
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve()
sys.path[:0] = [str(SCRIPT.parent), str(SCRIPT.parents[1])]
# This checkout's tests, whose cases are checked: some package may have installed a "tests" of its own.
sys.modules["tests"] = types.ModuleType("tests")
sys.modules["tests"].__path__ = [str(SCRIPT.parents[1] / "tests")]

# These need nothing else; the rest is imported where a lack of it can be said.
from on_gpu.processes import end as end_all  # noqa: E402
from on_gpu.sheet import Sheet, Task  # noqa: E402

SECONDS = 260.0  # after which nothing new begins
GRACE = 20.0  # seconds that the last task may take then
LOST = 3  # exit code of a worker whose GPU cannot be used any more in its process
INTERRUPTED = 130  # exit code after Ctrl-C
MOST_STARTS = 8


def main() -> int:
    """Do what was asked for; 0 when it is complete, as far as this machine has what it needs, 130 after Ctrl-C."""
    try:
        return _obey(_options())
    except KeyboardInterrupt:
        return INTERRUPTED


def _obey(options: argparse.Namespace) -> int:
    if options.launch_all:
        return _launch_all(options.launch_all)
    if options.worker:
        return _work(Sheet(options.worker), options.dry_run, options.deadline)
    why = _why_not(options.dry_run)
    if why:
        print(f"Nothing was measured. {why}\n  Try: python {SCRIPT.name} --dry-run", file=sys.stderr)
        return 2
    return _record(Sheet(options.out or _path(options.dry_run)), options.dry_run, options.seconds)


def _record(sheet: Sheet, dry: bool, seconds: float) -> int:
    """Run everything, and print the aims: after Ctrl-C, those of what was found until then."""
    sheet.path.parent.mkdir(parents=True, exist_ok=True)
    sheet.start(_head(dry))
    try:
        _supervise(sheet, dry, seconds)
    finally:
        _conclude(sheet, dry)
        print(f"Recorded in {sheet.path}.")
    return int(not sheet.data["finished"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="do the same on the emulator, with tiny layers")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the JSON file to write")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help=f"begin nothing new after so many (default: {SECONDS:g})"
    )
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--deadline", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--launch-all", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _why_not(dry: bool) -> str:
    """Why there is nothing to measure here; empty where there is."""
    try:
        import psutil  # noqa: F401 - only whether it can be imported
        from on_gpu import tasks  # noqa: F401 - only whether it can be imported

        from convlab.executors import cuda
    except ImportError as error:
        return f"A package is missing: {error}."
    return "" if dry else cuda.why_not()


def _path(dry: bool) -> Path:
    """Where the file goes: a dry run's never among the results."""
    if dry:
        return Path(tempfile.gettempdir()) / "convlab_gpu_dry_run.json"
    from convlab.executors import cuda_queue

    name = re.sub(r"[^a-z0-9]+", "_", cuda_queue.device().name.lower().removeprefix("nvidia ")).strip("_")
    folder = os.environ.get("OUT")
    return (Path(folder) if folder else SCRIPT.parent / "results") / f"gpu_{name}.json"


def _head(dry: bool) -> dict[str, Any]:
    kind = {"benchmark": "gpu dry run", "note": "dry run, no time is real"} if dry else {"benchmark": "gpu"}
    return {**kind, "day": datetime.date.today().isoformat(), "machine": {}}


def _supervise(sheet: Sheet, dry: bool, seconds: float) -> None:
    """Have a worker do all tasks; after a crash or a hanging task, have another one go on behind it."""
    deadline = time.time() + seconds
    for _ in range(MOST_STARTS):
        command = [sys.executable, str(SCRIPT), "--worker", str(sheet.path), "--deadline", str(deadline)]
        worker = subprocess.Popen([*command, *(["--dry-run"] if dry else [])])
        why = "It was interrupted."
        try:
            why = _watch(worker, sheet.path, deadline + GRACE)
        finally:
            end_all(worker)
            can_go_on = _settle(sheet, worker.returncode, why)
        if worker.returncode == 0 or time.time() > deadline or not can_go_on:
            return


def _settle(sheet: Sheet, code: int, why: str) -> bool:
    """Note of a worker that has ended what it leaves undone; whether another one can go on behind that."""
    sheet.data = Sheet(sheet.path).data
    why = why or f"The process ended with exit code {code}."
    if sheet.data["running"]:
        sheet.end(why)
    elif code not in (0, LOST):
        sheet.say("failures", "between two tasks", why)
        return False
    return True


def _watch(worker: subprocess.Popen[bytes], path: Path, end: float) -> str:
    """Wait for the worker; kill it when its task hangs, or the time is over, and say so."""
    while worker.poll() is None:
        time.sleep(0.2)
        running = Sheet(path).data["running"] or {"since": time.time(), "limit": 60.0}
        hanging = time.time() - running["since"] > running["limit"]
        if hanging or time.time() > end:
            end_all(worker)
            return f"It did not end within {running['limit']:g} s." if hanging else "The time was over."
    return ""


def _work(sheet: Sheet, dry: bool, deadline: float) -> int:
    """Do what is not done yet, task by task."""
    from on_gpu.tasks import tasks

    if "NVRTC" in sheet.data["why_not"]:  # as a worker before this one found
        os.environ["CONVLAB_HIDE_NVRTC"] = "1"
    for task in tasks(SCRIPT, dry):
        if sheet.is_over(task.name):
            continue
        if time.time() > deadline:
            sheet.say("left_out", task.name, "The time was over.")
            continue
        print(task.name, flush=True)
        sheet.begin(task)
        why = _failure(task, sheet)
        sheet.end(why)
        if not dry and _is_lost():
            return LOST
    return 0


def _failure(task: Task, sheet: Sheet) -> str:
    """Run a task; the words of what went wrong, if anything did."""
    try:
        task.run(sheet)
    except Exception as error:  # whatever it is: it is recorded, and the next task runs
        place = traceback.extract_tb(error.__traceback__)[-1]
        print(f"  failed: {error}", flush=True)
        return f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}: {error}"
    return ""


def _is_lost() -> bool:
    """Free the GPU's memory for the next task; whether a crash made the GPU unusable for this process."""
    from on_gpu.machine import free

    from convlab.executors import cuda_queue

    try:
        free()
        cuda_queue.wait(cuda_queue.mark())
        cuda_queue.download(cuda_queue.allocate((1,), "float32"))
    except Exception:  # any error of a copy means that nothing runs on this context any more
        return True
    return False


def _launch_all(report: Path) -> int:
    from on_gpu.counters import launch_all

    launch_all(report)
    return 0


def _conclude(sheet: Sheet, dry: bool) -> None:
    """Hold the times against the aims, and print both and what failed."""
    from on_gpu.aims import Times, judge
    from on_gpu.layers import layers

    from convlab.perf.gpus import recognise

    gpu = recognise(sheet.data["machine"].get("gpu", ""))
    sheet.data["aims"] = judge(Times(sheet.data["entries"], layers(dry), gpu))
    del sheet.data["running"]
    sheet.save()
    for part in ("why_not", "failures", "ceilings"):
        for name, value in sheet.data[part].items():
            print(f"{part}: {name}: {str(value).partition(chr(10))[0]}")
    print(f"{len(sheet.data['left_out'])} tasks were left out, {len(sheet.data['finished'])} done.")
    for line in sheet.data["aims"]:
        verdict = {True: "met", False: "MISSED", None: "unknown"}[line["met"]]
        print(f"{verdict:8}{line['found']!s:>8}, wanted {line['wanted']:14}  {line['aim']}")


if __name__ == "__main__":
    sys.exit(main())
