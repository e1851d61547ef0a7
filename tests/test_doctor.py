from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from convlab import doctor
from convlab.doctor import Finding, as_json, as_text, can_run, examine
from convlab.executors import compile as compiler
from convlab.executors import cuda
from convlab.ops import conv2d as convolution

CONVLAB = Path(sys.executable).with_name("convlab")


def found(name: str) -> Finding:
    """What one check of the table finds now."""
    return doctor._run(name, doctor._CHECKS[name])


def test_the_course_can_run_on_the_machine_that_tests_it(capfd: pytest.CaptureFixture[str]) -> None:
    findings = {finding.name: finding for finding in examine()}
    assert list(findings) == list(doctor._CHECKS)
    assert [finding for finding in findings.values() if finding.state == "problem"] == []
    assert f"numpy {np.__version__}" in findings["packages"].sentence
    assert sys.executable in findings["kernel"].sentence
    assert findings["convolution"].sentence == "A convolution in CUDA C ran and equals NumPy's result."
    assert capfd.readouterr() == ("", "")


def test_an_unusable_home_is_a_note_and_not_a_heap_of_warnings(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "NUMBA", "MPL"))}
    done = subprocess.run(
        [str(CONVLAB), "doctor", "--json"],
        cwd=tmp_path,
        env={**env, "HOME": "/proc/nothing"},
        capture_output=True,
        text=True,
        check=True,
    )
    said = [line for line in done.stderr.replace("\r", "\n").splitlines() if line.strip()]
    assert [line for line in said if not line.startswith("emulating: ")] == []  # a slow machine shows a progress bar
    (folders,) = (item for item in json.loads(done.stdout)["findings"] if item["name"] == "folders")
    assert folders["state"] == "note"
    assert "Below /proc/nothing some folders cannot be written" in folders["sentence"]
    assert "MPLCONFIGDIR" in folders["sentence"]
    assert list(tmp_path.iterdir()) == []  # a doctor looks, and changes nothing


def test_inside_of_the_working_copy_the_notebooks_are_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine" / ".convlab").mkdir(parents=True)
    (tmp_path / "mine" / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "mine" / "notebooks")
    (finding,) = (finding for finding in doctor.examine() if finding.name == "folders")
    assert finding.sentence == f"Your notebooks are in {tmp_path / 'mine'}."


def test_a_package_that_cannot_be_imported_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PACKAGES", ("numpy", "no_such_package"))
    finding = found("packages")
    assert finding.state == "problem"
    assert "no_such_package (No module named 'no_such_package')" in finding.sentence
    assert finding.fix.startswith("Install convlab again")


def test_without_nvrtc_the_course_runs_but_cuda_c_cannot_be_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "nvrtc_version", lambda: None)
    monkeypatch.setattr(compiler, "why_not", lambda: "There is no NVRTC here.")
    finding = found("compiler")
    assert finding.state == "note"
    assert finding.sentence == "There is no NVRTC here. The course's own kernels run from the PTX in the package."
    monkeypatch.setattr(sys, "platform", "darwin")
    assert found("compiler").fix == "To write CUDA C use Linux or Windows (WSL, a container or a JupyterHub)."


@pytest.mark.parametrize(
    ("driver", "state", "fix"),
    [(None, "ok", ""), ("/usr/bin/nvidia-smi", "note", "Install CuPy: uv sync --extra gpu, or pip install -e .[gpu]")],
)
def test_the_emulator_is_enough_but_a_gpu_without_cupy_is_worth_a_note(
    driver: str | None, state: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda, "available", lambda: False)
    monkeypatch.setattr(cuda, "why_not", lambda: "CuPy is not installed.")
    monkeypatch.setattr("shutil.which", lambda name: driver)
    finding = found("gpu")
    assert (finding.state, finding.fix) == (state, fix)
    assert "Kernels run on the emulator, which is enough for the course. CuPy is not installed." in finding.sentence


def test_another_pythons_kernel_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tmp_path / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    other = str(tmp_path / "other" / "python")
    spec.write_text(
        json.dumps({"argv": [other, "-m", "ipykernel_launcher"], "display_name": "x", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    finding = found("kernel")
    assert finding.state == "note"
    assert f"another Python, {other}, which may lack convlab" in finding.sentence


def test_an_intel_mac_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert found("system").state == "note"
    assert "Numba does not support Intel Macs." in found("system").sentence


@pytest.mark.parametrize("wrong", [1.5, float("nan")])
def test_wrong_numbers_are_a_problem(wrong: float, monkeypatch: pytest.MonkeyPatch) -> None:
    def conv2d(*_: object, method: str, **__: object) -> np.ndarray:
        return np.full((2, 4), wrong if method == "naive" else 1.0)

    monkeypatch.setattr(convolution, "conv2d", conv2d)
    assert found("convolution").state == "problem"


def test_a_check_that_fails_unforeseen_is_a_finding_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> tuple[doctor.State, str, str]:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setitem(doctor._CHECKS, "gpu", broken)
    finding = found("gpu")
    assert (finding.state, finding.sentence) == ("problem", "RuntimeError: the disk is on fire")


def test_only_a_problem_keeps_the_course_from_running() -> None:
    note, problem = Finding("gpu", "note", "No GPU."), Finding("packages", "problem", "No Numba.", "Install it.")
    assert can_run([note])
    assert not can_run([note, problem])
    assert as_text([note]).endswith("\n\nThe course runs on this machine.")
    assert as_text([note, problem]).endswith("To do: Install it.\n\nThe course cannot run here yet.")
    assert json.loads(as_json([problem])) == {
        "can_run": False,
        "findings": [{"name": "packages", "state": "problem", "sentence": "No Numba.", "fix": "Install it."}],
    }


def test_long_sentences_wrap_below_themselves_and_paths_stay_whole() -> None:
    path = "/a-long/" + "folder-name/" * 12
    text = as_text([Finding("folders", "note", f"Your notebooks are in {path} and nowhere else. " * 2)])
    first, *others = text.split("\n\n")[0].splitlines()
    assert first.startswith("note     folders      Your notebooks")
    assert others
    assert all(line.startswith(" " * 22) for line in others)
    assert text.count(path) == 2
