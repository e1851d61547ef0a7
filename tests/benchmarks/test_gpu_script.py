"""The GPU benchmark without a GPU: its dry run from start to end, and what it does when tasks fail, crash or hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from convlab.kernels.ladder import methods

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "gpu.py"
# What a machine with a GPU may lack.
ABSENT = ("anywidget", "ipywidgets", "IPython", "jupyterlab", "traitlets", "matplotlib", "onnx", "onnxruntime", "torch")
BY_CUBLAS = {"im2col_cublas"}


def run(before, *arguments):
    """Run the script in a process of its own, after some code."""
    code = (
        f"import runpy, sys\n{before}\nsys.argv[0] = {str(SCRIPT)!r}\nrunpy.run_path(sys.argv[0], run_name='__main__')"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def dry(tmp_path_factory):
    """The file and the output of a dry run, on a machine that has no more than it must."""
    folder = tmp_path_factory.mktemp("dry")
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({ABSENT}))\n")
    (folder / "tests").mkdir()
    (folder / "tests" / "__init__.py").touch()  # some packages install one
    code = f"import os; os.environ['PYTHONPATH'] = {str(folder)!r}"  # of the workers
    done = run(code, "--dry-run", "--out", folder / "gpu.json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "gpu.json").read_text(encoding="utf-8")), done.stdout


def test_a_dry_run_does_everything_and_nothing_fails(dry):
    sheet, output = dry
    assert sheet["failures"] == {}, output
    assert sheet["left_out"] == {}
    assert "running" not in sheet


def test_a_dry_run_is_marked_as_one(dry):
    sheet, _ = dry
    assert sheet["benchmark"] != "gpu"
    assert sheet["note"] == "dry run, no time is real"
    assert {entry["note"] for entry in sheet["entries"] if "method" in entry} == {"dry run, no time is real"}


def test_every_rung_is_checked_timed_and_counted(dry):
    sheet, _ = dry
    rungs = {record.name for record in methods() if record.plan is not None} - BY_CUBLAS
    assert {check["method"] for check in sheet["checks"]} == rungs
    assert {entry["method"] for entry in sheet["entries"] if "method" in entry} == rungs - {"layout_transform_half"}
    assert {count["method"] for count in sheet["counters"]} == rungs
    assert all(count["emulator"]["sectors_global_load"] for count in sheet["counters"] if "fill" not in count["kernel"])


def test_an_entry_has_what_is_read_from_it(dry):
    sheet, _ = dry
    fields = {"op", "layer", "spec", "flop", "dtype", "milliseconds", "low", "high", "note", "kernel"}
    for entry in sheet["entries"]:
        assert entry.keys() - {"method", "peer"} == fields
    assert {entry["peer"] for entry in sheet["entries"] if "peer" in entry} == {"numpy"}


def test_what_is_missing_is_named_with_the_reason(dry):
    sheet, output = dry
    assert sheet["why_not"]["cudnn"] == "The package torch is not installed."
    assert "why_not: cudnn: The package torch is not installed." in output


def test_every_aim_is_listed_and_none_is_judged_without_a_data_sheet(dry):
    sheet, output = dry
    assert all(line["aim"] in output for line in sheet["aims"])
    assert [line for line in sheet["aims"] if "peak" in line["aim"] and line["met"] is not None] == []


def test_without_a_gpu_it_measures_nothing_and_says_why(tmp_path):
    done = run("import os; os.environ['CUDA_VISIBLE_DEVICES'] = ''", "--out", tmp_path / "gpu.json")
    assert done.returncode == 2
    assert done.stderr.startswith("Nothing was measured. CuPy ")
    assert "--dry-run" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named(tmp_path):
    done = run("sys.modules['ml_dtypes'] = None", "--dry-run", "--out", tmp_path / "gpu.json")
    assert done.returncode == 2
    assert "A package is missing" in done.stderr
    assert "ml_dtypes" in done.stderr


# A script whose tasks end in every way that there is.
TROUBLE = """
import os, sys, time, types
sys.path[:0] = {paths!r}
import gpu
from on_gpu.sheet import Task

def fails(sheet):
    raise ValueError("no such layer")

def tasks(script, dry):
    yield Task("good", lambda sheet: sheet.add("entries", {{"method": "first"}}))
    yield Task("fails", fails)
    yield Task("crashes", lambda sheet: os._exit(9))
    yield Task("hangs", lambda sheet: time.sleep(60), limit=0.5)
    yield Task("last", lambda sheet: sheet.add("entries", {{"method": "last"}}))

sys.modules["on_gpu.tasks"] = types.SimpleNamespace(tasks=tasks)
gpu.SCRIPT = gpu.Path(__file__)
sys.exit(gpu.main())
"""


@pytest.fixture
def trouble(tmp_path):
    """Run that script; its file."""

    def start(*arguments, code=0, text=TROUBLE):
        script = tmp_path / "trouble.py"
        script.write_text(text.format(paths=[str(SCRIPT.parent), str(ROOT)]), encoding="utf-8")
        command = [sys.executable, str(script), "--dry-run", "--out", str(tmp_path / "gpu.json"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))

    return start


def test_what_fails_crashes_or_hangs_costs_itself_alone(trouble):
    sheet = trouble()
    assert [entry["method"] for entry in sheet["entries"]] == ["first", "last"]
    assert list(sheet["finished"]) == ["good", "fails", "crashes", "hangs", "last"]
    assert sheet["failures"].keys() == {"fails", "crashes", "hangs"}
    assert sheet["failures"]["fails"].endswith(": no such layer")
    assert sheet["failures"]["crashes"] == "The process ended with exit code 9."
    assert sheet["failures"]["hangs"] == "It did not end within 0.5 s."


def test_what_a_hanging_task_started_ends_with_it(trouble, tmp_path):
    code = """import subprocess
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    sheet.say("ceilings", "child", child.pid)
    time.sleep(60)"""
    hangs = f"def hangs(sheet):\n    {code}\n\ndef tasks(script, dry):".replace("{", "{{").replace("}", "}}")
    text = TROUBLE.replace("def tasks(script, dry):", hangs)
    child = trouble(text=text.replace("lambda sheet: time.sleep(60), limit=0.5", "hangs, limit=3"))["ceilings"]["child"]
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_a_worker_that_follows_another_does_without_nvrtc_too(trouble):
    tells = "lambda sheet: (sheet.say('why_not', 'NVRTC', 'no'), os._exit(9))"
    text = TROUBLE.replace("lambda sheet: os._exit(9)", tells)
    text = text.replace('"method": "last"', '"method": os.environ.get("CONVLAB_HIDE_NVRTC")')
    assert trouble(text=text)["entries"][-1] == {"method": "1"}


@pytest.mark.skipif(sys.platform == "win32", reason="there, Ctrl-C goes to a console, not to a process")
@pytest.mark.parametrize("everybody", [True, False], ids=["as a terminal sends it", "to the first process alone"])
def test_ctrl_c_leaves_what_was_found_with_the_aims_and_no_process(tmp_path, everybody):
    script, path = tmp_path / "trouble.py", tmp_path / "gpu.json"
    text = TROUBLE.format(paths=[str(SCRIPT.parent), str(ROOT)])
    waits = "lambda sheet: (sheet.say('ceilings', 'worker', os.getpid()), time.sleep(60))"
    script.write_text(text.replace("lambda sheet: time.sleep(60), limit=0.5", waits), encoding="utf-8")
    command = [sys.executable, str(script), "--dry-run", "--out", str(path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = subprocess.Popen(command, text=True, start_new_session=True, **pipes)
    while not (path.exists() and json.loads(path.read_text(encoding="utf-8"))["ceilings"]):
        assert started.poll() is None
        time.sleep(0.1)
    (os.killpg if everybody else os.kill)(started.pid, signal.SIGINT)
    output, errors = started.communicate()
    assert started.returncode == 130
    assert "Traceback" not in errors
    sheet = json.loads(path.read_text(encoding="utf-8"))
    assert [entry["method"] for entry in sheet["entries"]] == ["first"]
    assert sheet["failures"]["hangs"] == "It was interrupted."
    assert all(aim["aim"] in output for aim in sheet["aims"])
    assert not psutil.pid_exists(sheet["ceilings"]["worker"])


def test_what_there_is_no_time_for_is_named(trouble):
    sheet = trouble("--seconds", "-1", code=1)
    assert sheet["finished"] == {}
    assert sheet["left_out"] == dict.fromkeys(["good", "fails", "crashes", "hangs", "last"], "The time was over.")


def test_a_worker_that_cannot_start_is_a_failure(trouble):
    sheet = trouble(code=1, text=TROUBLE.replace('yield Task("good"', 'sys.exit(7)\n    yield Task("good"'))
    assert sheet["failures"] == {"between two tasks": "The process ended with exit code 7."}
