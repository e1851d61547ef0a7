"""The ways in, held against each other: pyproject.toml, its tested versions, environment.yml, the hooks."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
PLATFORMS = {"linux": "x86_64-manylinux_2_28", "windows": "windows", "macos": "aarch64-apple-darwin"}
CONSTRAINT = re.compile(r"[a-z0-9-]+==[0-9][0-9a-z.]*(; [a-z_]+ [<>=!]+ '[^']+')?")


def python_bounds() -> tuple[str, str]:
    """The oldest Python of the project, and the newest."""
    match = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PYPROJECT["project"]["requires-python"])
    assert match
    return f"3.{match[1]}", f"3.{int(match[2]) - 1}"


def pip_lines() -> list[str]:
    (pip,) = (entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict))
    return pip


def direct_dependencies() -> set[str]:
    project = PYPROJECT["project"]
    required = [*project["dependencies"], *PYPROJECT["dependency-groups"]["dev"]]
    for extra in project["optional-dependencies"].values():
        required += extra
    return {re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower() for requirement in required}


def test_constraints_are_names_and_versions_and_no_address() -> None:
    constraints = PYPROJECT["tool"]["uv"]["constraint-dependencies"]
    assert [line for line in constraints if not CONSTRAINT.fullmatch(line)] == []
    assert constraints == sorted(constraints, key=lambda line: line.split("==")[0])
    names = [line.split("==")[0] for line in constraints if ";" not in line]
    assert len(names) == len(set(names))
    assert "index" not in PYPROJECT["tool"]["uv"]


def test_constraints_cover_every_direct_dependency() -> None:
    names = {line.split("==")[0] for line in PYPROJECT["tool"]["uv"]["constraint-dependencies"]}
    assert direct_dependencies() - names == set()


def test_lock_files_stay_out() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    assert [name for name in tracked.stdout.splitlines() if name.endswith(".lock")] == []


def test_the_working_copy_is_ignored_wherever_the_command_was_run() -> None:
    for path in ("my-convlab/notebooks/01.ipynb", "docs/my-convlab/notebooks/01.ipynb"):
        subprocess.run(["git", "check-ignore", "--quiet", path], cwd=ROOT, check=True)


def test_conda_brings_python_and_pip_and_leaves_the_rest_to_pyproject() -> None:
    plain = [entry for entry in CONDA["dependencies"] if isinstance(entry, str)]
    assert plain == [f"python {PYPROJECT['project']['requires-python']}", "pip"]
    assert CONDA["channels"] == ["conda-forge"]
    assert pip_lines() == ["-e .[gpu,nets]"]  # the local folder: the index has another project of this name
    assert set(PYPROJECT["project"]["optional-dependencies"]) == {"gpu", "dask", "nets"}


def test_nvidias_wheels_stay_off_macos() -> None:
    project = PYPROJECT["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["gpu"]]
    nvidia = [line for line in required if re.match("nvidia|cu(da|py)", line)]
    assert len(nvidia) == 7
    assert all(line.endswith("sys_platform != 'darwin'") for line in nvidia)


@pytest.mark.parametrize("python", python_bounds())
@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_platform_has_wheels_for_everything(platform: str, python: str) -> None:
    command = ["uv", "pip", "compile", "-", "--only-binary", ":all:", "--no-annotate", "--no-header", "--quiet"]
    command += ["--python-platform", PLATFORMS[platform], "--python-version", python]
    done = subprocess.run(command, cwd=ROOT, input="\n".join(pip_lines()), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {line.split("==")[0] for line in done.stdout.splitlines()}
    assert {"jupyterlab", "numba", "anywidget"} <= found
    compiler_and_cupy = {"nvidia-cuda-nvrtc", "cuda-bindings", "cupy-cuda12x"}
    assert compiler_and_cupy & found == (set() if platform == "macos" else compiler_and_cupy)


def test_intel_macs_are_named_as_unsupported() -> None:
    assert "no longer has wheels for Intel Macs" in (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert PYPROJECT["tool"]["uv"]["environments"] == ["sys_platform != 'darwin' or platform_machine == 'arm64'"]


def test_hooks_fetch_nothing() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    hooks = config["repos"][0]["hooks"]
    assert {hook["language"] for hook in hooks} == {"system"}
    assert {hook["entry"].split()[2] for hook in hooks} == {"ruff", "mypy", "tools/strip_notebooks.py"}
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config"], cwd=ROOT, check=True)


def test_notebooks_are_stored_without_outputs() -> None:
    subprocess.run([sys.executable, "tools/strip_notebooks.py", "--check"], cwd=ROOT, check=True)
