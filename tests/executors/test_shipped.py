from __future__ import annotations

import json
import subprocess
import sys

import pytest

from convlab.errors import CompileError
from convlab.executors import headers, shipped
from convlab.executors.compile import compile
from convlab.kernels.layers import launches

SOURCE = '#include "common.cuh"\nextern "C" __global__ void f(float* x) { x[0] = sizeof(Conv); }\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of shipped PTX that holds SOURCE, and no NVRTC."""
    module = compile(SOURCE, "shipped.cu", options=["-DA=1"])
    key = shipped.key(module.source, module.arch, module.options)
    (tmp_path / f"{key}.ptx").write_text(module.ptx, encoding="utf-8")
    entry = {"name": "shipped.cu", "checksum": shipped.checksum(module.ptx)}
    (tmp_path / "index.json").write_text(json.dumps({key: entry}))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setenv("CONVLAB_HIDE_NVRTC", "1")
    return tmp_path


def test_a_shipped_source_compiles_without_a_compiler_under_any_name(folder):
    module = compile(SOURCE.replace("\n", "\r\n") + "\n\n", "mine 我的.cu", options=["-DA=1"])
    assert module.kernels["f"].signature == "f(float* x)"
    places = {str(instruction.place) for instruction in module.kernels["f"].program_entry.instructions}
    assert places == {"mine 我的.cu:2"}


@pytest.mark.parametrize(
    "change",
    [
        {"source": SOURCE.replace("x[0]", "x[1]")},
        {"source": "\n" + SOURCE},
        {"options": ["-DA=2"]},
        {"arch": "compute_90"},
    ],
)
def test_whatever_changes_the_ptx_changes_the_key(folder, change):
    with pytest.raises(CompileError, match="this source is none of them"):
        compile(**{"source": SOURCE, "options": ["-DA=1"], **change})


def test_a_changed_header_of_the_course_changes_the_key(folder, tmp_path, monkeypatch):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "common.cuh").write_text("struct Conv { int only; };")
    monkeypatch.setattr(headers, "KERNELS", tmp_path / "kernels")
    with pytest.raises(CompileError, match="this source is none of them"):
        compile(SOURCE, options=["-DA=1"])


def test_the_key_does_not_need_the_toolkit(monkeypatch):
    source = "#include <cuda_fp16.h>\n" + SOURCE
    here = shipped.key(source, "compute_80", ())
    monkeypatch.setattr(headers, "toolkit", lambda: ())
    assert shipped.key(source, "compute_80", ()) == here


def test_every_rung_of_the_ladder_compiles_on_a_machine_without_nvrtc(monkeypatch):
    monkeypatch.setenv("CONVLAB_HIDE_NVRTC", "1")
    steps = [step for _, step in launches()]
    assert {step.source for step in steps} == {path.name for path in headers.KERNELS.glob("*.cu")}
    for step in steps:
        assert step.entry in compile(step.text(), step.source, options=step.options).kernels


def test_the_shipped_ptx_is_not_stale():
    tool = headers.KERNELS.parents[1] / "tools" / "ship_ptx.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nRun: uv run tools/ship_ptx.py"


def test_the_shipped_ptx_holds_no_path_of_the_machine_that_made_it():
    texts = {path.name: path.read_text(encoding="utf-8") for path in shipped.FOLDER.glob("*.ptx")}
    assert texts.keys() == {f"{key}.ptx" for key in json.loads((shipped.FOLDER / "index.json").read_text())}
    for text in texts.values():
        files = [line.split('"')[1] for line in text.splitlines() if line.strip().startswith(".file")]
        assert files
        assert all("\\" not in file and not file.startswith("/") for file in files)
